"""Functions run by Spark's workers, one task each, with small results that come back to the driver.

Without a session the same functions run in this process, one after the other.
"""

from __future__ import annotations

import copyreg
import errno
import functools
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa

from everlog.ingest.amounts import Amount, Told, polled
from everlog.lang.errors import DataError, Diagnostic, EverlogError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
R = TypeVar("R")


def _read_only(items: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """Tasks may hold programs, which have read-only mappings: these come as what they show."""
    return MappingProxyType(items)


copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))

RESULT = "result binary"
"""The schema of a DataFrame of results, see :func:`gather`."""


def run_tasks(
    spark: SparkSession | None, function: Callable[[T], R], tasks: Sequence[T], tally: Tally | None = None
) -> list[R]:
    """Apply a function to each of the tasks, each as a Spark task of its own, started in this order.

    The function must be importable by the workers or picklable, and leave nothing behind that a
    second attempt would trip over: Spark may run a task twice and takes one result. With a tally, someone is
    told how much is done; a client of Spark Connect cannot know.
    """
    if spark is None:
        return opened(list(_one_by_one(function, tasks, tally)))
    if not tasks:
        return []
    job = _Job(function, tuple(pickle.dumps(task) for task in tasks))
    if (context := _context(spark)) is not None:
        with _tallied(context, job, tally) as job:
            numbers = context.parallelize(range(len(tasks)), len(tasks))
            return opened([pickle.loads(result) for result in numbers.map(job).collect()])
    return gather(spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(job.in_arrow, RESULT))


@dataclass(frozen=True)
class Tally:
    """Who is told how much of the work of tasks is done, given the bytes that each of them has to read."""

    sizes: Sequence[int]
    told: Told

    def tell(self, done: int, rows: int) -> None:
        total = sum(self.sizes)
        self.told(Amount(min(done, total), total, "bytes", rows))


def _one_by_one(function: Callable[[T], R], tasks: Sequence[T], tally: Tally | None) -> Iterator[R | Wrong]:
    """The results of tasks run by this process."""
    done = rows = 0
    for number, task in enumerate(tasks):
        result = attempt(functools.partial(function, task))
        yield result
        if tally is not None:
            done += tally.sizes[number]
            rows += getattr(result, "rows", 0)
            tally.tell(done, rows)


@contextmanager
def _tallied(context: Any, job: _Job[T, R], tally: Tally | None) -> Iterator[_Job[T, R]]:
    """The job, counting what its tasks have done where somebody wants to know."""
    if tally is None:
        yield job
        return
    read, rows = context.accumulator(0), context.accumulator(0)
    with polled(lambda: tally.tell(read.value, rows.value)):
        yield replace(job, sizes=tuple(tally.sizes), counters=(read, rows))


def _context(spark: SparkSession) -> Any:
    """What runs plain functions, which a client of Spark Connect has not.

    A session's first DataFrame makes the JVM load and compile Spark's SQL engine: 4 seconds of processor time.
    """
    from pyspark.errors import PySparkException

    try:
        return spark.sparkContext
    except (PySparkException, AttributeError):
        return None


def parallelism(spark: SparkSession | None) -> int:
    """How many tasks it takes to keep all cores busy."""
    return 1 if spark is None else int(spark.conf.get("spark.sql.shuffle.partitions", "4"))


def work_directory(path: Path | str) -> Path:
    """An existing directory, by its absolute path, for tasks to write into."""
    absolute = Path(path).absolute()
    try:
        absolute.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(_input_output(error)) from error
    return absolute


def gather(frame: DataFrame) -> list[Any]:
    """The results in a DataFrame of :func:`packed` ones."""
    return opened([pickle.loads(row["result"]) for row in frame.collect()])


def packed(function: Callable[[], Any]) -> pa.RecordBatch:
    """Call a function and pack its result into a row."""
    return pa.record_batch({"result": pa.array([pickle.dumps(attempt(function))], pa.binary())})


def attempt(function: Callable[[], R]) -> R | Wrong:
    """Call a function. What a user has to fix is a result too, not a failed task."""
    try:
        return function()
    except EverlogError as error:
        return Wrong(error.diagnostics)
    except OSError as error:
        return Wrong((_input_output(error),))


def opened(results: Sequence[R | Wrong]) -> list[R]:
    """The results; or an error with all that tasks found wrong."""
    wrong = [diagnostic for result in results if isinstance(result, Wrong) for diagnostic in result.diagnostics]
    if wrong:
        raise DataError(dict.fromkeys(wrong))
    return [result for result in results if not isinstance(result, Wrong)]


@contextmanager
def full_disks() -> Iterator[None]:
    """A full disk is the same error where Java writes: what is shuffled, and tables. Spark says that a task failed."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    full = os.strerror(errno.ENOSPC)
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if full not in str(error):
            raise
        raise DataError(_input_output(OSError(errno.ENOSPC, full))) from error


@dataclass(frozen=True)
class Wrong:
    """What a task found that a user has to fix."""

    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class _Job(Generic[T, R]):
    """Runs the tasks whose numbers come in."""

    function: Callable[[T], R]
    tasks: tuple[bytes, ...]
    sizes: tuple[int, ...] = ()
    counters: tuple[Any, ...] = ()
    """Accumulators of the bytes read and of the rows."""

    def __call__(self, number: int) -> bytes:
        """The pickled result of a task."""
        result = attempt(lambda: self.function(pickle.loads(self.tasks[number])))
        if self.counters:
            read, rows = self.counters
            read.add(self.sizes[number])
            rows.add(getattr(result, "rows", 0))
        return pickle.dumps(result)

    def in_arrow(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same for rows of a DataFrame."""
        for batch in numbers:
            results = [self(number) for number in batch.column("id").to_pylist()]
            yield pa.record_batch({"result": pa.array(results, pa.binary())})


def _input_output(error: OSError) -> Diagnostic:
    where = f": {error.filename}" if error.filename else ""
    hint = "make room on the disk, or choose another directory" if "space" in str(error) else None
    return Diagnostic("input-output", f"{error.strerror or error}{where}", hint=hint)
