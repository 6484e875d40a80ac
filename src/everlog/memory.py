"""How much memory there is, and how people write it."""

from __future__ import annotations

import os
import re
from pathlib import Path

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
        raise EverlogError.of(
            "bad-size", f"{size!r} is not a size", None, "write a number and k, m, g or t, such as 8g"
        )
    return int(found[1]) << UNITS[found[2]]


def free_memory() -> int:
    """What this process may still take, in bytes: what the machine has to give, or its container."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    meminfo = Path("/proc/meminfo")
    if meminfo.exists() and (line := re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text())):
        free = int(line[1]) << 10
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.exists() and (text := limit.read_text().strip()).isdigit():
        free = min(free, int(text))
    return free
