"""Closures as reachability: one task condenses the graph, and executors list its pairs.

One task reads the facts that feed the closure, splits the graph into its strongly connected components and closes
these (:class:`everlog.engine.reach.Reach`: one row for each component, as intervals or a bitmap). It writes
the result for all workers to map. Each further task lists the pairs of some sources, which are split so that
all tasks have about equally many pairs. So pairs are in no shuffle before they are used, and there is one stage for
a graph of any depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from everlog.backends.spark.sharing import (
    SENT_ROWS,
    Array,
    columns_by_tag,
    fact_set,
    in_one_task,
    map_arrays,
    new_directory,
    tagged,
    write_arrays,
)
from everlog.engine.closed import Closed
from everlog.engine.keys import ID_BITS, ID_MASK, Column
from everlog.engine.reach import Reach
from everlog.engine.tables import argument_names
from everlog.ingest.tasks import work_directory
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.closure.description import Closure
from everlog.reasoning.modules.closure.graph import ClosureGraph, closed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PAIRS = "c0 long, c1 long"
"""The columns of listed pairs."""


@dataclass(frozen=True)
class Condensed:
    """A closed graph in files of a directory, with the number of pairs of each predicate."""

    directory: Path
    start: int
    """The state in which pairs start."""
    pairs: Mapping[Predicate, int]
    vertices: int


def close_reachability(
    session: SparkSession, module: Closure, facts: Mapping[Predicate, DataFrame], work: Path, *, slices: int, least: int
) -> dict[Predicate, DataFrame]:
    """The pairs of each predicate of a closure, as a stage that runs when it is used. The graph is condensed at once.

    ``slices`` and ``least`` are as in :func:`listed`.
    """
    condensed = condense(module, facts, work)
    return {p: listed(session, module, condensed, p, slices, least) for p in module.predicates}


def condense(module: Closure, facts: Mapping[Predicate, DataFrame], work: Path) -> Condensed:
    """Close the graph of the facts that feed a closure, in one task."""
    inputs = tuple(p for p in module.inputs if p in facts)
    task = Condense(module, inputs, work_directory(work))
    if not inputs:
        return task(())
    return in_one_task(tagged([(facts[p], tag, None) for tag, p in enumerate(inputs)], 2), task)


def listed(
    session: SparkSession, module: Closure, condensed: Condensed, p: Predicate, slices: int, least: int
) -> DataFrame:
    """The pairs of one predicate, in at most ``slices`` slices; fewer where a slice would have less than ``least``."""
    slices = max(1, min(slices, condensed.pairs[p] // least))
    task = ListPairs(condensed.directory, module.states.index(p), condensed.start, module.mirrored, slices)
    return session.range(0, slices, 1, slices).mapInArrow(task, PAIRS)


@dataclass(frozen=True)
class Condense:
    """Closes the graph of all facts that feed a module, given as :func:`tagged` rows."""

    module: Closure
    inputs: tuple[Predicate, ...]
    work: Path

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Condensed:
        facts, numbering = fact_set(self.inputs, columns_by_tag(batches, [2] * len(self.inputs)))
        graph = ClosureGraph.of(self.module, facts)
        reach = Reach.of(*graph.edges(facts))
        arrays: dict[str, Array] = {"ids": numbering.own, **reach.parts()}
        pairs = {}
        for predicate, held in closed(self.module, graph, reach).items():
            counts = held.match_counts(lead(held), starts_of(reach, graph.start))
            state = self.module.states.index(predicate)
            arrays[f"ends-{state}"] = np.cumsum(counts)
            pairs[predicate] = int(counts.sum())
        directory = new_directory(self.work, "graph")
        write_arrays(directory, arrays)
        return Condensed(directory, graph.start, pairs, len(reach))


@dataclass(frozen=True)
class ListPairs:
    """Lists the pairs of the slices whose numbers are in the rows it is given."""

    directory: Path
    state: int
    start: int
    mirrored: bool
    slices: int

    def __call__(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reach, ids = mapped(self.directory)
        ends = map_arrays(self.directory)[f"ends-{self.state}"]
        starts, held = starts_of(reach, self.start), Closed(reach, self.start, self.state, self.mirrored)
        for batch in numbers:
            for number in batch.column("id").to_pylist():
                mine = starts[slice(*bounds(ends, number, self.slices))]
                for sources, others in held.matches(lead(held), mine, SENT_ROWS):
                    pairs = [ids[mine[sources]], ids[others]]
                    yield pa.record_batch(pairs if lead(held) == 0 else pairs[::-1], names=argument_names(2))


@lru_cache(maxsize=2)
def mapped(directory: Path) -> tuple[Reach, Column]:
    """A condensed graph, mapped from its files, and the ids of its terms."""
    arrays = map_arrays(directory)
    return Reach.of_parts(arrays), arrays["ids"]


def lead(held: Closed) -> int:
    """The column of pairs that the sources are in."""
    return int(held.mirrored)


def starts_of(reach: Reach, state: int) -> Column:
    """The terms that pairs may start with, ascending."""
    low, high = np.searchsorted(reach.vertices, [state << ID_BITS, (state + 1) << ID_BITS])
    return reach.vertices[low:high] & ID_MASK


def bounds(ends: Column, number: int, slices: int) -> tuple[int, int]:
    """The first and the end of the sources of a slice, given the running number of pairs.

    All slices have about equally many pairs.

    >>> ends = np.cumsum([5, 1, 1, 1, 2])
    >>> [bounds(ends, number, 2) for number in range(2)]
    [(0, 1), (1, 5)]
    """
    total = int(ends[-1]) if len(ends) else 0
    low, high = np.searchsorted(ends, [total * number // slices, total * (number + 1) // slices], side="right")
    return (0 if number == 0 else int(low)), (len(ends) if number == slices - 1 else int(high))
