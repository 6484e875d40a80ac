"""The reasoners, each as a function from a directory of data to seconds and counts.

``read`` is from files to the system's own form, ``reason`` from there to the last derived triple. ``employees`` is
how many individuals are found to be employees, by which the systems can be compared: some of them follow only by
scm-svf1, and systems differ in what they add besides (each thing is the same as itself, vocabulary of OWL).
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
class Outcome:
    """What a system did: seconds of reading and of reasoning, and how many triples and employees there are then.

    ``cpu`` is the processor time of the reasoning, by which systems can be compared on a busy machine."""

    read: float
    reason: float
    cpu: float
    triples: int
    employees: int
    peak_mb: float


class Clock:
    """Seconds since it was asked last, and the processor's."""

    def __init__(self) -> None:
        self._wall, self._cpu = perf_counter(), process_time()

    def lap(self) -> tuple[float, float]:
        wall, cpu = perf_counter(), process_time()
        spent = wall - self._wall, cpu - self._cpu
        self._wall, self._cpu = wall, cpu
        return spent


def everlog(directory: Path, profile: Profile) -> Outcome:
    """Everlog in memory, without bookkeeping for updates; compiled code is loaded before."""
    from everlog import IRI, KnowledgeBase

    KnowledgeBase(program(directory, profile, "ontology.ttl"), maintain="none").materialise()
    clock = Clock()
    kb = KnowledgeBase(program(directory, profile, "data.nt"), maintain="none")
    read, _ = clock.lap()
    statistics = kb.materialise()
    reason, cpu = clock.lap()
    if profile == "rl":
        employees = len(kb.query(f"triple(?x, <{TYPE}>, <{EMPLOYEE}>)"))
        return Outcome(read, reason, cpu, len(kb["triple"]), employees, peak_mb())
    return Outcome(read, reason, cpu, statistics.facts, len(kb[(IRI(EMPLOYEE), 1)]), peak_mb())


def program(directory: Path, profile: Profile, data: str) -> Program:
    """The program of the ontology with data as facts; by the RL rules the ontology is facts, too."""
    from everlog.owl import program_of

    if profile == "rl":
        return program_of([directory / "ontology.ttl", directory / data], profile).program
    facts = program_of(directory / data, "skos").program.data
    return replace(program_of(directory / "ontology.ttl", profile).program, data=facts)


def reasonable(directory: Path) -> Outcome:
    """reasonable, in Rust; it gives its triples as Python objects, which is part of its time."""
    from reasonable import PyReasoner

    clock = Clock()
    reasoner: Any = PyReasoner()
    for name in ("ontology.ttl", "data.ttl"):
        reasoner.load_file(str(directory / name))
    read, _ = clock.lap()
    triples = reasoner.reason()
    return Outcome(read, *clock.lap(), len(triples), _employees(triples), peak_mb())


def owlrl(directory: Path) -> Outcome:
    """owlrl, over a graph of rdflib."""
    from owlrl import DeductiveClosure, OWLRL_Semantics
    from rdflib import Graph

    clock = Clock()
    graph = Graph()
    graph.parse(directory / "ontology.ttl", format="turtle")
    graph.parse(directory / "data.nt", format="nt")
    read, _ = clock.lap()
    DeductiveClosure(OWLRL_Semantics).expand(graph)
    return Outcome(read, *clock.lap(), len(graph), _employees(graph), peak_mb())


def pyoxigraph(directory: Path) -> Outcome:
    """pyoxigraph's store in memory, which reads and does not reason."""
    import pyoxigraph as ox

    clock = Clock()
    store = ox.Store()
    store.bulk_load(path=str(directory / "ontology.ttl"), format=ox.RdfFormat.TURTLE)
    store.bulk_load(path=str(directory / "data.nt"), format=ox.RdfFormat.N_TRIPLES)
    read, _ = clock.lap()
    return Outcome(read, 0.0, 0.0, len(store), 0, peak_mb())


def _employees(triples: Any) -> int:
    return sum(str(o) == EMPLOYEE and str(p) == TYPE for _, p, o in triples)


@dataclass(frozen=True)
class Reasoner:
    """A system; ``most`` is the largest number of universities it is given, ``note`` what to know of it.

    reasonable takes 3.5 GB for ten universities, owlrl more than a minute for one."""

    name: str
    run: Callable[[Path], Outcome]
    package: str
    most: int
    note: str = ""
    one_core: bool = False

    def available(self) -> bool:
        """Whether it is installed here."""
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


def measured(system: str, directory: str) -> dict[str, Any]:
    """Run one of the reasoners in this process."""
    return asdict(REASONERS[system].run(Path(directory)))
