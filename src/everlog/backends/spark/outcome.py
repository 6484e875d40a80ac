"""What an update changed, as a store writes it down: whichever engine has repaired the facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.algebra import AnyFactSet
from everlog.lang.internal import VIOLATION
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import AnySignedChange
from everlog.reasoning.materialisation import C
from everlog.reasoning.modules.boundary import bridged
from everlog.reasoning.statistics import UpdateStatistics

Sizes = Mapping[Predicate, int]


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

    def __bool__(self) -> bool:
        return bool(self.inserted or self.deleted or self.explicit_inserted or self.explicit_deleted)


@dataclass(frozen=True)
class Outcome:
    """An update that was computed, under the names that users see.

    ``generated`` are the predicates of which a store lists only what feeds their modules, ``explicit`` the explicit
    facts before, and ``delete`` what was to be deleted.
    """

    program: StratifiedProgram
    generated: frozenset[Predicate]
    explicit: AnyFactSet
    delete: AnyFactSet
    done: AnySignedChange

    @cached_property
    def lost(self) -> AnyFactSet:
        """What is no longer explicit."""
        return self.done.explicit_deleted.renamed(self._shown)

    @cached_property
    def won(self) -> AnyFactSet:
        """What has become explicit."""
        return self.done.explicit_inserted.renamed(self._shown)

    @cached_property
    def went(self) -> AnyFactSet:
        """What no longer holds."""
        return self._visible(self.done.deleted)

    @cached_property
    def came(self) -> AnyFactSet:
        """What has come to hold."""
        return self._visible(self.done.inserted)

    @cached_property
    def unlisted(self) -> AnyFactSet:
        """What a store no longer lists."""
        return self._listed(self.went, self.done.deleted)

    @cached_property
    def listed(self) -> AnyFactSet:
        """What a store lists only now."""
        return self._listed(self.came, self.done.inserted)

    def seen(self, counts: C) -> C:
        """Counters under the names that users see, without those of which they see nothing."""
        inside = bridged(self.program)
        return counts.restricted([p for p in counts if p not in inside]).renamed(self._shown)

    def repaired(
        self,
        said: Mapping[str, Any],
        sizes: Callable[[AnyFactSet], Sizes],
        write: Callable[[Sizes], list[Path]],
    ) -> Repaired:
        """The outcome once it is written; ``said`` are the figures of the version before.

        ``sizes`` says how many facts there are of each predicate that has some; ``write`` is given how many there are
        of each to be written.
        """
        parts = (self.came, self.went, self.won, self.lost, self.listed, self.unlisted)
        inserted, deleted, won, lost, more, less = map(sizes, parts)
        files = write(_together(more, less)) if inserted or deleted or won or lost else []
        new = self.done.materialisation
        figures = {
            **said,
            "facts": said["facts"] + sum(inserted.values()) - sum(deleted.values()),
            "listed": said.get("listed", said["facts"]) + sum(more.values()) - sum(less.values()),
            "explicit": said["explicit"] + sum(won.values()) - sum(lost.values()),
            "violations": said.get("violations", 0) + inserted.get(VIOLATION, 0) - deleted.get(VIOLATION, 0),
            "instances": new.instances,
            "modules": bool(self.program.external),
            "update": asdict(self.done.statistics),
        }
        figures["derived"] = figures["facts"] - figures["explicit"]
        idle = (self.delete - self.explicit).count
        stats, is_counted = self.done.statistics, new.nr is not None
        return Repaired(files, inserted, deleted, won, lost, idle, stats, figures, is_counted)

    @cached_property
    def _shown(self) -> dict[Predicate, Predicate]:
        """For each hidden predicate the one that users see."""
        return {hidden: predicate for predicate, hidden in self.program.external.items()}

    def _visible(self, facts: AnyFactSet) -> AnyFactSet:
        return facts.restricted(p for p in facts if p not in self._shown)

    def _listed(self, visible: AnyFactSet, facts: AnyFactSet) -> AnyFactSet:
        """Those of some facts that the store lists: of generated predicates the ones that feed modules."""
        fed = {self.program.external[p]: p for p in self.generated}
        if not fed:
            return visible
        rest = visible.restricted(p for p in visible if p not in self.generated)
        return rest.extended(facts.restricted(fed).renamed(fed))


def _together(one: Sizes, other: Sizes) -> dict[Predicate, int]:
    return {p: one.get(p, 0) + other.get(p, 0) for p in {*one, *other}}
