"""The main job: reads files into a store, with all facts that follow from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.analysis.check import CheckedProgram, check
from everlog.analysis.given import KINDS, GivenFacts
from everlog.analysis.predicates import refuse_two_arities
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.backends.asked import ReasoningOptions
from everlog.backends.engines import TEXT_FACTOR, memory_needed, needs_spark, plan_settings
from everlog.backends.spark.tasks import SparkRunner
from everlog.backends.too_much import TooMuchError
from everlog.backends.written import NewRules
from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.kinds import ByPredicate
from everlog.host.memory import size_text
from everlog.ingest.facts import IN_PROCESS_BYTES, load_columns, read_facts, size_of
from everlog.ingest.inputs import encoded, facts_in_program
from everlog.ingest.named import named_predicates, with_empty
from everlog.ingest.prefixes import declared_prefixes
from everlog.ingest.rdf import merged_graphs
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.split import Split
from everlog.ingest.splits import large_files, splits
from everlog.ingest.stage import Staged
from everlog.ingest.triples import refuse_graphs
from everlog.jobs.change_job import ChangeResult, RowsRead
from everlog.jobs.changing import MadeThere, Side, carry_out, change_of, started
from everlog.jobs.reports import Clock, Report
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.saving import commit_whole, keep_whole_version, refuse_existing
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError, Place, abridged
from everlog.lang.internal import LITERAL
from everlog.lang.printer import print_program
from everlog.lang.syntax import Predicate
from everlog.owl.reading import Profile, Schema, has_ontology, read_program
from everlog.reasoning.equality import Equality
from everlog.reasoning.materialisation import Maintain
from everlog.reasoning.merging import Merging
from everlog.reasoning.modules.description import closures_of
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.statistics import Listener, Statistics
from everlog.settings import LARGE_GZ, WAIT
from everlog.store.codec import COUNTED, dictionary_of, facts_of
from everlog.store.schema import TERMS
from everlog.store.transaction import Transaction, begin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.engine.state import State


@dataclass(frozen=True)
class MaterialiseJob(ReasoningOptions):
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
    overwrite: bool = False
    master: str | None = None
    stratification: Kind = "levels"
    maintain: Maintain = "dredc"
    salt: int = 0
    modules: bool = True
    profile: Profile = "lower"
    equality: Equality = "off"
    schema: Schema = "drop"
    wait: float = WAIT
    """Maximum seconds to wait for another writer of the store."""

    def __post_init__(self) -> None:
        assert self.stratification in get_args(Kind)


MaterialiseResult = ChangeResult[Change]


def materialise(job: MaterialiseJob, report: Report | None = None) -> MaterialiseResult:
    """Read and check the facts, derive what follows from them, and commit a version of the store.

    Small inputs are read by this process, and nothing is written before the version. Large ones are read by
    Spark's executors into files of ids and terms, which this process maps. If Spark reasons, on request or because
    memory is short, its executors read and write. After any error the store is as it was.
    """
    report = report or Report()
    return carry_out(AskedWhole(job, report), report)


class AskedWhole:
    """A request for a version that is made from nothing; its attributes are set as it is checked.

    ``named`` are the predicates whose names users have written, with the places.
    """

    is_dry = False
    compacts = False
    program: StratifiedProgram
    options: ReadOptions
    facts: tuple[str, ...]
    parts: list[Split]
    named: Mapping[Predicate, Place]

    def __init__(self, job: MaterialiseJob, report: Report) -> None:
        self.job = job
        self.store = job.store
        self.report = report
        self._files: Staged | None = None
        self._session: SparkSession | None = None

    @contextmanager
    def begun(self, clock: Clock) -> Iterator[Transaction]:
        """Check the rules, and begin the first version, or one that replaces all before it."""
        job = self.job
        with clock.phase("check"):
            self._check_rules()
            refuse_existing(job.store, job.overwrite)
        with begin(job.store, overwrite=job.overwrite, wait=job.wait) as transaction:
            refuse_existing(job.store, job.overwrite)  # another writer may have made one while this waited
            with clock.phase("check"):
                self._check_facts(transaction)
            yield transaction

    def _check_rules(self) -> None:
        job = self.job
        read = read_program(job.rules, job.profile, equality=job.equality, base=job.base, schema=job.schema)
        self.facts, self.program = (*job.facts, *read.facts), stratify(check(read.program), job.stratification)
        if job.equality == "representatives":
            _check_merging(job, self.program.program)
        for warning in abridged((*read.warnings, *self.program.program.warnings)):
            self.report.warning(warning)
        self.options = _options(job, self.program.program)
        refuse_graphs(self.options, has_ontology(job.rules, job.profile))

    def _check_facts(self, transaction: Transaction) -> None:
        sources = resolve(self.facts, self.options, transaction.work)
        transaction.declare(declared_prefixes(sources))
        self.parts = splits(sources, self.options)
        for warning in (*large_files(self.parts, self.job.large_gz), *merged_graphs(self.parts, self.options)):
            self.report.warning(warning)
        self.named = named_predicates(sources, self.parts, self.options)

    def sides(self, transaction: Transaction) -> tuple[Side[Change], ...]:
        """This process reasons, and Spark if that would take too much memory."""
        if self.job.engine == "spark":
            return (self.there,)
        return (self.here, self.there) if self.job.engine == "auto" else (self.here,)

    def here(self, transaction: Transaction, clock: Clock) -> MadeWhole:
        """Derive everything in this process."""
        job, report = self.job, self.report
        kb, read, term_files = self._read(clock) if self._is_small else self._loaded(transaction.work, clock)
        kb.warn_of_queued()
        report.loaded()
        with clock.phase("reason"):
            kb.materialise(progress=Listener(report.round_done), profile=report.profile or False)
        return MadeWhole(kb, read, job, report, term_files)

    @property
    def _is_small(self) -> bool:
        """Whether the inputs are small enough for this process to read them."""
        return self.job.engine != "spark" and self.job.master is None and size_of(self.parts) <= IN_PROCESS_BYTES

    def _read(self, clock: Clock) -> tuple[KnowledgeBase, RowsRead, tuple[str, ...]]:
        """A knowledge base with the facts of the inputs, which this process reads."""
        job, progress = self.job, self.report.amount
        with clock.phase("read"):
            kb = self._knowledge_base(Dictionary(salt=job.salt))
            read = read_facts(self.parts, self.options, kb.dictionary, on_error=job.on_error, progress=progress)
            rows = read.rows + facts_in_program(self.program.program)
            self._require_memory(rows, kb.dictionary.nbytes // TEXT_FACTOR)
            self._insert(kb, read.facts, read.kinds)
            return kb, RowsRead(rows, read.bad, read.bad_count), ()

    def _loaded(self, work: Path, clock: Clock) -> tuple[KnowledgeBase, RowsRead, tuple[str, ...]]:
        """A knowledge base with the facts of the inputs, which Spark reads, and the files of its first terms."""
        staged = self._staged(work, clock)
        self._require_memory(staged.rows, sum(Path(file).stat().st_size for file in staged.term_files))
        with clock.phase("load"):
            kb = self._knowledge_base(dictionary_of(_terms(staged.term_files), self.job.salt))
            facts = facts_of(load_columns(staged.fact_files), kb.dictionary)
            self._insert(kb, facts.restricted(p for p in facts if p != LITERAL), staged.kinds)
        return kb, RowsRead(staged.rows, staged.bad, staged.bad_count), staged.term_files

    def _require_memory(self, rows: int, texts: int) -> None:
        """Raise an error if Spark is to reason because the memory of this machine may not suffice; logs the choice."""
        if self.job.engine == "auto" and self.job.equality != "representatives":
            needed = memory_needed(rows, texts)
            if needs_spark(needed, self.job.memory):
                raise TooMuchError(f"about {size_text(needed)} of memory needed")

    def _staged(self, work: Path, clock: Clock) -> Staged:
        """The inputs in files that Spark has written; they are read once."""
        if self._files is None:
            job, spark = self.job, self._spark(clock)
            how: dict[str, Any] = {"on_error": job.on_error, "salt": job.salt, "progress": self.report.amount}
            with clock.phase("read"):
                program = self.program.program
                self._files = encoded(SparkRunner(spark), self.parts, program, self.options, work, **how)
        return self._files

    def _spark(self, clock: Clock) -> SparkSession:
        """The session of Spark, which is started once."""
        if self._session is None:
            self._session = started(self.job.master, clock)
        return self._session

    def _knowledge_base(self, dictionary: Dictionary) -> KnowledgeBase:
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
        kb.warning = self.report.warning
        return kb

    def _insert(self, kb: KnowledgeBase, facts: FactSet, kinds: ByPredicate) -> None:
        refuse_two_arities(facts, self.program.program.arities)
        kb.insert_facts(facts, with_empty(kinds, self.named), self.named, whole=bool(self.job.facts))

    def there(self, transaction: Transaction, clock: Clock) -> MadeThere[Change]:
        """Derive everything in executors."""
        from everlog.backends.spark.backend import OnSpark
        from everlog.backends.spark.settings import SparkSettings

        job, report, given = self.job, self.report, GivenFacts()
        staged = self._staged(transaction.work, clock)
        given.add(with_empty(staged.kinds, self.named), self.named)
        for warning in abridged(given.news(self.program.program, whole=bool(job.facts))):
            report.warning(warning)
        report.loaded()
        program = with_modules(self.program) if job.modules else self.program
        spark = self._spark(clock)
        settings = SparkSettings(job.local_finish, plan_settings(spark, job.engine, job.memory, job.salt))
        on_spark = OnSpark(spark, transaction.work, job.salt, job, settings, report.profile)
        with clock.phase("reason"):
            written = on_spark.materialise(program, staged, job.maintain, Listener(report.round_done))
        checked = program.program
        assert checked.written is not None
        bookkeeping = COUNTED if written.counted else "counting" if job.maintain == "counting" else "none"
        closures = closures_of(program, written.generated)
        rules = NewRules(print_program(checked.written), bookkeeping, closures, job.modules, staged.term_files)
        figures = {KINDS: given.stored(checked), "equality": job.equality}
        return MadeThere(
            None,
            replace(written, rules=rules),
            change_of(written, checked.predicates, checked.prefixes),
            RowsRead(staged.rows, staged.bad, staged.bad_count),
            figures=figures,
            salt=job.salt,
        )


@dataclass
class MadeWhole:
    """A knowledge base that was made from nothing, in this process; ``term_files`` have the first of its terms."""

    kb: KnowledgeBase
    read: RowsRead
    job: MaterialiseJob
    report: Report
    term_files: tuple[str, ...] = ()
    _state: State | None = None
    """The state that was committed."""

    @property
    def change(self) -> Change:
        return self.kb.from_nothing()

    @property
    def statistics(self) -> Statistics:
        return self.kb.statistics

    def commit(self, transaction: Transaction, figures: dict[str, Any], positions: dict[str, Any] | None) -> int:
        assert not figures
        assert positions is None
        version, self._state = commit_whole(
            self.kb,
            transaction,
            "materialise",
            expand_below=self.job.expand_below,
            maintain=self.job.maintain,
            term_files=self.term_files,
            progress=self.report.amount,
        )
        return version

    def keep(self, version: int, transaction: Transaction, clock: Clock) -> None:
        """Write a snapshot."""
        assert self._state is not None
        with clock.phase("snapshot"):
            where = self.job.store, version, self._state, transaction.writer
            keep_whole_version(self.kb, *where, self.report.warning)


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


def _terms(files: Sequence[str]) -> pa.Table:
    """All terms, sorted by id; the files are sorted, and their ranges of ids are disjoint."""
    tables = [pq.read_table(file, memory_map=True) for file in files]
    if not tables:
        return TERMS.empty_table()
    return pa.concat_tables(sorted(tables, key=lambda table: table.column("id")[0].as_py()))
