"""The parts of the Spark benchmark, each run in processes of its own, and their sizes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.inputs import is_here
from bench.measure import task
from bench.spark.workloads import WORKLOADS

Record = dict[str, Any]
TWO, ONE = "local[2,4]", "local[1,4]"
ON_ONE = ", one core"
SLICES = 2 * (os.cpu_count() or 2)
PINNED = (1, 8)
"""Multiples of the size at which one core is compared with two; the small one first, since the first run of a session
is slower."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the parts. ``limit`` is the minimum of seconds before an obvious loop is stopped, ``timeout`` the
    maximum of seconds for a process."""

    compared: tuple[str, ...]
    joins: int
    memory: int
    updates: int
    changed: int
    limit: float
    stores: str = ""
    """The directory in which ``joins`` leaves its stores and ``updates`` looks for one."""
    times: tuple[int, ...] = (1, 2, 4, 8)
    cores: tuple[int, ...] = (1, 2)
    timeout: float = 900.0


FULL = Sizes(
    compared=("dag-r", "wiki-vote", "gnp10K", "generations", "components"),
    joins=6,
    memory=8,
    updates=24,
    changed=500,
    limit=30.0,
)
QUICK = Sizes(
    compared=("dag-s", "generations-small", "components-small"),
    joins=1,
    memory=1,
    updates=1,
    changed=20,
    limit=20.0,
    times=(1,),
    cores=(2,),
)


def compare(sizes: Sizes) -> Record:
    """Closures, same-generation and components, compared with the loops that a user would write: a session for each
    workload, and one session for all runs on one core."""
    runs: list[Record] = []
    pinned: dict[str, list[str]] = {}
    for name in sizes.compared:
        workload = WORKLOADS[name]
        if not is_here(workload):
            continue
        runs += _compared({name: list(workload.systems)}, sizes)
        if workload.pinned:
            pinned[name] = list(workload.pinned)
    if pinned:
        runs += [{**run, "system": f"{run['system']}{ON_ONE}"} for run in _compared(pinned, sizes, one_core=True)]
    return {"runs": runs}


def _compared(workloads: dict[str, list[str]], sizes: Sizes, one_core: bool = False) -> list[Record]:
    job: Record = {
        "workloads": workloads,
        "limit": sizes.timeout / 2,
        "loop_seconds": sizes.limit,
        "partitions": SLICES,
    }
    job["master"] = ONE if one_core else TWO
    results = task("spark.tasks.compared", job, sizes.timeout, one_core=one_core)
    failed = {"seconds": 0.0, "failed": True, **results}
    whole: list[Record] = results.get("runs") or [
        {**failed, "workload": name, "system": system} for name, systems in workloads.items() for system in systems
    ]
    return whole


def joins(sizes: Sizes) -> Record:
    """Universities at 1, 2, 4 and 8 times the size on two cores, and at 1 and 8 times pinned to one core, with an equal
    number of partitions."""
    runs: list[Record] = []
    for cores, times in ((2, sizes.times), (1, PINNED)):
        if cores in sizes.cores and times:
            job: Record = {"universities": [sizes.joins * n for n in times], "partitions": SLICES}
            job |= {"master": ONE} if cores == 1 else {"master": TWO, "stores": sizes.stores}
            results = task("spark.tasks.joins", job, sizes.timeout, one_core=cores == 1)
            each = results.get("runs", [results] * len(times))
            runs += [{"times": n, "cores": cores, **run} for n, run in zip(times, each, strict=True)]
    return {"runs": runs}


def memory(sizes: Sizes) -> Record:
    """The largest processes with 1 GB for each executor and Python worker, at 1 and 8 times the size."""
    chosen = [times for times in sizes.times if times in (1, 8)]
    jobs = [{"universities": sizes.memory * times} for times in chosen]
    runs = [task("spark.tasks.limited", job, sizes.timeout, one_core=False) for job in jobs]
    return {"runs": [{"times": times, **run} for times, run in zip(chosen, runs, strict=True)]}


def updates(sizes: Sizes) -> Record:
    """Small updates of a store, compared with materialising it; a store that ``joins`` has left is reused."""
    job = {"universities": sizes.updates, "changed": sizes.changed, "runs": 2, "master": TWO, "stores": sizes.stores}
    return task("spark.tasks.updates", job, sizes.timeout, one_core=False)


PARTS: Mapping[str, Callable[[Sizes], Record]] = {
    "compare": compare,
    "joins": joins,
    "memory": memory,
    "updates": updates,
}


def errors(parts: Mapping[str, Any]) -> Iterator[str]:
    """The errors of all runs, without those of loops that were stopped."""
    for name, part in parts.items():
        for results in (part, *part.get("runs", ())):
            if results.get("error") and (results.get("failed", True) or "workload" not in results):
                yield f"{name}: {results['error']}"
