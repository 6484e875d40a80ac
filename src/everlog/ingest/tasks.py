"""Running functions over tasks: one after the other in this process, or by the workers of Spark.

Reading and encoding are written once, as functions that can be sent to a worker. They are run by a :class:`Runner`:
:data:`IN_PROCESS` in this process, :class:`everlog.backends.executors.SparkRunner` on Spark.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from everlog.host.system_errors import system_error
from everlog.ingest.amounts import Amount, AmountProgress
from everlog.ingest.room import own_share
from everlog.lang.errors import DataError, Diagnostic, EverlogError

T = TypeVar("T")
R = TypeVar("R")


class Runner(Protocol):
    """Runs functions over tasks and returns their results, which must be small."""

    def run(self, function: Callable[[T], R], tasks: Sequence[T], tally: Tally | None = None) -> list[R]:
        """Apply a function to each task; a tally observes how much work is done.

        The function must be importable by workers or picklable, and leave nothing behind that would disturb a second
        attempt. Mistakes of users are collected from all tasks and raised as one :class:`DataError`.
        """

    @property
    def parallelism(self) -> int:
        """The number of tasks that keeps all cores busy."""

    @property
    def room(self) -> float:
        """The share of its usual memory that a worker may use (:mod:`everlog.ingest.room`)."""


@dataclass(frozen=True)
class Tally:
    """Observes how much of the work of tasks is done, given the bytes that each task has to read."""

    sizes: Sequence[int]
    progress: AmountProgress

    def report(self, done: int, rows: int) -> None:
        total = sum(self.sizes)
        self.progress(Amount(min(done, total), total, "bytes", rows))


@dataclass(frozen=True)
class InProcess:
    """Runs tasks in this process, one after the other.

    >>> InProcess().run(abs, [-1, 2])
    [1, 2]
    """

    def run(self, function: Callable[[T], R], tasks: Sequence[T], tally: Tally | None = None) -> list[R]:
        results: list[R | TaskErrors] = []
        done = rows = 0
        for number, task in enumerate(tasks):
            results.append(attempt(functools.partial(function, task)))
            if tally is not None:
                done += tally.sizes[number]
                rows += getattr(results[-1], "rows", 0)
                tally.report(done, rows)
        return opened(results)

    @property
    def parallelism(self) -> int:
        return 1

    @property
    def room(self) -> float:
        return own_share()


IN_PROCESS = InProcess()


@dataclass(frozen=True)
class TaskErrors:
    """Mistakes of users that a task found."""

    diagnostics: tuple[Diagnostic, ...]


def attempt(function: Callable[[], R]) -> R | TaskErrors:
    """Call a function, and return its result. Mistakes of users are a result, too, and not a failed task."""
    try:
        return function()
    except EverlogError as error:
        return TaskErrors(error.diagnostics)
    except OSError as error:
        return TaskErrors((system_error(error),))


def opened(results: Sequence[R | TaskErrors]) -> list[R]:
    """The results; an error with all mistakes that tasks found, if there are any."""
    wrong = [diagnostic for result in results if isinstance(result, TaskErrors) for diagnostic in result.diagnostics]
    if wrong:
        raise DataError(dict.fromkeys(wrong))
    return [result for result in results if not isinstance(result, TaskErrors)]


def work_directory(path: Path | str) -> Path:
    """An existing directory, by its absolute path, for tasks to write into."""
    absolute = Path(path).absolute()
    try:
        absolute.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(system_error(error)) from error
    return absolute
