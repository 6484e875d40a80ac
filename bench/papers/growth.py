"""The memory of a hierarchy that many updates built, compared with that of one built at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench import generators
from bench.programs import NONLINEAR


def growth(nodes: int, updates: int) -> dict[str, Any]:
    """Bytes of the facts and of their bookkeeping, and the seconds of the updates."""
    from everlog import KnowledgeBase

    edges = generators.forest(1, nodes, seed=1)
    held = []
    for parts in (1, updates):
        kb: Any = KnowledgeBase(NONLINEAR.rules)
        for part in np.array_split(edges, parts):
            kb.update(insert={"edge": part})
        held.append({**kb.memory, "pairs": len(kb["path"])})
    at_once, grown = held
    return {"nodes": nodes, "updates": updates, "at_once": at_once, "grown": grown}
