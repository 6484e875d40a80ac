"""Further measurements of compact relations: pairs as columns, memory, and components that lose single edges."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pyarrow as pa

from bench import generators
from bench.maintenance.samples import Sampler
from bench.maintenance.workloads import SYMMETRIC_TRANSITIVE
from bench.modules.forms import FormLimits, changes
from bench.modules.setting import Form, Setting
from bench.modules.workloads import WORKLOADS
from bench.programs import LINEAR, NONLINEAR
from everlog.engine.dictionary import Dictionary
from everlog.lang.syntax import Predicate
from everlog.query.answers import Rows

DAG = "dag-r-nonlinear"
BOOKKEEPING: tuple[Any, ...] = ("dredc", "none")
SURPLUS = 0.1
"""Number of additional edges of a component for each edge of its spanning tree."""


def columns(size: int) -> dict[str, Any]:
    """Seconds to count the pairs of DAG-R, and to list them with the nodes' names in a dictionary, as users read
    them."""
    chosen = WORKLOADS[DAG]
    setting = Setting(chosen.rules, chosen.facts(size), "compact")
    step = setting.materialised()
    assert step.state is not None
    pairs = step.state.facts[Predicate(chosen.closure, 2)]
    names = Dictionary()
    names.encode(pa.array([f'"node {number}"' for number in range(setting.universe)]))
    Rows(names, pairs, ("x", "y")).to_arrow(dictionary=True)
    began = perf_counter()
    count = len(pairs)
    counted = perf_counter() - began
    began = perf_counter()
    table = Rows(names, pairs, ("x", "y")).to_arrow(dictionary=True)
    listed = perf_counter() - began
    if len(table) != count:
        raise RuntimeError(f"{len(table):,} pairs listed, {count:,} counted")
    return {"workload": DAG, "pairs": count, "count": counted, "list": listed, "bytes": table.nbytes}


def held_memory(size: int) -> dict[str, Any]:
    """Bytes of a knowledge base that holds DAG-R's closure, for each kind of bookkeeping: by the nonlinear rule as a
    module, and by the linear rule as a general rule, whose counters are computed in seconds."""
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


def component(nodes: int, form: Form, **options: Any) -> dict[str, Any]:
    """Seconds to materialise a component, and to delete and insert one edge."""
    limits = FormLimits(**options)
    facts = {"link": generators.sparse_component(nodes, SURPLUS, seed=8)}
    Setting(SYMMETRIC_TRANSITIVE, {"link": facts["link"][:10]}, form).materialised()
    setting = Setting(SYMMETRIC_TRANSITIVE, facts, form)
    results: dict[str, Any] = {"nodes": nodes, "form": form, "explicit": len(facts["link"])}
    step = setting.materialised(limits.longest)
    results["materialise"] = step.seconds
    if step.state is None:
        return {**results, "error": f"cut off after {step.seconds:.0f} s"}
    results["facts"], results["held"] = step.state.facts.count, step.state.nbytes
    state = setting.counted(step.state, limits.longest).state
    if state is None:
        return {**results, "error": "the counters were cut off"}
    results["delete"], results["insert"] = changes(setting, state, Sampler(facts), 1, limits.singles, limits)
    return results
