"""The tasks of the Spark benchmark, each run in a process of its own by :mod:`bench.run_task`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any

from bench.spark.universities import (
    changes_of,
    materialise_once,
    sizes_of,
    store_of,
    timed_materialise,
    timed_update,
    write_inputs,
)

WARM_UP = 1
"""Number of universities materialised before measuring, so that compilation and start-up are not measured."""

LIMITED = {"spark.executor.memory": "1g", "spark.executor.pyspark.memory": "1g"}
CLUSTER = "local-cluster[2,1,1024]"
DRIVER_MEMORY = "512m"
PARTITIONS = "spark.sql.shuffle.partitions"

STOP_FACTOR = 11.0
"""An obvious loop is stopped after this multiple of Everlog's seconds; the promise is a factor of ten."""


def in_scratch(task: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Run a task with a temporary directory as ``scratch``."""

    @wraps(task)
    def run(**arguments: Any) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
            return task(scratch=Path(scratch), **arguments)

    return run


@in_scratch
def compared(
    scratch: Path,
    workloads: dict[str, list[str]],
    limit: float,
    loop_seconds: float,
    master: str,
    partitions: int,
) -> dict[str, Any]:
    """Run systems on workloads, one after the other: Everlog first, stopped after ``limit`` seconds, the loop last.

    So the loop runs in a warm session. It has at least ``loop_seconds`` seconds.
    """
    from bench.spark.measure import measured, prepared
    from bench.spark.workloads import OBVIOUS, WORKLOADS
    from everlog.host.session import session

    spark = session(master, **{PARTITIONS: str(partitions)})
    runs = []
    for name, systems in workloads.items():
        chosen = WORKLOADS[name]
        edges, enough = prepared(spark, chosen, scratch), max(loop_seconds, chosen.loop_seconds)
        for system in sorted(systems, key=OBVIOUS.__eq__):
            runs.append(measured(spark, chosen, system, edges, scratch, enough if system == OBVIOUS else limit))
            if system == chosen.promised:
                enough = min(limit, max(enough, STOP_FACTOR * runs[-1].seconds))
    session().stop()
    return {"runs": [asdict(run) for run in runs]}


@in_scratch
def joins(
    scratch: Path, universities: list[int], master: str, partitions: int, stores: str | None = None
) -> dict[str, Any]:
    """Materialise each number of ``universities`` into a store, after a warm-up. The stores stay in ``stores``."""
    from everlog.host.session import session

    session(master, **{PARTITIONS: str(partitions)})
    directory = Path(stores) if stores else scratch
    materialise_once(WARM_UP, directory)
    runs = [{"universities": count, **materialise_once(count, directory)} for count in universities]
    session().stop()
    return {"runs": runs}


@in_scratch
def limited(scratch: Path, universities: int) -> dict[str, Any]:
    """Materialise universities on executors of 1 GB with Python workers of 1 GB; measure the largest process of each
    kind."""
    from bench.spark.memory_peaks import peaks
    from everlog.host.session import session

    given = write_inputs_in_child(universities, scratch / "facts")
    spark = session(CLUSTER, **{**LIMITED, "spark.driver.memory": DRIVER_MEMORY})
    with peaks(spark) as sizes:
        results = timed_materialise(given, scratch / "store")
    session().stop()
    return {"universities": universities, **results, "peaks": sizes}


def write_inputs_in_child(universities: int, directory: Path) -> Any:
    """Run :func:`write_inputs` in another process, so that the peak of this one is that of the measured work."""
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1) as pool:
        return pool.submit(write_inputs, universities, directory).result()


@in_scratch
def updates(scratch: Path, universities: int, changed: int, runs: int, master: str, stores: str) -> dict[str, Any]:
    """Run small updates of a store in each of the :data:`WAYS`, each after a warm-up."""
    from bench.spark.rows_read import reading
    from everlog.host.session import session

    directory = Path(stores)
    spark = session(master)
    materialise_once(WARM_UP, directory)
    made = materialise_once(universities, directory)
    results: dict[str, Any] = {"changed": 2 * changed, "materialise": made, "updates": {}}
    small, store = store_of(WARM_UP, directory), store_of(universities, directory)
    results["store"] = sizes_of(store)
    for number, (how, (share, options)) in enumerate(WAYS.items()):
        timed_update(small, changes_of(WARM_UP, scratch / f"warm-{number}", 10, number), **options)
        results["updates"][how] = []
        for run in range(runs):
            changes = changes_of(universities, scratch / "changes", max(1, changed // share), 10 * number + run)
            with reading(spark) as read:
                done = timed_update(store, changes, **options)
            results["updates"][how].append({**done, "read": {**read, "rows": rows_read(store, read)}})
    again = write_inputs(universities, directory / f"again-{universities}")
    results["local"] = timed_materialise(again, scratch / "local", engine="local")
    session().stop()
    return results


def rows_read(store: Path, by_spark: dict[str, int]) -> int:
    """The number of rows read for the newest version: the rows that were looked up, or those read by Spark's tasks."""
    from everlog.store import Store

    looked_up: int | None = Store.open(str(store)).info().statistics["update"].get("looked_up")
    return by_spark["rows"] if looked_up is None else looked_up


WAYS: dict[str, tuple[int, dict[str, Any]]] = {
    "Spark": (1, {"engine": "spark"}),
    "Spark, a hundredth of the change": (100, {"engine": "spark"}),
    "Spark, distributed": (1, {"engine": "spark", "local_finish": 0}),
    "Spark, distributed, a hundredth of the change": (100, {"engine": "spark", "local_finish": 0}),
    "Spark, in one task with the whole store": (1, {"engine": "spark", "local_finish": 1 << 62, "look_up_rows": 0}),
    "this machine, without Spark": (1, {"engine": "local"}),
}
