"""The back end whose facts are in executors: they read a version of a store, reason, and write the change.

Only the predicates of the program and of the change are read, and of these only the row groups that joins with the
change can match. Where the counters of the version are those of modules, a closure whose input changed is repaired in
one task, if its graph fits there, and otherwise closed again by its plan and compared with its facts before. A version
without counters has them computed first. The driver knows only numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.analysis.predicates import refuse_two_arities
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.asked import Asked
from everlog.backends.backend import OpenedVersion, derive_version, update_version
from everlog.backends.spark.encoded import learn_predicates, staged_facts, width_of
from everlog.backends.spark.engine import SparkEngine
from everlog.backends.spark.factset import FrameSet, framed
from everlog.backends.spark.multiset import FrameCounts, framed_counts
from everlog.backends.spark.names import HashedNames, namesakes, predicates_of
from everlog.backends.spark.opening import StoredState, opened, program_of, state_of_nothing
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.tasks import SparkRunner, full_disks
from everlog.backends.spark.watched import spark_engine
from everlog.backends.spark.workspace import Workspace
from everlog.backends.spark.write import Signed, rows_of, write_rows
from everlog.backends.stored_version import StoredVersion
from everlog.backends.written import Sizes, WrittenChange
from everlog.engine.algebra import AnyCounts, AnyFactSet
from everlog.engine.limits import Limits
from everlog.ingest.stage import Staged
from everlog.lang.syntax import Predicate
from everlog.profiling.recorder import watching
from everlog.profiling.watch import UNWATCHED, Watch
from everlog.reasoning.materialisation import Maintain
from everlog.reasoning.seen_change import SeenChange
from everlog.reasoning.statistics import Listener

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.profiling.profile import Profile

log = logging.getLogger(__name__)


@dataclass
class SparkBackend:
    """Implements :class:`everlog.backends.backend.Backend` for facts in executors."""

    space: Workspace
    state: StoredState
    engine: SparkEngine
    work: Path

    @property
    def version(self) -> OpenedVersion[FrameSet, FrameCounts]:
        return self.state.version

    def facts(self, files: Sequence[str]) -> FrameSet:
        """The different facts of files that were staged."""
        return staged_facts(self.space, files)

    def sizes(self, facts: AnyFactSet) -> Sizes:
        return {p: size for p, size in framed(self.space, facts).sizes.items() if size}

    def write(self, seen: SeenChange, sizes: Sizes) -> list[Path]:
        """Write the rows of a change by executors."""
        done = seen.change
        new, counters = done.materialisation, self.state.counters
        weights: dict[str, Signed] = {
            "holds": self._signed(seen.listed, seen.unlisted),
            "explicit": self._signed(seen.explicit_inserted, seen.explicit_deleted),
            "nr": self._changed(seen, done.nr, new.nr, counters[0]),
            "rec": self._changed(seen, done.rec, new.rec, counters[1]),
        }
        rows = rows_of(self.space, weights)
        return [] if rows is None else write_rows(self.space, rows, sizes, self.work)

    def _signed(self, more: AnyFactSet, less: AnyFactSet) -> Signed:
        return [(framed(self.space, more), 1), (framed(self.space, less), -1)]

    def _changed(
        self, seen: SeenChange, change: AnyCounts | None, new: AnyCounts | None, stored: FrameCounts
    ) -> Signed:
        """The numbers to add to the rows of a counter, given its change, its new value, and the sums of its rows.

        The rows of a counter that is no longer kept stay as they are. A counter that was not kept before replaces the
        sums of its rows, which are those of an earlier version.
        """
        if new is None:
            return []
        if change is not None:
            return [(seen.counted(framed_counts(self.space, change)), 1)]
        return [(seen.counted(framed_counts(self.space, new)), 1), (seen.counted(stored), -1)]

    def refuse_two_arities(self, insert: FrameSet, others: Sequence[Predicate]) -> None:
        """An error if a bare name has several arities in the rules, the store and the facts to insert; ``others`` are
        the predicates with the names of new ones.

        Facts of the store are counted only if the footers do not exclude other arities.
        """
        refuse_two_arities(insert, self.version.program.program.arities)
        groups = self.space.groups
        if others and groups is not None and groups.size([self.space.names.id(predicate) for predicate in others]):
            stored = self.sizes(self.version.materialisation.facts.restricted(others))
            refuse_two_arities([*stored, *insert], {})


def materialise_on_spark(
    spark: SparkSession,
    program: StratifiedProgram,
    staged: Staged,
    work: Path,
    maintain: Maintain = "dredc",
    *,
    salt: int = 0,
    settings: SparkSettings | None = None,
    limits: Limits | None = None,
    listener: Listener | None = None,
    watch: Watch = UNWATCHED,
) -> WrittenChange:
    """Derive all facts that follow from facts in files, and write them, with their counters, as a change from nothing.

    ``program`` has modules if they are wanted. The files of terms have all terms. A trace is not stored, so none is
    made.
    """
    names, is_counted = HashedNames(predicates_of(program), salt), maintain in ("dredc", "bfc")
    learn_predicates(spark, names, staged.fact_files, staged.term_files)
    with full_disks(), Workspace(spark, work, names, width_of(staged.fact_files, names.predicates)) as space:
        engine = spark_engine(watch, space, limits=limits, settings=settings)
        engine.counts_known = {} if is_counted else None
        backend = SparkBackend(space, state_of_nothing(space, program, is_counted=is_counted), engine, work)
        insert = backend.facts(staged.fact_files)
        backend.refuse_two_arities(insert, ())
        most = engine.settings.expand_below
        return derive_version(backend, program, FrameSet(space), insert, most, watch.listener(listener))


@dataclass(frozen=True)
class OnSpark:
    """Changes versions of stores of any size by reasoning in executors."""

    spark: SparkSession
    version: StoredVersion
    settings: SparkSettings
    profile: Profile | None = None

    def update(self, asked: Asked) -> WrittenChange:
        """Change explicit facts, and repair what follows."""
        program = program_of(self.version.program, self.version.info)
        with self._opened(program, (), asked, self.settings) as (backend, delete, insert):
            return update_version(backend, delete, insert, self.version.options)

    def derive(self, program: StratifiedProgram, asked: Asked) -> WrittenChange:
        """Change explicit facts, and derive everything by a program with other rules.

        Where rules change, more than a few facts do, and all relations are read once in either case.
        """
        old, most = program_of(self.version.program, self.version.info), self.version.options.expand_below
        settings = replace(self.settings, expand_below=most)
        with self._opened(old, predicates_of(program), asked, settings) as (backend, delete, insert):
            refuse_two_arities(insert, program.program.arities)
            return derive_version(backend, program, delete, insert, most)

    @contextmanager
    def _opened(
        self, program: StratifiedProgram, more: Iterable[Predicate], asked: Asked, settings: SparkSettings
    ) -> Iterator[tuple[SparkBackend, FrameSet, FrameSet]]:
        """The version, opened, and the facts to delete and to insert; ``more`` are predicates that are used, too."""
        version = self.version
        store, info, options = version.store, version.info, version.options
        asked = version.with_labels(asked, SparkRunner(self.spark))
        names = HashedNames(predicates_of(program), info.salt)
        changed = [*asked.delete.fact_files, *asked.insert.fact_files]
        known = frozenset(names.predicates)
        names.add(more)
        learn_predicates(self.spark, names, changed, asked.terms)
        others = namesakes(frozenset(names.predicates) - known, store.width(info.version))
        names.add(others)
        width = max(store.width(info.version), width_of(changed, names.predicates))
        with (
            full_disks(),
            Workspace(self.spark, version.work, names, width) as space,
            watching(self.profile, program) as watch,
        ):
            engine = spark_engine(watch, space, limits=options.limits, settings=settings)
            state = opened(space, program, store, info.version, settings)
            backend = SparkBackend(space, state, engine, version.work)
            delete, insert = (backend.facts(part.fact_files) for part in (asked.delete, asked.insert))
            backend.refuse_two_arities(insert, others)
            yield backend, delete, insert
            log.info("updated in %d jobs", space.jobs)
