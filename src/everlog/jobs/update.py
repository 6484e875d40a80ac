"""The job that changes the explicit facts of a store, from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everlog.analysis.check import CheckedProgram
from everlog.backends.asked import StagedChange
from everlog.backends.spark.tasks import SparkRunner
from everlog.host.session import session
from everlog.ingest.amounts import AmountProgress
from everlog.ingest.blanks import StoredBlanks
from everlog.ingest.columns import Headers
from everlog.ingest.facts import IN_PROCESS_BYTES, FactsRead, facts_in, read_facts, size_of
from everlog.ingest.named import named_predicates
from everlog.ingest.prefixes import declared_prefixes
from everlog.ingest.rdf import merged_graphs
from everlog.ingest.sources import FactSource, ReadOptions, resolve
from everlog.ingest.split import Split
from everlog.ingest.splits import large_files, splits
from everlog.ingest.stage import Staged, stage, widest
from everlog.ingest.tasks import Runner
from everlog.ingest.triples import refuse_graphs
from everlog.jobs.asked_facts import AskedFacts
from everlog.jobs.change_job import ChangeJob, ChangeResult, Named
from everlog.jobs.changing import carry_out
from everlog.jobs.reports import Clock, Report
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.internal import LITERAL
from everlog.lang.syntax import Predicate
from everlog.settings import LARGE_GZ
from everlog.store import VersionInfo

UpdateResult = ChangeResult[Change]


@dataclass(frozen=True)
class UpdateJob(ChangeJob):
    """The options of ``everlog update``."""

    insert: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    header: bool = False
    types: str = "auto"
    base: str | None = None
    source: str | None = None
    graphs: bool = False
    large_gz: int = LARGE_GZ


def update(job: UpdateJob, report: Report | None = None) -> UpdateResult:
    """Read the changes, repair the materialisation in the store, and commit the difference.

    Small change sets are read in this process, large ones by Spark, by the same readers. With the engine
    ``spark``, Spark reasons, too. With ``auto``, if the store is not expected to fit the memory of this process, a
    small change is applied by look-ups in the store, and Spark reasons if these are too many. The rules are those of
    the store.
    """
    return carry_out(AskedFiles(job), report or Report())


class AskedFiles(AskedFacts):
    """A request for the facts in files; ``options``, ``sources`` and ``parts`` are set by :meth:`prepare`."""

    job: UpdateJob
    options: ReadOptions
    sources: tuple[list[FactSource], list[FactSource]]
    parts: tuple[list[Split], list[Split]]
    """The files to delete and those to insert, and their splits."""

    def prepare(
        self, program: CheckedProgram, predicates: Iterable[Predicate], work: Path, clock: Clock
    ) -> Mapping[str, str]:
        job = self.job
        self.options = ReadOptions(
            header=job.header,
            types=job.types,
            prefixes=dict(program.prefixes),
            base=job.base,
            source=job.source,
            arities={p.name: p.arity for p in predicates if not p.name.startswith("<")},
            graphs=job.graphs,
        )
        refuse_graphs(self.options)
        headers: Headers = {}
        self.sources = resolve(job.delete, self.options, work), resolve(job.insert, self.options, work)
        delete, insert = (splits(each, self.options, headers=headers) for each in self.sources)
        self.parts = delete, insert
        both = [*delete, *insert]
        for warning in (*large_files(both, job.large_gz), *merged_graphs(both, self.options)):
            clock.report.warning(warning)
        return declared_prefixes(self.sources[1])

    @property
    def needs_spark(self) -> bool:
        engine, parts = self.job.engine, [part for side in self.parts for part in side]
        return engine == "spark" or (engine == "auto" and size_of(parts) > IN_PROCESS_BYTES)

    @property
    def named(self) -> tuple[Named, Named]:
        pairs = zip(self.sources, self.parts, strict=True)
        delete, insert = (named_predicates(sources, parts, self.options) for sources, parts in pairs)
        return delete, insert

    def read(self, kb: KnowledgeBase, work: Path, progress: AmountProgress | None) -> tuple[FactsRead, FactsRead]:
        delete, insert = self.parts
        return self._read(kb, delete, work, progress, add=False), self._read(kb, insert, work, progress, add=True)

    def _read(
        self, kb: KnowledgeBase, parts: Sequence[Split], work: Path, progress: AmountProgress | None, *, add: bool
    ) -> FactsRead:
        """Read the facts of splits; without ``add``, facts with terms that the dictionary does not have are
        left out.
        """
        dictionary, on_error = kb.dictionary, self.job.on_error
        blanks = None if add else StoredBlanks.of(dictionary, parts, on_error)
        if not self.needs_spark:
            return read_facts(
                parts, self.options, dictionary, add=add, blanks=blanks, on_error=on_error, progress=progress
            )
        runner = SparkRunner(session(self.job.master))
        staged = self._stage(runner, parts, kb.predicates, work, salt=dictionary.salt, progress=progress)
        facts, unknown = facts_in(staged, dictionary, add=add, blanks=blanks)
        return FactsRead(facts, staged.rows, unknown, staged.bad, staged.bad_count, staged.kinds)

    def stage(self, runner: Runner, program: CheckedProgram, info: VersionInfo, work: Path) -> StagedChange:
        parts, literals = self.parts, LITERAL in program.predicates
        delete = self._stage(runner, parts[0], program.predicates, work, salt=info.salt)
        insert = self._stage(runner, parts[1], program.predicates, work, salt=info.salt, literals=literals)
        return StagedChange(delete, insert, tuple(parts[0]))

    def _stage(
        self, runner: Runner, parts: Sequence[Split], predicates: Iterable[Predicate], work: Path, **how: Any
    ) -> Staged:
        if not parts:
            return Staged(2)
        width = max([widest(parts, self.options), *(p.arity for p in predicates)])
        return stage(runner, parts, self.options, work, width=width, on_error=self.job.on_error, **how)
