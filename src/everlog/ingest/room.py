"""The memory that a worker may use: less where its address space is limited (``spark.executor.pyspark.memory``).

The interpreter, libraries and compiled kernels take about half a gigabyte before anything is read.
"""

from __future__ import annotations

import resource

ROOMY = 3 << 30
"""Bytes of address space from which on a worker uses as much memory as without a limit."""

TAKEN = 1 << 29
"""Bytes that are used before anything is read, roughly."""


def share_of_room(limit: int | None) -> float:
    """The share of a worker's usual memory that one with ``limit`` bytes of address space may use.

    >>> share_of_room(None), round(share_of_room(1 << 30), 2), share_of_room(600 << 20)
    (1.0, 0.2, 0.1)
    """
    if limit is None:
        return 1.0
    return min(1.0, max(0.1, (limit - TAKEN) / (ROOMY - TAKEN)))


def own_share() -> float:
    """The share of a worker's usual memory that this process may use."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return share_of_room(None if limit == resource.RLIM_INFINITY else limit)
