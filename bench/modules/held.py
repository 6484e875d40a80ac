"""What a knowledge base holds with and without modules, dictionary and bookkeeping included."""

from __future__ import annotations

from typing import Any

from bench.modules.workloads import WORKLOADS
from bench.programs import LINEAR, NONLINEAR

BOOKKEEPING: tuple[Any, ...] = ("dredc", "none")
DAG = "dag-r-nonlinear"


def held(size: int) -> dict[str, Any]:
    """Bytes held by DAG-R's closure, by the nonlinear rule as a module, and by the linear rule as a general one, whose
    counters are found in seconds, for each kind of bookkeeping."""
    from everlog import KnowledgeBase

    edges = WORKLOADS[DAG].facts(size)["edge"]
    found: dict[str, Any] = {}
    for maintain in BOOKKEEPING:
        found[maintain] = {}
        for name, program in (("modules", NONLINEAR), ("general", LINEAR)):
            kb: Any = KnowledgeBase(program.rules, modules=name == "modules", maintain=maintain)
            kb.insert("edge", edges)
            kb.materialise()
            found[maintain][name] = {**kb.memory, "bytes": kb.nbytes, "pairs": len(kb["path"])}
    return found
