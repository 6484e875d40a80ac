"""Symmetric and transitive relations as connected components.

The *membership*, (vertex, representative), is stored, not the pairs, of which a component of n vertices has n².

Edges that fit one task are united there. Otherwise the graph is contracted in rounds: each vertex is replaced by the
neighbour, or itself, that comes first in an order drawn at random for the round, and edges within a vertex
are dropped. A round leaves an expected constant fraction of the vertices, so that the number of rounds is logarithmic
and the cost of all rounds is about that of the first (Bögeholz, Brand, Todor: In-database connected component
analysis, ICDE 2020). As soon as the edges fit one task they are united there, and the representatives are passed back
through the rounds. Each round's edges and representatives are written to the work directory; the driver
receives only counts.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from everlog.backends.spark.closure import PAIRS
from everlog.backends.spark.sharing import (
    SENT_ROWS,
    columns_by_tag,
    in_one_task,
    map_arrays,
    new_directory,
    renumbered,
    tagged,
    write_arrays,
)
from everlog.engine.kernels import graphs, search
from everlog.engine.keys import ID_BITS, ID_MASK, Column
from everlog.ingest.tasks import work_directory

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

MEMBERS = "vertex long, representative long"


def membership(
    session: SparkSession, edges: DataFrame, work: Path, *, edges_in_one_task: int, size: int | None = None
) -> DataFrame:
    """The component of each vertex, as (vertex, representative), from edges (c0, c1) in any direction.

    ``size`` is the number of edges, counted if it is not given. The result is in files in ``work``.
    """
    size = edges.count() if size is None else size
    if size <= edges_in_one_task:
        return united(session, edges, work)
    rounds = Contraction(session, work_directory(work))
    return rounds.membership(edges, edges_in_one_task)


# in one task ------------------------------------------------------------------------------------


def united(session: SparkSession, edges: DataFrame, work: Path) -> DataFrame:
    """Membership by one task, which writes it as Parquet."""
    directory = in_one_task(tagged([(edges, 0, None)], 2), Unite(work_directory(work)))
    return session.read.schema(MEMBERS).parquet(directory)


@dataclass(frozen=True)
class Unite:
    """Finds the components of all edges, given as :func:`tagged` rows."""

    work: Path

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> str:
        import pyarrow.parquet as pq

        ((sources, targets),) = columns_by_tag(batches, [2])
        vertices, representatives = connected(sources, targets)
        directory = new_directory(self.work, "members")
        table = pa.table({"vertex": vertices, "representative": representatives})
        pq.write_table(table, directory / "part-0.parquet", compression="zstd", use_dictionary=False)
        return str(directory)


def connected(sources: Column, targets: Column) -> tuple[Column, Column]:
    """The different vertices of edges, ascending, and for each the least vertex of its component.

    >>> [side.tolist() for side in connected(np.array([7, 2, 9]), np.array([2, 5, 9]))]
    [[2, 5, 7, 9], [2, 2, 2, 9]]
    """
    (first, second), numbering = renumbered([sources, targets])
    size = numbering.universe
    keys = np.concatenate([first << ID_BITS | second, second << ID_BITS | first])
    keys.sort()
    offsets = search.leading_offsets(keys, 32, size + 1).astype(np.int64)
    component, _ = graphs.strong_components(offsets, keys & ID_MASK)
    least = np.empty(size, np.int64)
    least[component[::-1]] = np.arange(size)[::-1]  # the last one assigned stays
    return numbering.own, numbering.own[least[component]]


# in rounds --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contraction:
    """Finds components by contraction in rounds; the rows of each round are written into files."""

    session: SparkSession
    work: Path

    def membership(self, edges: DataFrame, edges_in_one_task: int) -> DataFrame:
        from pyspark.sql import functions as F

        run = self.work / f"contraction-{uuid.uuid4().hex}"
        sources, targets = (F.col(name).cast("long") for name in edges.columns)
        left = edges.select(sources.alias("u"), targets.alias("v"))
        maps: list[DataFrame] = []
        while True:
            number = len(maps)
            chosen = self._kept(representatives(both_ways(left), seed=number), run / f"map-{number}")
            maps.append(chosen)
            left = self._kept(contracted(left, chosen), run / f"edges-{number}")
            size = left.count()
            if size <= edges_in_one_task:
                break
        found = maps.pop()
        if size:
            last = united(self.session, left, run)
            found = passed_back(found, last)
        while maps:
            found = passed_back(maps.pop(), self._kept(found, run / f"members-{len(maps)}"))
        return self._kept(found, run / "members")

    def _kept(self, frame: DataFrame, path: Path) -> DataFrame:
        """Write rows into files and read these, so that the steps before are not computed again."""
        frame.write.parquet(str(path))
        return self.session.read.schema(frame.schema).parquet(str(path))


def both_ways(edges: DataFrame) -> DataFrame:
    """The edges (u, v) and (v, u)."""
    return edges.unionAll(edges.selectExpr("v as u", "u as v"))


def representatives(edges: DataFrame, seed: int) -> DataFrame:
    """For each vertex the first among its neighbours and itself, in a random order that the seed determines."""
    from pyspark.sql import functions as F

    def place(name: str) -> SparkColumn:
        return F.struct(F.xxhash64(F.lit(seed), F.col(name)).alias("place"), F.col(name).alias("vertex"))

    nearest = edges.groupBy("u").agg(F.min(place("v")).alias("least"))
    return nearest.select(F.col("u").alias("vertex"), F.least("least", place("u"))["vertex"].alias("representative"))


def contracted(edges: DataFrame, chosen: DataFrame) -> DataFrame:
    """The edges between different representatives, each once and in one direction."""
    from pyspark.sql import functions as F

    first = chosen.select(F.col("vertex").alias("u"), F.col("representative").alias("a"))
    second = chosen.select(F.col("vertex").alias("v"), F.col("representative").alias("b"))
    moved = edges.join(first, "u").join(second, "v").where("a != b")
    return moved.select(F.least("a", "b").alias("u"), F.greatest("a", "b").alias("v")).distinct()


def passed_back(earlier: DataFrame, later: DataFrame) -> DataFrame:
    """The membership of the vertices of a round, given that of their representatives.

    A representative that has no edges in the next round is the representative of its component.
    """
    from pyspark.sql import functions as F

    last = later.select(F.col("vertex").alias("representative"), F.col("representative").alias("final"))
    joined = earlier.join(last, "representative", "left")
    return joined.select("vertex", F.coalesce("final", "representative").alias("representative"))


# pairs ------------------------------------------------------------------------------------------


def pairs(
    session: SparkSession, members: DataFrame, work: Path, *, slices: int, shared: int, size: int | None = None
) -> DataFrame:
    """All pairs (c0, c1) of vertices of one component.

    The pairs of up to ``shared`` members are listed from shared memory, those of more by a join.
    """
    size = members.count() if size is None else size
    if size > shared:
        return joined_pairs(members)
    directory = Path(in_one_task(tagged([(members, 0, None)], 2), ShareMembers(work_directory(work))))
    return session.range(0, slices, 1, slices).mapInArrow(ListMembers(directory, slices), PAIRS)


def joined_pairs(members: DataFrame) -> DataFrame:
    """All pairs (c0, c1) of vertices of one component, by a join."""
    one = members.selectExpr("representative", "vertex as c0")
    other = members.selectExpr("representative", "vertex as c1")
    return one.join(other, "representative").select("c0", "c1")


@dataclass(frozen=True)
class ShareMembers:
    """Writes vertices grouped by component for all workers to map."""

    work: Path

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> str:
        ((vertices, representatives),) = columns_by_tag(batches, [2])
        order = np.argsort(representatives, kind="stable")
        grouped = representatives[order]
        first = np.flatnonzero(np.concatenate([[True], grouped[1:] != grouped[:-1]])) if len(order) else order
        sizes = np.diff(np.append(first, len(order)))
        directory = new_directory(self.work, "components")
        ends = np.cumsum(np.repeat(sizes, sizes))
        starts = np.repeat(first, sizes)
        write_arrays(directory, {"vertices": vertices[order], "starts": starts, "ends": ends})
        return str(directory)


@dataclass(frozen=True)
class ListMembers:
    """Lists the pairs of the slices whose numbers are in the rows; all slices have about equally many pairs."""

    directory: Path
    slices: int

    def __call__(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from everlog.backends.spark.closure import bounds

        arrays = map_arrays(self.directory)
        vertices, starts, ends = (arrays[name] for name in ("vertices", "starts", "ends"))
        for batch in numbers:
            for number in batch.column("id").to_pylist():
                low, high = bounds(ends, number, self.slices)
                while low < high:
                    done = int(ends[low - 1]) if low else 0
                    last = max(low + 1, min(high, int(np.searchsorted(ends, done + SENT_ROWS, side="right"))))
                    counts = np.diff(ends[low:last], prepend=done)
                    owners = np.repeat(np.arange(low, last), counts)
                    within = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
                    yield pa.record_batch({"c0": vertices[owners], "c1": vertices[starts[owners] + within]})
                    low = last
