"""The workloads: edges, the systems that run on them, and the expected number of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench import generators
from bench.generators import Edges
from bench.inputs import read_shared
from bench.spark import dataframe_loops, everlog_plans
from bench.workloads import dag_r, dag_s

System = Callable[[Any, Any, Path], Any]
"""A function from a session, the edges as a DataFrame (c0, c1) and a work directory to a DataFrame of two columns."""

OBVIOUS = "obvious loop"


@dataclass(frozen=True)
class SparkWorkload:
    """``facts`` is the expected number of answers, if known; ``shared`` are files of the shared data that it needs."""

    name: str
    edges: Callable[[], Edges]
    systems: Mapping[str, System]
    facts: int | None = None
    shared: tuple[str, ...] = ()
    promised: str | None = None
    """The Everlog system that must be ten times as fast as the obvious loop."""
    loop_seconds: float = 0.0
    """Minimum seconds before the obvious loop is stopped, so that it can end."""
    pinned: tuple[str, ...] = ()
    """The systems that are also run on one core."""


def _obvious(loop: Callable[[Any], Any]) -> System:
    return lambda session, edges, work: loop(edges)


def _shared(path: str) -> Callable[[], Edges]:
    def read() -> Edges:
        table = read_shared(path)
        return np.stack([table.column(name).to_numpy() for name in ("x", "y")], axis=1)

    return read


def random_graph(vertices: int, edges: int) -> Edges:
    """Edges between vertices drawn at random: one large component and many small ones."""
    return np.random.default_rng(7).integers(0, vertices, (edges, 2))


CLOSED, FINISHED = "reachability", "loop with local finish"
CLOSURE: dict[str, System] = {
    CLOSED: everlog_plans.reachability,
    "decomposed": everlog_plans.decomposed,
    OBVIOUS: _obvious(dataframe_loops.closure),
}
SAME_GENERATION: dict[str, System] = {
    FINISHED: partial(everlog_plans.same_generation, finish=True),
    "loop": partial(everlog_plans.same_generation, finish=False),
    OBVIOUS: _obvious(dataframe_loops.same_generation),
}
COMPONENTS: dict[str, System] = {
    "one task": partial(everlog_plans.components, settings=everlog_plans.AT_ONCE),
    "rounds": partial(everlog_plans.components, settings=everlog_plans.IN_ROUNDS),
    OBVIOUS: _obvious(dataframe_loops.components),
}

WIKI, GNP = "graphs/g103689.tsv.gz", "graphs/gnp10K.tsv.gz"

WORKLOADS = {
    workload.name: workload
    for workload in (
        SparkWorkload("dag-s", dag_s, CLOSURE, 441_690),
        SparkWorkload("dag-r", dag_r, CLOSURE, 22_405_629, promised=CLOSED, pinned=("decomposed",)),
        SparkWorkload("wiki-vote", _shared(WIKI), CLOSURE, 11_947_132, (WIKI,), CLOSED),
        SparkWorkload("gnp10K", _shared(GNP), {n: s for n, s in CLOSURE.items() if n != "decomposed"}, 100_000_000,
                 (GNP,), CLOSED),
        SparkWorkload("generations", lambda: generators.generations(400, 60), SAME_GENERATION, promised=FINISHED,
                 loop_seconds=100.0, pinned=("loop",)),
        SparkWorkload("generations-small", lambda: generators.generations(40, 6), SAME_GENERATION),
        SparkWorkload("components", lambda: random_graph(4_000_000, 5_000_000), COMPONENTS),
        SparkWorkload("components-small", lambda: random_graph(40_000, 50_000), COMPONENTS),
    )
}  # fmt: skip
