"""Reads chosen row groups of a store as a DataFrame, by tasks in Python.

Spark itself reads all row groups of a file except those that a filter excludes, and a filter of a hundred ranges takes
longer than it saves. Here the rows of the chosen row groups are numbered, and the task that is given the number of the
first row of a row group reads it. So Spark knows the number of rows when it plans a join.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.backends.executors import parallelism
from everlog.engine.keys import Column
from everlog.store.files import open_file
from everlog.store.groups import Chosen, Groups

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def picked(
    spark: SparkSession, groups: Groups, chosen: Chosen, predicates: Collection[int], columns: pa.Schema
) -> DataFrame:
    """The rows of some predicates in the chosen row groups; columns that a file does not have are null."""
    from pyspark.sql.pandas.types import from_arrow_schema

    file, group, rows = groups.different(chosen)
    starts = np.cumsum(rows) - rows
    task = PickRows(groups.files, file, group, starts, tuple(sorted(predicates)), columns)
    numbers = spark.range(0, int(rows.sum()), 1, max(1, min(parallelism(spark), len(rows))))
    return numbers.mapInArrow(task, from_arrow_schema(columns))


@dataclass(frozen=True)
class PickRows:
    """Reads the row groups whose first rows have numbers among those in the rows it is given."""

    files: tuple[str, ...]
    file: Column
    group: Column
    starts: Column
    predicates: tuple[int, ...]
    columns: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for numbers in (batch.column(0) for batch in batches if batch.num_rows):
            ends = [numbers[0].as_py(), numbers[-1].as_py() + 1]
            first, end = np.searchsorted(self.starts, ends).tolist()
            for at in range(first, end):
                rows = read_groups(self.files[self.file[at]], [int(self.group[at])], self.predicates, self.columns)
                yield from rows.to_batches()


def read_groups(path: str, groups: Sequence[int], predicates: Collection[int], columns: pa.Schema) -> pa.Table:
    """The rows of some predicates in row groups of a file."""
    file = open_file(Path(path))
    there = [name for name in columns.names if name in file.schema_arrow.names]
    rows = file.read_row_groups(list(groups), columns=there)
    rows = rows.filter(pc.is_in(rows.column("predicate"), pa.array(sorted(predicates), pa.int64())))
    cells = [
        rows.column(field.name).cast(field.type) if field.name in there else pa.nulls(rows.num_rows, field.type)
        for field in columns
    ]
    return pa.Table.from_arrays(cells, schema=columns)
