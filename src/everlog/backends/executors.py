"""The executors of Spark: a session that is started when it is needed first, and a runner of tasks.

Tasks are functions that run in Spark's workers; their results, which are small, are returned to the driver.
"""

from __future__ import annotations

import copyreg
import errno
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa

from everlog.host.memory import bytes_of
from everlog.host.system_errors import system_error
from everlog.ingest.amounts import polled
from everlog.ingest.room import share_of_room
from everlog.ingest.tasks import IN_PROCESS, Runner, Tally, attempt, opened
from everlog.lang.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
R = TypeVar("R")


def _read_only(items: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """Restore a read-only mapping from its items; programs, which tasks may hold, have such mappings."""
    return MappingProxyType(items)


copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))

RESULT = "result binary"
"""The schema of a DataFrame of results, see :func:`gather`."""


@dataclass(frozen=True)
class SparkRunner:
    """Runs each task as a Spark task of its own; they start in the given order.

    Spark may run a task twice and uses one result. With Spark Connect progress is not reported to the tally.
    """

    spark: SparkSession

    def run(self, function: Callable[[T], R], tasks: Sequence[T], tally: Tally | None = None) -> list[R]:
        if not tasks:
            return []
        job = _Job(function, tuple(pickle.dumps(task) for task in tasks))
        if (context := _context(self.spark)) is not None:
            with _tallied(context, job, tally) as job:
                numbers = context.parallelize(range(len(tasks)), len(tasks))
                return opened([pickle.loads(result) for result in numbers.map(job).collect()])
        return gather(self.spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(job.in_arrow, RESULT))

    @property
    def parallelism(self) -> int:
        return parallelism(self.spark)

    @property
    def room(self) -> float:
        return share_of_room(worker_limit(self.spark))


def runner_of(spark: SparkSession | None) -> Runner:
    """The runner of tasks: Spark, or this process if there is no session."""
    return IN_PROCESS if spark is None else SparkRunner(spark)


@dataclass
class Executors:
    """The executors of Spark; ``start`` starts it, ``spark`` is the session once it is started."""

    start: Callable[[], SparkSession]
    spark: SparkSession | None = None

    @property
    def runner(self) -> Runner:
        """Runs tasks on Spark if it is started, otherwise in this process."""
        return runner_of(self.spark)

    def session(self) -> SparkSession:
        """The session of Spark, which is started at the first call."""
        if self.spark is None:
            self.spark = self.start()
        return self.spark

    def started(self) -> SparkRunner:
        """Runs tasks on Spark, which is started if necessary."""
        return SparkRunner(self.session())


@contextmanager
def _tallied(context: Any, job: _Job[T, R], tally: Tally | None) -> Iterator[_Job[T, R]]:
    """The job; with a tally, its tasks count the bytes and rows that they have read, which the tally is given."""
    if tally is None:
        yield job
        return
    read, rows = context.accumulator(0), context.accumulator(0)
    with polled(lambda: tally.report(read.value, rows.value)):
        yield replace(job, sizes=tuple(tally.sizes), counters=(read, rows))


def _context(spark: SparkSession) -> Any:
    """The Spark context, which runs plain functions; None in a client of Spark Connect.

    Tasks need no DataFrame with it: a session's first one makes the JVM load and compile Spark's SQL engine, which
    takes 4 seconds of processor time.
    """
    from pyspark.errors import PySparkException

    try:
        return spark.sparkContext
    except (PySparkException, AttributeError):
        return None


def parallelism(spark: SparkSession) -> int:
    """The number of tasks that keeps all cores busy."""
    return int(spark.conf.get("spark.sql.shuffle.partitions", "4") or 4)


def worker_limit(spark: SparkSession) -> int | None:
    """The bytes that a Python worker may take by Spark's configuration; None if that sets no limit."""
    memory = spark.conf.get("spark.executor.pyspark.memory", None)
    if memory is None:
        return None
    cores = int(spark.conf.get("spark.executor.cores", None) or 1)
    size = bytes_of(memory if memory[-1:].isalpha() else f"{memory}m")
    return None if size is None else size // cores


def gather(frame: DataFrame) -> list[Any]:
    """Run a DataFrame of :func:`packed` results, and return them."""
    return opened([pickle.loads(row["result"]) for row in frame.collect()])


def packed(function: Callable[[], Any]) -> pa.RecordBatch:
    """Call a function and pack its result into a row."""
    return pa.record_batch({"result": pa.array([pickle.dumps(attempt(function))], pa.binary())})


@contextmanager
def full_disks() -> Iterator[None]:
    """Raise an error about the full disk where Spark reports that a task failed because Java could not write."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    full = os.strerror(errno.ENOSPC)
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if full not in str(error):
            raise
        raise DataError(system_error(OSError(errno.ENOSPC, full))) from error


@dataclass(frozen=True)
class _Job(Generic[T, R]):
    """Runs the tasks whose numbers it is given."""

    function: Callable[[T], R]
    tasks: tuple[bytes, ...]
    sizes: tuple[int, ...] = ()
    counters: tuple[Any, ...] = ()
    """Accumulators of the bytes and of the rows read."""

    def __call__(self, number: int) -> bytes:
        """The pickled result of a task."""
        result = attempt(lambda: self.function(pickle.loads(self.tasks[number])))
        if self.counters:
            read, rows = self.counters
            read.add(self.sizes[number])
            rows.add(getattr(result, "rows", 0))
        return pickle.dumps(result)

    def in_arrow(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The pickled results of the tasks whose numbers are in the rows of a DataFrame."""
        for batch in numbers:
            results = [self(number) for number in batch.column("id").to_pylist()]
            yield pa.record_batch({"result": pa.array(results, pa.binary())})
