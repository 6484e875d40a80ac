"""The main job: reads files into a store, with all facts that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.analysis.check import CheckedProgram, check
from everlog.analysis.given import KINDS, GivenFacts
from everlog.analysis.predicates import refuse_two_arities
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.backends.engines import TEXT_FACTOR, memory_needed, needs_spark, plan_settings
from everlog.backends.spark.tasks import SparkRunner
from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.kinds import ByPredicate
from everlog.engine.limits import Limits
from everlog.ingest.facts import IN_PROCESS_BYTES, load_columns, read_facts, size_of
from everlog.ingest.inputs import encoded, facts_in_program
from everlog.ingest.named import named_predicates, with_empty
from everlog.ingest.prefixes import declared_prefixes
from everlog.ingest.rdf import merged_graphs
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.split import BadRow, Split
from everlog.ingest.splits import LARGE_GZ, large_files, splits
from everlog.ingest.stage import Staged
from everlog.ingest.triples import refuse_graphs
from everlog.jobs.reports import Clock, Report
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.saving import commit_whole, keep_whole_version, refuse_existing
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError, Place, abridged
from everlog.lang.internal import LITERAL
from everlog.lang.printer import print_program
from everlog.lang.syntax import Predicate
from everlog.owl.reading import Profile, Schema, has_ontology, read_program
from everlog.profiling.recorder import watching
from everlog.reasoning.equality import Equality
from everlog.reasoning.materialisation import Maintain
from everlog.reasoning.merging import Merging
from everlog.reasoning.modules.description import closures_of
from everlog.reasoning.statistics import Listener, Statistics
from everlog.settings import EXPAND_BELOW, LOCAL_FINISH, WAIT
from everlog.store.codec import COUNTED, dictionary_of, facts_of
from everlog.store.schema import TERMS
from everlog.store.transaction import Transaction, begin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class MaterialiseJob:
    """The options of ``everlog materialise``."""

    rules: str | tuple[str, ...]
    """Rule files, and ontologies in any serialisation of RDF."""
    facts: tuple[str, ...]
    store: str
    header: bool = False
    types: str = "auto"
    base: str | None = None
    source: str | None = None
    graphs: bool = False
    large_gz: int = LARGE_GZ
    on_error: str = "stop"
    overwrite: bool = False
    master: str | None = None
    stratification: Kind = "levels"
    maintain: Maintain = "dredc"
    salt: int = 0
    expand_below: int = EXPAND_BELOW
    max_facts: int | None = None
    timeout: float | None = None
    modules: bool = True
    profile: Profile = "lower"
    equality: Equality = "off"
    schema: Schema = "drop"
    engine: str = "auto"
    memory: int | None = None
    """Maximum bytes of reasoning on this machine, or of a stratum in one task of Spark; with the engine ``auto`` larger
    work is distributed."""
    local_finish: int = LOCAL_FINISH
    wait: float = WAIT
    """Maximum seconds to wait for another writer of the store."""

    def __post_init__(self) -> None:
        assert self.stratification in get_args(Kind)


@dataclass(frozen=True)
class Result:
    """The result of a job: ``seconds`` by phase; ``rows`` as read, with duplicates."""

    version: int
    statistics: Statistics
    rows: int
    bad: tuple[BadRow, ...]
    bad_count: int
    seconds: dict[str, float]


def materialise(job: MaterialiseJob, report: Report | None = None) -> Result:
    """Read and check the facts, derive what follows from them, and commit a version of the store.

    Small inputs are read by this process, and nothing is written before the version. Large ones are read by
    Spark's executors into files of ids and terms, which this process maps. If Spark reasons, on request or because
    memory is short, its executors read and write. After any error the store is as it was.
    """
    report = report or Report()
    clock = Clock(report)
    with clock.phase("check"):
        read = read_program(job.rules, job.profile, equality=job.equality, base=job.base, schema=job.schema)
        program = stratify(check(read.program), job.stratification)
        if job.equality == "representatives":
            _check_merging(job, program.program)
        for warning in abridged((*read.warnings, *program.program.warnings)):
            report.warning(warning)
        options = _options(job, program.program)
        refuse_graphs(options, has_ontology(job.rules, job.profile))
        refuse_existing(job.store, job.overwrite)
    with begin(job.store, overwrite=job.overwrite, wait=job.wait) as transaction:
        refuse_existing(job.store, job.overwrite)  # another writer may have made one while this waited
        with clock.phase("check"):
            sources = resolve((*job.facts, *read.facts), options, transaction.work)
            transaction.declare(declared_prefixes(sources))
            parts = splits(sources, options)
            for warning in (*large_files(parts, job.large_gz), *merged_graphs(parts, options)):
                report.warning(warning)
            named = named_predicates(sources, parts, options)
        inputs = _Inputs(job, program, options, tuple(parts), named, transaction.work)
        loaded = inputs.read(clock) if inputs.are_small else None
        if loaded is None:
            with clock.phase("start Spark"):
                spark = _session(job)
            staged = inputs.staged(spark, clock)
            if inputs.are_small or _reasons_on_spark(
                job, staged.rows, sum(Path(file).stat().st_size for file in staged.term_files)
            ):
                return _on_spark(spark, inputs, staged, transaction, clock)
            loaded = inputs.loaded(staged, clock)
        kb = loaded.kb
        kb.warn_of_queued()
        report.loaded()
        with clock.phase("reason"):
            kb.materialise(progress=Listener(report.round_done), profile=report.profile or False)
        with clock.phase("commit"):
            version, state = commit_whole(
                kb,
                transaction,
                "materialise",
                expand_below=job.expand_below,
                maintain=job.maintain,
                term_files=loaded.term_files,
                progress=report.amount,
            )
    with clock.phase("snapshot"):
        keep_whole_version(kb, job.store, version, state, transaction.writer, report.warning)
    return Result(version, kb.statistics, loaded.rows, loaded.bad, loaded.bad_count, clock.seconds)


@dataclass(frozen=True)
class _Loaded:
    """A knowledge base whose queue has all facts that were read, and the figures of reading.

    ``term_files`` have the first terms of its dictionary.
    """

    kb: KnowledgeBase
    rows: int
    bad: tuple[BadRow, ...]
    bad_count: int
    term_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Inputs:
    """A program and splits of files; ``named`` are the predicates whose names users have written, with the places."""

    job: MaterialiseJob
    program: StratifiedProgram
    options: ReadOptions
    parts: tuple[Split, ...]
    named: Mapping[Predicate, Place]
    work: Path

    @property
    def are_small(self) -> bool:
        """Whether the inputs are small enough for this process to read them."""
        return self.job.engine != "spark" and self.job.master is None and size_of(self.parts) <= IN_PROCESS_BYTES

    def read(self, clock: Clock) -> _Loaded | None:
        """The inputs, read by this process; None if they are so large that Spark is to reason."""
        job, progress = self.job, clock.report.amount
        with clock.phase("read"):
            kb = self._knowledge_base(Dictionary(salt=job.salt), clock)
            read = read_facts(self.parts, self.options, kb.dictionary, on_error=job.on_error, progress=progress)
            rows = read.rows + facts_in_program(self.program.program)
            if _reasons_on_spark(job, rows, kb.dictionary.nbytes // TEXT_FACTOR):
                return None
            self._insert(kb, read.facts, read.kinds)
            return _Loaded(kb, rows, read.bad, read.bad_count)

    def staged(self, spark: SparkSession, clock: Clock) -> Staged:
        """The inputs, in files that Spark has written."""
        job, progress = self.job, clock.report.amount
        how: dict[str, Any] = {"on_error": job.on_error, "salt": job.salt, "progress": progress}
        with clock.phase("read"):
            return encoded(SparkRunner(spark), self.parts, self.program.program, self.options, self.work, **how)

    def loaded(self, staged: Staged, clock: Clock) -> _Loaded:
        """The inputs that Spark has read, brought into this process."""
        with clock.phase("load"):
            kb = self._knowledge_base(dictionary_of(_terms(staged.term_files), self.job.salt), clock)
            facts = facts_of(load_columns(staged.fact_files), kb.dictionary)
            self._insert(kb, facts.restricted(p for p in facts if p != LITERAL), staged.kinds)
        return _Loaded(kb, staged.rows, staged.bad, staged.bad_count, staged.term_files)

    def _knowledge_base(self, dictionary: Dictionary, clock: Clock) -> KnowledgeBase:
        job = self.job
        kb = KnowledgeBase.over(
            dictionary,
            self.program.program,
            modules=job.modules,
            stratification=job.stratification,
            maintain="none" if job.maintain == "counting" else job.maintain,  # a trace is not stored
            equality=job.equality,
            max_facts=job.max_facts,
            timeout=job.timeout,
            max_memory=job.memory,
        )
        kb.warning = clock.report.warning
        return kb

    def _insert(self, kb: KnowledgeBase, facts: FactSet, kinds: ByPredicate) -> None:
        refuse_two_arities(facts, self.program.program.arities)
        kb.insert_facts(facts, with_empty(kinds, self.named), self.named, whole=bool(self.job.facts))


def _check_merging(job: MaterialiseJob, program: CheckedProgram) -> None:
    """Raise an error for options that are not supported with representatives."""
    if job.engine == "spark":
        raise no_representatives_on_spark()
    if job.profile == "rdfs":
        message = "the profile rdfs has no rules for owl:sameAs in triples, so nothing would be the same"
        hint = "use another profile, such as rl, or leave out --equality"
        raise EverlogError.of(Code.REPRESENTATIVES_OF_TRIPLES, message, None, hint)
    Merging(program)


def no_representatives_on_spark() -> EverlogError:
    """The error that refuses the engine spark with representatives."""
    message = "Spark cannot reason over representatives of equal terms"
    return EverlogError.of(Code.REPRESENTATIVES_ON_SPARK, message, None, "use --engine local, or --equality rules")


def _reasons_on_spark(job: MaterialiseJob, rows: int, texts: int) -> bool:
    """Whether Spark is to reason, on request or because this machine's memory may not suffice; ``auto`` logs its
    choice.
    """
    if job.engine != "auto" or job.equality == "representatives":
        return job.engine == "spark"
    return needs_spark(memory_needed(rows, texts), job.memory)


def _on_spark(spark: SparkSession, inputs: _Inputs, staged: Staged, transaction: Transaction, clock: Clock) -> Result:
    """Reason in the executors, and commit the files that they write."""
    from everlog.backends.spark.materialise import Staging, materialise_on_spark, spark_program
    from everlog.backends.spark.settings import SparkSettings

    job, given = inputs.job, GivenFacts()
    given.add(with_empty(staged.kinds, inputs.named), inputs.named)
    for warning in abridged(given.news(inputs.program.program, whole=bool(job.facts))):
        clock.report.warning(warning)
    clock.report.loaded()
    program = spark_program(inputs.program, job.modules)
    plans = plan_settings(spark, job.engine, job.memory, job.salt)
    with clock.phase("reason"), watching(clock.report.profile, program) as watch:
        found = materialise_on_spark(
            spark,
            program,
            Staging(staged.fact_files, staged.term_files, transaction.work, job.salt),
            job.maintain,
            settings=SparkSettings(job.local_finish, plans, job.expand_below),
            limits=Limits.from_now(job.max_facts, job.timeout),
            listener=Listener(clock.report.round_done),
            watch=watch,
            check=lambda explicit: refuse_two_arities(explicit, program.program.arities),
        )
    with clock.phase("commit"):
        transaction.add_term_files(staged.term_files)
        transaction.add_fact_files(found.files)
        written = program.program.written
        assert written is not None
        version = transaction.commit(
            rules=print_program(written),
            statistics={
                **found.statistics.as_dict(),
                "listed": found.listed,
                KINDS: given.stored(program.program),
            },
            bookkeeping=COUNTED if found.counted else "counting" if job.maintain == "counting" else "none",
            operation="materialise",
            salt=job.salt,
            closures=closures_of(program, found.generated),
            modules=job.modules,
        )
    return Result(version, found.statistics, staged.rows, staged.bad, staged.bad_count, clock.seconds)


def _options(job: MaterialiseJob, program: CheckedProgram) -> ReadOptions:
    return ReadOptions(
        header=job.header,
        types=job.types,
        prefixes=dict(program.prefixes),
        base=job.base,
        source=job.source,
        arities=program.arities,
        graphs=job.graphs,
    )


def _session(job: MaterialiseJob) -> SparkSession:
    from everlog.host.session import session

    return session(job.master)


def _terms(files: Sequence[str]) -> pa.Table:
    """All terms, sorted by id; the files are sorted, and their ranges of ids are disjoint."""
    tables = [pq.read_table(file, memory_map=True) for file in files]
    if not tables:
        return TERMS.empty_table()
    return pa.concat_tables(sorted(tables, key=lambda table: table.column("id")[0].as_py()))
