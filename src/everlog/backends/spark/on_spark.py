"""The back end whose facts are in executors: they read a version of a store, reason, and write the change.

Only the predicates of the program and of the change are read, and of these only the row groups that joins with the
change can match. Where the counters of the version are those of modules, a closure whose input changed is repaired in
one task, if its graph fits there, and otherwise closed again by its plan and compared with its facts before. A version
without counters has them computed first. The driver knows only numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.analysis.predicates import refuse_two_arities
from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.asked import ReasoningOptions, StagedChange
from everlog.backends.executors import full_disks
from everlog.backends.spark.encoded import learn_predicates, staged_facts, width_of
from everlog.backends.spark.engine import SparkEngine
from everlog.backends.spark.factset import FrameSet, framed
from everlog.backends.spark.multiset import FrameCounts, framed_counts
from everlog.backends.spark.opening import StoredState, opened, state_of_nothing
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.watched import spark_engine
from everlog.backends.spark.workspace import Workspace
from everlog.backends.spark.write import Signed, rows_of, write_rows
from everlog.backends.stored_version import StoredVersion, program_of
from everlog.backends.working import OpenedVersion, derive_version, update_version
from everlog.backends.written import Sizes, WrittenChange
from everlog.engine.algebra import AnyCounts, AnyFactSet
from everlog.engine.limits import Limits
from everlog.ingest.stage import Staged
from everlog.lang.syntax import Predicate
from everlog.profiling.recorder import watching
from everlog.profiling.watch import Watch
from everlog.reasoning.materialisation import Maintain
from everlog.reasoning.seen_change import SeenChange
from everlog.reasoning.statistics import Listener
from everlog.store.names import HashedNames, namesakes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.profiling.profile import Profile

log = logging.getLogger(__name__)


@dataclass
class WorkingSpark:
    """Implements :class:`everlog.backends.working.WorkingVersion` for facts in executors."""

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

    def refuse_two_arities(self, program: StratifiedProgram, insert: FrameSet, others: Sequence[Predicate]) -> None:
        """An error if a bare name has several arities in the rules, the store and the facts to insert; ``others`` are
        the predicates with the names of new ones.

        Facts of the store are counted only if the footers do not exclude other arities.
        """
        arities, groups = program.program.arities, self.space.groups
        refuse_two_arities(insert, arities)
        if others and groups is not None and groups.size([self.space.names.id(predicate) for predicate in others]):
            stored = self.sizes(self.version.materialisation.facts.restricted(others))
            refuse_two_arities([*stored, *insert], arities)


@dataclass(frozen=True)
class OnSpark:
    """Makes and changes versions of stores of any size by reasoning in executors.

    ``salt`` is that of the ids, ``work`` a directory that all workers share.
    """

    spark: SparkSession
    work: Path
    salt: int
    options: ReasoningOptions
    settings: SparkSettings
    profile: Profile | None = None

    def materialise(
        self, program: StratifiedProgram, staged: Staged, maintain: Maintain = "dredc", listener: Listener | None = None
    ) -> WrittenChange:
        """Derive all facts that follow from staged facts, as a change from nothing.

        The files of terms that are staged have all terms. ``program`` has modules if they are wanted. A trace is not
        stored, so none is made.
        """
        is_counted = maintain in ("dredc", "bfc")
        change = StagedChange(Staged(staged.width), staged)
        with self._opened(program, change, None, program) as found:
            state = state_of_nothing(found.space, program, is_counted=is_counted)
            return self._derived(found, state, program, listener)

    def update(self, version: StoredVersion, change: StagedChange, probe_rows: int) -> WrittenChange:
        """Change explicit facts, and repair what follows; blank nodes to delete are those of the store."""
        program, settings = program_of(version.program, version.info), replace(self.settings, probe_rows=probe_rows)
        with self._opened(program, change, version, program) as found:
            state = opened(found.space, program, version.store, version.info.version, settings)
            backend = found.backend(state, settings, self.options.limits(), self.work)
            delete, insert = found.facts(backend, program)
            return update_version(backend, delete, insert, version.options)

    def derive(self, version: StoredVersion, program: StratifiedProgram, change: StagedChange) -> WrittenChange:
        """Change explicit facts, and derive everything by a program with other rules.

        Where rules change, more than a few facts do, and all relations are read once in either case.
        """
        old = program_of(version.program, version.info)
        with self._opened(old, change, version, program) as found:
            state = opened(found.space, old, version.store, version.info.version, self.settings)
            return self._derived(found, state, program, None)

    def _derived(
        self, found: _Opened, state: StoredState, program: StratifiedProgram, listener: Listener | None
    ) -> WrittenChange:
        """Derive everything by a program from the explicit facts of a version and those of a change."""
        most = self.options.expand_below
        settings = replace(self.settings, expand_below=most)
        backend = found.backend(state, settings, self.options.limits(), self.work)
        backend.engine.counts_known = None if state.version.materialisation.nr is None else {}
        delete, insert = found.facts(backend, program)
        return derive_version(backend, program, delete, insert, most, found.watch.listener(listener))

    @contextmanager
    def _opened(
        self,
        program: StratifiedProgram,
        change: StagedChange,
        version: StoredVersion | None,
        new: StratifiedProgram,
    ) -> Iterator[_Opened]:
        """A workspace for a version with a program, for a change of it, and for a new program; without a version, for
        the first one.
        """
        names = HashedNames(program.predicates, self.salt)
        known = frozenset(names.predicates)
        names.add(new.predicates)
        learn_predicates(self.spark, names, change.facts, change.terms)
        width, others = 0, list[Predicate]()
        if version is not None:
            width = version.store.width(version.info.version)
            others = namesakes(frozenset(names.predicates) - known, width)
            names.add(others)
        width = max(width, width_of(change.facts, names.predicates))
        with (
            full_disks(),
            Workspace(self.spark, self.work, names, width) as space,
            watching(self.profile, new) as watch,
        ):
            yield _Opened(space, watch, change, others)
            log.info("%s in %d jobs", "materialised" if version is None else "updated", space.jobs)


@dataclass(frozen=True)
class _Opened:
    """A workspace, an observer of the engine, and a change; ``others`` are predicates with the names of new ones."""

    space: Workspace
    watch: Watch
    change: StagedChange
    others: Sequence[Predicate]

    def backend(self, state: StoredState, settings: SparkSettings, limits: Limits, work: Path) -> WorkingSpark:
        engine = spark_engine(self.watch, self.space, limits=limits, settings=settings)
        return WorkingSpark(self.space, state, engine, work)

    def facts(self, backend: WorkingSpark, program: StratifiedProgram) -> tuple[FrameSet, FrameSet]:
        """The facts to delete and those to insert into a version that will have a program."""
        delete, insert = (backend.facts(part.fact_files) for part in (self.change.delete, self.change.insert))
        backend.refuse_two_arities(program, insert, self.others)
        return delete, insert
