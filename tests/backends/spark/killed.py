"""``python -m tests.backends.spark.killed executor|worker DIRECTORY``: lists DAG-R's closure while a process is killed.

Runs on real executors (``local-cluster``). The stage is run undisturbed, then again; as soon as some of its tasks are
done and others are not, an executor, or a Python worker of one, is killed. Prints a report as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from bench.generators import random_dag
from everlog.backends.spark.plans import PlanSettings, close, plan_of
from everlog.host.session import session
from tests.backends.spark.by_plans import stratified

PROGRAM = "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) ."
PARTITIONS, SLICES = 4, 10
COMMANDS = {"executor": "CoarseGrainedExecutorBackend", "worker": "pyspark.daemon"}


def main(victim: str, work: Path) -> None:
    spark = session("local-cluster[2,1,1024]", spark__sql__shuffle__partitions=PARTITIONS)
    stratum = stratified(PROGRAM, modules=True).strata[-1]
    assert stratum.alone is not None
    edges = np.random.default_rng(1).integers(-(2**63), 2**63, 10_000)[random_dag(10_000, 100_000, seed=3)]
    given = spark.createDataFrame([tuple(edge) for edge in edges.tolist()], "c0 long, c1 long")
    plan = plan_of(stratum, {}, PlanSettings(slices=SLICES))
    (pairs,) = close(plan, spark, {stratum.alone.inputs[0]: given}, work).values()
    report: dict[str, Any] = {"undisturbed": summed(pairs)}
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(summed, pairs)
        report |= kill_in_the_middle(spark.sparkContext.statusTracker(), victim)
        report["disturbed"] = running.result()
    stage = spark.sparkContext.statusTracker().getStageInfo(report["stage"])
    assert stage is not None
    report["failed"] = stage.numFailedTasks
    print(json.dumps(report))
    session().stop()


def summed(pairs: Any) -> dict[str, int]:
    """The number of pairs and a hash of them, by which sets of pairs are compared."""
    (row,) = pairs.selectExpr("count(*) as pairs", "bit_xor(xxhash64(c0, c1)) as mixed").collect()
    return {"pairs": row["pairs"], "mixed": row["mixed"]}


def kill_in_the_middle(tracker: Any, victim: str) -> dict[str, Any]:
    """Kill the victim while the stage that lists pairs is under way."""
    while True:
        for number in tracker.getActiveStageIds():
            stage = tracker.getStageInfo(number)
            if stage and stage.numTasks == PARTITIONS * SLICES and 0 < stage.numCompletedTasks < stage.numTasks // 2:
                pid = max(processes(COMMANDS[victim]))
                os.kill(pid, signal.SIGKILL)
                return {
                    "stage": number,
                    "tasks": stage.numTasks,
                    "done_when_killed": stage.numCompletedTasks,
                    "died": has_ended(pid),
                }
        time.sleep(0.01)


def processes(command: str) -> list[int]:
    """This process's descendants that run a command."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
    found = []
    for pid in parents:
        above = pid
        while above in parents and above != os.getpid():
            above = parents[above]
        with suppress(OSError):
            if above == os.getpid() and command in Path(f"/proc/{pid}/cmdline").read_text():
                found.append(pid)
    return found


def has_ended(pid: int) -> bool:
    """Whether a process ends within a few seconds; a zombie has ended, too."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
