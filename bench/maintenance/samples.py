"""The explicit facts that an update changes, drawn by the two sampling methods of the journal paper (section 10.1).

Both are stable: for a given seed, a smaller sample is the beginning of a larger one.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from bench.maintenance.workloads import Facts

Sampling = Literal["uniform", "walk"]
Positions = npt.NDArray[np.int64]
MAX_TRIES = 20
"""Maximum number of consecutive steps of a walk that draw no new fact."""


class Sampler:
    """The explicit facts in one sequence, and as a graph whose edges lead from a fact's first argument to its last."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.ends = np.cumsum([len(rows) for rows in facts.values()])
        self.size = int(self.ends[-1])
        first, self.last = (np.concatenate([rows[:, c] for rows in facts.values()]) for c in (0, -1))
        self.by_first = np.argsort(first, kind="stable")
        nodes = int(max(first.max(), self.last.max())) + 1
        self.starts = np.searchsorted(first[self.by_first], np.arange(nodes + 1))

    def draw(self, sampling: Sampling, count: int, seed: int) -> Facts:
        random = np.random.default_rng(seed)
        if sampling == "uniform":
            return self._at(random.permutation(self.size)[:count])
        return self._at(self._walk(count, random))

    def _walk(self, count: int, random: np.random.Generator) -> Positions:
        """A random walk along the edges, continued from a random fact where it is stuck."""
        drawn: dict[int, None] = {}
        node, idle = -1, 0
        while len(drawn) < min(count, self.size):
            stuck = node < 0 or idle > MAX_TRIES or self.starts[node] == self.starts[node + 1]
            if stuck:
                at, idle = int(random.integers(self.size)), 0
            else:
                at = int(self.by_first[random.integers(self.starts[node], self.starts[node + 1])])
            idle += at in drawn
            drawn[at] = None
            node = int(self.last[at])
        return np.fromiter(drawn, np.int64)

    def _at(self, positions: Positions) -> Facts:
        positions = np.sort(positions)
        parts = np.split(positions, np.searchsorted(positions, self.ends[:-1]))
        starts = np.concatenate([[0], self.ends[:-1]])
        picked = zip(self.facts.items(), parts, starts, strict=True)
        return {name: rows[part - start] for (name, rows), part, start in picked if len(part)}
