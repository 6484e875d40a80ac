"""Measures one system on one workload: seconds from edges in files until every answer has been counted and hashed."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.spark.workloads import OBVIOUS, SparkWorkload

WARM_UP = 300
"""Number of edges of the run before measuring, so that compilation and start-up are not measured."""

WARM_PARTITIONS = 4
"""Number of partitions of that run, so that all workers have started."""

CANCEL_INTERVAL = 0.2
"""Seconds between two cancellations of jobs after the time limit."""


@dataclass(frozen=True)
class SparkRun:
    """A measured run; without ``answers`` it was stopped after ``seconds``, or failed."""

    workload: str
    system: str
    seconds: float
    answers: int | None = None
    mixed: int | None = None
    """A checksum of all answers, equal for all systems if their answers are."""
    error: str | None = None
    failed: bool = False

    def __str__(self) -> str:
        ended = f"{self.answers:,} answers" if self.answers is not None else self.error
        return f"{self.workload}, {self.system}: {self.seconds:.1f} s, {ended}"


def prepared(session: Any, workload: SparkWorkload, scratch: Path) -> Any:
    """Write the edges to Parquet files, with ids spread over 64 bits, and return them as a DataFrame."""
    edges = workload.edges()
    keys = np.random.default_rng(11).permutation(edges.max() + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    ids = keys.view(np.int64)[edges]
    directory = scratch / workload.name
    directory.mkdir()
    for part, rows in enumerate(np.array_split(ids, 4)):
        columns = {"c0": np.ascontiguousarray(rows[:, 0]), "c1": np.ascontiguousarray(rows[:, 1])}
        pq.write_table(pa.table(columns), directory / f"{part}.parquet")
    return session.read.parquet(str(directory))


def measured(session: Any, workload: SparkWorkload, system: str, edges: Any, scratch: Path, limit: float) -> SparkRun:
    """Run a system, after a small warm-up run."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    few = edges.limit(WARM_UP).repartition(WARM_PARTITIONS)
    _count_and_hash(workload.systems[system](session, few, _new_directory(scratch)))
    session.catalog.clearCache()
    began = perf_counter()
    try:
        with stopped_after(limit, session.sparkContext.cancelAllJobs):
            answers, mixed = _count_and_hash(workload.systems[system](session, edges, _new_directory(scratch)))
    except (PySparkException, Py4JError) as error:
        seconds = perf_counter() - began
        if seconds >= limit:
            return SparkRun(workload.name, system, seconds, error=f"stopped after {limit:g} s")
        return SparkRun(workload.name, system, seconds, error=str(error).splitlines()[0], failed=True)
    finally:
        session.catalog.clearCache()
    seconds = perf_counter() - began
    wrong = workload.facts is not None and answers != workload.facts
    why = f"{workload.facts:,} answers expected" if wrong else None
    return SparkRun(workload.name, system, seconds, answers, mixed, why, failed=wrong and system != OBVIOUS)


@contextmanager
def stopped_after(seconds: float, stop: Callable[[], object]) -> Iterator[None]:
    """Call ``stop`` after ``seconds``, then repeatedly until the block ends: between two jobs, a call has no effect."""
    done = Event()

    def watch() -> None:
        if not done.wait(seconds):
            stop()
            while not done.wait(CANCEL_INTERVAL):
                stop()

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _count_and_hash(answers: Any) -> tuple[int, int]:
    first, second = answers.columns
    (row,) = answers.selectExpr("count(*) as n", f"bit_xor(xxhash64({first}, {second})) as mixed").collect()
    return row["n"], row["mixed"]


def _new_directory(scratch: Path) -> Path:
    return scratch / f"work-{uuid.uuid4().hex[:8]}"
