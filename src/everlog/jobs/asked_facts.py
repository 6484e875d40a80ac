"""Requests to delete and insert facts, carried out by this process or by Spark."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.analysis.check import CheckedProgram
from everlog.analysis.given import KINDS, GivenFacts
from everlog.backends.repaired import Repaired
from everlog.backends.spark.tasks import runner_of
from everlog.backends.too_much import TooMuchError
from everlog.ingest.amounts import AmountProgress
from everlog.ingest.dictionary import NewTerms
from everlog.ingest.facts import FactsRead
from everlog.ingest.named import with_empty
from everlog.ingest.stage import Staged
from everlog.ingest.tasks import Runner
from everlog.jobs.change_job import ChangeJob, RowsRead
from everlog.jobs.reports import Clock
from everlog.jobs.spark_updates import Repair, StagedUpdate, change_of, commit, given_in, started, updatable
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.errors import Place, abridged
from everlog.lang.syntax import Predicate
from everlog.store import Store, Transaction, VersionInfo

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

Named = Mapping[Predicate, Place]


class AskedFacts(ABC):
    """A request to delete and insert facts. Subclasses read the facts; ``spark`` is a running session, if
    there is one.
    """

    spark: SparkSession | None = None

    def __init__(self, job: ChangeJob) -> None:
        self.job = job

    @abstractmethod
    def prepare(
        self, program: CheckedProgram, predicates: Iterable[Predicate], work: Path, clock: Clock
    ) -> Mapping[str, str]:
        """Find the inputs to read for a program with some predicates; returns the prefixes that they declare."""

    @abstractmethod
    def read(self, kb: KnowledgeBase, work: Path, progress: AmountProgress | None) -> tuple[FactsRead, FactsRead]:
        """Read the facts to delete and those to insert, over the dictionary of a knowledge base."""

    @abstractmethod
    def stage(self, runner: Runner, program: CheckedProgram, info: VersionInfo, work: Path) -> StagedUpdate:
        """Read the facts into files that all workers share."""

    @property
    def needs_spark(self) -> bool:
        """Whether the inputs are so large that Spark reads them."""
        return False

    @property
    def named(self) -> tuple[Named, Named]:
        """The predicates that a user has named for facts to delete and for facts to insert, with the places of the
        names.
        """
        return {}, {}

    def here(self, kb: KnowledgeBase, transaction: Transaction, clock: Clock) -> tuple[Change, RowsRead]:
        """Read the facts and update a knowledge base by them."""
        job, report = self.job, clock.report
        with clock.phase("check"):
            kb.declare(self.prepare(kb.program.program, kb.predicates, transaction.work, clock))
        with clock.phase("read"):
            deleted, inserted = self.read(kb, transaction.work, report.amount)
            gone, come = self.named
            kb.warn_of_facts(with_empty(inserted.kinds, come), come)
            kb.warn_of_deletions(gone)
            report.loaded()
        with clock.phase("reason"):
            change = kb.update_facts(
                inserted.facts,
                deleted.facts,
                kinds=inserted.kinds,
                unknown=deleted.unknown,
                algorithm=job.algorithm,
                strategy=job.strategy,
                profile=report.profile or False,
            )
        return change, rows_read(deleted, inserted)

    def there(self, transaction: Transaction, clock: Clock) -> MadeThere:
        """Read the facts and repair the version on Spark, or by look-ups in the store."""
        job, report, work = self.job, clock.report, transaction.work
        store, info = Store.open(job.store), transaction.base
        assert info is not None
        with clock.phase("check"):
            program = updatable(job, info)
            checked = program.program
            transaction.declare(self.prepare(checked, checked.predicates, work, clock))
        spark = self.spark or (started(job, clock) if self.needs_spark else None)
        with clock.phase("read"):
            staged = self.stage(runner_of(spark), checked, info, work)
            repair = Repair(spark, job, program, store, info, work, staged)
            terms = repair.new_terms()
            gone, come = self.named
            given = given_in(info, program)
            given.add(with_empty(staged.insert.kinds, come), _bare(come, info))
            for warning in abridged([*given.unknown(_bare(gone, info)), *given.news(checked, whole=False)]):
                report.warning(warning)
            report.loaded()
        try:
            with clock.phase("reason"):
                found = repair.looked_up()
        except TooMuchError as error:
            log.info("%s", error)
            repair = replace(repair, spark=spark or started(job, clock))
            with clock.phase("reason"):
                found = repair.otherwise(report.profile)
        return MadeThere(repair, terms, given, found)


@dataclass(frozen=True)
class MadeThere:
    """A repair of a version by executors, of which this process knows only the numbers."""

    repair: Repair
    terms: NewTerms
    given: GivenFacts
    found: Repaired

    @property
    def change(self) -> Change:
        program = self.repair.program.program
        return change_of(self.found, program.predicates, program.prefixes)

    @property
    def read(self) -> RowsRead:
        return self.repair.change.read

    @property
    def violations(self) -> int:
        found: int = self.found.figures["violations"]
        return found

    def commit(self, transaction: Transaction, figures: dict[str, Any], positions: dict[str, Any] | None) -> int:
        info = self.repair.info
        if not self.found and positions is None:
            return info.version
        kinds = {KINDS: self.given.stored(self.repair.program.program)}
        return commit(transaction, info, self.found, self.terms, {**kinds, **figures}, positions)


def rows_read(*parts: FactsRead | Staged) -> RowsRead:
    """The number of rows of several parts, and their bad rows."""
    bad = tuple(row for part in parts for row in part.bad)
    return RowsRead(sum(part.rows for part in parts), bad, sum(part.bad_count for part in parts))


def _bare(named: Named, info: VersionInfo) -> dict[Predicate, Place | None]:
    """The named predicates with bare names, for which a version states whether it has them."""
    return {p: place for p, place in named.items() if KINDS in info.statistics and not p.name.startswith("<")}
