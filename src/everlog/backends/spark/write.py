"""Writes DataFrames as data files of a store, by executors: sorted, in disjoint ranges.

Ids are hashes, so the first arguments of a predicate's facts are spread evenly; the ends of the ranges are
computed from the sizes of the predicates, without sampling.
"""

from __future__ import annotations

import functools
import itertools
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from everlog.backends.executors import RESULT, gather, packed, parallelism
from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.workspace import WEIGHT, Workspace
from everlog.ingest.tasks import work_directory
from everlog.lang.syntax import Predicate
from everlog.store import schema
from everlog.store.parquet import FACT_GROUP_ROWS, chunks, facts_writer, filtered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILE_ROWS, FEWER_ROWS = 1 << 22, 1 << 18
"""About the maximum number of rows in a file, and the minimum where rows are split into more files to use all cores."""

Signed = Sequence[tuple[FrameSet | FrameCounts, int]]
"""Sets and multisets, each with 1 if it is to be added or -1 if it is to be subtracted."""


def rows_of(space: Workspace, parts: Mapping[str, Signed]) -> DataFrame | None:
    """The rows of a store, given for each weight the sets and multisets to add or subtract; None if there are none."""
    from pyspark.sql import functions as F

    frames = []
    for name, signed in parts.items():
        for part, sign in signed:
            rows = _weighted(part)
            if rows is not None:
                weights = [
                    (F.col(WEIGHT) * sign if w == name else F.lit(0)).cast("long").alias(w) for w in schema.WEIGHTS
                ]
                frames.append(rows.select(*space.keys, *weights))
    if not frames:
        return None
    joined = functools.reduce(lambda a, b: a.unionAll(b), frames)
    summed = joined.groupBy(*space.keys).agg(*(F.sum(name).alias(name) for name in schema.WEIGHTS))
    changed = functools.reduce(lambda a, b: a | b, (F.col(name) != 0 for name in schema.WEIGHTS))
    return summed.where(changed)


def _weighted(part: FrameSet | FrameCounts) -> DataFrame | None:
    from pyspark.sql import functions as F

    if not part.possible:
        return None
    if isinstance(part, FrameSet):
        return part.frame().withColumn(WEIGHT, F.lit(1).cast("long"))
    return part.pieces_frame(part.possible)


def write_rows(space: Workspace, rows: DataFrame, sizes: Mapping[Predicate, int], work: Path) -> list[Path]:
    """Write rows into files in ``work``; ``sizes`` is the approximate number of rows of each predicate."""
    arities = {space.names.id(p): p.arity for p in space.names.predicates}
    files = number_of_files(sum(sizes.values()), parallelism(space.spark), FILE_ROWS)
    task = _WriteRows(str(work_directory(work)), tuple(space.keys), arities, tuple(_filtered(sizes, files)))
    parted = _ranged(space, rows, sizes, files).sortWithinPartitions(*space.keys)
    found = gather(parted.select(*space.keys, *schema.WEIGHTS).mapInArrow(task, RESULT))
    return [Path(path) for path in sorted(path for path in found if path is not None)]


def _filtered(sizes: Mapping[Predicate, int], files: int) -> list[str]:
    """The names of the columns that have Bloom filters."""
    width = max((p.arity for p in sizes), default=0)
    having = [sum(size for p, size in sizes.items() if p.arity > place) for place in range(width)]
    return filtered(sum(sizes.values()), having, files)


def _ranged(space: Workspace, rows: DataFrame, sizes: Mapping[Predicate, int], files: int) -> DataFrame:
    """The rows in partitions that are ranges of predicate and first argument, all of about equal size."""
    from pyspark.sql import functions as F

    if files <= 1:
        return rows.repartition(1)
    file_rows = -(-sum(sizes.values()) // files)
    start, table = 0, []
    for number, size in sorted((space.names.id(p), size) for p, size in sizes.items()):
        table.append({"predicate": number, "start": start, "size": size})
        start += size
    starts = F.broadcast(space.table(table))
    share = F.col("size") * (F.col("c0") / F.lit(2.0**64) + 0.5)
    file = F.floor((F.coalesce(F.col("start") + share, F.lit(0.0))) / F.lit(float(file_rows))).cast("int")
    numbered = rows.join(starts, "predicate", "left").withColumn(
        "file", F.greatest(F.lit(0), F.least(file, F.lit(files - 1)))
    )
    return numbered.repartitionById(files, F.col("file"))


def number_of_files(rows: int, tasks: int, file_rows: int = FILE_ROWS) -> int:
    """The number of files for some rows, given the number of tasks that keeps all cores busy.

    >>> [number_of_files(rows, 4) for rows in (1_000, 600_000, 3_000_000, 17_000_000)]
    [1, 2, 4, 8]
    """
    most = max(1, rows // min(file_rows, FEWER_ROWS))
    return min(most, -(-rows // (file_rows * tasks)) * tasks)


@dataclass(frozen=True)
class _WriteRows:
    """Writes the sorted rows of a partition as a data file; returns its path, None if there are no rows."""

    directory: str
    keys: tuple[str, ...]
    arities: Mapping[int, int]
    filters: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield packed(lambda: self._written(batches))

    def _written(self, batches: Iterable[pa.RecordBatch]) -> str | None:
        wanted = schema.facts(len(self.keys) - 1)
        rows = (self._conformed(batch, wanted) for batch in batches if batch.num_rows)
        groups = chunks(rows, FACT_GROUP_ROWS)
        first = next(groups, None)
        if first is None:
            return None
        path = f"{self.directory}/facts-{uuid.uuid4().hex}.parquet"
        with facts_writer(path, wanted, self.filters) as writer:
            for group in itertools.chain([first], groups):
                writer.write_table(group, row_group_size=FACT_GROUP_ROWS)
        return path

    def _conformed(self, batch: pa.RecordBatch, wanted: pa.Schema) -> pa.Table:
        """The rows with nulls in the columns beyond the arity of their predicates."""
        numbers = batch.column("predicate").to_numpy()
        different, at = np.unique(numbers, return_inverse=True)
        arities = np.array([self.arities[number] for number in different.tolist()])[at]
        columns = []
        for field in wanted:
            column = batch.column(field.name)
            if field.name in self.keys[1:]:
                column = pa.array(column.to_numpy(), mask=arities <= int(field.name[1:]))
            columns.append(column.cast(field.type))
        return pa.Table.from_arrays(columns, schema=wanted)
