"""The tables of a profile, for text and for the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    "deleted": "derivations lost",
    "added": "derivations won",
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
    yield _strata(profile, shown)
    yield _rules(profile, shown)
    yield _rounds(profile, shown)


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


def _strata(profile: Figures, shown: int) -> ProfileTable:
    found = sorted(profile.strata, key=lambda each: -each.seconds)
    rows = [
        (
            f"{each.seconds:.3f}",
            _share(each.seconds, profile),
            f"{each.instances:,}",
            f"{each.new_facts:+,}",
            f"{each.rounds:,}",
            str(each.stratum),
            each.derives,
        )
        for each in found[:shown]
    ]
    columns = ("seconds", "share", "instances", "facts", "rounds", "stratum", "derives")
    return ProfileTable("strata", columns, rows, 6, more=max(0, len(found) - shown))


def _rules(profile: Figures, shown: int) -> ProfileTable:
    found = profile.rules
    rows = [
        (
            f"{each.seconds:.3f}",
            _share(each.seconds, profile),
            f"{each.instances:,}",
            f"{each.passes:,}",
            str(each.stratum),
            PHASES.get(each.phase, each.phase),
            each.rule,
        )
        for each in found[:shown]
    ]
    columns = ("seconds", "share", "instances", "passes", "stratum", "phase", "rule")
    note = "matching and dropping repeated facts; merging is not measured by rule"
    if any(each.rules > 1 for each in found):
        note = "Spark evaluates some rules together: their time is one, instances are given by what they derive"
    return ProfileTable("rules", columns, rows, 5, note, max(0, len(found) - shown))


def _rounds(profile: Figures, shown: int) -> ProfileTable:
    found = profile.heaviest_rounds
    rows = [
        (
            f"{each.seconds:.3f}",
            _share(each.seconds, profile),
            f"{each.matching:.3f}",
            f"{each.instances:,}",
            f"{each.new_facts:+,}",
            str(each.stratum),
            f"{each.number:,}",
            PHASES.get(each.phase, each.phase),
        )
        for each in found[:shown]
    ]
    columns = ("seconds", "share", "matching", "instances", "facts", "stratum", "round", "phase")
    return ProfileTable("rounds", columns, rows, 7, "the heaviest first", max(0, len(found) - shown))


def _share(seconds: float, profile: Figures) -> str:
    return f"{100 * seconds / profile.seconds:.0f}%" if profile.seconds else ""


def _aligned(table: ProfileTable) -> Iterator[str]:
    rows = [[_cut(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if number >= table.left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."
