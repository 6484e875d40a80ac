"""The job that changes the explicit facts of a store, from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everlog.analysis.check import CheckedProgram
from everlog.backends.asked import FactsToChange, StagedChange
from everlog.backends.protocol import Named
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
from everlog.ingest.triples import refuse_graphs
from everlog.jobs.asked_facts import AskedFacts
from everlog.jobs.change_job import ChangeJob, ChangeResult
from everlog.jobs.changing import carry_out
from everlog.jobs.reports import Report
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.internal import LITERAL
from everlog.lang.syntax import Predicate
from everlog.settings import LARGE_GZ
from everlog.store import VersionInfo
from everlog.store.schema import MIN_WIDTH

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

    def prepare(self, program: CheckedProgram, predicates: Iterable[Predicate]) -> Mapping[str, str]:
        job, work = self.job, self.work
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
            self.warn(warning)
        return declared_prefixes(self.sources[1])

    @property
    def _needs_spark(self) -> bool:
        """Whether the inputs are so large that Spark reads them."""
        engine, parts = self.job.engine, [part for side in self.parts for part in side]
        return engine == "spark" or (engine == "auto" and size_of(parts) > IN_PROCESS_BYTES)

    @property
    def named(self) -> tuple[Named, Named]:
        pairs = zip(self.sources, self.parts, strict=True)
        delete, insert = (named_predicates(sources, parts, self.options) for sources, parts in pairs)
        return delete, insert

    def read(self, kb: KnowledgeBase) -> FactsToChange:
        delete, insert = self.parts
        return FactsToChange(self._read(kb, delete, add=False), self._read(kb, insert, add=True))

    def _read(self, kb: KnowledgeBase, parts: Sequence[Split], *, add: bool) -> FactsRead:
        """Read the facts of splits; without ``add``, facts with terms that the dictionary does not have are
        left out.
        """
        dictionary, on_error, progress = kb.dictionary, self.job.on_error, self.clock.report.amount
        blanks = None if add else StoredBlanks.of(dictionary, parts, on_error)
        if not self._needs_spark:
            return read_facts(
                parts, self.options, dictionary, add=add, blanks=blanks, on_error=on_error, progress=progress
            )
        staged = self._read_ids(parts, kb.predicates, salt=dictionary.salt, progress=progress)
        facts, unknown = facts_in(staged, dictionary, add=add, blanks=blanks)
        return FactsRead(facts, staged.rows, unknown, staged.bad, staged.bad_count, staged.kinds)

    def read_ids(self, program: CheckedProgram, info: VersionInfo) -> StagedChange:
        parts, literals = self.parts, LITERAL in program.predicates
        delete = self._read_ids(parts[0], program.predicates, salt=info.salt)
        insert = self._read_ids(parts[1], program.predicates, salt=info.salt, literals=literals)
        return StagedChange(delete, insert, tuple(parts[0]))

    def _read_ids(self, parts: Sequence[Split], predicates: Iterable[Predicate], **how: Any) -> Staged:
        """Read the facts of splits as ids; Spark writes them into files, this process holds them."""
        if not parts:
            return Staged(MIN_WIDTH)
        runner = self.executors.started() if self._needs_spark else self.executors.runner
        width = max([widest(parts, self.options), *(p.arity for p in predicates)])
        work = self.work if self.executors.spark is not None else None
        return stage(runner, parts, self.options, work, width=width, on_error=self.job.on_error, **how)
