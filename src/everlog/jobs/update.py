"""The other job: changes of the explicit facts, from files, into the next version of a store."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from everlog.analysis.check import CheckedProgram
from everlog.backends.engines import needs_spark_to_update
from everlog.backends.spark.tasks import SparkRunner
from everlog.ingest.amounts import Told
from everlog.ingest.blanks import StoredBlanks
from everlog.ingest.columns import Headers
from everlog.ingest.facts import facts_in
from everlog.ingest.in_process import IN_PROCESS_BYTES, FactsRead, read_facts, size_of
from everlog.ingest.named import named_predicates, with_empty
from everlog.ingest.prefixes import declared_prefixes
from everlog.ingest.rdf import merged_graphs
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.split import BadRow, Split
from everlog.ingest.splits import LARGE_GZ, large_files, splits
from everlog.ingest.stage import stage, widest
from everlog.ingest.triples import refuse_graphs
from everlog.jobs.reports import Clock, Report
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.stores import append
from everlog.kb.stores import open as open_store
from everlog.lang.errors import EverlogError
from everlog.reasoning.update import Algorithm, Strategy
from everlog.settings import LOCAL_FINISH, LOOK_UP_ROWS, PROBE_ROWS, WAIT
from everlog.store import Store, begin
from everlog.store.compaction import compact_if_worth

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class UpdateJob:
    """What ``everlog update`` is asked to do."""

    store: str
    insert: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    algorithm: Algorithm = "auto"
    strategy: Strategy = "never"
    header: bool = False
    types: str = "auto"
    base: str | None = None
    source: str | None = None
    graphs: bool = False
    large_gz: int = LARGE_GZ
    on_error: str = "stop"
    engine: str = "auto"
    master: str | None = None
    max_facts: int | None = None
    timeout: float | None = None
    memory: int | None = None
    """Bytes that this process may hold while it reasons; with the engine ``auto`` Spark updates stores that may need
    more."""
    dry_run: bool = False
    compact: bool = True
    wait: float = WAIT
    """Seconds to wait for another writer of the store."""
    local_finish: int = LOCAL_FINISH
    look_up_rows: int = LOOK_UP_ROWS
    """On Spark one task looks up what an update needs, unless that is more rows of the store than this; 0 is never."""
    probe_rows: int = PROBE_ROWS
    """Where Spark joins a change with more rows of the store than this, it finds out first which row groups to read."""


@dataclass(frozen=True)
class UpdateResult:
    """What an update did: ``version`` is the one it made, or the old one if nothing changed.

    ``compacted`` is the version that a compaction made after it, if there was one.
    """

    version: int
    change: Change
    rows: int
    bad: tuple[BadRow, ...]
    bad_count: int
    seconds: dict[str, float]
    compacted: int | None = None
    violations: int = 0
    """How many facts say that something contradicts an ontology."""


def update(job: UpdateJob, report: Report | None = None) -> UpdateResult:
    """Read the changes, repair the materialisation in the store, and commit the difference.

    Small change sets are read in this process, large ones by Spark, by the same readers. With the engine
    ``spark`` that reasons, too. With ``auto``, if the store is not expected to fit the memory of this process, a small
    change is applied by what it looks up in the store, and Spark reasons if that is too much. The rules are those
    of the store. After any error the store is as it was; what fails after the commit is a warning. Another writer is
    waited for, and the change is applied on top of what it committed.
    """
    if reasons_on_spark(job):
        from everlog.jobs import spark_updates

        return spark_updates.update(job, report)
    clock = Clock(report or Report())
    with clock.phase("check"):
        Store.open(job.store)
    with begin(job.store, wait=job.wait) as transaction:
        with clock.phase("load"):
            limits = {"max_facts": job.max_facts, "timeout": job.timeout, "max_memory": job.memory}
            kb = open_store(job.store, transaction.base_version, **limits)
            options = _options(job, kb)
            refuse_graphs(options)
            headers: Headers = {}
            sources = [resolve(paths, options, transaction.work) for paths in (job.delete, job.insert)]
            kb.declare(declared_prefixes(sources[1]))
            parts = [splits(each, options, headers=headers) for each in sources]
            both = [*parts[0], *parts[1]]
            for warning in (*large_files(both, job.large_gz), *merged_graphs(both, options)):
                clock.report.warning(warning)
        with clock.phase("read"):
            reading = _ChangeReader(
                job, options, transaction.work, kb, needs_spark(job.engine, both), clock.report.amount
            )
            deleted = reading.facts(parts[0], add=False)
            inserted = reading.facts(parts[1], add=True)
            named = named_predicates(sources[1], parts[1], options)
            kb.warning = clock.report.warning
            kb.warn_of_facts(with_empty(inserted.kinds, named), named)
            kb.warn_of_deletions(named_predicates(sources[0], parts[0], options))
            clock.report.loaded()
        with clock.phase("reason"):
            profile = clock.report.profile or False
            change = kb.update_facts(
                inserted.facts,
                deleted.facts,
                kinds=inserted.kinds,
                unknown=deleted.unknown,
                algorithm=job.algorithm,
                strategy=job.strategy,
                profile=profile,
            )
        assert transaction.base_version is not None
        version, compacted = transaction.base_version, None
        if not job.dry_run:
            with clock.phase("commit"):
                version = append(kb, transaction, {"update": asdict(change.stats)})
    if job.compact and not job.dry_run and version != transaction.base_version:
        with clock.phase("compact"):
            compacted = compact_if_worth(job.store, version, clock.report.warning)
    return UpdateResult(
        version,
        change,
        deleted.rows + inserted.rows,
        (*deleted.bad, *inserted.bad),
        deleted.bad_count + inserted.bad_count,
        clock.seconds,
        compacted,
        kb.statistics.violations,
    )


def reasons_on_spark(job: UpdateJob) -> bool:
    """Whether Spark is to reason: if asked for, or if this process may not hold the store and Spark can do it."""
    if job.engine != "auto":
        return job.engine == "spark"
    store = Store.open(job.store)
    info = store.info()
    rows = sum(file.rows or 0 for file in store.files(info.version))
    texts = sum(file.size for file in store.term_files(info.version))
    if not needs_spark_to_update(rows, texts, job.memory):
        return False
    from everlog.jobs.spark_updates import updatable

    try:
        updatable(job, info)
    except EverlogError as error:
        log.info("engine auto: local all the same: %s", error.diagnostics[0].message)
        return False
    return True


def _options(job: UpdateJob, kb: KnowledgeBase) -> ReadOptions:
    program: CheckedProgram = kb.program.program
    arities = {p.name: p.arity for p in kb.predicates if not p.name.startswith("<")}
    return ReadOptions(
        header=job.header,
        types=job.types,
        prefixes=dict(program.prefixes),
        base=job.base,
        source=job.source,
        arities=arities,
        graphs=job.graphs,
    )


@dataclass(frozen=True)
class _ChangeReader:
    """Brings change sets into facts over the dictionary of a knowledge base: by this process, or by Spark."""

    job: UpdateJob
    options: ReadOptions
    work: Path
    kb: KnowledgeBase
    on_spark: bool
    told: Told | None

    def facts(self, parts: Sequence[Split], *, add: bool) -> FactsRead:
        """The facts of splits; without ``add`` those with terms that the dictionary does not have are left out."""
        dictionary, on_error, told = self.kb.dictionary, self.job.on_error, self.told
        blanks = None if add else StoredBlanks.of(dictionary, parts, on_error)
        if not self.on_spark:
            return read_facts(parts, self.options, dictionary, add=add, blanks=blanks, on_error=on_error, told=told)
        from everlog.host.session import session

        width = max([widest(parts, self.options), *(p.arity for p in self.kb.predicates)])
        runner = SparkRunner(session(self.job.master))
        how: dict[str, Any] = {"width": width, "on_error": on_error, "salt": dictionary.salt, "told": told}
        staged = stage(runner, parts, self.options, self.work, **how)
        facts, unknown = facts_in(staged, dictionary, add=add, blanks=blanks)
        return FactsRead(facts, staged.rows, unknown, staged.bad, staged.bad_count, staged.kinds)


def needs_spark(engine: str, parts: Sequence[Split]) -> bool:
    """Whether Spark is to read: if asked for, or if there is much to read once it is unpacked."""
    return engine == "spark" or (engine == "auto" and size_of(parts) > IN_PROCESS_BYTES)
