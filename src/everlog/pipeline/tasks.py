"""Functions run by Spark's workers, one task each, with small results that come back to the driver."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa

from everlog.lang.errors import DataError, Diagnostic, EverlogError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
R = TypeVar("R")

RESULT = "result binary"
"""The schema of a DataFrame of results, see :func:`gather`."""


def run_tasks(spark: SparkSession, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
    """Apply a function to each of the tasks, each as a Spark task of its own, started in this order.

    The function must be importable by the workers or picklable, and leave nothing behind that a
    second attempt would trip over: Spark may run a task twice and takes one result.
    """
    if not tasks:
        return []
    job = _Job(function, tuple(pickle.dumps(task) for task in tasks))
    return gather(spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(job, RESULT))


def gather(frame: DataFrame) -> list[Any]:
    """The results in a DataFrame that :func:`packed` made; raises what the tasks found wrong, all of it."""
    results = [pickle.loads(row["result"]) for row in frame.collect()]
    wrong = [error for result in results if isinstance(result, _Wrong) for error in result.diagnostics]
    if wrong:
        raise DataError(dict.fromkeys(wrong))
    return results


def packed(function: Callable[[], Any]) -> pa.RecordBatch:
    """Call a function and pack its result. What a user has to fix is a result too, not a failed task."""
    try:
        result = function()
    except EverlogError as error:
        result = _Wrong(error.diagnostics)
    except OSError as error:
        result = _Wrong((_input_output(error),))
    return pa.record_batch({"result": pa.array([pickle.dumps(result)], pa.binary())})


@dataclass(frozen=True)
class _Wrong:
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class _Job(Generic[T, R]):
    """Runs the tasks whose numbers come in."""

    function: Callable[[T], R]
    tasks: tuple[bytes, ...]

    def __call__(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column("id").to_pylist():
                yield packed(lambda task=self.tasks[number]: self.function(pickle.loads(task)))  # type: ignore[misc]


def _input_output(error: OSError) -> Diagnostic:
    where = f": {error.filename}" if error.filename else ""
    hint = "make room on the disk, or choose another directory" if "space" in str(error) else None
    return Diagnostic("input-output", f"{error.strerror or error}{where}", hint=hint)
