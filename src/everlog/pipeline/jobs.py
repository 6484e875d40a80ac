"""The main job: files through Spark into a store with everything that follows from them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.analysis.check import CheckedProgram, check
from everlog.analysis.modules import with_modules
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.engine.dictionary import Constants, Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.hashing import hash_texts
from everlog.engine.limits import Limits
from everlog.engine.state import State
from everlog.equality import Equality
from everlog.equality.merging import Merging
from everlog.knowledge_base import KnowledgeBase
from everlog.lake import COUNTED, dictionary_of, facts_of
from everlog.lang.errors import DataError, Diagnostic, EverlogError
from everlog.lang.printer import print_program
from everlog.lang.syntax import Constant, Predicate, Program
from everlog.modules.boundary import above, stored, visible
from everlog.modules.description import closures_of
from everlog.pipeline.amounts import Told
from everlog.pipeline.encode import TERMS
from everlog.pipeline.engines import memory_needed, needs_spark, plan_settings
from everlog.pipeline.facts import load_columns
from everlog.pipeline.program import Profile, has_ontology, read_program
from everlog.pipeline.sources import ReadOptions, resolve
from everlog.pipeline.spill import Spill, write_parquet
from everlog.pipeline.split import BadRow, Split
from everlog.pipeline.splits import LARGE_GZ, large_files, splits
from everlog.pipeline.triples import refuse_graphs
from everlog.pipeline.values import constant_column
from everlog.profiling.watch import watching
from everlog.reasoning.materialisation import Maintain, Materialisation, booked
from everlog.reasoning.seminaive import seminaive
from everlog.reasoning.statistics import Listener, RoundEvent, Statistics
from everlog.settings import EXPAND_BELOW, LOCAL_FINISH
from everlog.store.transaction import Transaction, begin
from everlog.stores import bookkeeping_of, commit_state, keep_snapshot, refuse_existing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.profiling.profile import Profile as Times

log = logging.getLogger(__name__)

BATCH_ROWS = 1 << 18
"""How many of a program's facts are encoded at once."""


@dataclass(frozen=True)
class MaterialiseJob:
    """What ``everlog materialise`` is asked to do."""

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
    engine: str = "auto"
    memory: int | None = None
    """Bytes that reasoning may take on this machine, or a stratum in one task of Spark; with the engine ``auto`` what
    may take more is distributed."""
    local_finish: int = LOCAL_FINISH

    def __post_init__(self) -> None:
        assert self.stratification in get_args(Kind)


@dataclass(frozen=True)
class Report:
    """Who is told how a job gets on."""

    phase: Callable[[str], None] = lambda name: None
    round_done: Callable[[RoundEvent], None] = lambda event: None
    warning: Callable[[Diagnostic], None] = lambda warning: None
    amount: Told | None = None
    """Who hears how much is read and written, if anyone."""
    profile: Times | None = None
    """Where to record what reasoning takes, if that is asked for."""


@dataclass(frozen=True)
class Result:
    """What a job did: ``seconds`` by phase; ``rows`` as read, before duplicates went."""

    version: int
    statistics: Statistics
    rows: int
    bad: tuple[BadRow, ...]
    bad_count: int
    seconds: dict[str, float]


@dataclass
class Clock:
    """Measures the phases of a job."""

    report: Report
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.report.phase(name)
        begin_at = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = time.perf_counter() - begin_at


def materialise(job: MaterialiseJob, report: Report | None = None) -> Result:
    """Read, check and encode the facts on Spark, reason on this machine or on Spark, commit a version of the store.

    The executors write ids and terms as Parquet files into the store's work directory; the local
    engine maps these, and what it derives is written as one version. If Spark reasons, the executors
    write that, too. After any error the store is as it was.
    """
    report = report or Report()
    clock = Clock(report)
    with clock.phase("check"):
        read = read_program(job.rules, job.profile, equality=job.equality, base=job.base)
        plain = stratify(check(read.program), job.stratification)
        merges = job.equality == "representatives"
        if merges:
            _check_merging(job, plain.program)
        program = with_modules(plain) if job.modules and not merges else plain
        for warning in (*read.warnings, *program.program.warnings):
            report.warning(warning)
        options = _options(job, program.program)
        refuse_graphs(options, has_ontology(job.rules, job.profile))
        parts = splits(resolve((*job.facts, *read.facts), options), options)
        for warning in large_files(parts, job.large_gz):
            report.warning(warning)
        refuse_existing(job.store, job.overwrite)
    with begin(job.store, overwrite=job.overwrite) as transaction:
        with clock.phase("start Spark"):
            spark = _session(job)
        with clock.phase("read"):
            staged = _Staging(spark, job, options, transaction.work, report.amount).run(parts, program.program)
        if _reasons_on_spark(job, staged):
            return _on_spark(spark, job, plain, staged, transaction, clock)
        with clock.phase("load"):
            dictionary = dictionary_of(_terms(staged.terms), job.salt)
            explicit = facts_of(load_columns(staged.facts), dictionary)
            _check_arities(explicit, program.program)
        with clock.phase("reason"):
            reason = _reason_merged if merges else _reason
            state, statistics = reason(job, program, dictionary, explicit, report)
        with clock.phase("commit"):
            version = _commit(transaction, staged, state, program, statistics, job.maintain, report.amount)
    with clock.phase("snapshot"):
        keep_snapshot(job.store, version, state)
    return Result(version, statistics, staged.rows, staged.bad, staged.bad_count, clock.seconds)


def _check_merging(job: MaterialiseJob, program: CheckedProgram) -> None:
    """Refuse what cannot be done with representatives."""
    if job.engine == "spark":
        raise no_representatives_on_spark()
    if job.profile in ("rl", "rdfs"):
        message = f"the profile {job.profile} reasons about triples, and representatives are for predicates"
        hint = "use another profile, or leave equality to the rules of rl"
        raise EverlogError.of("representatives-of-triples", message, None, hint)
    Merging(program)


def no_representatives_on_spark() -> EverlogError:
    """Why the engine spark is refused."""
    message = "Spark cannot reason over representatives of equal terms"
    return EverlogError.of("representatives-on-spark", message, None, "use --engine local, or --equality rules")


def _reasons_on_spark(job: MaterialiseJob, staged: _Read) -> bool:
    """Whether Spark is to reason: if asked for, or if this machine's memory may not do; says so."""
    if job.engine != "auto" or job.equality == "representatives":
        return job.engine == "spark"
    texts = sum(Path(file).stat().st_size for file in staged.terms)
    return needs_spark(memory_needed(staged.rows, texts), job.memory)


def _on_spark(
    spark: SparkSession,
    job: MaterialiseJob,
    plain: StratifiedProgram,
    staged: _Read,
    transaction: Transaction,
    clock: Clock,
) -> Result:
    """Reason in the executors, and commit the files that they write."""
    from everlog.spark.materialise import Staging, materialise_on_spark, spark_program
    from everlog.spark.settings import SparkSettings

    program = spark_program(plain, job.modules)
    plans = plan_settings(spark, job.engine, job.memory, job.salt)
    with clock.phase("reason"), watching(clock.report.profile, program) as watch:
        found = materialise_on_spark(
            spark,
            program,
            Staging(staged.facts, staged.terms, transaction.work, job.salt),
            job.maintain,
            settings=SparkSettings(job.local_finish, plans, job.expand_below),
            limits=Limits.from_now(job.max_facts, job.timeout),
            listener=Listener(clock.report.round_done),
            watch=watch,
            check=lambda explicit: _check_arities(explicit, program.program),
        )
    with clock.phase("commit"):
        transaction.add_term_files(staged.terms)
        transaction.add_fact_files(found.files)
        written = program.program.written
        assert written is not None
        version = transaction.commit(
            rules=print_program(written),
            statistics={**found.statistics.as_dict(), "listed": found.listed},
            bookkeeping=COUNTED if found.counted else "counting" if job.maintain == "counting" else "none",
            operation="materialise",
            salt=job.salt,
            closures=closures_of(program, found.generated),
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
    from everlog.pipeline.session import session

    return session(job.master)


@dataclass(frozen=True)
class _Read:
    """Files of encoded facts, and of all terms, sorted and distinct."""

    facts: tuple[str, ...]
    terms: tuple[str, ...]
    rows: int
    bad: tuple[BadRow, ...]
    bad_count: int


@dataclass(frozen=True)
class _Staging:
    """Brings data and program into files of ids and terms."""

    spark: SparkSession
    job: MaterialiseJob
    options: ReadOptions
    work: Path
    told: Told | None = None

    def run(self, parts: Sequence[Split], program: CheckedProgram) -> _Read:
        from everlog.pipeline.dictionary import new_terms
        from everlog.pipeline.stage import stage, widest

        width = max([widest(parts, self.options), *(p.arity for p in program.predicates)])
        staged = stage(
            self.spark,
            parts,
            self.options,
            self.work,
            width=width,
            on_error=self.job.on_error,
            salt=self.job.salt,
            told=self.told,
        )
        own = Spill(Path(self.work), width, salt=self.job.salt)
        for batch in _program_batches(program):
            own.add(batch)
        own.flush()
        names = write_parquet(_program_terms(program, self.job.salt), Path(self.work), "program-terms")
        terms = new_terms(self.spark, [*staged.term_files, *own.term_files, names], (), self.work, salt=self.job.salt)
        facts = (*staged.fact_files, *own.fact_files)
        return _Read(facts, terms.files, staged.rows + own.rows, staged.bad, staged.bad_count)


def _program_batches(program: CheckedProgram) -> Iterator[pa.RecordBatch]:
    """The facts of a program as batches of texts, one a predicate."""
    rows: dict[Predicate, list[list[str]]] = {}
    for atom in program.facts:
        rows.setdefault(atom.predicate, []).append([t.text for t in atom.terms if isinstance(t, Constant)])
    for predicate, found in rows.items():
        columns = [pa.array(column, pa.large_string()) for column in zip(*found, strict=True)]
        yield _facts_batch(predicate, columns, len(found))
    for each in program.data:
        for start in range(0, len(each), BATCH_ROWS):
            some = [array.slice(start, BATCH_ROWS) for array in each.arrays]
            yield _facts_batch(each.predicate, some, len(some[0]))


def _facts_batch(predicate: Predicate, columns: Sequence[pa.Array], rows: int) -> pa.RecordBatch:
    names = ["predicate", *(f"c{i}" for i in range(predicate.arity))]
    return pa.record_batch([constant_column(str(predicate), rows), *columns], names=names)


def _program_terms(program: CheckedProgram, salt: int) -> pa.Table:
    """The predicates of a program and the constants of its rules, as terms sorted by id."""
    texts = {str(predicate) for predicate in program.predicates}
    for rule in program.rules:
        texts.update(t.text for atom in (rule.head, *rule.body) for t in atom.terms if isinstance(t, Constant))
    column = pa.array(sorted(texts), pa.string())
    return pa.table({"id": hash_texts(column, salt=salt), "text": column}, schema=TERMS).sort_by("id")


def _terms(files: Sequence[str]) -> pa.Table:
    """All terms, sorted by id; the files are sorted, and their ranges of ids are disjoint."""
    tables = [pq.read_table(file, memory_map=True) for file in files]
    if not tables:
        return TERMS.empty_table()
    return pa.concat_tables(sorted(tables, key=lambda table: table.column("id")[0].as_py()))


def _check_arities(explicit: FactSet, program: CheckedProgram) -> None:
    """A bare name has one arity, in the rules and all data together."""
    arities = program.arities
    for predicate in explicit:
        if predicate.name.startswith("<"):
            continue
        arity = arities.setdefault(predicate.name, predicate.arity)
        if arity != predicate.arity:
            message = f"`{predicate.name}` has facts with {predicate.arity} arguments, and others with {arity}"
            raise DataError.of("arity", message, None, "give one of the two another name with NAME=PATH")


def _reason(
    job: MaterialiseJob, program: StratifiedProgram, dictionary: Dictionary, explicit: FactSet, report: Report
) -> tuple[State, Statistics]:
    """What follows, with the counters that updates will need; a trace is not stored, so none is made."""
    limits = Limits.from_now(job.max_facts, job.timeout, job.memory)
    explicit = explicit.renamed(program.external)
    with watching(report.profile, program) as watch:
        engine = watch.engine(len(dictionary), Constants(dictionary), limits=limits)
        facts, statistics = seminaive(engine, program, explicit, watch.listener(Listener(report.round_done)))
        fresh = Materialisation(explicit, facts, instances=statistics.instances)
        kept = booked(engine, program, fresh, "none" if job.maintain == "counting" else job.maintain)
    state = stored(program, dictionary, kept, above(program, facts, job.expand_below))
    return state, replace(statistics, facts=visible(program, facts).count, equality=job.equality)


def _reason_merged(
    job: MaterialiseJob, program: StratifiedProgram, dictionary: Dictionary, explicit: FactSet, report: Report
) -> tuple[State, Statistics]:
    """The same over representatives, with all facts that these stand for."""
    written = program.program.written
    assert written is not None
    kb = KnowledgeBase.restored(
        Program(written.rules, prefixes=written.prefixes),
        State(dictionary, explicit, NONE),
        Statistics(facts=0, explicit=0, instances=0, rounds=0, seconds=0.0),
        stratification=job.stratification,
        maintain="none",
        equality="representatives",
        max_facts=job.max_facts,
        timeout=job.timeout,
        max_memory=job.memory,
    )
    statistics = kb.materialise(fresh=True, progress=Listener(report.round_done), profile=report.profile or False)
    return kb.listed(), statistics


def _commit(
    transaction: Transaction,
    staged: _Read,
    state: State,
    program: StratifiedProgram,
    statistics: Statistics,
    maintain: Maintain,
    told: Told | None,
) -> int:
    transaction.add_term_files(staged.terms)
    written = program.program.written
    assert written is not None
    bookkeeping = bookkeeping_of(state, maintain)
    closures, rules = closures_of(program, state.generated), print_program(written)
    return commit_state(transaction, state, rules, statistics, "materialise", bookkeeping, closures, told)
