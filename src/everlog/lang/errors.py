"""Errors for the person who has to fix the input.

Everything a user can cause is an :class:`EverlogError`. The command line prints it and ends with
status 1; it never shows a traceback for one.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from everlog.lang.codes import Code, Severity
from everlog.lang.visible import masked, visible

LONGEST_LINE = 160
"""Maximum number of characters shown of a source line; of a longer one, those around the column are shown."""

LONGEST_TEXT = 2000
"""Maximum number of characters shown of a message, a note or a hint."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an input: a file (or another name of the input), line, column, and the text of the line.

    Lines and columns count from 1. ``width`` is how many characters the caret underlines. ``text`` may be cut
    at its end.
    """

    file: str
    line: int | None = None
    column: int | None = None
    text: str | None = None
    width: int = 1

    def __str__(self) -> str:
        parts = (_shown(self.file), self.line, self.column)
        return ":".join(str(part) for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake or warning: its code in the registry, what is wrong, where, and what to do about it.

    >>> place = Place("r.rls", 1, 6, "p(?x, ?y) :- q(?x) .", 2)
    >>> print(Diagnostic(Code.UNSAFE_VARIABLE, "?y is not bound", place, "use ?y in a positive atom"))
    error[unsafe-variable]: ?y is not bound
      --> r.rls:1:6
       |
     1 | p(?x, ?y) :- q(?x) .
       |      ^^
      = help: use ?y in a positive atom
    """

    code: Code
    message: str
    place: Place | None = None
    hint: str | None = None
    notes: tuple[tuple[str, Place | None], ...] = ()
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        lines = [f"{self.severity}[{self.code}]: {_shown(self.message)}", *_excerpt(self.place)]
        for note, place in self.notes:
            lines += [f"  = note: {_shown(note)}", *_excerpt(place)]
        if self.hint:
            lines.append(f"  = help: {_shown(self.hint)}")
        return "\n".join(lines)


def _shown(text: str) -> str:
    """A text as messages show it: cut if it is too long, without secrets and control characters."""
    text = masked(text)
    if len(text) > LONGEST_TEXT:
        text = f"{text[: LONGEST_TEXT // 2]} ... {text[-LONGEST_TEXT // 2 :]}"
    return visible(text)


def _excerpt(place: Place | None) -> list[str]:
    """The lines that show a place: its name, and the source line around its column with the caret below."""
    if place is None:
        return []
    lines = [f"  --> {place}"]
    if place.text is not None and place.line is not None:
        gutter = " " * len(str(place.line))
        column = place.column if place.column is not None and place.column <= len(place.text) + 1 else None
        before, marked, after = _cut_around(place.text.replace("\t", " "), column or 1, place.width)
        lines += [f" {gutter} |", f" {place.line} | {before}{marked}{after}"]
        if column is not None:
            lines.append(f" {gutter} | {' ' * len(before)}{'^' * max(1, len(marked))}")
    return lines


def _cut_around(text: str, column: int, width: int) -> tuple[str, str, str]:
    """The parts of a line that are shown before, at and after a column."""
    at = column - 1
    start = 0 if len(text) <= LONGEST_LINE else max(0, min(at - LONGEST_LINE // 2, len(text) - LONGEST_LINE))
    end = min(len(text), start + LONGEST_LINE)
    last = min(at + max(1, width), end)
    before = ("..." if start else "") + visible(text[start:at])
    after = visible(text[last:end]) + ("..." if end < len(text) else "")
    return before, visible(text[at:last]), after


class EverlogError(Exception):
    """An error that the user can fix. Holds every diagnostic that was found at once."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = found
        super().__init__(found)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.diagnostics))

    @classmethod
    def of(cls, code: Code, message: str, place: Place | None = None, hint: str | None = None) -> Self:
        """An error with one diagnostic."""
        return cls(Diagnostic(code, message, place, hint))


class RuleError(EverlogError):
    """A rule file, program text or query is wrong."""


class DataError(EverlogError):
    """A fact file or a value is wrong."""


class TermError(DataError, ValueError):
    """A value that cannot be a term: an IRI, a blank node or a literal with characters that it cannot have."""


class StoreError(EverlogError):
    """A store cannot be read, written or changed in the requested way."""


class AnotherWriterError(StoreError):
    """Another writer is at work in the store, or committed first; nothing was changed."""


class DamagedLogError(StoreError):
    """The log of a store cannot be read, or contradicts itself."""


class UnknownPredicateError(EverlogError, KeyError):
    """A predicate that the knowledge base does not know."""


class LimitError(EverlogError):
    """A limit on facts, time or memory was reached; nothing was changed."""


class FactLimitError(LimitError):
    """There are more facts than are allowed; nothing was changed."""


class EverlogWarning(UserWarning):
    """A warning: an input that is allowed but probably not meant, or a failure that did no harm.

    Everlog passes it to Python's ``warnings``; the command line shows it as a diagnostic on stderr.
    """

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic)

    def __str__(self) -> str:
        return str(self.diagnostic)


MOST_ALIKE = 10
"""Maximum number of warnings with one code that are shown at once."""


def abridged(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """At most the first ``MOST_ALIKE`` warnings of each code, then one warning with the number of the others.

    >>> many = [Diagnostic(Code.SINGLE_USE, f"the variable `?{name}` is used once") for name in "abcdefghijkl"]
    >>> [each.message for each in abridged(many)][9:]
    ['the variable `?j` is used once', '2 more warnings like these']
    """
    counts: dict[Code, int] = {}
    for each in found:
        counts[each.code] = counts.get(each.code, 0) + 1
        if counts[each.code] <= MOST_ALIKE:
            yield each
    for code, count in counts.items():
        if count > MOST_ALIKE:
            left = count - MOST_ALIKE
            message = f"{left:,} more warning{'s' * (left > 1)} like these"
            yield Diagnostic(code, message, severity=Severity.WARNING)


def warn(found: Diagnostic) -> None:
    """Issue a warning through Python's ``warnings``, at the line of the user's code that called Everlog.

    A note, which is no warning, becomes a log line.

    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn(Diagnostic(Code.POSSIBLE_TYPO, "`parnet` has no rule and no fact", severity=Severity.WARNING))
    >>> print(seen[0].message)
    warning[possible-typo]: `parnet` has no rule and no fact
    """
    if found.severity is not Severity.WARNING:
        log.info("%s", found)
        return
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __package__.split(".")[0]:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(EverlogWarning(found), stacklevel=depth)
