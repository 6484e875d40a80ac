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

from bench.spark.universities import changes_of, materialised, updated, written

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


def compared(
    scratch: Path, workload: str, systems: list[str], limit: float, master: str, partitions: int | None = None
) -> dict[str, Any]:
    """Systems on one workload, one after the other."""
    from bench.spark.measure import measured, prepared
    from bench.spark.workloads import WORKLOADS
    from everlog.pipeline.session import session, stop

    chosen = WORKLOADS[workload]
    spark = session(master, **_slices(partitions))
    edges = prepared(spark, chosen, scratch)
    runs = [measured(spark, chosen, system, edges, scratch, limit) for system in systems]
    stop()
    return {"runs": [asdict(run) for run in runs]}


def joins(scratch: Path, universities: list[int], master: str, partitions: int | None = None) -> dict[str, Any]:
    """Universities read, materialised and stored, in so many numbers, after a warm-up."""
    from everlog.pipeline.session import session, stop

    session(master, **_slices(partitions))
    materialised(written(WARM_UP, scratch / "small"), scratch / "small-store")
    runs = []
    for count in universities:
        given = written(count, scratch / f"facts-{count}")
        runs.append({"universities": count, **materialised(given, scratch / f"store-{count}")})
    stop()
    return {"runs": runs}


def _slices(partitions: int | None) -> dict[str, Any]:
    return {} if partitions is None else {"spark.sql.shuffle.partitions": partitions}


def limited(scratch: Path, universities: int) -> dict[str, Any]:
    """The same on real executors of 1 GB with Python workers of 1 GB, and the largest process of each kind."""
    from bench.spark.processes import Peaks
    from everlog.pipeline.session import session, stop

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


def updates(scratch: Path, universities: int, changed: int, runs: int, master: str) -> dict[str, Any]:
    """Small updates of a store, each after a warm-up: distributed, and in one task if the store fits there."""
    from everlog.pipeline.session import session, stop

    session(master)
    small, store = scratch / "small-store", scratch / "store"
    materialised(written(WARM_UP, scratch / "small"), small)
    made = materialised(written(universities, scratch / "facts"), store)
    found: dict[str, Any] = {"changed": 2 * changed, "materialise": made, "updates": {}}
    for number, (how, finish) in enumerate((("distributed", 0), ("one task", 1 << 62))):
        updated(small, changes_of(WARM_UP, scratch / f"warm-{number}", 10, number), local_finish=finish)
        found["updates"][how] = [
            updated(
                store,
                changes_of(universities, scratch / "changes", changed, 10 * number + run),
                local_finish=finish,
            )
            for run in range(runs)
        ]
    stop()
    return found


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "compared": compared,
    "joins": joins,
    "limited": limited,
    "updates": updates,
}


if __name__ == "__main__":
    main()
