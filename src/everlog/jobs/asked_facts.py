"""Requests to delete and insert facts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path

from everlog.analysis.check import CheckedProgram
from everlog.analysis.given import KINDS
from everlog.backends.asked import StagedChange
from everlog.backends.elsewhere import Elsewhere
from everlog.backends.spark.tasks import runner_of
from everlog.ingest.amounts import AmountProgress
from everlog.ingest.dictionary import new_terms
from everlog.ingest.facts import FactsRead
from everlog.ingest.named import with_empty
from everlog.ingest.tasks import Runner
from everlog.jobs.change_job import Named, RowsRead
from everlog.jobs.change_request import ChangeRequest
from everlog.jobs.changing import MadeThere, change_of
from everlog.jobs.reports import Clock
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.errors import Place, abridged
from everlog.lang.syntax import Predicate
from everlog.store import Transaction, VersionInfo


class AskedFacts(ChangeRequest[Change]):
    """A request to delete and insert facts. Subclasses read the facts."""

    @abstractmethod
    def prepare(
        self, program: CheckedProgram, predicates: Iterable[Predicate], work: Path, clock: Clock
    ) -> Mapping[str, str]:
        """Find the inputs to read for a program with some predicates; returns the prefixes that they declare."""

    @abstractmethod
    def read(self, kb: KnowledgeBase, work: Path, progress: AmountProgress | None) -> tuple[FactsRead, FactsRead]:
        """Read the facts to delete and those to insert, over the dictionary of a knowledge base."""

    @abstractmethod
    def stage(self, runner: Runner, program: CheckedProgram, info: VersionInfo, work: Path) -> StagedChange:
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

    def change_here(self, kb: KnowledgeBase, transaction: Transaction, clock: Clock) -> tuple[Change, RowsRead]:
        job, report = self.job, clock.report
        with clock.phase("check"):
            kb.declare(self.prepare(kb.program.program, kb.predicates, transaction.work, clock))
        with clock.phase("read"):
            deleted, inserted = self.read(kb, transaction.work, report.amount)
            gone, come = self.named
            kb.warn_of_facts(with_empty(inserted.kinds, come), come)
            kb.warn_of_deletions(gone)
            self.loaded(clock)
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
        return change, RowsRead.of(deleted, inserted)

    def change_there(self, elsewhere: Elsewhere, transaction: Transaction, clock: Clock) -> MadeThere[Change]:
        version, work = elsewhere.version, transaction.work
        info, program = version.info, version.program.program
        with clock.phase("check"):
            transaction.declare(self.prepare(program, program.predicates, work, clock))
        if self.needs_spark:
            elsewhere.start_spark()
        runner = runner_of(elsewhere.spark)
        with clock.phase("read"):
            asked = self.stage(runner, program, info, work)
            terms = new_terms(runner, asked.insert.term_files, version.term_files, work, salt=info.salt)
            gone, come = (_bare(named, info) for named in self.named)
            given = version.given()
            given.add(with_empty(asked.insert.kinds, self.named[1]), come)
            for warning in abridged([*given.unknown(gone), *given.news(program, whole=False)]):
                self.warn(clock, warning)
            self.loaded(clock)
        with clock.phase("reason"):
            written = elsewhere.change_facts(asked)
        change = change_of(written, program.predicates, program.prefixes)
        figures = {KINDS: given.stored(program)}
        return MadeThere(info, written, change, RowsRead.of(asked.delete, asked.insert), terms, figures, info.salt)


def _bare(named: Named, info: VersionInfo) -> dict[Predicate, Place | None]:
    """The named predicates with bare names, for which a version states whether it has them."""
    return {p: place for p, place in named.items() if KINDS in info.statistics and not p.name.startswith("<")}
