"""The reasoners, each as a function from a directory of data to seconds and counts.

``read`` is the time from files to the system's own form, ``reason`` from there to the last derived triple. The number
of individuals found to be employees is used to compare the systems: some follow only by the rule scm-svf1. Total
numbers of triples differ, since some systems also derive ``x owl:sameAs x`` and facts about OWL's vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from bench.peers import peak_mb
from bench.rdf.data import EMPLOYEE, TYPE

if TYPE_CHECKING:
    from everlog.lang.syntax import Program
    from everlog.owl import Profile


@dataclass(frozen=True)
class ReasonerOutcome:
    """The measurements of a system: seconds of reading and of reasoning, and numbers of triples and employees.

    ``cpu`` is the processor time of the reasoning; other work on the machine hardly changes it."""

    read: float
    reason: float
    cpu: float
    triples: int
    employees: int
    peak_mb: float


class Clock:
    """A stopwatch: ``lap`` returns wall and processor seconds since the previous call."""

    def __init__(self) -> None:
        self._wall, self._cpu = perf_counter(), process_time()

    def lap(self) -> tuple[float, float]:
        wall, cpu = perf_counter(), process_time()
        spent = wall - self._wall, cpu - self._cpu
        self._wall, self._cpu = wall, cpu
        return spent


def everlog(directory: Path, profile: Profile) -> ReasonerOutcome:
    """Everlog in memory, without bookkeeping for updates; compiled code is loaded before measuring."""
    from everlog import IRI, KnowledgeBase

    KnowledgeBase(program(directory, profile, "ontology.ttl"), maintain="none").materialise()
    clock = Clock()
    kb = KnowledgeBase(program(directory, profile, "data.nt"), maintain="none")
    read, _ = clock.lap()
    statistics = kb.materialise()
    reason, cpu = clock.lap()
    if profile == "rl":
        employees = len(kb.query(f"triple(?x, <{TYPE}>, <{EMPLOYEE}>)"))
        return ReasonerOutcome(read, reason, cpu, len(kb["triple"]), employees, peak_mb())
    return ReasonerOutcome(read, reason, cpu, statistics.facts, len(kb[(IRI(EMPLOYEE), 1)]), peak_mb())


def program(directory: Path, profile: Profile, data: str) -> Program:
    """The program of the ontology, with the data as facts; under the RL rules the ontology's triples are facts, too."""
    from everlog.owl import program_of

    if profile == "rl":
        return program_of([directory / "ontology.ttl", directory / data], profile).program
    facts = program_of(directory / data, "skos").program.data
    return replace(program_of(directory / "ontology.ttl", profile).program, data=facts)


def reasonable(directory: Path) -> ReasonerOutcome:
    """reasonable, written in Rust; its time includes making its triples Python objects."""
    from reasonable import PyReasoner

    clock = Clock()
    reasoner: Any = PyReasoner()
    for name in ("ontology.ttl", "data.ttl"):
        reasoner.load_file(str(directory / name))
    read, _ = clock.lap()
    triples = reasoner.reason()
    return ReasonerOutcome(read, *clock.lap(), len(triples), _employees(triples), peak_mb())


def owlrl(directory: Path) -> ReasonerOutcome:
    """owlrl, on a graph of rdflib."""
    from owlrl import DeductiveClosure, OWLRL_Semantics
    from rdflib import Graph

    clock = Clock()
    graph = Graph()
    graph.parse(directory / "ontology.ttl", format="turtle")
    graph.parse(directory / "data.nt", format="nt")
    read, _ = clock.lap()
    DeductiveClosure(OWLRL_Semantics).expand(graph)
    return ReasonerOutcome(read, *clock.lap(), len(graph), _employees(graph), peak_mb())


def pyoxigraph(directory: Path) -> ReasonerOutcome:
    """pyoxigraph's store in memory, which reads but does not reason."""
    import pyoxigraph as ox

    clock = Clock()
    store = ox.Store()
    store.bulk_load(path=str(directory / "ontology.ttl"), format=ox.RdfFormat.TURTLE)
    store.bulk_load(path=str(directory / "data.nt"), format=ox.RdfFormat.N_TRIPLES)
    read, _ = clock.lap()
    return ReasonerOutcome(read, 0.0, 0.0, len(store), 0, peak_mb())


def _employees(triples: Any) -> int:
    return sum(str(o) == EMPLOYEE and str(p) == TYPE for _, p, o in triples)


@dataclass(frozen=True)
class Reasoner:
    """A system; ``most`` is its maximum number of universities, ``note`` a remark for the table.

    reasonable needs 3.5 GB for ten universities, owlrl more than a minute for one."""

    name: str
    run: Callable[[Path], ReasonerOutcome]
    package: str
    most: int
    note: str = ""
    one_core: bool = False

    def available(self) -> bool:
        return find_spec(self.package) is not None


REASONERS = {
    each.name: each
    for each in (
        Reasoner("everlog rl", partial(everlog, profile="rl"), "everlog", 50, one_core=True),
        Reasoner("everlog lower", partial(everlog, profile="lower"), "everlog", 50, one_core=True),
        Reasoner("reasonable", reasonable, "reasonable", 10, "without scm-svf1"),
        Reasoner("owlrl", owlrl, "owlrl", 1),
        Reasoner("pyoxigraph", pyoxigraph, "pyoxigraph", 50, "reads only"),
    )
}


def measure_reasoner(system: str, directory: str) -> dict[str, Any]:
    return asdict(REASONERS[system].run(Path(directory)))
