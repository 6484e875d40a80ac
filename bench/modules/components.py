"""Components of a symmetric-transitive relation, from whose sparse graph single edges are deleted."""

from __future__ import annotations

from typing import Any

from bench import generators
from bench.maintenance.samples import Sampler
from bench.maintenance.workloads import SYMMETRIC_TRANSITIVE
from bench.modules.forms import FormLimits, changes
from bench.modules.setting import Form, Setting

SURPLUS = 0.1
"""Number of additional edges for each edge of the spanning tree."""


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
