"""Repairs of a store that is not opened as a whole: only the facts that are needed are read.

One task repairs it, by the local engine, with facts that it looks up in the store, unless these are more than
``look-up-rows`` rows or ``spark-local-finish`` facts. Otherwise a store of at most ``spark-local-finish`` rows is
repaired in one task as a whole, and the repair of any other is distributed. Spark runs the tasks. With the engine
``auto``, this process does the look-ups, and Spark is started for large changes, and if look-ups do not suffice.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from everlog.analysis.check import check
from everlog.analysis.given import KINDS, GivenFacts
from everlog.analysis.predicates import Names
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.backends.engines import plan_settings
from everlog.backends.lookup.update import LOOKED_UP, LookUpTask, look_up
from everlog.backends.repaired import Repaired
from everlog.backends.spark.opening import program_of
from everlog.backends.spark.plans import PlanSettings
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.tasks import runner_of
from everlog.backends.spark.update import StagedChange, update_on_spark
from everlog.backends.spark.whole import AskedOfWhole, StagedFacts, WholeTask, change_whole
from everlog.backends.too_much import TooMuchError, taken
from everlog.engine.limits import Limits
from everlog.host.session import session
from everlog.ingest.dictionary import NewTerms, new_terms
from everlog.ingest.split import Split
from everlog.ingest.stage import Staged
from everlog.ingest.stored_labels import with_stored_labels
from everlog.ingest.tasks import Runner, work_directory
from everlog.jobs.change_job import ChangeJob, RowsRead
from everlog.jobs.materialise import no_representatives_on_spark
from everlog.jobs.reports import Clock
from everlog.kb.change import Change, ChangedNumbers
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError
from everlog.lang.parser import parse_stored
from everlog.lang.syntax import Predicate
from everlog.store import Store, Transaction, VersionInfo
from everlog.store.codec import COUNTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.profiling.profile import Profile

log = logging.getLogger(__name__)


def started(job: ChangeJob, clock: Clock) -> SparkSession:
    """A session of Spark."""
    with clock.phase("start Spark"):
        return session(job.master)


@dataclass(frozen=True)
class StagedUpdate:
    """Facts to delete, with the splits that they were read from, and facts to insert; ``read`` is the
    number of rows.
    """

    delete: Staged
    insert: Staged
    deleted_from: tuple[Split, ...] = ()
    read: RowsRead = field(default_factory=RowsRead)

    @property
    def rows(self) -> int:
        return self.delete.rows + self.insert.rows


@dataclass(frozen=True)
class Repair:
    """The repair of a version by a change that was staged into a directory.

    Without a session only this process repairs it, by look-ups.
    """

    spark: SparkSession | None
    job: ChangeJob
    program: StratifiedProgram
    store: Store
    info: VersionInfo
    work: Path
    change: StagedUpdate

    def new_terms(self) -> NewTerms:
        """The terms that the store does not have."""
        return new_terms(
            runner_of(self.spark), self.change.insert.term_files, self._terms, self.work, salt=self.info.salt
        )

    @property
    def _runner(self) -> Runner:
        return runner_of(self.spark)

    def done(self, profile: Profile | None = None) -> Repaired:
        """Repair by look-ups, or in other ways if these are too many."""
        try:
            return self.looked_up()
        except TooMuchError as error:
            log.info("%s", error)
            return self.otherwise(profile)

    @cached_property
    def _plans(self) -> PlanSettings:
        return plan_settings(self.spark, self.job.engine, self.job.memory, self.info.salt)

    @property
    def _most(self) -> int:
        """The maximum number of facts that one task may hold."""
        return most_in_one_task(self.job, self._plans)

    @cached_property
    def _deleted(self) -> Staged:
        """The facts to delete, with blank nodes found by the labels that the store has for them."""
        how: dict[str, Any] = {"salt": self.info.salt, "on_error": self.job.on_error}
        change = self.change
        return with_stored_labels(
            runner_of(self.spark), change.delete, change.deleted_from, self._terms, self.work, **how
        )

    def looked_up(self) -> Repaired:
        """Repair in one task, by facts that it looks up in the store."""
        job, most = self.job, self._most
        if self.change.rows > min(job.look_up_rows, most) or job.algorithm == "rematerialise":
            raise TooMuchError("not by look-ups: the change is large, or everything is to be derived again")
        deleted, inserted = self._deleted, self.change.insert
        task = LookUpTask(
            str(Path(job.store).absolute()),
            self.info.version,
            self.program,
            deleted.fact_files,
            inserted.fact_files,
            (*deleted.term_files, *inserted.term_files),
            str(work_directory(self.work)),
            job.look_up_rows,
            most,
            job.algorithm,
            job.strategy,
            job.max_facts,
            job.timeout,
        )
        found = taken(self._runner.run(look_up, [task])[0], "not by look-ups")
        read = found.figures["update"][LOOKED_UP]
        log.info("updated in one task: %d rows looked up of %d (look-up-rows %d)", read, self._rows, job.look_up_rows)
        return found

    @property
    def _rows(self) -> int:
        return sum(file.rows or 0 for file in self.store.files(self.info.version))

    @property
    def _terms(self) -> list[str]:
        return [str(path) for path in self.store.term_paths(self.info.version)]

    def otherwise(self, profile: Profile | None = None) -> Repaired:
        """Repair in one task that opens the whole store, if it may hold that, otherwise distributed."""
        try:
            return self._in_one_task()
        except TooMuchError as error:
            log.info("%s, so the update is distributed", error)
            return self._distributed(profile)

    def _in_one_task(self) -> Repaired:
        """Repair in one task that opens the whole store."""
        job, change = self.job, self.change
        facts = StagedFacts(
            change.delete, change.insert, change.deleted_from, job.on_error, job.algorithm, job.strategy
        )
        return in_one_task(self._runner, job, self.store, self.info, facts, self.work, self._most, change.rows)

    def _distributed(self, profile: Profile | None) -> Repaired:
        """Repair by the algebra on DataFrames."""
        assert self.spark is not None
        job, deleted, inserted = self.job, self._deleted, self.change.insert
        terms = (*deleted.term_files, *inserted.term_files)
        return update_on_spark(
            self.spark,
            self.program,
            self.store,
            self.info.version,
            StagedChange(deleted.fact_files, inserted.fact_files, terms, self.work),
            job.algorithm,
            job.strategy,
            settings=SparkSettings(job.local_finish, self._plans, probe_rows=job.probe_rows),
            limits=Limits.from_now(job.max_facts, job.timeout),
            profile=profile,
        )


def most_in_one_task(job: ChangeJob, plans: PlanSettings) -> int:
    """The maximum number of facts that one task may hold."""
    return plans.local_facts if job.engine == "auto" else job.local_finish


def require_one_task(store: Store, info: VersionInfo, most: int, more: int = 0) -> int:
    """The number of rows of a version; an error if these and ``more`` exceed ``most``, which one task may hold."""
    rows = sum(file.rows or 0 for file in store.files(info.version))
    if rows + more > most:
        raise TooMuchError(f"not in one task: {rows + more:,} rows")
    return rows


def in_one_task(
    runner: Runner,
    job: ChangeJob,
    store: Store,
    info: VersionInfo,
    asked: AskedOfWhole,
    work: Path,
    most: int,
    more: int = 0,
) -> Repaired:
    """Repair in one task that opens the whole store; it may hold ``most`` rows, including ``more`` changed ones."""
    rows = require_one_task(store, info, most, more)
    place, directory = str(Path(job.store).absolute()), str(work_directory(work))
    task = WholeTask(place, info.version, asked, directory, most, job.max_facts, job.timeout, job.expand_below)
    found = taken(runner.run(change_whole, [task])[0], "not in one task")
    limit = "local-facts" if job.engine == "auto" else "spark-local-finish"
    log.info("updated in one task: %d rows (%s %d)", rows, limit, most)
    return found


def commit(
    transaction: Transaction,
    info: VersionInfo,
    found: Repaired,
    terms: NewTerms | None = None,
    figures: Mapping[str, Any] = MappingProxyType({}),
    positions: dict[str, Any] | None = None,
) -> int:
    """Commit a repair as the next version; ``figures`` are kept with its statistics, ``positions`` are those of
    streams.

    A repair that changed nothing adds no rows, so the counters stay as they were.
    """
    transaction.add_fact_files(found.files)
    if found.rules is not None:
        transaction.add_term_files(found.rules.terms)
        return transaction.commit(
            rules=found.rules.rules,
            statistics={**found.figures, **figures},
            bookkeeping=found.rules.bookkeeping,
            operation="rules",
            salt=info.salt,
            closures=found.rules.closures,
            modules=found.rules.modules,
        )
    bookkeeping = info.bookkeeping if not found else COUNTED if found.counted else "none"
    if terms is not None:
        transaction.add_term_files(terms.files)
    return transaction.commit(
        rules=info.rules,
        statistics={**found.figures, **figures},
        bookkeeping=bookkeeping,
        operation="update",
        salt=info.salt,
        positions=positions,
    )


def given_in(info: VersionInfo, program: StratifiedProgram) -> GivenFacts:
    """The explicit facts as a version describes them; without a description any predicate may have facts of
    any kind.
    """
    known = program.program.predicates
    predicates = [Predicate.parse(name) for name in info.statistics[KINDS]] if KINDS in info.statistics else known
    return GivenFacts.from_store(info.statistics, predicates, known)


def updatable(job: ChangeJob, info: VersionInfo) -> StratifiedProgram:
    """The program of a version; an error if only this machine can do the update."""
    if info.statistics.get("equality") == "representatives":
        raise no_representatives_on_spark()
    if job.algorithm == "counting":
        hint = "use --engine local, or another algorithm"
        raise EverlogError.of(Code.NO_SUCH_ALGORITHM, "counting is done on this machine only", None, hint)
    kind: Kind = info.statistics.get("stratification", "levels")
    program = stratify(check(parse_stored(info.rules, f"{job.store} (rules of version {info.version})")), kind)
    program_of(program, info)
    return program


def change_of(found: Repaired, predicates: Iterable[Predicate], prefixes: Mapping[str, str]) -> Change:
    """The change as far as the driver knows it: numbers, no rows. ``predicates`` are known, changed or not."""
    sizes = (found.inserted, found.deleted, found.explicit_inserted, found.explicit_deleted)
    changed = chain.from_iterable(sizes)
    names = Names([*predicates, *changed], prefixes)
    numbers: list[Any] = [ChangedNumbers(names, each) for each in sizes]
    inserted, deleted, won, lost = numbers
    return Change(inserted, deleted, won, lost, found.not_explicit, found.stats)
