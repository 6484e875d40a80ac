"""One part of the benchmark in a process of its own: ``python -m bench.spark.child JOB``, a JSON object on stdout."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.spark.universities import (
    changes_of,
    kept,
    materialised,
    on_this_machine,
    sizes_of,
    store_of,
    updated,
    written,
)

WARM_UP = 1
"""So many universities are materialised before, so that nothing is compiled or started while time is taken."""

LIMITED = {"spark.executor.memory": "1g", "spark.executor.pyspark.memory": "1g"}
CLUSTER = "local-cluster[2,1,1024]"
DRIVER_MEMORY = "512m"


def main() -> None:
    """Run the task given as JSON: ``task``, ``one_core`` to pin the process and its children, and what it needs."""
    job = json.loads(sys.argv[1])
    if job.pop("one_core", False):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        print(json.dumps(TASKS[job.pop("task")](scratch=Path(scratch), **job)))


ENOUGH = 11.0
"""An obvious loop is stopped after so many times the seconds of ours: the promise is ten times."""


def compared(
    scratch: Path,
    workloads: dict[str, list[str]],
    limit: float,
    patience: float,
    master: str,
    partitions: int | None = None,
) -> dict[str, Any]:
    """Systems on workloads, one after the other: ours first, stopped after ``limit`` seconds, the obvious loop last.

    The loop has the session as warm as it can be, and at least ``patience`` seconds.
    """
    from bench.spark.measure import measured, prepared
    from bench.spark.workloads import OBVIOUS, WORKLOADS
    from everlog.host.session import session, stop

    spark = session(master, **_slices(partitions))
    runs = []
    for name, systems in workloads.items():
        chosen = WORKLOADS[name]
        edges, enough = prepared(spark, chosen, scratch), max(patience, chosen.patience)
        for system in sorted(systems, key=OBVIOUS.__eq__):
            runs.append(measured(spark, chosen, system, edges, scratch, enough if system == OBVIOUS else limit))
            if system == chosen.promised:
                enough = min(limit, max(enough, ENOUGH * runs[-1].seconds))
    stop()
    return {"runs": [asdict(run) for run in runs]}


def joins(
    scratch: Path, universities: list[int], master: str, partitions: int | None = None, stores: str | None = None
) -> dict[str, Any]:
    """Universities read, materialised and stored, in so many numbers, after a warm-up; the stores may be kept."""
    from everlog.host.session import session, stop

    session(master, **_slices(partitions))
    directory = Path(stores) if stores else scratch
    kept(WARM_UP, directory)
    runs = [{"universities": count, **kept(count, directory)} for count in universities]
    stop()
    return {"runs": runs}


def _slices(partitions: int | None) -> dict[str, Any]:
    return {} if partitions is None else {"spark.sql.shuffle.partitions": partitions}


def limited(scratch: Path, universities: int) -> dict[str, Any]:
    """The same on real executors of 1 GB with Python workers of 1 GB, and the largest process of each kind."""
    from bench.spark.processes import Peaks
    from everlog.host.session import session, stop

    given = written_elsewhere(universities, scratch / "facts")
    spark = session(CLUSTER, **{**LIMITED, "spark.driver.memory": DRIVER_MEMORY})
    with Peaks(spark) as peaks:
        found = materialised(given, scratch / "store")
    stop()
    return {"universities": universities, **found, "peaks": peaks.found}


def written_elsewhere(universities: int, directory: Path) -> Any:
    """The same as :func:`written`, in another process, so that this one's peak is that of the work alone."""
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1) as pool:
        return pool.submit(written, universities, directory).result()


def updates(scratch: Path, universities: int, changed: int, runs: int, master: str, stores: str) -> dict[str, Any]:
    """Small updates of a store, each kind after a warm-up: as by default, otherwise, and on this machine alone."""
    from bench.spark.reading import Reading
    from everlog.host.session import session, stop

    directory = Path(stores)
    spark = session(master)
    kept(WARM_UP, directory)
    made = kept(universities, directory)
    found: dict[str, Any] = {"changed": 2 * changed, "materialise": made, "updates": {}}
    small, store = store_of(WARM_UP, directory), store_of(universities, directory)
    found["store"] = sizes_of(store)
    for number, (how, (share, options)) in enumerate(WAYS.items()):
        updated(small, changes_of(WARM_UP, scratch / f"warm-{number}", 10, number), **options)
        found["updates"][how] = []
        for run in range(runs):
            changes = changes_of(universities, scratch / "changes", max(1, changed // share), 10 * number + run)
            with Reading(spark) as reading:
                done = updated(store, changes, **options)
            found["updates"][how].append({**done, "read": {**reading.found, "rows": read_in(store, reading.found)}})
    found["local"] = on_this_machine(universities, directory, scratch / "local")
    stop()
    return found


def read_in(store: Path, by_spark: dict[str, int]) -> int:
    """How many rows the newest version has read: what it has looked up, or what the tasks of Spark say."""
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


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "compared": compared,
    "joins": joins,
    "limited": limited,
    "updates": updates,
}


if __name__ == "__main__":
    main()
