"""The peak memory of the processes of a Spark application, by role."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.machine import process_tree, status_bytes

DRIVER, HEAP, WORKER, ADDRESSES = "driver, Python", "driver, live heap", "worker, Python", "worker, address space"

ROLES = {
    "SparkSubmit": "driver, Java",
    "CoarseGrainedExecutorBackend": "executor, Java",
    "pyspark.daemon": WORKER,
    "pyspark/daemon": WORKER,
}
"""Maps a part of a process's command line to the role of the process."""

INTERVAL = 0.25
"""Seconds between two samples of the processes."""

COLLECT_EVERY = 8
"""Number of samples between two garbage collections of the driver's heap."""


class Peaks:
    """Context manager that measures the largest process of each role, in bytes.

    The peaks are those that the operating system records, so only memory taken just before a process ends is missed.
    For workers the address space is measured as well, since Spark limits it. The driver's heap fills with garbage up to
    its limit, so its live bytes are measured as well: after a garbage collection every few seconds.
    """

    def __init__(self, session: Any = None) -> None:
        self.sizes: dict[str, int] = {}
        self._session = session
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample_often, daemon=True)

    def __enter__(self) -> Peaks:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()
        self._sample()

    def _sample_often(self) -> None:
        samples = 0
        while not self._done.wait(INTERVAL):
            self._sample()
            samples += 1
            if self._session is not None and samples % COLLECT_EVERY == 0:
                self._note(HEAP, live_heap(self._session))

    def _sample(self) -> None:
        for pid, role in family(os.getpid()).items():
            self._note(role, status_bytes("VmHWM", pid))
            if role == WORKER:
                self._note(ADDRESSES, status_bytes("VmPeak", pid))

    def _note(self, role: str, size: int) -> None:
        self.sizes[role] = max(self.sizes.get(role, 0), size)


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
