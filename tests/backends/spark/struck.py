"""Jobs for which Spark reasons while faults strike its tasks: ``python -m tests.backends.spark.struck MASTER WORK``.

One program has a part for each kind of plan. At first the disk is full where some of them write, which ends the
job. Run again, it is struck once at each kind of plan: a process dies in the middle of a stage, and the next attempt of
the same task fails, so that a third has to do it. Updates of other stores have the same fate, a distributed one and one
that is a single task. Stores are in ``WORK/disk``; if that is a disk of its own, it is really filled. Prints what
happened as JSON.

This module is the main one, so Spark brings what is below to its workers by value.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql.classic.dataframe import DataFrame

from everlog.backends.engines import plan_settings
from everlog.backends.spark import components, slices
from everlog.backends.spark.tasks import SparkRunner
from everlog.host.session import session, stop
from everlog.jobs import materialise as jobs
from everlog.jobs import spark_updates
from everlog.jobs.change_job import ChangeResult
from everlog.jobs.materialise import MaterialiseJob, Result, materialise
from everlog.jobs.update import UpdateJob, UpdateResult, update
from everlog.lang.errors import EverlogError
from everlog.store import Store
from tests.backends.spark.killed import gone

POINTS = {
    "nonrecursive": "_WritePartition",
    "decomposed": "CloseSlice",
    "rounds": "round",
    "reachability": "ListPairs",
    "components": "contracted_rows",
}
"""For each kind of plan the function whose tasks are struck."""
UPDATED = {"update": "_WritePartition"}
ALONE = {"look-ups": "look_up"}
"""The same where a stage has one task."""
STORES = ("made", "updated", "looked-up")
CONF = {
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Stages have several tasks however few facts there are, and no plan is compiled for them."""


def main(master: str, work: Path, *plans: str) -> None:
    spark = session(master, **CONF)
    told: dict[str, Any] = {"master": spark.sparkContext.master}
    disk = work / "disk" if (work / "disk").is_mount() else None
    how: dict[str, Any] = {"engine": "spark", "local_finish": 0}
    facts = tuple(str(work / f"{name}.tsv") for name in ("e", "f", "open"))
    rules, stores = [str(work / f"{name}.rls") for name in STORES], [str(work / "disk" / name) for name in STORES]
    first = MaterialiseJob(rules[0], facts, stores[0], maintain="none", **how)
    for number in (1, 2):
        materialise(MaterialiseJob(rules[number], facts[:1], stores[number], engine="local"))
    insert, delete = ((f"e={work / name}.tsv",) for name in ("insert", "delete"))
    second = UpdateJob(stores[1], insert, delete, algorithm="dredc", compact=False, **how)
    third = replace(second, store=stores[2], local_finish=UpdateJob.local_finish)
    deaths = ("executor" if master.startswith("local-cluster") else "worker", "raise")

    def run(name: str, points: Mapping[str, str], faults: Sequence[str], job: Callable[[], Any]) -> None:
        marks = work / "marks" / name
        told[name], began = {}, time.perf_counter()
        with striking(points, faults, marks, disk):
            try:
                result = job()
                told[name] |= {"version": result.version, "how": how_of(result)}
            except Exception as error:
                told[name] |= {"error": str(error), "is_ours": isinstance(error, EverlogError)}
        told[name]["seconds"] = time.perf_counter() - began
        for point in points:
            struck = [json.loads(mark.read_text()) for mark in sorted((marks / point).glob("struck-*"))]
            died = [gone(process) for mark in struck if mark["fault"] in deaths[:1] for process in mark["processes"]]
            told[name][point] = {"struck": struck, "died": died, "done": len(done(marks / point, struck[0]["stage"]))}
        (work / "disk" / "ballast").unlink(missing_ok=True)
        told[name]["left"] = sorted(path.name for path in (work / "disk").glob("*/work/*") if path.name != "guard")
        told[name]["versions"] = {Path(p).name: Store.open(p).version if Path(p).exists() else None for p in stores}
        print(name, told[name], file=sys.stderr, flush=True)

    for plan in plans:
        run(f"full at {plan}", {plan: POINTS[plan]}, ["full"], lambda: materialise(first))
    run("materialise", POINTS, deaths, lambda: materialise(first))
    run("full at update", UPDATED, ["full"], lambda: update(second))
    run("update", UPDATED, deaths, lambda: update(second))
    run("full at look-ups", ALONE, ["full"], lambda: update(third))
    run("look-ups", ALONE, deaths, lambda: update(third))
    print(json.dumps(told))
    stop()


# in the driver ----------------------------------------------------------------------------------


@contextmanager
def striking(points: Mapping[str, str], faults: Sequence[str], marks: Path, disk: Path | None) -> Iterator[None]:
    """As long as this lasts, faults strike a task of each of some functions, and a few facts are many."""
    in_arrow, contracted, run = DataFrame.mapInArrow, components.contracted, SparkRunner.run

    def struck(function: Any) -> Struck | None:
        name = getattr(function, "__name__", type(function).__name__)
        point = next((point for point, at in points.items() if at == name), None)
        if point is None:
            return None
        (marks / point).mkdir(parents=True, exist_ok=True)
        return Struck(function, tuple(faults), marks / point, disk, point in ALONE)

    def stage(frame: Any, function: Any, schema: Any) -> Any:
        return in_arrow(frame, found.stage if (found := struck(function)) else function, schema)

    def tasks(self: Any, function: Any, given: Sequence[Any], tally: Any = None) -> Any:
        """A round is struck after the first one."""
        later = getattr(function, "__qualname__", "") != "_Slice.round" or all(task.held for task in given)
        return run(self, (struck(function) if later else None) or function, given, tally)

    def contraction(edges: Any, chosen: Any) -> Any:
        return contracted(edges, chosen).mapInArrow(contracted_rows, "u long, v long")

    def settings(*arguments: Any) -> Any:
        return replace(plan_settings(*arguments), united_edges=25, slices=2, slice_facts=1, slice_pairs=1)

    with (
        patch.object(DataFrame, "mapInArrow", stage),
        patch.object(SparkRunner, "run", tasks),
        patch.object(components, "contracted", contraction),
        patch.object(jobs, "plan_settings", settings),
        patch.object(spark_updates, "plan_settings", settings),
    ):
        yield


def how_of(result: Result | UpdateResult) -> list[str]:
    """The plans of strata, or the algorithm of an update."""
    if isinstance(result, ChangeResult):
        return [result.change.stats.algorithm]
    return [kind for stratum in result.statistics.strata for kind in stratum.plan.split(", ")]


def done(marks: Path, stage: int) -> list[str]:
    """The tasks of a stage that are done."""
    return sorted(mark.name for mark in marks.glob(f"done-{stage}-*"))


# in workers -------------------------------------------------------------------------------------


def contracted_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of a round of contraction as they are, for a process to die there: Java computes and writes them."""
    yield from batches


@dataclass(frozen=True)
class Struck:
    """A function of tasks. In each stage the first task is spared; of the others one is the victim, in whose attempts
    one fault after the other happens: after its work, when another task of its stage is done. A task that is alone is
    the victim."""

    function: Callable[[Any], Any]
    faults: tuple[str, ...]
    marks: Path
    disk: Path | None
    alone: bool = False

    def __call__(self, task: Any) -> Any:
        with self.struck():
            return self.function(task)

    def stage(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = [batch for batch in batches if batch.num_rows]
        if given:
            with self.struck():
                given = list(self.function(iter(given)))
        yield from given

    @contextmanager
    def struck(self) -> Iterator[None]:
        context: Any = TaskContext.get()
        where = f"{context.stageId()}-{context.partitionId()}"
        fault = self.claimed(context.stageId(), where)
        if fault == "full":
            with full(self.disk):
                yield
        else:
            yield
        if fault in ("worker", "executor"):
            for process in reversed(processes(fault)):
                os.kill(process, signal.SIGKILL)
        if fault == "raise":
            raise RuntimeError("struck")
        if fault != "full":
            (self.marks / f"done-{where}").touch()

    def claimed(self, stage: int, where: str) -> str | None:
        """What happens to this attempt, if anything; a mark says so before it does."""
        if not self.alone and linked(self.marks / f"first-{stage}", where) == where:
            return None
        for _ in range(0 if self.alone else 400):
            if done(self.marks, stage):
                break
            time.sleep(0.05)
        number = len(list(self.marks.glob("struck-*")))
        if linked(self.marks / "victim", where) != where or number >= len(self.faults):
            return None
        fault, others = self.faults[number], done(self.marks, stage)
        said = {"fault": fault, "stage": stage, "where": where, "processes": processes(fault), "done": others}
        with (self.marks / f"struck-{number}").open("x") as mark:
            json.dump(said, mark)
        return fault


def processes(fault: str) -> list[int]:
    """This worker; for the fault of an executor its process, too, which started the one that starts workers."""
    if fault != "executor":
        return [os.getpid()]
    return [os.getpid(), int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])]


def linked(mark: Path, text: str) -> str:
    """What a mark says: the first one to say it wins."""
    try:
        mark.symlink_to(text)
    except FileExistsError:
        return os.readlink(mark)
    return text


@contextmanager
def full(disk: Path | None) -> Iterator[None]:
    """No room for another byte: on a disk of its own, which stays so, or as what writes files is told."""
    if disk is not None:
        try:
            with (disk / "ballast").open("wb", buffering=0) as ballast:
                while True:
                    ballast.write(bytes(1 << 12))
        except OSError:
            yield
        return

    def refused(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with patch.object(pq.ParquetWriter, "write_table", refused), patch.object(slices, "write_arrays", refused):
        yield


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
