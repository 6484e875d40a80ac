"""Dates and times by their lexical forms, with years of any size."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from everlog.lang.terms import Literal, is_convertible
from everlog.query.sparql.terms import DATE, DATE_TIME, EXACT, TIME, ExpressionError, Node

_DATE = r"(?P<year>-?[0-9]{4,})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2}(?:\.[0-9]+)?)"
_ZONE = r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
FORMS = {
    DATE_TIME: re.compile(f"{_DATE}T{_TIME}{_ZONE}"),
    DATE: re.compile(_DATE + _ZONE),
    TIME: re.compile(_TIME + _ZONE),
}
MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Moment:
    """The parts of an xsd:dateTime, xsd:date or xsd:time. ``zone`` is as written, None if there is none."""

    year: int = 1
    month: int = 1
    day: int = 1
    hour: int = 0
    minute: int = 0
    second: Decimal = Decimal(0)
    zone: str | None = None

    @property
    def offset(self) -> int | None:
        """The zone in minutes east of Greenwich, None without a zone."""
        if self.zone is None:
            return None
        if self.zone == "Z":
            return 0
        hours, minutes = self.zone[1:].split(":")
        return (int(hours) * 60 + int(minutes)) * (-1 if self.zone[0] == "-" else 1)

    @property
    def instant(self) -> Decimal:
        """The position on the time line in seconds; a moment without a zone is read in that of Greenwich."""
        minutes = (_days(self.year, self.month, self.day) * 24 + self.hour) * 60 + self.minute - (self.offset or 0)
        return EXACT.add(Decimal(minutes * 60), self.second)


def moment_of(node: Node, *datatypes: str) -> Moment:
    """The parts of a literal of one of the datatypes.

    >>> moment_of(Literal("2011-01-10T14:45:13.815-05:00", DATE_TIME), DATE_TIME).hour
    14
    """
    if not isinstance(node, Literal) or node.datatype not in datatypes:
        raise ExpressionError
    found = FORMS[node.datatype].fullmatch(node.lexical.strip())
    if found is None:
        raise ExpressionError
    parts = found.groupdict()
    if not is_convertible(parts.get("year", "")):
        raise ExpressionError
    zone = parts.pop("zone")
    second = Decimal(parts.pop("second", 0) or 0)
    moment = Moment(**{name: int(part) for name, part in parts.items()}, second=second, zone=zone)
    if not _is_valid(moment):
        raise ExpressionError
    if node.datatype == TIME:  # the time 24:00:00 is midnight of the day itself
        return replace(moment, hour=moment.hour % 24)
    return moment


def zone_duration(moment: Moment) -> str:
    """The zone as the lexical form of an xsd:dayTimeDuration.

    >>> zone_duration(Moment(zone="-08:00")), zone_duration(Moment(zone="Z"))
    ('-PT8H', 'PT0S')
    """
    if moment.offset is None:
        raise ExpressionError
    hours, minutes = divmod(abs(moment.offset), 60)
    shown = f"{f'{hours}H' if hours else ''}{f'{minutes}M' if minutes else ''}" or "0S"
    return f"{'-' if moment.offset < 0 else ''}PT{shown}"


def _is_valid(moment: Moment) -> bool:
    if not 1 <= moment.month <= 12 or not 1 <= moment.day <= _month_length(moment.year, moment.month):
        return False
    if moment.hour == 24:
        return moment.minute == 0 and moment.second == 0
    return moment.hour < 24 and moment.minute < 60 and moment.second < 60


def _month_length(year: int, month: int) -> int:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return MONTH_LENGTHS[month - 1] + leap


def _days(year: int, month: int, day: int) -> int:
    """Days since the beginning of the year 0, in the proleptic Gregorian calendar."""
    before = year - 1
    leaps = before // 4 - before // 100 + before // 400
    return year * 365 + leaps + sum(_month_length(year, m) for m in range(1, month)) + day
