"""The table of workloads: edges, who works on them, how many answers there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench import generators
from bench.generators import Edges
from bench.inputs import SHARED, read_shared
from bench.spark import obvious, ours
from bench.workloads import dag_r, dag_s

System = Callable[[Any, Any, Path], Any]
"""From a session, the edges as a DataFrame (c0, c1) and a work directory to a DataFrame of two columns."""

OBVIOUS = "obvious loop"


@dataclass(frozen=True)
class Workload:
    """``facts`` is the number of answers where it is known, ``shared`` the file of the shared data it needs."""

    name: str
    edges: Callable[[], Edges]
    systems: Mapping[str, System]
    facts: int | None = None
    shared: str | None = None
    promised: str | None = None
    """The one of ours that is to be ten times as fast as the obvious loop."""
    patience: float = 0.0
    """So many seconds the obvious loop is given at least, so that it ends once."""
    pinned: tuple[str, ...] = ()
    """The systems that run with one core, too."""

    def available(self) -> bool:
        """Whether its data is here."""
        return self.shared is None or (SHARED / self.shared).exists()


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
    CLOSED: ours.reachability,
    "decomposed": ours.decomposed,
    OBVIOUS: _obvious(obvious.closure),
}
SAME_GENERATION: dict[str, System] = {
    FINISHED: ours.finished,
    "loop": ours.looped,
    OBVIOUS: _obvious(obvious.same_generation),
}
COMPONENTS: dict[str, System] = {
    "one task": ours.components,
    "rounds": ours.contracted,
    OBVIOUS: _obvious(obvious.components),
}

WIKI, GNP = "graphs/g103689.tsv.gz", "graphs/gnp10K.tsv.gz"

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("dag-s", dag_s, CLOSURE, 441_690),
        Workload("dag-r", dag_r, CLOSURE, 22_405_629, promised=CLOSED, pinned=("decomposed",)),
        Workload("wiki-vote", _shared(WIKI), CLOSURE, 11_947_132, WIKI, CLOSED),
        Workload(
            "gnp10K",
            _shared(GNP),
            {n: s for n, s in CLOSURE.items() if n != "decomposed"},
            100_000_000,
            GNP,
            CLOSED,
        ),
        Workload("generations", lambda: generators.generations(400, 60), SAME_GENERATION, promised=FINISHED,
                 patience=100.0, pinned=("loop",)),
        Workload("generations-small", lambda: generators.generations(40, 6), SAME_GENERATION),
        Workload("components", lambda: random_graph(4_000_000, 5_000_000), COMPONENTS),
        Workload("components-small", lambda: random_graph(40_000, 50_000), COMPONENTS),
    )
}  # fmt: skip
