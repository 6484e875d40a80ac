"""The main job: reads files into a store, with all facts that follow from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from everlog.analysis.check import CheckedProgram, check
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.backends.asked import BeginningOptions
from everlog.backends.cascade import BegunStore, first_able
from everlog.backends.executors import Executors
from everlog.backends.protocol import Beginning, Made, Named, RowsRead
from everlog.engine.dictionary import Dictionary
from everlog.ingest.facts import IN_PROCESS_BYTES, FactsRead, read_facts, size_of
from everlog.ingest.inputs import encoded
from everlog.ingest.named import named_predicates
from everlog.ingest.prefixes import declared_prefixes
from everlog.ingest.rdf import merged_graphs
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.split import Split
from everlog.ingest.splits import large_files, splits
from everlog.ingest.stage import Staged
from everlog.ingest.triples import refuse_graphs
from everlog.jobs.change_job import ChangeResult
from everlog.jobs.changing import carry_out, executors
from everlog.jobs.reports import Clock, Report
from everlog.kb.change import Change
from everlog.kb.saving import refuse_existing
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError, abridged
from everlog.owl.reading import Profile, Schema, has_ontology, read_program
from everlog.reasoning.merging import Merging
from everlog.reasoning.statistics import Listener
from everlog.settings import LARGE_GZ, WAIT
from everlog.store.transaction import Transaction, begin


@dataclass(frozen=True)
class MaterialiseJob(BeginningOptions):
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
    profile: Profile = "lower"
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
    positions = None
    clock: Clock
    executors: Executors
    program: StratifiedProgram
    options: ReadOptions
    facts: tuple[str, ...]
    parts: list[Split]
    named: Named
    work: Path

    def __init__(self, job: MaterialiseJob, report: Report) -> None:
        self.job = job
        self.store = job.store
        self.report = report
        self._files: Staged | None = None

    def figures(self, read: RowsRead) -> Mapping[str, Any]:
        """Figures to keep with those of the version: none."""
        return {}

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

    def made(self, transaction: Transaction, clock: Clock) -> Made[Change]:
        """The version, made by the first back end that can."""
        job, report = self.job, self.report
        self.clock, self.executors, self.work = clock, executors(job.master, clock), transaction.work
        listener = Listener(report.round_done)
        observers = report.warning, listener, report.profile, report.amount
        begun = BegunStore(self.program, transaction, job.store, job, self.executors, *observers)
        return first_able(begun.beginnings, self.made_by)

    def made_by(self, backend: Beginning) -> Made[Change]:
        """Read the inputs and let a back end derive what follows."""
        with self.clock.phase("read"):
            read = backend.read(self)
        with self.clock.phase("reason"):
            return backend.derive(read, self.named, self.report.loaded, whole=bool(self.job.facts))

    @property
    def is_small(self) -> bool:
        """Whether the inputs are small enough for this process to read them."""
        return self.job.engine != "spark" and self.job.master is None and size_of(self.parts) <= IN_PROCESS_BYTES

    def read(self, dictionary: Dictionary) -> FactsRead:
        """Read the facts in this process."""
        progress = self.report.amount
        return read_facts(self.parts, self.options, dictionary, on_error=self.job.on_error, progress=progress)

    def stage(self) -> Staged:
        """Let Spark read inputs and program into files; they are read only once."""
        if self._files is None:
            job, runner = self.job, self.executors.started()
            how: dict[str, Any] = {"on_error": job.on_error, "salt": job.salt, "progress": self.report.amount}
            self._files = encoded(runner, self.parts, self.program.program, self.options, self.work, **how)
        return self._files


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
