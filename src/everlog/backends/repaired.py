"""What an update changed, as a back end reports it once it is written: files, numbers, and figures for the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from everlog.engine.algebra import AnyFactSet
from everlog.lang.errors import Diagnostic
from everlog.lang.internal import VIOLATION
from everlog.lang.syntax import Predicate
from everlog.reasoning.seen_change import SeenChange
from everlog.reasoning.statistics import UpdateStatistics

Sizes = Mapping[Predicate, int]


@dataclass(frozen=True)
class NewRules:
    """The rules of a version after a change of them, and what goes with them.

    ``texts`` are the rules added, removed and there already, as they are written, ``terms`` files of new terms.
    """

    rules: str
    bookkeeping: str
    closures: Sequence[dict[str, Any]]
    modules: bool
    terms: tuple[str, ...]
    texts: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Repaired:
    """The data files of an update, how many facts of each predicate it changed, and its figures for the store."""

    files: list[Path]
    inserted: Sizes
    deleted: Sizes
    explicit_inserted: Sizes
    explicit_deleted: Sizes
    not_explicit: int
    stats: UpdateStatistics
    figures: dict[str, Any]
    counted: bool
    rules: NewRules | None = None
    """Of a change of the rules."""

    def __bool__(self) -> bool:
        if self.rules is not None and any(self.rules.texts[:2]):
            return True
        return bool(self.inserted or self.deleted or self.explicit_inserted or self.explicit_deleted)


def repaired(
    seen: SeenChange,
    idle: int,
    said: Mapping[str, Any],
    sizes: Callable[[AnyFactSet], Sizes],
    write: Callable[[Sizes], list[Path]],
) -> Repaired:
    """Write a change; ``said`` are the figures of the version before, ``idle`` how many deletions did nothing.

    ``sizes`` says how many facts there are of each predicate that has some; ``write`` is given how many there are
    of each to be written.
    """
    sides = seen.inserted, seen.deleted, seen.explicit_inserted, seen.explicit_deleted, seen.listed, seen.unlisted
    inserted, deleted, won, lost, more, less = map(sizes, sides)
    files = write(_together(more, less)) if inserted or deleted or won or lost else []
    new, stats = seen.change.materialisation, seen.change.statistics
    figures = {
        **said,
        "facts": said["facts"] + sum(inserted.values()) - sum(deleted.values()),
        "listed": said.get("listed", said["facts"]) + sum(more.values()) - sum(less.values()),
        "explicit": said["explicit"] + sum(won.values()) - sum(lost.values()),
        "violations": said.get("violations", 0) + inserted.get(VIOLATION, 0) - deleted.get(VIOLATION, 0),
        "instances": new.instances,
        "modules": bool(seen.hidden),
        "update": asdict(stats),
    }
    figures["derived"] = figures["facts"] - figures["explicit"]
    return Repaired(files, inserted, deleted, won, lost, idle, stats, figures, new.nr is not None)


def _together(one: Sizes, other: Sizes) -> dict[Predicate, int]:
    return {p: one.get(p, 0) + other.get(p, 0) for p in {*one, *other}}
