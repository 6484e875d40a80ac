"""The parts of the benchmark: what each runs, in processes of their own, and in what sizes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.measure import run_python
from bench.progress import tell
from bench.spark.workloads import WORKLOADS

Record = dict[str, Any]
TWO, ONE = "local[2,4]", "local[1,4]"
ON_ONE = ", one core"
SLICES = 2 * (os.cpu_count() or 2)
PINNED = (1, 8)
"""So many times the size one core is compared with two; the small one first, since what comes first in a session is
slower."""


@dataclass(frozen=True)
class Sizes:
    """How much is done; an obvious loop has ``limit`` seconds at least, a process ``timeout``."""

    compared: tuple[str, ...]
    joins: int
    memory: int
    updates: int
    changed: int
    limit: float
    stores: str = ""
    """The directory where joins leave their stores, and updates look for theirs."""
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
    """Closures, same-generation and components against the loops that a user would write: a session for each
    workload, and one for all that run with one core."""
    runs: list[Record] = []
    pinned: dict[str, list[str]] = {}
    for name in sizes.compared:
        workload = WORKLOADS[name]
        if not workload.available():
            tell(f"{name} skipped: its data is not here")
            continue
        runs += _compared({name: list(workload.systems)}, sizes)
        if workload.pinned:
            pinned[name] = list(workload.pinned)
    if pinned:
        runs += [{**run, "system": f"{run['system']}{ON_ONE}"} for run in _compared(pinned, sizes, one_core=True)]
    return {"runs": runs}


def _compared(workloads: dict[str, list[str]], sizes: Sizes, one_core: bool = False) -> list[Record]:
    job: Record = {"workloads": workloads, "limit": sizes.timeout / 2, "patience": sizes.limit, "partitions": SLICES}
    job |= {"master": ONE, "one_core": True} if one_core else {"master": TWO}
    found = ran("compared", job, sizes.timeout)
    failed = {"seconds": 0.0, "failed": True, **found}
    whole: list[Record] = found.get("runs") or [
        {**failed, "workload": name, "system": system} for name, systems in workloads.items() for system in systems
    ]
    return whole


def joins(sizes: Sizes) -> Record:
    """Universities at 1, 2, 4 and 8 times the size with two cores, and at 1 and 8 pinned to one, in as many slices."""
    runs: list[Record] = []
    for cores, times in ((2, sizes.times), (1, PINNED)):
        if cores in sizes.cores and times:
            job: Record = {"universities": [sizes.joins * n for n in times], "partitions": SLICES}
            job |= {"master": ONE, "one_core": True} if cores == 1 else {"master": TWO, "stores": sizes.stores}
            found = ran("joins", job, sizes.timeout)
            each = found.get("runs", [found] * len(times))
            runs += [{"times": n, "cores": cores, **run} for n, run in zip(times, each, strict=True)]
    return {"runs": runs}


def memory(sizes: Sizes) -> Record:
    """The largest processes with 1 GB for each executor and each Python worker, at 1 and at 8 times the facts."""
    chosen = [times for times in sizes.times if times in (1, 8)]
    runs = [ran("limited", {"universities": sizes.memory * times}, sizes.timeout) for times in chosen]
    return {"runs": [{"times": times, **run} for times, run in zip(chosen, runs, strict=True)]}


def updates(sizes: Sizes) -> Record:
    """Small updates of a store, beside materialising it: of one that the joins have left, if they have."""
    job = {"universities": sizes.updates, "changed": sizes.changed, "runs": 2, "master": TWO, "stores": sizes.stores}
    return ran("updates", job, sizes.timeout)


PARTS: Mapping[str, Callable[[Sizes], Record]] = {
    "compare": compare,
    "joins": joins,
    "memory": memory,
    "updates": updates,
}


def ran(task: str, job: Record, timeout: float) -> Record:
    """What a task reports, or its error."""
    from json import dumps

    shown = " ".join(str(value) for value in job.values())
    tell(f"{task} {shown}")
    found = run_python(["-m", "bench.spark.child", dumps({"task": task, **job})], timeout)
    if found.result is None:
        tell(f"{task} {shown}: {found.error}")
        return {"error": found.error}
    tell(f"  {dumps(found.result)[:400]}")
    return found.result


def errors(parts: Mapping[str, Any]) -> Iterator[str]:
    """All that failed, but for loops that were stopped."""
    for name, part in parts.items():
        for found in (part, *part.get("runs", ())):
            if found.get("error") and (found.get("failed", True) or "workload" not in found):
                yield f"{name}: {found['error']}"
