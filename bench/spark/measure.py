"""One system on one workload: seconds from edges in files to the last answer, every answer having been looked at."""

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

from bench.spark.workloads import OBVIOUS, Workload

WARM_UP = 300
"""So many edges are worked on before, so that nothing is compiled or started while time is taken."""

WARM_PARTITIONS = 4
"""In so many parts, so that all workers are there."""

AGAIN = 0.2
"""Seconds after which what was stopped is stopped again."""


@dataclass(frozen=True)
class Run:
    """What came out; without answers the run was stopped after so many seconds, or failed."""

    workload: str
    system: str
    seconds: float
    answers: int | None = None
    mixed: int | None = None
    """A checksum of all answers, where the answers of all systems are the same."""
    error: str | None = None
    failed: bool = False

    def __str__(self) -> str:
        ended = f"{self.answers:,} answers" if self.answers is not None else self.error
        return f"{self.workload}, {self.system}: {self.seconds:.1f} s, {ended}"


def prepared(session: Any, workload: Workload, scratch: Path) -> Any:
    """The edges as a DataFrame of ids that are spread over 64 bits, in Parquet files."""
    edges = workload.edges()
    keys = np.random.default_rng(11).permutation(edges.max() + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    ids = keys.view(np.int64)[edges]
    directory = scratch / workload.name
    directory.mkdir()
    for part, rows in enumerate(np.array_split(ids, 4)):
        columns = {"c0": np.ascontiguousarray(rows[:, 0]), "c1": np.ascontiguousarray(rows[:, 1])}
        pq.write_table(pa.table(columns), directory / f"{part}.parquet")
    return session.read.parquet(str(directory))


def measured(session: Any, workload: Workload, system: str, edges: Any, scratch: Path, limit: float) -> Run:
    """Run a system, after a small run that warms it up."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    few = edges.limit(WARM_UP).repartition(WARM_PARTITIONS)
    _looked_at(workload.systems[system](session, few, _work(scratch)))
    session.catalog.clearCache()
    began = perf_counter()
    try:
        with stopped_after(limit, session.sparkContext.cancelAllJobs):
            answers, mixed = _looked_at(workload.systems[system](session, edges, _work(scratch)))
    except (PySparkException, Py4JError) as error:
        seconds = perf_counter() - began
        if seconds >= limit:
            return Run(workload.name, system, seconds, error=f"stopped after {limit:g} s")
        return Run(workload.name, system, seconds, error=str(error).splitlines()[0], failed=True)
    finally:
        session.catalog.clearCache()
    seconds = perf_counter() - began
    wrong = workload.facts is not None and answers != workload.facts
    why = f"{workload.facts:,} answers expected" if wrong else None
    return Run(workload.name, system, seconds, answers, mixed, why, failed=wrong and system != OBVIOUS)


@contextmanager
def stopped_after(seconds: float, stop: Callable[[], object]) -> Iterator[None]:
    """Stop what goes on after so many seconds, and again and again: between two jobs there is nothing to be stopped."""
    done = Event()

    def watch() -> None:
        if not done.wait(seconds):
            stop()
            while not done.wait(AGAIN):
                stop()

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _looked_at(answers: Any) -> tuple[int, int]:
    first, second = answers.columns
    (row,) = answers.selectExpr("count(*) as n", f"bit_xor(xxhash64({first}, {second})) as mixed").collect()
    return row["n"], row["mixed"]


def _work(scratch: Path) -> Path:
    return scratch / f"work-{uuid.uuid4().hex[:8]}"
