"""What the processes of a Spark application take, by their part in it."""

from __future__ import annotations

import os
import re
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

DRIVER, HEAP, WORKER, ADDRESSES = "driver, Python", "driver, live heap", "worker, Python", "worker, address space"

ROLES = {
    "SparkSubmit": "driver, Java",
    "CoarseGrainedExecutorBackend": "executor, Java",
    "pyspark.daemon": WORKER,
    "pyspark/daemon": WORKER,
}
"""What the command of a process has in it, and what it is."""

INTERVAL = 0.25
COLLECT_EVERY = 8
"""The driver's heap is collected at every so many looks at the processes."""


class Peaks:
    """The largest process of each role so far, in bytes, while the context lasts.

    The system's own record of a process's peak is read, so nothing between two looks is missed but what a process
    takes just before it ends. Of workers the address space is looked at as well, which is what Spark limits. The
    driver's heap fills with garbage up to its limit however little it needs, so what is alive is measured as well:
    after a collection, every few seconds.
    """

    def __init__(self, session: Any = None) -> None:
        self.found: dict[str, int] = {}
        self._session = session
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look_often, daemon=True)

    def __enter__(self) -> Peaks:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def _look_often(self) -> None:
        looks = 0
        while not self._done.wait(INTERVAL):
            self._look()
            looks += 1
            if self._session is not None and looks % COLLECT_EVERY == 0:
                self._note(HEAP, live_heap(self._session))

    def _look(self) -> None:
        for pid, role in family(os.getpid()).items():
            self._note(role, peak(pid))
            if role == WORKER:
                self._note(ADDRESSES, peak(pid, "VmPeak"))

    def _note(self, role: str, size: int) -> None:
        self.found[role] = max(self.found.get(role, 0), size)


def live_heap(session: Any) -> int:
    """Bytes that are alive in the driver's heap, by a collection."""
    java = session.sparkContext._jvm.java.lang
    java.System.gc()
    return int(java.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed())


def family(root: int) -> dict[int, str]:
    """A driver and its descendants that have a role in the application."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
    found = {root: DRIVER}
    for pid in parents:
        above = pid
        while above in parents and above != root:
            above = parents[above]
        if above == root and pid != root and (role := _role(pid)):
            found[pid] = role
    return found


def _role(pid: int) -> str | None:
    with suppress(OSError):
        command = Path(f"/proc/{pid}/cmdline").read_text()
        return next((role for part, role in ROLES.items() if part in command), None)
    return None


def peak(pid: int, of: str = "VmHWM") -> int:
    """The most that a process was resident with (or its largest address space, VmPeak), 0 if it is gone."""
    with suppress(OSError):
        found = re.search(rf"{of}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) * 1024 if found else 0
    return 0
