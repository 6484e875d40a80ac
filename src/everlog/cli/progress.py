"""Displays of the progress of a command on stderr: none, plain lines, or JSON. See also ``live``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic, EverlogError
from everlog.lang.visible import masked, visible_lines
from everlog.reasoning.statistics import RoundEvent

if TYPE_CHECKING:
    from everlog.ingest.amounts import Amount

SECONDS_BETWEEN = 2.0
"""Minimum number of seconds between two plain lines about rounds."""


class Progress:
    """Observer of the progress of a command. This base class ignores all events except errors, which it shows."""

    shows_amounts = False
    """Whether the display shows amounts, so that they have to be computed."""
    shows_warnings = False
    """Whether warnings are shown by a display that shows nothing else."""
    strict = False
    """Whether warnings end the command."""
    warned = 0
    """The number of warnings so far."""

    def warn(self, found: Diagnostic) -> None:
        """Count a warning and show it."""
        self.warned += found.severity is Severity.WARNING
        self.warning(found)

    def refuse_warnings(self) -> None:
        """Raise an error if there were warnings and they end the command."""
        if self.strict and self.warned:
            warnings = "a warning is an error" if self.warned == 1 else f"{self.warned:,} warnings are errors"
            hint = "correct what is warned of, or leave out --warnings error"
            raise EverlogError.of(Code.WARNINGS, f"{warnings} here (--warnings error)", None, hint)

    def phase(self, name: str) -> None:
        """Called when a phase begins; the phase before it has ended."""

    def round_done(self, event: RoundEvent) -> None:
        """Called after a round of reasoning."""

    def amount(self, amount: Amount) -> None:
        """Called with the finished amount of the current phase."""

    def compiling(self, kernel: str) -> None:
        """Called when a kernel has to be compiled: after installation, or after a change of the machine."""

    def warning(self, found: Diagnostic) -> None:
        """Called with each warning."""
        if self.strict or self.shows_warnings:
            print(found, file=sys.stderr)

    def note(self, message: str, **data: Any) -> None:
        """Called with a message; ``data`` has more about it for programs."""

    def result(self, message: str = "", **data: Any) -> None:
        """Called when the command is done; ``data`` has its result for programs."""

    def failed(self, found: Iterable[Diagnostic]) -> None:
        """Called with the errors that end the command."""
        self.close()
        print("\n\n".join(map(str, found)), file=sys.stderr)

    def close(self) -> None:
        """Called at the end of the command."""


class Lines(Progress):
    """Prints a line for each phase, and at most one line about rounds every ``SECONDS_BETWEEN`` seconds."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._last = self._begun
        self._compiling = False

    def phase(self, name: str) -> None:
        self._print(name)

    def round_done(self, event: RoundEvent) -> None:
        if time.monotonic() - self._last >= SECONDS_BETWEEN:
            self._print(round_text(event))

    def compiling(self, kernel: str) -> None:
        if not self._compiling:
            self._compiling = True
            self._print(COMPILING)

    def warning(self, found: Diagnostic) -> None:
        print(found, file=sys.stderr)

    def note(self, message: str, **data: Any) -> None:
        self._print(message)

    def result(self, message: str = "", **data: Any) -> None:
        if message:
            self._print(message)

    def _print(self, message: str) -> None:
        self._last = time.monotonic()
        print(f"everlog {self._last - self._begun:6.1f} s  {shown(message)}", file=sys.stderr, flush=True)


class JsonLines(Progress):
    """Prints one JSON object on each line: ``time``, ``event``, and the data of the event."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def phase(self, name: str) -> None:
        self._print("phase", phase=name)

    def round_done(self, event: RoundEvent) -> None:
        self._print("round", **asdict(event))

    def compiling(self, kernel: str) -> None:
        self._print("compile", kernel=kernel)

    def warning(self, found: Diagnostic) -> None:
        self._print("warning", **diagnostic_data(found))

    def note(self, message: str, **data: Any) -> None:
        self._print("log", message=masked(message), **data)

    def result(self, message: str = "", **data: Any) -> None:
        self._print("result", **data)

    def failed(self, found: Iterable[Diagnostic]) -> None:
        for each in found:
            self._print("error", **diagnostic_data(each))

    def _print(self, event: str, **data: Any) -> None:
        seconds = round(time.monotonic() - self._begun, 3)
        record = {"time": datetime.now(UTC).isoformat(), "seconds_so_far": seconds, "event": event, **data}
        print(json.dumps(record, ensure_ascii=False), file=sys.stderr, flush=True)


COMPILING = "compiling kernels; this happens once after installation"


def shown(message: str) -> str:
    """A message without secrets in addresses and without control characters."""
    return visible_lines(masked(message))


def round_text(event: RoundEvent) -> str:
    """The text about a round. Where facts are deleted, the number of new facts is negative.

    >>> round_text(RoundEvent(1, 2, 7, 10, 1234, 5000)), round_text(RoundEvent(1, 2, 8, -10, 1224, 5000))
    ('stratum 1 of 2, round 7: 1,234 facts, 10 new', 'stratum 1 of 2, round 8: 1,224 facts, 10 deleted')
    """
    where = f"stratum {event.stratum} of {event.strata}, round {event.round}"
    return f"{where}: {event.facts:,} facts, {abs(event.new_facts):,} {'new' if event.new_facts >= 0 else 'deleted'}"


def diagnostic_data(found: Diagnostic) -> dict[str, Any]:
    """A diagnostic as plain data.

    >>> diagnostic_data(Diagnostic(Code.ARITY, "two arities"))
    {'code': 'arity', 'message': 'two arities'}
    """
    record: dict[str, Any] = {"code": found.code, "message": masked(found.message), "hint": masked(found.hint or "")}
    if found.place is not None:
        record |= {"file": masked(found.place.file), "line": found.place.line, "column": found.place.column}
    record["notes"] = [masked(note) if place is None else f"{masked(note)} ({place})" for note, place in found.notes]
    return {key: value for key, value in record.items() if value not in (None, "", [])}
