"""Hand-written kernels for linear transitive closure: the reference for the speed of a general engine.

``sort_closure`` is written for this one program: edges are compressed adjacency lists, pairs are packed into 64-bit
keys. Each round extends the newest pairs by an edge into a bounded block, sorts the block, drops duplicates, subtracts
known pairs, and keeps the rest as a sorted run. Runs grow geometrically, so a pair takes part in a logarithmic number
of merges. ``stamp_closure`` is the fastest possible closure: it searches from one source at a time, and an array stores
the last source that reached each node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

Keys = npt.NDArray[np.int64]

BLOCK = 1 << 20
"""Number of keys sorted at a time, so that the block stays in the cache."""


@dataclass(frozen=True)
class Closure:
    """Numbers of the pairs, the rule instances and the rounds of a closure."""

    facts: int
    instances: int
    rounds: int


@dataclass(frozen=True)
class Adjacency:
    """Edges between nodes ``0 .. n-1``: the targets of node ``i`` are
    ``targets[offsets[i]:offsets[i + 1]]``, sorted and distinct."""

    offsets: Keys
    targets: Keys

    @property
    def keys(self) -> Keys:
        """The edges as sorted keys."""
        sources = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return (sources << 32) | self.targets


def adjacency(sources: Keys, targets: Keys) -> Adjacency:
    """Renumber the nodes densely and index the edges by their source.

    >>> adjacency(np.array([7, 7, 9]), np.array([9, 8, 8])).offsets.tolist()
    [0, 2, 2, 3]
    """
    nodes, codes = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    keys = np.sort((codes[: len(sources)] << 32) | codes[len(sources) :])
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
    offsets = np.searchsorted(keys >> 32, np.arange(len(nodes) + 1))
    return Adjacency(offsets.astype(np.int64), keys & 0xFFFFFFFF)


@njit(cache=True, nogil=True)
def extend(delta: Keys, begin: int, offsets: Keys, targets: Keys, block: Keys) -> tuple[int, int]:
    """Write the extensions of ``delta[begin:]`` by one edge into the block until it is full.

    Returns the position of the first pair that is not extended, and the number of keys written."""
    written = 0
    for i in range(begin, len(delta)):
        node = delta[i] & 0xFFFFFFFF
        first, last = offsets[node], offsets[node + 1]
        if written + last - first > len(block):
            return i, written
        source = delta[i] >> 32 << 32
        for j in range(first, last):
            block[written] = source | targets[j]
            written += 1
    return len(delta), written


@njit(cache=True, nogil=True)
def distinct(keys: Keys) -> int:
    """Move the distinct keys of a sorted array to its front; return their number."""
    kept = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] != keys[i - 1]:
            keys[kept] = keys[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def subtract(keys: Keys, run: Keys) -> int:
    """Move the keys that are not in the sorted run to the front; return their number. The position in the run advances
    by galloping search, so a small set needs only a few steps in a large run."""
    kept, at = 0, 0
    for i in range(len(keys)):
        key = keys[i]
        if at < len(run) and run[at] < key:
            step = 1
            while at + step < len(run) and run[at + step] < key:
                at += step
                step += step
            low, high = at + 1, min(at + step, len(run))
            while low < high:
                middle = (low + high) >> 1
                if run[middle] < key:
                    low = middle + 1
                else:
                    high = middle
            at = low
        if at == len(run) or run[at] != key:
            keys[kept] = key
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def merge(left: Keys, right: Keys) -> Keys:
    """Merge two sorted runs without common keys."""
    merged = np.empty(len(left) + len(right), np.int64)
    i, j = 0, 0
    for k in range(len(merged)):
        if j == len(right) or (i < len(left) and left[i] < right[j]):
            merged[k] = left[i]
            i += 1
        else:
            merged[k] = right[j]
            j += 1
    return merged


@njit(cache=True, nogil=True)
def stamp(offsets: Keys, targets: Keys) -> tuple[int, int]:
    """The numbers of pairs and of instances of the closure, computed source by source."""
    nodes = len(offsets) - 1
    last_source = np.full(nodes, -1, np.int64)
    reached = np.empty(nodes, np.int64)
    facts, instances = 0, 0
    for source in range(nodes):
        reached_count = 0
        for j in range(offsets[source], offsets[source + 1]):
            last_source[targets[j]] = source
            reached[reached_count] = targets[j]
            reached_count += 1
        instances += reached_count
        done = 0
        while done < reached_count:
            node = reached[done]
            done += 1
            instances += offsets[node + 1] - offsets[node]
            for j in range(offsets[node], offsets[node + 1]):
                target = targets[j]
                if last_source[target] != source:
                    last_source[target] = source
                    reached[reached_count] = target
                    reached_count += 1
        facts += reached_count
    return facts, instances


def add_run(runs: list[Keys], run: Keys) -> None:
    """Append a run; merge the last two runs while the earlier one is less than twice as large."""
    runs.append(run)
    while len(runs) > 1 and len(runs[-2]) < 2 * len(runs[-1]):
        newest = runs.pop()
        runs[-1] = merge(runs[-1], newest)


def sort_closure(graph: Adjacency, block_keys: int = BLOCK) -> Closure:
    """Linear transitive closure by sorting.

    >>> sort_closure(adjacency(np.array([0, 1, 0]), np.array([1, 2, 2])))
    Closure(facts=3, instances=4, rounds=2)
    """
    widest = int(np.diff(graph.offsets).max(initial=0))
    block = np.empty(max(block_keys, widest), np.int64)
    delta = graph.keys
    runs = [delta]
    instances, rounds = len(delta), 1
    while len(delta):
        fresh: list[Keys] = []
        begin = 0
        while begin < len(delta):
            begin, written = extend(delta, begin, graph.offsets, graph.targets, block)
            instances += written
            new = block[:written]
            new.sort()
            new = new[: distinct(new)]
            for run in runs:
                new = new[: subtract(new, run)]
            if len(new):
                fresh.append(new.copy())
                add_run(runs, fresh[-1])
        delta = np.concatenate(fresh) if fresh else np.empty(0, np.int64)
        rounds += 1
    return Closure(sum(map(len, runs)), instances, rounds)


def stamp_closure(graph: Adjacency) -> Closure:
    """Linear transitive closure by stamps; counts the pairs without keeping them.

    >>> stamp_closure(adjacency(np.array([0, 1, 0]), np.array([1, 2, 2])))
    Closure(facts=3, instances=4, rounds=1)
    """
    facts, instances = stamp(graph.offsets, graph.targets)
    return Closure(int(facts), int(instances), 1)
