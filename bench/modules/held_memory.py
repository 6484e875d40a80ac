"""The memory of a knowledge base with and without modules, including dictionary and bookkeeping."""

from __future__ import annotations

from typing import Any

from bench.modules.workloads import WORKLOADS
from bench.programs import LINEAR, NONLINEAR

BOOKKEEPING: tuple[Any, ...] = ("dredc", "none")
DAG = "dag-r-nonlinear"


def held_memory(size: int) -> dict[str, Any]:
    """Bytes held by DAG-R's closure for each kind of bookkeeping: by the nonlinear rule as a module, and by the linear
    rule as a general rule, whose counters are computed in seconds."""
    from everlog import KnowledgeBase

    edges = WORKLOADS[DAG].facts(size)["edge"]
    results: dict[str, Any] = {}
    for maintain in BOOKKEEPING:
        results[maintain] = {}
        for name, program in (("modules", NONLINEAR), ("general", LINEAR)):
            kb: Any = KnowledgeBase(program.rules, modules=name == "modules", maintain=maintain)
            kb.insert("edge", edges)
            kb.materialise()
            results[maintain][name] = {**kb.memory, "bytes": kb.nbytes, "pairs": len(kb["path"])}
    return results
