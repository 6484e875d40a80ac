"""The main job: files through Spark into a store with everything that follows from them."""

from __future__ import annotations

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
from everlog.engine.factset import FactSet
from everlog.engine.hashing import hash_texts
from everlog.engine.match import Engine, Limits
from everlog.engine.state import State
from everlog.lake import dictionary_of, facts_of
from everlog.lang.errors import DataError, Diagnostic
from everlog.lang.printer import print_program
from everlog.lang.syntax import Constant, Predicate
from everlog.modules.boundary import outward
from everlog.pipeline.encode import TERMS
from everlog.pipeline.facts import load_columns
from everlog.pipeline.program import Profile, read_program
from everlog.pipeline.sources import ReadOptions, resolve
from everlog.pipeline.spill import Spill, write_parquet
from everlog.pipeline.split import BadRow, Split
from everlog.pipeline.splits import splits
from everlog.reasoning.materialisation import Maintain, Materialisation, booked
from everlog.reasoning.seminaive import seminaive
from everlog.reasoning.statistics import Listener, RoundEvent, Statistics
from everlog.store.transaction import Transaction, begin
from everlog.stores import bookkeeping_of, commit_state, keep_snapshot, refuse_existing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    on_error: str = "stop"
    overwrite: bool = False
    master: str | None = None
    stratification: Kind = "levels"
    maintain: Maintain = "dredc"
    salt: int = 0
    max_facts: int | None = None
    timeout: float | None = None
    modules: bool = True
    profile: Profile = "lower"
    equality: bool = False

    def __post_init__(self) -> None:
        assert self.stratification in get_args(Kind)


@dataclass(frozen=True)
class Report:
    """Who is told how a job gets on."""

    phase: Callable[[str], None] = lambda name: None
    round_done: Callable[[RoundEvent], None] = lambda event: None
    warning: Callable[[Diagnostic], None] = lambda warning: None


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
    """Read, check and encode the facts on Spark, reason on this machine, commit a version of the store.

    The executors write ids and terms as Parquet files into the store's work directory; the local
    engine maps these, and what it derives is written as one version. After any error the store is
    as it was.
    """
    report = report or Report()
    clock = Clock(report)
    with clock.phase("check"):
        read = read_program(job.rules, job.profile, equality=job.equality, base=job.base)
        program = stratify(check(read.program), job.stratification)
        program = with_modules(program) if job.modules else program
        for warning in (*read.warnings, *program.program.warnings):
            report.warning(warning)
        options = _options(job, program.program)
        parts = splits(resolve((*job.facts, *read.facts), options), options)
        refuse_existing(job.store, job.overwrite)
    with begin(job.store, overwrite=job.overwrite) as transaction:
        with clock.phase("start Spark"):
            spark = _session(job)
        with clock.phase("read"):
            staged = _Staging(spark, job, options, transaction.work).run(parts, program.program)
        with clock.phase("load"):
            dictionary = dictionary_of(_terms(staged.terms), job.salt)
            explicit = facts_of(load_columns(staged.facts), dictionary)
            _check_arities(explicit, program.program)
        with clock.phase("reason"):
            state, statistics = _reason(job, program, dictionary, explicit, report)
        with clock.phase("commit"):
            version = _commit(transaction, staged, state, program, statistics, job.maintain)
    with clock.phase("snapshot"):
        keep_snapshot(job.store, version, state)
    return Result(version, statistics, staged.rows, staged.bad, staged.bad_count, clock.seconds)


def _options(job: MaterialiseJob, program: CheckedProgram) -> ReadOptions:
    return ReadOptions(
        header=job.header,
        types=job.types,
        prefixes=dict(program.prefixes),
        base=job.base,
        source=job.source,
        arities=program.arities,
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

    def run(self, parts: Sequence[Split], program: CheckedProgram) -> _Read:
        from everlog.pipeline.dictionary import new_terms
        from everlog.pipeline.stage import stage

        widest = max([2, *(p.arity for p in program.predicates), *(part.arity or 2 for part in parts)])
        staged = stage(
            self.spark, parts, self.options, self.work, width=widest, on_error=self.job.on_error, salt=self.job.salt
        )
        own = Spill(Path(self.work), widest, salt=self.job.salt)
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
        names = ["predicate", *(f"c{i}" for i in range(predicate.arity))]
        yield pa.record_batch([pa.array([str(predicate)] * len(found)), *columns], names=names)


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
    deadline = None if job.timeout is None else time.monotonic() + job.timeout
    engine = Engine(len(dictionary), Constants(dictionary), limits=Limits(job.max_facts, deadline))
    explicit = explicit.renamed(program.external)
    facts, statistics = seminaive(engine, program, explicit, Listener(report.round_done))
    fresh = Materialisation(explicit, facts, instances=statistics.instances)
    kept = booked(engine, program, fresh, "none" if job.maintain == "counting" else job.maintain)
    seen = outward(program, kept)
    listed = FactSet({predicate: relation.plain() for predicate, relation in seen.facts.items()})
    state = State(dictionary, seen.explicit, listed, seen.nr, seen.rec)
    return state, replace(statistics, facts=listed.count)


def _commit(
    transaction: Transaction,
    staged: _Read,
    state: State,
    program: StratifiedProgram,
    statistics: Statistics,
    maintain: Maintain,
) -> int:
    transaction.add_term_files(staged.terms)
    written = program.program.written
    assert written is not None
    bookkeeping = bookkeeping_of(state, maintain)
    return commit_state(transaction, state, print_program(written), statistics, "materialise", bookkeeping)
