"""The machine and the package versions of a measurement, and what the system says about processes."""

from __future__ import annotations

import os
import platform
import re
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "everlog", "numpy", "numba", "pyarrow", "pyspark", "duckdb", "clingo", "nemo-python", "reasonable", "owlrl",
    "rdflib", "pyoxigraph",
)  # fmt: skip


def machine() -> dict[str, str]:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{pages / 1e9:.0f} GB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """The versions of the measured packages that are installed."""
    installed = {}
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def busy_cores(seconds: float = 1.5) -> float:
    """The number of cores that other work keeps busy, measured for some seconds."""
    before = _spent()
    time.sleep(seconds)
    total, idle = (now - then for now, then in zip(_spent(), before, strict=True))
    return (os.cpu_count() or 1) * (1 - idle / max(total, 1))


def status_bytes(field: str, pid: int | str = "self") -> int:
    """A size in the status of a process, such as ``VmRSS`` or ``VmHWM``, in bytes; 0 if the process has ended."""
    with suppress(OSError):
        line = re.search(rf"^{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        return int(line[1]) * 1024 if line else 0
    return 0


def process_tree(root: int) -> dict[int, list[str]]:
    """A process and its running descendants, each with the fields of its ``/proc/PID/stat`` after the name."""
    stats: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            stats[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
    tree = {}
    for pid, fields in stats.items():
        ancestor = pid
        while ancestor in stats and ancestor != root:
            ancestor = int(stats[ancestor][1])
        if ancestor == root:
            tree[pid] = fields
    return tree


def _spent() -> tuple[int, int]:
    """Total and idle time of all processors, in ticks."""
    times = [int(number) for number in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return sum(times), times[3] + times[4]
