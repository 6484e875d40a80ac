"""Constants: a kind and a lexical form, carried as one canonical text.

Everywhere below the language a constant is its *text*. Two constants are equal if and only if
their texts are, and the id of a term in a store is a hash of its text:

=================  ==========================================================
kind               text
=================  ==========================================================
IRI                ``<http://example.org/a>``
blank node         ``_:b``
string             ``"alice"``
language string    ``"A"@en`` (tag in lower case)
integer            ``42``
decimal            ``1.0``
double             ``1.0E0``
boolean            ``true``
other literal      ``"2026-01-01"^^<http://www.w3.org/2001/XMLSchema#date>``
=================  ==========================================================

The characters between the quotes stand as they are, without escapes. That is unambiguous because
neither a language tag nor an IRI may contain a quote, so the last quote of a text closes it.
A number whose lexical form is not canonical (``"007"^^xsd:integer``) is an *other literal*.
"""

from __future__ import annotations

import datetime
import math
import re
import sys
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from everlog.lang.characters import CHARACTER, START
from everlog.lang.codes import Code
from everlog.lang.errors import TermError

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDF_TYPE = f"<{RDF}type>"
LANG_STRING = RDF + "langString"

NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\\ud800-\udfff]')
_LABEL = re.compile(rf"[{START}0-9](?:\.*[{CHARACTER}])*")
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
TIME = r"(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(?:\.[0-9]{0,5}[1-9])?"
"""Dates and times of day as Python writes them, with no zeros at the end of the fraction."""
_DATE, _DATE_TIME = re.compile(DAY), re.compile(f"{DAY}T{TIME}Z?")
_OFFSET = re.compile(r"[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00)")
_LANGUAGE = re.compile(r"[A-Za-z]+(?:-[A-Za-z0-9]+)*")

SHORT_BITS = 2048
"""Integers below this number of bits have fewer digits than any limit that Python can set for their texts."""

CANONICAL = {
    XSD + "integer": re.compile(r"0|-?[1-9][0-9]*"),
    XSD + "decimal": re.compile(r"(?!-0\.0$)-?(?:0|[1-9][0-9]*)\.(?:0|[0-9]*[1-9])"),
    XSD + "double": re.compile(r"-?[1-9]\.(?:0|[0-9]*[1-9])E(?:0|-?[1-9][0-9]*)|-?0\.0E0"),
    XSD + "boolean": re.compile(r"true|false"),
}
"""The lexical forms of each datatype that are written bare."""


@dataclass(frozen=True, slots=True, order=True)
class IRI:
    """An IRI as a Python value; a text that cannot be an IRI raises :class:`TermError`.

    >>> str(IRI("http://example.org/a"))
    'http://example.org/a'
    >>> IRI("http://example.org/a b")
    Traceback (most recent call last):
    everlog.lang.errors.TermError: error[invalid-iri]: an IRI cannot contain ' ': 'http://example.org/a b'
      = help: write it percent-encoded, as in 'http://example.org/a%20b'
    """

    value: str

    def __post_init__(self) -> None:
        check_iri(self.value)

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True, order=True)
class BlankNode:
    """A blank node, known by its label: letters, digits, ``_``, and inside also ``-`` and dots.

    >>> BlankNode("b0").label
    'b0'
    """

    label: str

    def __post_init__(self) -> None:
        if _LABEL.fullmatch(self.label) is None:
            message = f"{self.label!r} cannot be the label of a blank node"
            hint = "use letters, digits and _; - and . may stand inside"
            raise TermError.of(Code.INVALID_LABEL, message, None, hint)

    def __str__(self) -> str:
        return "_:" + self.label


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal that has no Python type of its own: a language string or another datatype.

    >>> Literal("A", language="en").lexical
    'A'
    >>> Literal("A", IRI("http://example.org/code")).datatype
    'http://example.org/code'
    """

    lexical: str
    datatype: str | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.datatype, IRI):
            object.__setattr__(self, "datatype", self.datatype.value)
        elif self.datatype is not None:
            _check_datatype(self.datatype)
        if self.language is not None:
            _check_language(self.language, self.datatype)

    def __str__(self) -> str:
        return self.lexical


def check_iri(text: str) -> None:
    """Raise an error if a text cannot be an IRI."""
    wrong = NOT_IN_IRI.search(text)
    if wrong is not None:
        encoded = NOT_IN_IRI.sub(lambda match: "".join(f"%{byte:02X}" for byte in _bytes(match.group())), text)
        hint = f"write it percent-encoded, as in {encoded!r}"
        raise TermError.of(Code.INVALID_IRI, f"an IRI cannot contain {wrong.group()!r}: {text!r}", None, hint)


_check_datatype = lru_cache(maxsize=1024)(check_iri)
"""``check_iri`` with a cache, for datatypes: they are few, and checked for every literal that is made."""


def _check_language(language: str, datatype: str | None) -> None:
    if _LANGUAGE.fullmatch(language) is None:
        hint = "a tag is letters, and after hyphens letters and digits, as in 'en' or 'de-AT'"
        raise TermError.of(Code.INVALID_LANGUAGE, f"{language!r} cannot be a language tag", None, hint)
    if datatype not in (None, LANG_STRING):
        message = f"a literal cannot have the language {language!r} and the datatype {datatype!r}"
        raise TermError.of(Code.INVALID_LITERAL, message, None, "leave out one of the two")


def _bytes(character: str) -> bytes:
    return character.encode(errors="replace")


def stored_iri(value: str) -> IRI:
    """The IRI in a text that was checked when it came in."""
    made = object.__new__(IRI)
    object.__setattr__(made, "value", value)
    return made


def stored_blank(label: str) -> BlankNode:
    """The blank node in a text that was checked when it came in."""
    made = object.__new__(BlankNode)
    object.__setattr__(made, "label", label)
    return made


def stored_literal(lexical: str, datatype: str | None = None, language: str | None = None) -> Literal:
    """The literal in a text that was checked when it came in."""
    made = object.__new__(Literal)
    object.__setattr__(made, "lexical", lexical)
    object.__setattr__(made, "datatype", datatype)
    object.__setattr__(made, "language", language)
    return made


Moment = datetime.datetime | datetime.date | datetime.time
Value = str | int | float | bool | Decimal | Moment | IRI | BlankNode | Literal
"""The Python types of terms."""


def literal_text(lexical: str, datatype: str | None = None, language: str | None = None) -> str:
    """The text of a literal given as in RDF.

    >>> literal_text("42", XSD + "integer"), literal_text("A", language="EN")
    ('42', '"A"@en')
    """
    if language is not None:
        return f'"{lexical}"@{language.lower()}'
    if datatype is None or datatype == XSD + "string":
        return f'"{lexical}"'
    canonical = CANONICAL.get(datatype)
    if canonical is not None and canonical.fullmatch(lexical):
        return lexical
    return f'"{lexical}"^^<{datatype}>'


def decimal_text(number: Decimal) -> str:
    """The canonical text of a decimal.

    >>> decimal_text(Decimal("1.00")), decimal_text(Decimal("-0.50"))
    ('1.0', '-0.5')
    """
    if not number.is_finite():
        raise ValueError(f"{number} is not a decimal number")
    whole, _, fraction = f"{number:f}".partition(".")
    negative, digits = whole.startswith("-"), whole.lstrip("+-").lstrip("0") or "0"
    fraction = fraction.rstrip("0") or "0"
    negative = negative and (digits, fraction) != ("0", "0")
    return f"{'-' if negative else ''}{digits}.{fraction}"


def double_text(number: float) -> str:
    """The canonical text of a double.

    >>> double_text(1.0), double_text(-1250.0), double_text(float("inf"))
    ('1.0E0', '-1.25E3', '"INF"^^<http://www.w3.org/2001/XMLSchema#double>')
    """
    if math.isnan(number):
        return literal_text("NaN", XSD + "double")
    if number in (float("inf"), float("-inf")):
        return literal_text("INF" if number > 0 else "-INF", XSD + "double")
    sign, digits, exponent = Decimal(repr(float(number))).as_tuple()
    assert isinstance(exponent, int)
    prefix = "-" if sign else ""
    shown = "".join(map(str, digits)).lstrip("0")
    if not shown:
        return prefix + "0.0E0"
    power = exponent + len(shown) - 1
    return f"{prefix}{shown[0]}.{shown[1:].rstrip('0') or '0'}E{power}"


def is_convertible(digits: str) -> bool:
    """Whether Python converts these digits to an int: by default up to 4,300, because that takes quadratic time.

    >>> is_convertible("42"), is_convertible("9" * 5000)
    (True, False)
    """
    if len(digits) <= sys.int_info.str_digits_check_threshold:
        return True
    most = sys.get_int_max_str_digits()
    return most == 0 or len(digits.lstrip("+-")) <= most


def whole_text(number: int) -> str:
    """The text of an integer of any size; ``str`` refuses integers of more than 4,300 digits.

    >>> whole_text(-42), len(whole_text(10**5000))
    ('-42', 5001)
    """
    if number.bit_length() < SHORT_BITS:
        return str(int(number))
    return f"{Decimal(number):f}"


def text_of(value: object) -> str:
    """The text of a Python value.

    >>> [text_of(v) for v in ("alice", 42, 1.0, True, IRI("http://e.org/a"), BlankNode("b"))]
    ['"alice"', '42', '1.0E0', 'true', '<http://e.org/a>', '_:b']
    """
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return whole_text(value)
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, IRI):
        return f"<{value.value}>"
    if isinstance(value, BlankNode):
        return f"_:{value.label}"
    if isinstance(value, Literal):
        return literal_text(value.lexical, value.datatype, value.language)
    if isinstance(value, datetime.datetime):
        return literal_text(_moment(value), XSD + "dateTime")
    if isinstance(value, datetime.date):
        return literal_text(value.isoformat(), XSD + "date")
    if isinstance(value, datetime.time):
        return literal_text(_time(value), XSD + "time")
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return text_of(value.item())
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be a term")


def _moment(value: datetime.datetime) -> str:
    """XSD's canonical form: in UTC if there is a zone, no zeros at the end of the fraction."""
    if value.tzinfo is None:
        return _shortened(value.isoformat())
    try:
        moved = value.astimezone(datetime.UTC)
    except OverflowError:
        raise ValueError(f"{value} is outside the years 1 to 9999 in UTC") from None
    return _moment(moved.replace(tzinfo=None)) + "Z"


def _time(value: datetime.time) -> str:
    """A time of day, with the offset of its zone if it has one."""
    plain = value.replace(tzinfo=None).isoformat()
    offset = value.isoformat().removeprefix(plain)
    if value.tzinfo is not None and _OFFSET.fullmatch(offset) is None:
        raise ValueError(f"the zone of {value!r} is no offset of whole minutes up to 14 hours")
    return _shortened(plain) + ("Z" if offset == "+00:00" else offset)


def _shortened(written: str) -> str:
    """A time without the zeros at the end of its fraction.

    >>> _shortened("12:00:00.500000"), _shortened("12:00:00")
    ('12:00:00.5', '12:00:00')
    """
    return written.rstrip("0").removesuffix(".") if "." in written else written


def value_of(text: str) -> Value:
    """The Python value of a text; the inverse of :func:`text_of`.

    A literal becomes a date, timestamp, time or double only if converting that back gives its text; others, such as
    ``"2026-01-31+01:00"^^xsd:date``, are a :class:`Literal`. So is an integer of more digits than Python converts.

    >>> [value_of(t) for t in ('"alice"', "42", "1.5", "1.0E0", "true", '"A"@en')]
    ['alice', 42, Decimal('1.5'), 1.0, True, Literal(lexical='A', datatype=None, language='en')]
    >>> value_of('"2026-01-31T12:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>')
    datetime.datetime(2026, 1, 31, 12, 0, tzinfo=datetime.timezone.utc)
    """
    first = text[0]
    if first == '"':
        return _literal(text)
    if first == "<":
        return stored_iri(text[1:-1])
    if first == "_":
        return stored_blank(text[2:])
    if first in "tf":
        return text == "true"
    if "E" in text:
        return _double(text)
    if "." in text:
        return Decimal(text)
    return int(text) if is_convertible(text) else Literal(text, XSD + "integer")


def _literal(text: str) -> Value:
    end = text.rindex('"')
    lexical, suffix = text[1:end], text[end + 1 :]
    if not suffix:
        return lexical
    if suffix[0] == "@":
        return stored_literal(lexical, language=suffix[1:])
    datatype = suffix[3:-1]
    read = _READERS.get(datatype)
    try:
        value = None if read is None else read(lexical)
    except ValueError:  # such as the 31st of February
        value = None
    return stored_literal(lexical, datatype) if value is None else value


def _double(text: str) -> Value:
    """The double of a text if it is written with the fewest digits that identify the double, otherwise a literal.

    Up to 15 digits are always the fewest; longer texts are compared with the digits that Python writes.
    """
    number = float(text)
    if len(text) <= 18:
        exact = 1e-300 < abs(number) < 1e300 or double_text(number) == text
    else:
        digits = text[: text.index("E")].replace(".", "").lstrip("-").rstrip("0")
        exact = digits in repr(number).replace(".", "")
    return number if exact else stored_literal(text, XSD + "double")


def _special(lexical: str) -> float | None:
    return float(lexical) if lexical in ("INF", "-INF", "NaN") else None


def _date(lexical: str) -> datetime.date | None:
    return datetime.date.fromisoformat(lexical) if _DATE.fullmatch(lexical) else None


def _date_time(lexical: str) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(lexical) if _DATE_TIME.fullmatch(lexical) else None


def _time_of_day(lexical: str) -> datetime.time | None:
    value = datetime.time.fromisoformat(lexical)
    return value if _time(value) == lexical else None


_READERS = {XSD + "double": _special, XSD + "date": _date, XSD + "dateTime": _date_time, XSD + "time": _time_of_day}
"""For each datatype with Python values, the conversion: None, or a ValueError, for other lexical forms than its own."""
