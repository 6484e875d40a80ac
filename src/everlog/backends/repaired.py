"""The report of an update by a back end, made once the change is written: files, sizes, and figures for the store."""

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
    """The rules of a version after they were changed, with the entries of the version that depend on them.

    ``texts`` are the texts of the rules added, of those removed, and of those to add that the version had already;
    ``terms`` are files of new terms.
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
    """The data files of an update, the number of facts of each predicate that it changed, and figures for the store."""

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
    """The new rules, if the update changed rules; None if it changed facts."""

    def __bool__(self) -> bool:
        if self.rules is not None and any(self.rules.texts[:2]):
            return True
        return bool(self.inserted or self.deleted or self.explicit_inserted or self.explicit_deleted)


def repaired(
    seen: SeenChange,
    not_explicit: int,
    previous: Mapping[str, Any],
    sizes: Callable[[AnyFactSet], Sizes],
    write: Callable[[Sizes], list[Path]],
) -> Repaired:
    """Write a change and report it.

    ``not_explicit`` is the number of facts to delete that were not explicit, ``previous`` the figures of the version
    that was updated. ``sizes`` returns the number of facts of each predicate in a set, without zeros; ``write`` takes
    the number of rows of each predicate and returns the files written.
    """
    sides = seen.inserted, seen.deleted, seen.explicit_inserted, seen.explicit_deleted, seen.listed, seen.unlisted
    inserted, deleted, explicit_inserted, explicit_deleted, listed, unlisted = map(sizes, sides)
    is_changed = inserted or deleted or explicit_inserted or explicit_deleted
    files = write(_sum_of(listed, unlisted)) if is_changed else []
    new, stats = seen.change.materialisation, seen.change.statistics
    figures = {
        **previous,
        "facts": previous["facts"] + sum(inserted.values()) - sum(deleted.values()),
        "listed": previous.get("listed", previous["facts"]) + sum(listed.values()) - sum(unlisted.values()),
        "explicit": previous["explicit"] + sum(explicit_inserted.values()) - sum(explicit_deleted.values()),
        "violations": previous.get("violations", 0) + inserted.get(VIOLATION, 0) - deleted.get(VIOLATION, 0),
        "instances": new.instances,
        "modules": bool(seen.hidden),
        "update": asdict(stats),
    }
    figures["derived"] = figures["facts"] - figures["explicit"]
    return Repaired(
        files,
        inserted,
        deleted,
        explicit_inserted,
        explicit_deleted,
        not_explicit,
        stats,
        figures,
        counted=new.nr is not None,
    )


def _sum_of(one: Sizes, other: Sizes) -> dict[Predicate, int]:
    """The sizes of two sets added up by predicate."""
    return {p: one.get(p, 0) + other.get(p, 0) for p in {*one, *other}}
