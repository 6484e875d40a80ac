"""The tables of a profile, for text and for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everlog.lang.layout import cut
from everlog.profiling.figures import Figures

SHOWN = 12
"""Maximum number of strata, rules and rounds listed as text."""

NOTABLE = 1.0
"""Minimum number of seconds outside all rounds that is shown."""

WIDEST = 100
"""Maximum number of characters of a rule as text."""

PHASES = {
    "forward": "derive",
    "delete": "overdelete",
    "backward": "look for other proofs",
    "bookkeeping": "count derivations",
    "deleted": "derivations deleted",
    "added": "derivations inserted",
    "module": "module",
}
"""The names of phases in tables."""


@dataclass(frozen=True)
class ProfileTable:
    """A table with its title; ``note`` explains it. Columns from ``left`` on are texts, the others numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int
    note: str = ""
    more: int = 0
    """The number of rows that are not shown."""


def tables(profile: Figures, shown: int = SHOWN) -> Iterator[ProfileTable]:
    """The strata, the heaviest rules and the heaviest rounds."""
    strata = sorted(profile.strata, key=lambda each: -each.seconds)
    columns: tuple[str, ...] = ("seconds", "share", "instances", "facts", "rounds", "stratum", "derives")
    yield _table("strata", columns, 6, strata, profile, shown)
    note = "matching and dropping repeated facts; merging is not measured by rule"
    if any(each.rules > 1 for each in profile.rules):
        note = "Spark evaluates some rules together: their time is one, instances are given by what they derive"
    columns = ("seconds", "share", "instances", "passes", "stratum", "phase", "rule")
    yield _table("rules", columns, 5, profile.rules, profile, shown, note)
    columns = ("seconds", "share", "matching", "instances", "facts", "stratum", "round", "phase")
    yield _table("rounds", columns, 7, profile.heaviest_rounds, profile, shown, "the heaviest first")


def summary(profile: Figures) -> str:
    """A summary of a profile in one line."""
    rounds = sum(each.seconds for each in profile.rounds)
    outside = profile.seconds - rounds
    return (
        f"{profile.seconds:.3f} s of reasoning: {profile.matching:.3f} s matching {profile.instances:,} instances of "
        f"rules and running modules, {rounds - profile.matching:.3f} s merging facts and counters"
        + (f", {outside:.3f} s before and after" if outside >= NOTABLE else "")
    )


def text_lines(profile: Figures) -> Iterator[str]:
    """The lines of the tables for a terminal."""
    yield f"profile    {summary(profile)}"
    for table in tables(profile):
        if table.rows:
            yield ""
            yield f"{table.title}{f' ({table.note})' if table.note else ''}"
            yield from _aligned(table)
            if table.more:
                yield f"and {table.more:,} more"


CELLS: Mapping[str, Callable[[Any, Figures], str]] = {
    "seconds": lambda each, profile: f"{each.seconds:.3f}",
    "share": lambda each, profile: _share(each.seconds, profile),
    "matching": lambda each, profile: f"{each.matching:.3f}",
    "instances": lambda each, profile: f"{each.instances:,}",
    "facts": lambda each, profile: f"{each.new_facts:+,}",
    "rounds": lambda each, profile: f"{each.rounds:,}",
    "passes": lambda each, profile: f"{each.passes:,}",
    "stratum": lambda each, profile: str(each.stratum),
    "round": lambda each, profile: f"{each.number:,}",
    "phase": lambda each, profile: PHASES.get(each.phase, each.phase),
    "derives": lambda each, profile: str(each.derives),
    "rule": lambda each, profile: str(each.rule),
}
"""The cell of a column for a stratum, a rule or a round."""


def _table(
    title: str, columns: Sequence[str], left: int, found: Sequence[Any], profile: Figures, shown: int, note: str = ""
) -> ProfileTable:
    rows = [tuple(CELLS[name](each, profile) for name in columns) for each in found[:shown]]
    return ProfileTable(title, columns, rows, left, note, max(0, len(found) - shown))


def _share(seconds: float, profile: Figures) -> str:
    return f"{100 * seconds / profile.seconds:.0f}%" if profile.seconds else ""


def _aligned(table: ProfileTable) -> Iterator[str]:
    rows = [[cut(cell, WIDEST) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if number >= table.left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
