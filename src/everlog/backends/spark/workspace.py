"""Where facts on Spark are kept between steps: the one owner of checkpoints, and of what they leave behind.

A step is a DataFrame. Storing it runs it once: each task writes one Parquet file into the work directory
and returns its name and how many facts of each predicate it has, and that is all the driver learns.
What is read back has no lineage, so plans stay as large as one step, and an executor that dies takes
nothing along. A file counts only if its task returned it, so tasks that run twice do no harm. The
directory goes when the work is done.

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

from everlog.backends.spark.groups import (
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
from everlog.backends.spark.names import HashedNames
from everlog.backends.spark.tasks import RESULT, gather, packed, parallelism
from everlog.engine.tables import fact_columns
from everlog.ingest.tasks import work_directory
from everlog.lang.syntax import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WEIGHT = "weight"
"""The column that says how often a fact is meant."""

GROUP_ROWS = 1 << 20
"""A row group of a checkpoint has so many rows at most."""


@dataclass(frozen=True)
class RowGroupRange:
    """Some row groups of a file, one after the other."""

    file: str
    first: int
    end: int


Slices = Mapping[int, tuple[RowGroupRange, ...]]
"""Where the facts of each slice are; see :mod:`everlog.backends.spark.known`."""


@dataclass(frozen=True, eq=False)
class Stored:
    """Facts in files, each once, with their numbers by predicate; with weights if they are a multiset."""

    files: tuple[str, ...] = ()
    sizes: Mapping[Predicate, int] = field(default_factory=dict)
    weighted: bool = False
    touches: Touches | None = None
    """The row groups of a store that they touch, if it was asked for and they are few."""
    slices: Slices | None = None
    """Where the facts of each slice are, if they are in slices."""


class Workspace:
    """Stores DataFrames of facts in a directory that all workers share; see the module."""

    def __init__(self, spark: SparkSession, directory: Path | str, names: HashedNames, width: int) -> None:
        self.spark = spark
        self.directory = work_directory(Path(directory) / f"spark-{uuid.uuid4().hex[:8]}")
        self.names = names
        self.keys = fact_columns(width)
        self.groups: Groups | None = None
        """The row groups of a store, if facts are to be looked up there."""
        self.slices = parallelism(spark)
        """Facts of a loop are in so many slices."""
        self.copies: dict[tuple[Stored, frozenset[Predicate]], Stored] = {}
        """Facts of some predicates that were put into slices."""
        self.jobs = 0
        """How many times something was stored or counted."""
        self._spread: dict[tuple[Stored, frozenset[Predicate], tuple[str, ...]], DataFrame] = {}

    def store(self, frame: DataFrame, *, weighted: bool = False, more: Sequence[str] = ()) -> Stored:
        """Run a step: distinct facts, with a column of weights or without, and with other columns."""
        columns = [*self.keys, *([WEIGHT] if weighted else []), *more]
        self.jobs += 1
        parts = gather(frame.select(*columns).mapInArrow(_WritePartition(str(self.directory), self.bounds), RESULT))
        found = self.stored((() if file is None else (file,), sizes) for file, sizes, _ in parts)
        touched = None if self.bounds is None else all_touches(touched for _, _, touched in parts)
        return replace(found, weighted=weighted, touches=touched)

    def stored(self, written: Iterable[tuple[Sequence[str], Mapping[int, int]]]) -> Stored:
        """What tasks have written: files, and the numbers of facts by the ids of predicates."""
        files: list[str] = []
        sizes: Counter[int] = Counter()
        for some, counted in written:
            files += some
            sizes.update(counted)
        return Stored(tuple(files), {self.names.predicate(number): size for number, size in sizes.items()})

    @property
    def bounds(self) -> ArgumentBounds | None:
        """What the row groups of the store range over."""
        return None if self.groups is None else self.groups.bounds

    def probed(self, frame: DataFrame, column: str, places: Sequence[Place]) -> tuple[DataFrame, Mask | None]:
        """Run a step whose columns are numbers; and the row groups of the store that may have a value of one of them at
        some places there.
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
        """Facts of some predicates, in partitions by some columns and sorted by them, for joins that come again.

        They are kept on the disks of executors; what is lost there is made again from the files.
        """
        from pyspark import StorageLevel

        key = stored, predicates, tuple(columns)
        if key not in self._spread:
            rows = self.read(stored.files)
            rows = rows.where(rows.predicate.isin([self.names.id(p) for p in sorted(predicates)]))
            rows = rows.repartition(self.slices, *columns).sortWithinPartitions(*columns)
            rows.persist(StorageLevel.DISK_ONLY).count()  # before this, plans do not know that they are in partitions
            self.jobs += 1
            self._spread[key] = rows
        return self._spread[key]

    def table(self, rows: Sequence[Mapping[str, int]]) -> DataFrame:
        """A few rows of numbers, all with the same columns. From Arrow they need no task; from tuples they would."""
        return self.spark.createDataFrame(pa.Table.from_pylist(list(rows), pa.schema({n: pa.int64() for n in rows[0]})))

    def close(self) -> None:
        """Remove everything that was stored."""
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
    """Writes a partition into a file; returns its name, None if there is nothing in it, the sizes by predicate, and
    what it touches."""

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
    """Writes a partition into a file; returns its name, None if there is nothing in it, and the row groups of a store
    that may have a value of a column."""

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
    """Write rows into a new file, if there are any; each row group is shown to somebody."""
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
    """Batches joined to tables of a row group each."""
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
    """How many rows there are of each predicate, by its id."""
    numbers, counts = np.unique(rows.column("predicate").to_numpy(), return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))
