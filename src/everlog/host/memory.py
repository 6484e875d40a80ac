"""Measuring memory, and sizes of memory as texts."""

from __future__ import annotations

import os
import re
from pathlib import Path

from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError

UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def bytes_of(size: str | None) -> int | None:
    """A size as a number of bytes.

    >>> bytes_of("2g"), bytes_of("512 MB"), bytes_of(None)
    (2147483648, 536870912, None)
    """
    if size is None:
        return None
    found = re.fullmatch(r"(\d+)\s*([kmgt]?)b?", size.strip().lower())
    if found is None:
        hint = "write a number and k, m, g or t, such as 8g"
        raise EverlogError.of(Code.BAD_SIZE, f"{size!r} is not a size", None, hint)
    return int(found[1]) << UNITS[found[2]]


def free_memory() -> int:
    """The number of bytes that this process can still allocate, by the limits of the machine and its container."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    meminfo = Path("/proc/meminfo")
    if meminfo.exists() and (line := re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text())):
        free = int(line[1]) << 10
    return min(free, container_limit() or free)


def container_limit() -> int | None:
    """The number of bytes to which the container of this process is limited, None if it is not."""
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.exists() else ""
    return int(text) if text.isdigit() else None


def held_memory() -> int:
    """The number of bytes that this process holds, without pages of files that are only mapped."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        resident, shared = map(int, statm.read_text().split()[1:3])
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def size_text(size: int) -> str:
    """A size as a text that :func:`bytes_of` reads, with the largest unit that fits.

    >>> size_text(3 << 30), size_text(1_500_000), size_text(900)
    ('3.0 GB', '1.4 MB', '0.9 kB')
    """
    for unit in "TGM":
        if size >= 1 << UNITS[unit.lower()]:
            return f"{size / (1 << UNITS[unit.lower()]):.1f} {unit}B"
    return f"{size / 1024:.1f} kB"
