"""The C library's allocator, set so that working memory is used again and not returned to the system in between.

Blocks of bindings and heads take a few megabytes each, and are freed before the next ones are made. By default glibc
returns the end of its heap to the system whenever that is free. The next block then takes new pages, which the system
has to clear: a third of the time of a nonlinear closure. Whether it happens depends on what else is in memory.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
"""Numbers of the parameters in ``malloc.h``."""

FREE_BYTES = 64 << 20
"""Maximum number of free bytes at the end of the heap that are not returned to the system."""

MAPPED_BYTES = 16 << 20
"""Minimum bytes of an array that is mapped by itself and returned when it is freed: twice a block of bindings."""


@cache
def reuse_freed_memory() -> None:
    """Set the allocator of this process, at the first call. Environment variables of the user take precedence, and a C
    library other than glibc stays as it is.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None or not os.environ.keys().isdisjoint({"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"}):
        return
    mallopt(M_TRIM_THRESHOLD, FREE_BYTES)
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)
