"""Facts that a format cannot represent: an error before anything is written, or counted if they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, EverlogError
from everlog.lang.layout import counted
from everlog.lang.syntax import Predicate

MOST_SHOWN = 5
"""Maximum number of predicates that a warning names for one reason."""


@dataclass
class LeftOut:
    """Counts the facts that cannot be written, by reason and predicate."""

    reasons: dict[str, dict[Predicate, int]] = field(default_factory=dict)

    def add(self, reason: str, predicate: Predicate, count: int) -> None:
        """Count some facts of a predicate that cannot be written."""
        if count:
            found = self.reasons.setdefault(reason, {})
            found[predicate] = found.get(predicate, 0) + count

    def __len__(self) -> int:
        return sum(sum(found.values()) for found in self.reasons.values())

    def lines(self) -> Iterator[str]:
        """The lines that describe what is left out, one for each reason.

        >>> left_out = LeftOut()
        >>> left_out.add("the predicate is not an IRI", Predicate("edge", 2), 7)
        >>> list(left_out.lines())
        ['left out 7 facts: the predicate is not an IRI']
        """
        for reason, found in self.reasons.items():
            yield f"left out {counted(sum(found.values()), 'fact')}: {reason}"

    def refuse(self) -> None:
        """Raise an error that lists all these facts, if there are any."""
        if not self.reasons:
            return
        hint = "choose others with --predicate, or leave these facts out with --on-error skip"
        found = [
            Diagnostic(
                Code.NOT_WRITABLE, f"{counted(sum(mine.values()), 'fact')} of {_names(mine)} cannot be written: {why}"
            )
            for why, mine in self.reasons.items()
        ]
        raise EverlogError([*found[:-1], Diagnostic(found[-1].code, found[-1].message, hint=hint)])


def _names(found: dict[Predicate, int]) -> str:
    shown = ", ".join(f"`{predicate}`" for predicate in list(found)[:MOST_SHOWN])
    return shown if len(found) <= MOST_SHOWN else f"{shown} and {len(found) - MOST_SHOWN:,} more predicates"
