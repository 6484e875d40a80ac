"""Updates on Spark: executors read a version of a store, repair it, and write the change.

Only the predicates of the program and of the change are read, and of these only the row groups that joins with the
change can match. Where the counters of the version are those of modules, a closure whose input changed is repaired in
one task, if its graph fits there, and otherwise closed again by its plan and compared with its facts before. A version
without counters has them computed first.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.analysis.predicates import refuse_two_arities
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.repaired import Repaired, Sizes, repaired
from everlog.backends.spark.encoded import learn_predicates, staged_facts, width_of
from everlog.backends.spark.factset import framed
from everlog.backends.spark.materialise import predicates_of
from everlog.backends.spark.multiset import FrameCounts, framed_counts
from everlog.backends.spark.names import HashedNames, namesakes
from everlog.backends.spark.opening import Version, opened, program_of
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.tasks import full_disks
from everlog.backends.spark.watched import spark_engine
from everlog.backends.spark.workspace import Workspace
from everlog.backends.spark.write import Signed, rows_of, write_rows
from everlog.engine.algebra import AnyCounts, AnyFactSet
from everlog.engine.limits import Limits
from everlog.lang.syntax import Predicate
from everlog.profiling.recorder import watching
from everlog.reasoning.names import Algorithm, Strategy
from everlog.reasoning.seen_change import SeenChange
from everlog.reasoning.update import update
from everlog.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.profiling.profile import Profile

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StagedChange:
    """Files of encoded facts to delete and to insert, and of their terms, in a directory that all workers share."""

    delete: Sequence[str]
    insert: Sequence[str]
    terms: Sequence[str]
    work: Path


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
    """Repair a version of a store after a change of its explicit facts, and write the change.

    ``program`` is the program of the version.
    """
    info = store.info(version)
    program = program_of(program, info)
    names = HashedNames(predicates_of(program), info.salt)
    changed = [*staged.delete, *staged.insert]
    known = frozenset(names.predicates)
    learn_predicates(spark, names, changed, staged.terms)
    others = namesakes(frozenset(names.predicates) - known, store.width(version))
    names.add(others)
    width = max(store.width(version), width_of(changed, names.predicates))
    with full_disks(), Workspace(spark, staged.work, names, width) as space:
        old = opened(space, program, store, version, settings)
        if old.generated and not old.is_counted:
            log.info("derivations are not counted, and closures not listed: everything is derived again")
            algorithm = "rematerialise"
        hidden = program.external
        deletions, insertions = (staged_facts(space, files) for files in (staged.delete, staged.insert))
        _refuse_two_arities(space, program, old, insertions, others)
        delete: AnyFactSet = deletions.renamed(hidden)
        insert: AnyFactSet = insertions.renamed(hidden)
        with watching(profile, program) as watch:
            engine = spark_engine(watch, space, limits=limits, settings=settings)
            done = update(engine, program, old.kept, delete, insert, algorithm, strategy)
        log.info("updated in %d jobs", space.jobs)
        seen = SeenChange(done, hidden, old.generated)
        not_explicit, sizes_of = (delete - old.kept.explicit).count, functools.partial(_sizes, space)
        return repaired(seen, not_explicit, info.statistics, sizes_of, _Writer(space, old, seen, staged.work).files)


def _refuse_two_arities(
    space: Workspace, program: StratifiedProgram, old: Version, insert: AnyFactSet, others: Sequence[Predicate]
) -> None:
    """An error if a bare name has several arities in the rules, the store and the change.

    Facts of the store are counted only if the footers do not exclude other arities.
    """
    refuse_two_arities(insert, program.program.arities)
    assert space.groups is not None
    if others and space.groups.size([space.names.id(predicate) for predicate in others]):
        refuse_two_arities([*_sizes(space, old.kept.facts.restricted(others)), *insert], {})


@dataclass(frozen=True)
class _Writer:
    """Writes a change of a version into a directory."""

    space: Workspace
    old: Version
    seen: SeenChange
    work: Path

    def files(self, sizes: Sizes) -> list[Path]:
        """Write the change by executors, and return its files; ``sizes`` is the number of rows of each predicate."""
        seen, done = self.seen, self.seen.change
        new = done.materialisation
        weights: dict[str, Signed] = {
            "holds": self._signed(seen.listed, seen.unlisted),
            "explicit": self._signed(seen.explicit_inserted, seen.explicit_deleted),
            "nr": self._changed(done.nr, new.nr, self.old.counters[0]),
            "rec": self._changed(done.rec, new.rec, self.old.counters[1]),
        }
        rows = rows_of(self.space, weights)
        return [] if rows is None else write_rows(self.space, rows, sizes, self.work)

    def _signed(self, more: AnyFactSet, less: AnyFactSet) -> Signed:
        return [(framed(self.space, more), 1), (framed(self.space, less), -1)]

    def _changed(self, change: AnyCounts | None, new: AnyCounts | None, stored: FrameCounts) -> Signed:
        """The numbers to add to the rows of a counter, given its change, its new value, and the sums of its rows.

        The rows of a counter that is no longer kept stay as they are. A counter that was not kept before replaces the
        sums of its rows, which are those of an earlier version.
        """
        if new is None:
            return []
        seen = self.seen.counted
        if change is not None:
            return [(seen(framed_counts(self.space, change)), 1)]
        return [(seen(framed_counts(self.space, new)), 1), (seen(stored), -1)]


def _sizes(space: Workspace, facts: AnyFactSet) -> Sizes:
    return {p: size for p, size in framed(space, facts).sizes.items() if size}
