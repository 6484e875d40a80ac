"""How much a worker may hold: less where its address space is limited (``spark.executor.pyspark.memory``).

Interpreter, libraries and compiled kernels take about half a gigabyte of it before anything is read.
"""

from __future__ import annotations

import resource

ROOMY = 3 << 30
"""With an address space of so many bytes a worker holds as much as without a limit."""

TAKEN = 1 << 29
"""About what is taken before anything is read."""


def share_of_room(limit: int | None) -> float:
    """The share of what a worker holds otherwise, for one whose address space has so many bytes.

    >>> share_of_room(None), round(share_of_room(1 << 30), 2), share_of_room(600 << 20)
    (1.0, 0.2, 0.1)
    """
    if limit is None:
        return 1.0
    return min(1.0, max(0.1, (limit - TAKEN) / (ROOMY - TAKEN)))


def own_share() -> float:
    """The same for this process."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return share_of_room(None if limit == resource.RLIM_INFINITY else limit)
