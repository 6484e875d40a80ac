"""The main job: files through Spark into a store with everything that follows from them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.analysis.check import CheckedProgram, check
from everlog.analysis.given import KINDS, GivenFacts, StoredKinds
from everlog.analysis.predicates import refuse_two_arities
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.backends.engines import memory_needed, needs_spark, plan_settings
from everlog.backends.spark.tasks import SparkRunner
from everlog.engine.dictionary import Constants, Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.limits import Limits
from everlog.engine.state import State
from everlog.ingest.amounts import Told
from everlog.ingest.encode import TERMS
from everlog.ingest.facts import load_columns
from everlog.ingest.inputs import EncodedFiles, encoded
from everlog.ingest.named import named_predicates, with_empty
from everlog.ingest.prefixes import declared_prefixes
from everlog.ingest.rdf import merged_graphs
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.split import BadRow
from everlog.ingest.splits import LARGE_GZ, large_files, splits
from everlog.ingest.triples import refuse_graphs
from everlog.jobs.reports import Clock, Report
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.stores import bookkeeping_of, commit_state, kept_after_commit, refuse_existing
from everlog.lang.errors import EverlogError, few
from everlog.lang.internal import VIOLATION
from everlog.lang.printer import print_program
from everlog.lang.syntax import Program
from everlog.owl.reading import Profile, Schema, has_ontology, read_program
from everlog.profiling.watch import watching
from everlog.reasoning.equality import Equality
from everlog.reasoning.materialisation import Maintain, Materialisation, booked
from everlog.reasoning.merging import Merging
from everlog.reasoning.modules.boundary import above, stored, visible
from everlog.reasoning.modules.description import closures_of
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.seminaive import seminaive
from everlog.reasoning.statistics import Listener, Statistics
from everlog.settings import EXPAND_BELOW, LOCAL_FINISH, WAIT
from everlog.store.codec import COUNTED, dictionary_of, facts_of
from everlog.store.transaction import Transaction, begin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)


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
    schema: Schema = "drop"
    engine: str = "auto"
    memory: int | None = None
    """Bytes that reasoning may take on this machine, or a stratum in one task of Spark; with the engine ``auto`` what
    may take more is distributed."""
    local_finish: int = LOCAL_FINISH
    wait: float = WAIT
    """Seconds to wait for another writer of the store."""

    def __post_init__(self) -> None:
        assert self.stratification in get_args(Kind)


@dataclass(frozen=True)
class Result:
    """What a job did: ``seconds`` by phase; ``rows`` as read, before duplicates went."""

    version: int
    statistics: Statistics
    rows: int
    bad: tuple[BadRow, ...]
    bad_count: int
    seconds: dict[str, float]


def materialise(job: MaterialiseJob, report: Report | None = None) -> Result:
    """Read, check and encode the facts on Spark, reason on this machine or on Spark, commit a version of the store.

    The executors write ids and terms as Parquet files into the store's work directory; the local
    engine maps these, and what it derives is written as one version. If Spark reasons, the executors
    write that, too. After any error the store is as it was.
    """
    report = report or Report()
    clock = Clock(report)
    with clock.phase("check"):
        read = read_program(job.rules, job.profile, equality=job.equality, base=job.base, schema=job.schema)
        plain = stratify(check(read.program), job.stratification)
        merges = job.equality == "representatives"
        if merges:
            _check_merging(job, plain.program)
        program = with_modules(plain) if job.modules and not merges else plain
        for warning in few((*read.warnings, *program.program.warnings)):
            report.warning(warning)
        options = _options(job, program.program)
        refuse_graphs(options, has_ontology(job.rules, job.profile))
        refuse_existing(job.store, job.overwrite)
    with begin(job.store, overwrite=job.overwrite, wait=job.wait) as transaction:
        refuse_existing(job.store, job.overwrite)  # somebody may have made one while this waited
        with clock.phase("check"):
            sources = resolve((*job.facts, *read.facts), options, transaction.work)
            transaction.declare(declared_prefixes(sources))
            parts = splits(sources, options)
            for warning in (*large_files(parts, job.large_gz), *merged_graphs(parts, options)):
                report.warning(warning)
        with clock.phase("start Spark"):
            spark = _session(job)
        with clock.phase("read"):
            staged = encoded(
                SparkRunner(spark),
                parts,
                program.program,
                options,
                transaction.work,
                on_error=job.on_error,
                salt=job.salt,
                told=report.amount,
            )
        given = GivenFacts(merged=merges)
        named = named_predicates(sources, parts, options)
        given.add(with_empty(staged.kinds, named), named)
        for warning in few(given.news(program.program, whole=bool(job.facts))):
            report.warning(warning)
        report.loaded()
        if _reasons_on_spark(job, staged):
            return _on_spark(spark, job, plain, staged, given, transaction, clock)
        with clock.phase("load"):
            dictionary = dictionary_of(_terms(staged.terms), job.salt)
            explicit = facts_of(load_columns(staged.facts), dictionary)
            refuse_two_arities(explicit, program.program.arities)
        with clock.phase("reason"):
            reason = _reason_merged if merges else _reason
            state, statistics = reason(job, program, dictionary, explicit, report)
        with clock.phase("commit"):
            kinds = given.stored(program.program)
            version = _commit(transaction, staged, state, program, statistics, kinds, job, report.amount)
    with clock.phase("snapshot"):
        kept_after_commit(job.store, version, state, report.warning)
    return Result(version, statistics, staged.rows, staged.bad, staged.bad_count, clock.seconds)


def _check_merging(job: MaterialiseJob, program: CheckedProgram) -> None:
    """Refuse what cannot be done with representatives."""
    if job.engine == "spark":
        raise no_representatives_on_spark()
    if job.profile == "rdfs":
        message = "the profile rdfs has no rules for owl:sameAs in triples, so nothing would be the same"
        hint = "use another profile, such as rl, or leave out --equality"
        raise EverlogError.of("representatives-of-triples", message, None, hint)
    Merging(program)


def no_representatives_on_spark() -> EverlogError:
    """Why the engine spark is refused."""
    message = "Spark cannot reason over representatives of equal terms"
    return EverlogError.of("representatives-on-spark", message, None, "use --engine local, or --equality rules")


def _reasons_on_spark(job: MaterialiseJob, staged: EncodedFiles) -> bool:
    """Whether Spark is to reason: if asked for, or if this machine's memory may not do; says so."""
    if job.engine != "auto" or job.equality == "representatives":
        return job.engine == "spark"
    texts = sum(Path(file).stat().st_size for file in staged.terms)
    return needs_spark(memory_needed(staged.rows, texts), job.memory)


def _on_spark(
    spark: SparkSession,
    job: MaterialiseJob,
    plain: StratifiedProgram,
    staged: EncodedFiles,
    given: GivenFacts,
    transaction: Transaction,
    clock: Clock,
) -> Result:
    """Reason in the executors, and commit the files that they write."""
    from everlog.backends.spark.materialise import Staging, materialise_on_spark, spark_program
    from everlog.backends.spark.settings import SparkSettings

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
            check=lambda explicit: refuse_two_arities(explicit, program.program.arities),
        )
    with clock.phase("commit"):
        transaction.add_term_files(staged.terms)
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
    seen = visible(program, facts)
    violations = len(seen.relation(VIOLATION))
    return state, replace(statistics, facts=seen.count, equality=job.equality, violations=violations)


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
    staged: EncodedFiles,
    state: State,
    program: StratifiedProgram,
    statistics: Statistics,
    kinds: StoredKinds,
    job: MaterialiseJob,
    told: Told | None,
) -> int:
    transaction.add_term_files(staged.terms)
    written = program.program.written
    assert written is not None
    bookkeeping = bookkeeping_of(state, job.maintain)
    closures, rules = closures_of(program, state.generated), print_program(written)
    return commit_state(
        transaction, state, rules, statistics, "materialise", kinds, bookkeeping, closures, job.modules, told
    )
