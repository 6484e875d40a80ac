"""The effect of a change on a store, as lines of text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from everlog.lang.internal import VIOLATION
from everlog.lang.layout import aligned, counted, violations_line

if TYPE_CHECKING:
    from everlog.kb.change import Change

SHOWN = 25
"""Maximum number of predicates listed."""


def described_change(change: Change, taken: Mapping[str, float], store: str, violations: int) -> Iterator[str]:
    """The lines that describe a change; ``taken`` are the seconds of its phases.

    ``violations`` is the number of violations in the store after the change.
    """
    figures = change.stats
    idle = f"; {counted(change.not_explicit, 'deletion')} did nothing" if change.not_explicit else ""
    reason = f" ({figures.reason})" if figures.reason else ""
    phases = ", ".join(f"{name} {number:,}" for name, number in figures.instances.items() if number)
    seconds = ", ".join(f"{name} {each:.2f}" for name, each in taken.items())
    yield f"explicit   {_plus_minus(change.explicit_inserted, change.explicit_deleted)}{idle}"
    yield f"facts      {_plus_minus(change.inserted, change.deleted)}"
    inserted, deleted = len(change.inserted.get(VIOLATION, ())), len(change.deleted.get(VIOLATION, ()))
    yield from violations_line(violations, store, f", +{inserted:,} -{deleted:,}" if inserted or deleted else "")
    yield f"algorithm  {figures.algorithm}{reason}"
    yield f"instances  {figures.total_instances:,}{': ' if phases else ''}{phases}"
    yield f"seconds    {sum(taken.values()):.2f}: {seconds}"
    rows = by_predicate(change)
    if rows:
        yield ""
        shown = [(name, f"+{inserted:,}", f"-{deleted:,}") for name, inserted, deleted in rows[:SHOWN]]
        yield from aligned(("predicate", "inserted", "deleted"), shown)
    if len(rows) > SHOWN:
        yield f"and {len(rows) - SHOWN:,} more predicates"


def by_predicate(change: Change) -> Sequence[tuple[str, int, int]]:
    """The numbers of facts inserted and deleted for each predicate that changed, the largest change first."""
    found = [
        (str(p), len(change.inserted.get(p, ())), len(change.deleted.get(p, ())))
        for p in {*change.inserted, *change.deleted}
    ]
    return sorted(found, key=lambda row: (-row[1] - row[2], row[0]))


def changed_counts(change: Change) -> dict[str, Any]:
    """The numbers of a change as data."""
    return {
        "inserted": _count(change.inserted),
        "deleted": _count(change.deleted),
        "explicit_inserted": _count(change.explicit_inserted),
        "explicit_deleted": _count(change.explicit_deleted),
        "not_explicit": change.not_explicit,
        "predicates": {
            name: {"added": inserted, "removed": deleted} for name, inserted, deleted in by_predicate(change)
        },
    }


def _count(relations: Any) -> int:
    return sum(len(rows) for rows in relations.values())


def _plus_minus(inserted: Any, deleted: Any) -> str:
    return f"+{_count(inserted):,} -{_count(deleted):,}"
