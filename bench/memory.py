"""The memory of a materialisation."""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path
from typing import Any

from bench.inputs import read
from bench.machine import status_bytes
from bench.programs import LINEAR


def bytes_per_fact(directory: str, maintain: Any) -> dict[str, Any]:
    """Bytes per fact of a closure, before and after a query that needs a second sort order.

    ``accounted`` is the figure reported by the relation, if it has one. The ``resident`` figures are the growth of
    the process, which includes the dictionary, the edges and the allocator's reserve."""
    from everlog import KnowledgeBase

    warm: Any = KnowledgeBase(LINEAR.rules, maintain=maintain, modules=False)
    inputs = read(Path(directory))
    for name, table in inputs.head(10).tables.items():
        warm.insert(name, table)
    len(warm.query("path(?x, 5)"))
    del warm
    before = resident_bytes()
    kb: Any = KnowledgeBase(LINEAR.rules, maintain=maintain, modules=False)
    for name, table in inputs.tables.items():
        kb.insert(name, table)
    kb.materialise()
    one_order = resident_bytes() - before
    len(kb.query("path(?x, 5)"))
    two_orders = resident_bytes() - before
    path = kb["path"]
    accounted = getattr(path, "nbytes", None)
    facts = len(path)
    return {
        "facts": facts,
        "accounted": None if accounted is None else accounted / facts,
        "counters": kb.memory["bookkeeping"] / facts,
        "resident_one_order": one_order / facts,
        "resident": two_orders / facts,
    }


def resident_bytes() -> int:
    """Resident memory of this process, after garbage collection and returning free memory to the system."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return status_bytes("VmRSS")
