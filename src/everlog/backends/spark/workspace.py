"""The work directory in which facts on Spark are stored between steps, and the owner of its files.

A step is a DataFrame. Storing it runs it once: each task writes one Parquet file into the work directory
and returns to the driver only its name and the number of facts of each predicate.
Facts read back have no lineage, so plans stay as large as one step, and the loss of an executor loses no
facts. A file is used only if its task returned it, so a task may run twice. The directory is removed when
the workspace is closed.

All facts have one schema: ``predicate`` and ``c0``, ``c1``, ... up to the largest arity, ids of the store.
Columns beyond the arity of a predicate are 0, so that equal facts are equal rows.
"""

from __future__ import annotations

import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.backends.executors import RESULT, gather, packed, parallelism
from everlog.engine.tables import fact_columns
from everlog.ingest.tasks import work_directory
from everlog.lang.syntax import Predicate
from everlog.store.groups import (
    ArgumentBounds,
    Groups,
    Mask,
    Place,
    Probe,
    Touches,
    all_touches,
    joined,
    touches,
)
from everlog.store.names import HashedNames

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WEIGHT = "weight"
"""The name of the column with the number of a fact in a multiset."""

GROUP_ROWS = 1 << 20
"""Maximum number of rows in a row group of a stored step."""


@dataclass(frozen=True)
class RowGroupRange:
    """Consecutive row groups of a file, from ``first`` up to but without ``end``."""

    file: str
    first: int
    end: int


Slices = Mapping[int, tuple[RowGroupRange, ...]]
"""Maps the number of a slice to the row groups of its facts; see :mod:`everlog.backends.spark.known`."""


@dataclass(frozen=True, eq=False)
class Stored:
    """Different facts in files, with their number by predicate; those of counters have a column of weights."""

    files: tuple[str, ...] = ()
    sizes: Mapping[Predicate, int] = field(default_factory=dict)
    touches: Touches | None = None
    """The row groups of a store that the facts touch; None if the facts are many or there is no store."""
    slices: Slices | None = None
    """The row groups of each slice, if the facts are in slices."""


class Workspace:
    """Stores DataFrames of facts in a directory that all workers share, and removes it when closed."""

    def __init__(self, spark: SparkSession, directory: Path | str, names: HashedNames, width: int) -> None:
        self.spark = spark
        self.directory = work_directory(Path(directory) / f"spark-{uuid.uuid4().hex[:8]}")
        self.names = names
        self.keys = fact_columns(width)
        self.groups: Groups | None = None
        """The row groups of a store, if its facts are looked up."""
        self.slices = parallelism(spark)
        """The number of slices for the facts of a loop."""
        self.copies: dict[tuple[Stored, frozenset[Predicate]], Stored] = {}
        """Maps stored facts and some of their predicates to the copies of these facts in slices."""
        self.jobs = 0
        """The number of times that a step was stored or counted."""
        self._spread: dict[tuple[Stored, frozenset[Predicate], tuple[str, ...]], DataFrame] = {}

    def store(self, frame: DataFrame, *, weighted: bool = False, more: Sequence[str] = ()) -> Stored:
        """Run a step and store its rows, which are distinct facts, with weights or without, and ``more`` columns."""
        columns = [*self.keys, *([WEIGHT] if weighted else []), *more]
        self.jobs += 1
        parts = gather(frame.select(*columns).mapInArrow(_WritePartition(str(self.directory), self.bounds), RESULT))
        found = self.stored((() if file is None else (file,), sizes) for file, sizes, _ in parts)
        touched = None if self.bounds is None else all_touches(touched for _, _, touched in parts)
        return replace(found, touches=touched)

    def stored(self, written: Iterable[tuple[Sequence[str], Mapping[int, int]]]) -> Stored:
        """The facts that tasks have stored, given their files and the numbers of facts by the ids of predicates."""
        files: list[str] = []
        sizes: Counter[int] = Counter()
        for some, counted in written:
            files += some
            sizes.update(counted)
        return Stored(tuple(files), {self.names.predicate(number): size for number, size in sizes.items()})

    @property
    def bounds(self) -> ArgumentBounds | None:
        """The ranges of first arguments in the row groups of the store; None without a store."""
        return None if self.groups is None else self.groups.bounds

    def probed(self, frame: DataFrame, column: str, places: Sequence[Place]) -> tuple[DataFrame, Mask | None]:
        """Run a step whose columns are numbers, and find the row groups that may have values of one of them.

        Returns the stored rows, and the row groups of the store that may have a value of ``column`` at a place.
        """
        assert self.groups is not None
        self.jobs += 1
        probe = Probe(self.groups, tuple(places))
        parts = gather(frame.mapInArrow(_WriteProbed(str(self.directory), column, probe), RESULT))
        files = [file for file, _ in parts if file is not None]
        rows = self.spark.read.schema(frame.schema)
        found = rows.parquet(*files) if files else self.spark.createDataFrame([], frame.schema)
        return found, joined(mask for _, mask in parts)

    def read(self, files: Sequence[str], *, weighted: bool = False) -> DataFrame:
        """The facts in files."""
        schema = ", ".join(f"{name} long" for name in ([*self.keys, WEIGHT] if weighted else self.keys))
        if not files:
            return self.spark.createDataFrame([], schema)
        return self.spark.read.schema(schema).parquet(*files)

    def spread(self, stored: Stored, predicates: frozenset[Predicate], columns: Sequence[str]) -> DataFrame:
        """Facts of some predicates, in partitions by some columns and sorted by them, for joins that are repeated.

        They are on the disks of executors; if one is lost, Spark makes its partitions again from the files.
        """
        from pyspark import StorageLevel

        key = stored, predicates, tuple(columns)
        if key not in self._spread:
            rows = self.read(stored.files)
            rows = rows.where(rows.predicate.isin([self.names.id(p) for p in sorted(predicates)]))
            rows = rows.repartition(self.slices, *columns).sortWithinPartitions(*columns)
            rows.persist(StorageLevel.DISK_ONLY).count()  # only then do plans use the partitioning
            self.jobs += 1
            self._spread[key] = rows
        return self._spread[key]

    def table(self, rows: Sequence[Mapping[str, int]]) -> DataFrame:
        """A few rows of numbers, all with equal columns. They are made from Arrow, which needs no task."""
        return self.spark.createDataFrame(pa.Table.from_pylist(list(rows), pa.schema({n: pa.int64() for n in rows[0]})))

    def close(self) -> None:
        """Remove all stored facts."""
        for rows in self._spread.values():
            rows.unpersist()
        self._spread.clear()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


@dataclass(frozen=True)
class _WritePartition:
    """Writes a partition into a file.

    Returns its name, or None if there are no rows, the number of rows by predicate, and the row groups that they touch.
    """

    directory: str
    bounds: ArgumentBounds | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield packed(lambda: self._written(batches))

    def _written(self, batches: Iterable[pa.RecordBatch]) -> tuple[str | None, Counter[int], Touches | None]:
        sizes: Counter[int] = Counter()
        found: list[Touches | None] = []

        def seen(rows: pa.Table) -> None:
            sizes.update(sizes_of(rows))
            found.extend([] if self.bounds is None else [touches(rows, self.bounds)])

        return write_step(self.directory, batches, seen), sizes, all_touches(found)


@dataclass(frozen=True)
class _WriteProbed:
    """Writes a partition into a file.

    Returns its name, or None if there are no rows, and the row groups of a store that may have a value of a column.
    """

    directory: str
    column: str
    probe: Probe

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield packed(lambda: self._written(batches))

    def _written(self, batches: Iterable[pa.RecordBatch]) -> tuple[str | None, Mask | None]:
        found: list[Mask | None] = []
        file = write_step(
            self.directory, batches, lambda rows: found.append(self.probe(rows.column(self.column).to_numpy()))
        )
        return file, joined(found)


def write_step(directory: str, batches: Iterable[pa.RecordBatch], seen: Callable[[pa.Table], None]) -> str | None:
    """Write rows into a new file, if there are any, and return its path; ``seen`` is called with each row group."""
    path = f"{directory}/{uuid.uuid4().hex}.parquet"
    writer: pq.ParquetWriter | None = None
    try:
        for rows in grouped(batches):
            writer = writer or pq.ParquetWriter(path, rows.schema, compression="none", use_dictionary=["predicate"])
            writer.write_table(rows, row_group_size=GROUP_ROWS)
            seen(rows)
    finally:
        if writer is not None:
            writer.close()
    return None if writer is None else path


def grouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join batches to tables that are a row group each."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
        if rows >= GROUP_ROWS:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held)


def sizes_of(rows: pa.Table) -> dict[int, int]:
    """The number of rows of each predicate, by its id."""
    numbers, counts = np.unique(rows.column("predicate").to_numpy(), return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))
