"""The peak memory of the processes of a Spark application, by role."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from bench.machine import process_tree, status_bytes
from everlog.ingest.amounts import polled

DRIVER, HEAP, WORKER, ADDRESSES = "driver, Python", "driver, live heap", "worker, Python", "worker, address space"

ROLES = {
    "SparkSubmit": "driver, Java",
    "CoarseGrainedExecutorBackend": "executor, Java",
    "pyspark.daemon": WORKER,
    "pyspark/daemon": WORKER,
}
"""Maps a part of a process's command line to the role of the process."""

COLLECT_EVERY = 10
"""Number of samples between two garbage collections of the driver's heap."""


@contextmanager
def peaks(session: Any) -> Iterator[dict[str, int]]:
    """Measure the largest process of each role, in bytes, until the block ends.

    The peaks are those that the operating system records, so only memory taken just before a process ends is missed.
    For workers the address space is measured as well, since Spark limits it. The driver's heap fills with garbage up to
    its limit, so its live bytes are measured as well: after a garbage collection every few seconds.
    """
    sizes: dict[str, int] = {}
    samples = count(1)

    def note(role: str, size: int) -> None:
        sizes[role] = max(sizes.get(role, 0), size)

    def sample() -> None:
        for pid, role in family(os.getpid()).items():
            note(role, status_bytes("VmHWM", pid))
            if role == WORKER:
                note(ADDRESSES, status_bytes("VmPeak", pid))

    def look() -> None:
        sample()
        if next(samples) % COLLECT_EVERY == 0:
            note(HEAP, live_heap(session))

    with polled(look):
        yield sizes
    sample()


def live_heap(session: Any) -> int:
    """Live bytes in the driver's heap, measured after a garbage collection."""
    java = session.sparkContext._jvm.java.lang
    java.System.gc()
    return int(java.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed())


def family(root: int) -> dict[int, str]:
    """The roles of a driver and of its descendants that have one, by process id."""
    roles = {pid: _role(pid) for pid in process_tree(root)} | {root: DRIVER}
    return {pid: role for pid, role in roles.items() if role}


def _role(pid: int) -> str | None:
    with suppress(OSError):
        command = Path(f"/proc/{pid}/cmdline").read_text()
        return next((role for part, role in ROLES.items() if part in command), None)
    return None
