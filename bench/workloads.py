"""The workloads: for each a program, its facts, and the systems that run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench import generators
from bench.inputs import read_shared, table_of
from bench.programs import LINEAR, NONLINEAR, SAME_GENERATION, Program

OURS = ("everlog", "everlog all cores")
KERNELS = ("sort kernel", "stamp kernel")
TEXT_PEERS = ("clingo", "nemo", "souffle")
LINEAR_PEERS = (*OURS, *KERNELS, "duckdb", *TEXT_PEERS)
NONLINEAR_PEERS = (*OURS, "duckdb loop", *TEXT_PEERS)
FAST_PEERS = (*OURS, *KERNELS, "duckdb", "souffle")


@dataclass(frozen=True)
class Workload:
    """A program, its facts and the systems that run it.

    ``facts`` is the expected number of answers, if known; ``shared`` are the files of the shared data that it needs. A
    ``long`` workload runs only if it is named or with ``--full``. A system is stopped
    after ``timeout`` seconds, and run at most ``runs`` times: twice for workloads without a target."""

    name: str
    program: Program
    tables: Callable[[], dict[str, Any]]
    systems: tuple[str, ...]
    facts: int | None = None
    shared: tuple[str, ...] = ()
    quick: bool = False
    long: bool = False
    timeout: float = 30
    runs: int = 3


def _edges(make: Callable[[], generators.Edges], relation: str = "edge") -> Callable[[], dict[str, Any]]:
    return lambda: {relation: table_of(make())}


def dag_s() -> generators.Edges:
    """2,000 nodes, 10,000 edges, 441,690 pairs."""
    return generators.random_dag(2_000, 10_000, seed=3)


def dag_r() -> generators.Edges:
    """10,000 nodes, 100,000 edges, 22,405,629 pairs."""
    return generators.random_dag(10_000, 100_000, seed=3)


def _shared_closure(name: str, path: str, facts: int, systems: tuple[str, ...], **options: Any) -> Workload:
    return Workload(name, LINEAR, lambda: {"edge": read_shared(path)}, systems, facts=facts, shared=(path,), **options)


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("dag-s-linear", LINEAR, _edges(dag_s), LINEAR_PEERS, facts=441_690, quick=True),
        Workload("dag-s-nonlinear", NONLINEAR, _edges(dag_s), NONLINEAR_PEERS, facts=441_690, quick=True),
        Workload("dag-r-linear", LINEAR, _edges(dag_r), LINEAR_PEERS, facts=22_405_629),
        Workload("dag-r-nonlinear", NONLINEAR, _edges(dag_r), ("everlog",), facts=22_405_629, timeout=1800, runs=1),
        Workload("chain2500-linear", LINEAR, _edges(lambda: generators.chain(2_500)), LINEAR_PEERS, facts=3_126_250),
        Workload("tree11-linear", LINEAR, _edges(lambda: generators.tree(11, seed=0, limit=71_390)), LINEAR_PEERS,
                 runs=2),
        Workload("grid60-linear", LINEAR, _edges(lambda: generators.grid(60)), LINEAR_PEERS, facts=3_572_160,
                 runs=2),
        Workload("grid60-nonlinear", NONLINEAR, _edges(lambda: generators.grid(60)), (*OURS, "duckdb loop", "souffle"),
                 facts=3_572_160, long=True, timeout=300),
        Workload("same-generation", SAME_GENERATION, _edges(lambda: generators.generations(1_200, 9), "arc"),
                 (*OURS, "duckdb", *TEXT_PEERS), runs=2),
        _shared_closure("g7035", "graphs/g7035.tsv.gz", 146_120, LINEAR_PEERS, runs=2),
        _shared_closure("g103689", "graphs/g103689.tsv.gz", 11_947_132, FAST_PEERS, runs=2),
        _shared_closure("go-is_a", "hierarchies/go-2023-is_a.tsv.gz", 473_264, LINEAR_PEERS, runs=2),
        _shared_closure("wordnet-hypernym", "hierarchies/wordnet-3.1-hypernym.tsv.gz", 698_873, LINEAR_PEERS, runs=2),
        _shared_closure("gnp10K", "graphs/gnp10K.tsv.gz", 100_000_000, FAST_PEERS, long=True, timeout=600, runs=1),
        _shared_closure("grid150", "graphs/grid150.tsv.gz", 131_675_775, FAST_PEERS, long=True, timeout=600, runs=1),
    )
}  # fmt: skip


def chosen(names: list[str], quick: bool, full: bool) -> list[Workload]:
    """The workloads to run: the named ones, otherwise the quick ones, all except the long ones, or all."""
    if names:
        return [WORKLOADS[name] for name in names]
    return [workload for workload in WORKLOADS.values() if (workload.quick if quick else full or not workload.long)]
