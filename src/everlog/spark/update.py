"""Updates on Spark: a version of a store repaired where it lies, and the change written by executors.

Of the store only predicates of the program and of the change are read, and of these, row group by row
group, only what joins with changes ask for. Where the counters of the version are those of modules, a
closure whose input changed is brought up to date in one task, if its graph fits there, and otherwise closed again
by its plan and compared with what was there. Where there are no counters, these are computed first.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.factset import FactSet
from everlog.engine.limits import Limits
from everlog.engine.multiset import Counts
from everlog.lang.syntax import Predicate
from everlog.modules.boundary import bridged
from everlog.pipeline.tasks import full_disks
from everlog.predicates import refuse_two_arities
from everlog.profiling.watch import watching
from everlog.reasoning.maintenance import Update, UpdateStatistics
from everlog.reasoning.update import Algorithm, Strategy, update
from everlog.spark.encoded import learn_predicates, staged_facts, width_of
from everlog.spark.factset import FrameSet
from everlog.spark.materialise import predicates_of
from everlog.spark.multiset import FrameCounts
from everlog.spark.names import Names
from everlog.spark.opening import Version, opened, program_of
from everlog.spark.settings import SparkSettings
from everlog.spark.workspace import Workspace
from everlog.spark.write import Signed, rows_of, write_rows
from everlog.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.profiling.profile import Profile

log = logging.getLogger(__name__)

Sizes = Mapping[Predicate, int]


@dataclass(frozen=True)
class StagedChange:
    """Files of encoded facts to delete and to insert, and of their terms, in a directory that all workers share."""

    delete: Sequence[str]
    insert: Sequence[str]
    terms: Sequence[str]
    work: Path


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


def update_on_spark(
    spark: SparkSession,
    program: StratifiedProgram,
    store: Store,
    version: int,
    staged: StagedChange,
    algorithm: Algorithm = "auto",
    strategy: Strategy = "never",
    *,
    settings: SparkSettings | None = None,
    limits: Limits | None = None,
    profile: Profile | None = None,
) -> Repaired:
    """Repair a version of a store after a change of its explicit facts; the program is the one of the version."""
    info = store.info(version)
    program = program_of(program, info)
    names = Names(predicates_of(program), info.salt)
    changed = [*staged.delete, *staged.insert]
    known = frozenset(names.predicates)
    learn_predicates(spark, names, changed, staged.terms)
    others = _namesakes(frozenset(names.predicates) - known, store.width(version))
    names.add(others)
    width = max(store.width(version), width_of(changed, names.predicates))
    with full_disks(), Workspace(spark, staged.work, names, width) as space:
        old = opened(space, program, store, version, settings)
        if old.generated and not old.is_counted:
            log.info("derivations are not counted, and closures not listed: everything is derived again")
            algorithm = "rematerialise"
        hidden = program.external
        delete, insert = (staged_facts(space, files) for files in (staged.delete, staged.insert))
        _refuse_two_arities(space, program, old, insert, others)
        delete, insert = delete.renamed(hidden), insert.renamed(hidden)
        with watching(profile, program) as watch:
            engine = watch.spark_engine(space, limits=limits, settings=settings)
            done = update(engine, program, old.kept, delete, insert, algorithm, strategy)
        log.info("updated in %d jobs", space.jobs)
        return _Repair(space, program, old, delete, insert, done).written(staged.work, info.statistics)


def _namesakes(fresh: Iterable[Predicate], width: int) -> list[Predicate]:
    """What a store may have under the bare names of predicates that no rule knows, with other arities."""
    bare = [predicate for predicate in fresh if not predicate.name.startswith("<")]
    return [Predicate(p.name, arity) for p in bare for arity in range(width + 1) if arity != p.arity]


def _refuse_two_arities(
    space: Workspace, program: StratifiedProgram, old: Version, insert: FactSet, others: Sequence[Predicate]
) -> None:
    """A bare name has one arity, in the rules, the store and the change. Mostly the footers tell that the store has no
    others."""
    refuse_two_arities(insert, program.program.arities)
    assert space.groups is not None
    if others and space.groups.size([space.names.id(predicate) for predicate in others]):
        refuse_two_arities([*_sizes(old.kept.facts.restricted(others)), *insert], {})


@dataclass(frozen=True)
class _Repair:
    """An update that was computed, on its way to the store."""

    space: Workspace
    program: StratifiedProgram
    old: Version
    delete: FactSet
    insert: FactSet
    done: Update

    def written(self, work: Path, said: Mapping[str, Any]) -> Repaired:
        explicit, new = self.old.kept.explicit, self.done.materialisation
        gone, fresh = (self.delete & explicit) - self.insert, self.insert - explicit
        gone, fresh = gone.renamed(self.shown), fresh.renamed(self.shown)
        came, went = self._visible(self.done.inserted), self._visible(self.done.deleted)
        not_explicit = (self.delete - explicit).count
        listed, unlisted = self._listed(came, self.done.inserted), self._listed(went, self.done.deleted)
        weights: dict[str, Signed] = {
            "holds": [(listed, 1), (unlisted, -1)],
            "explicit": [(fresh, 1), (gone, -1)],
            "nr": self._changed(new.nr, self.old.kept.nr, self.old.counters[0]),
            "rec": self._changed(new.rec, self.old.kept.rec, self.old.counters[1]),
        }
        inserted, deleted, won, lost, more, less = map(_sizes, (came, went, fresh, gone, listed, unlisted))
        rows = rows_of(self.space, weights) if inserted or deleted or won or lost else None
        files = [] if rows is None else write_rows(self.space, rows, _together(more, less), work)
        figures = {
            **said,
            "facts": said["facts"] + sum(inserted.values()) - sum(deleted.values()),
            "listed": said.get("listed", said["facts"]) + sum(more.values()) - sum(less.values()),
            "explicit": said["explicit"] + sum(won.values()) - sum(lost.values()),
            "instances": new.instances,
            "modules": bool(self.program.external),
            "update": asdict(self.done.statistics),
        }
        figures["derived"] = figures["facts"] - figures["explicit"]
        is_counted = new.nr is not None
        stats = self.done.statistics
        return Repaired(files, inserted, deleted, won, lost, not_explicit, stats, figures, is_counted)

    def _changed(self, new: Counts | None, old: Counts | None, stored: Counts) -> Signed:
        """What to add to a counter. One that is not kept stays as it is in the rows, until it is kept again.

        One that is kept and was computed anew may have come to nothing; then all of it is taken away.
        """
        if new is None:
            return []
        if isinstance(new, FrameCounts) and isinstance(old, FrameCounts) and new.is_made_of(old):
            return [(self._seen(new.since(old)), 1)]
        return [(self._seen(new), 1), (self._seen(stored), -1)]

    def _seen(self, counts: Counts) -> Counts:
        """Counters under the names that users see, without those of which they see nothing."""
        inside = bridged(self.program)
        return counts.restricted([p for p in counts if p not in inside]).renamed(self.shown)

    @cached_property
    def shown(self) -> dict[Predicate, Predicate]:
        """For each hidden predicate the one that users see."""
        return {hidden: predicate for predicate, hidden in self.program.external.items()}

    def _visible(self, facts: FactSet) -> FactSet:
        return facts.restricted(p for p in facts if p not in self.shown)

    def _listed(self, visible: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts that the store lists: of generated predicates the ones that feed modules."""
        fed = {self.program.external[p]: p for p in self.old.generated}
        if not fed:
            return visible
        rest = visible.restricted(p for p in visible if p not in self.old.generated)
        return rest.extended(facts.restricted(fed).renamed(fed))


def _sizes(facts: FactSet) -> Sizes:
    return {p: size for p, size in facts.sizes.items() if size} if isinstance(facts, FrameSet) else {}


def _together(one: Sizes, other: Sizes) -> dict[Predicate, int]:
    return {p: one.get(p, 0) + other.get(p, 0) for p in {*one, *other}}
