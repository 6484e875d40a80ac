"""Jobs for which Spark reasons while faults strike its tasks: ``python -m tests.backends.spark.struck MASTER WORK``.

One program has a part for each kind of plan. In the first runs the disk is full where some of the plans write, which
ends the job. The next run is struck once at each kind of plan: a process is killed in the middle of a stage, and the
next attempt of its task fails, so that the third attempt has to succeed. Updates of other stores, one distributed and
one in a single task, are struck likewise. Stores are in ``WORK/disk``; if that is a disk of its own, it is filled.
Prints a report as JSON.

This module is the main one, so Spark sends its functions and classes to workers by value.
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

from everlog.backends import cascade
from everlog.backends.executors import SparkRunner
from everlog.backends.spark import backend, components, slices
from everlog.backends.spark.settings import plan_settings
from everlog.host.session import session
from everlog.jobs.materialise import MaterialiseJob, MaterialiseResult, materialise
from everlog.jobs.update import UpdateJob, UpdateResult, update
from everlog.lang.errors import EverlogError
from everlog.store import Store
from tests.backends.spark.killed import has_ended

POINTS = {
    "nonrecursive": "_WritePartition",
    "decomposed": "CloseSlice",
    "rounds": "round",
    "reachability": "ListPairs",
    "components": "contracted_rows",
}
"""Maps each kind of plan to the name of the function whose tasks are struck."""
UPDATED = {"update": "_WritePartition"}
ALONE = {"look-ups": "look_up"}
"""Maps updates that are a stage of one task to the name of the function of this task."""
STORES = ("made", "updated", "looked-up")
CONF = {
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings with which stages of a few facts have several tasks, too, and no plan is compiled."""


def main(master: str, work: Path, *plans: str) -> None:
    spark = session(master, **CONF)
    report: dict[str, Any] = {"master": spark.sparkContext.master}
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
        report[name], began = {}, time.perf_counter()
        with striking(points, faults, marks, disk):
            try:
                result = job()
                report[name] |= {"version": result.version, "how": how_of(result)}
            except Exception as error:
                report[name] |= {"error": str(error), "is_ours": isinstance(error, EverlogError)}
        report[name]["seconds"] = time.perf_counter() - began
        for point in points:
            struck = [json.loads(mark.read_text()) for mark in sorted((marks / point).glob("struck-*"))]
            died = [
                has_ended(process) for mark in struck if mark["fault"] in deaths[:1] for process in mark["processes"]
            ]
            report[name][point] = {"struck": struck, "died": died, "done": len(done(marks / point, struck[0]["stage"]))}
        (work / "disk" / "ballast").unlink(missing_ok=True)
        report[name]["left"] = sorted(path.name for path in (work / "disk").glob("*/work/*") if path.name != "guard")
        report[name]["versions"] = {Path(p).name: Store.open(p).version if Path(p).exists() else None for p in stores}
        print(name, report[name], file=sys.stderr, flush=True)

    for plan in plans:
        run(f"full at {plan}", {plan: POINTS[plan]}, ["full"], lambda: materialise(first))
    run("materialise", POINTS, deaths, lambda: materialise(first))
    run("full at update", UPDATED, ["full"], lambda: update(second))
    run("update", UPDATED, deaths, lambda: update(second))
    run("full at look-ups", ALONE, ["full"], lambda: update(third))
    run("look-ups", ALONE, deaths, lambda: update(third))
    print(json.dumps(report))
    session().stop()


# in the driver ----------------------------------------------------------------------------------


@contextmanager
def striking(points: Mapping[str, str], faults: Sequence[str], marks: Path, disk: Path | None) -> Iterator[None]:
    """Within the context, faults strike a task of each of some functions, and thresholds are low."""
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
        """Run tasks, which may be struck; of rounds the first one is not."""
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
        patch.object(backend, "plan_settings", settings),
        patch.object(cascade, "plan_settings", settings),
    ):
        yield


def how_of(result: MaterialiseResult | UpdateResult) -> list[str]:
    """The kinds of the plans of strata, or the algorithm of an update."""
    if result.version > 0:
        return [result.change.stats.algorithm]
    return [kind for stratum in result.statistics.strata for kind in stratum.plan.split(", ")]


def done(marks: Path, stage: int) -> list[str]:
    """The tasks of a stage that are done."""
    return sorted(mark.name for mark in marks.glob(f"done-{stage}-*"))


# in workers -------------------------------------------------------------------------------------


def contracted_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pass on the rows of a round of contraction, which Java computes and writes; a worker can be killed here."""
    yield from batches


@dataclass(frozen=True)
class Struck:
    """A function of tasks that faults strike.

    In each stage the first task is spared, and one of the others is the victim. A fault happens in each attempt of the
    victim, after its work is done and another task of its stage is, until no fault is left. A task that is alone in its
    stage is the victim.
    """

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
        """The fault that strikes this attempt, if any; it is written to a mark first."""
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
        entry = {"fault": fault, "stage": stage, "where": where, "processes": processes(fault), "done": others}
        with (self.marks / f"struck-{number}").open("x") as mark:
            json.dump(entry, mark)
        return fault


def processes(fault: str) -> list[int]:
    """The processes that a fault kills: this worker and, for an executor, the parent of the process that started it."""
    if fault != "executor":
        return [os.getpid()]
    return [os.getpid(), int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])]


def linked(mark: Path, text: str) -> str:
    """The text of a mark, which is set to the given text unless another task has set it before."""
    try:
        mark.symlink_to(text)
    except FileExistsError:
        return os.readlink(mark)
    return text


@contextmanager
def full(disk: Path | None) -> Iterator[None]:
    """Make writing fail for lack of room: fill the disk, which stays full, or replace functions that write files."""
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
