"""Components of a symmetric-transitive relation that lose single edges of the sparse graph they come from."""

from __future__ import annotations

from typing import Any

from bench import generators
from bench.maintenance.samples import Sampler
from bench.modules.forms import Patience, changes
from bench.modules.programs import SAME
from bench.modules.setting import Form, Setting

SURPLUS = 0.1
"""So many edges for each of a spanning tree are there beside it."""


def component(nodes: int, form: Form, **patience: Any) -> dict[str, Any]:
    """Seconds of materialising a component and of deleting and inserting one edge."""
    limits = Patience(**patience)
    facts = {"link": generators.sparse_component(nodes, SURPLUS, seed=8)}
    Setting(SAME, {"link": facts["link"][:10]}, form).materialised()
    setting = Setting(SAME, facts, form)
    found: dict[str, Any] = {"nodes": nodes, "form": form, "explicit": len(facts["link"])}
    step = setting.materialised(limits.longest)
    found["materialise"] = step.seconds
    if step.state is None:
        return {**found, "error": f"cut off after {step.seconds:.0f} s"}
    found["facts"], found["held"] = step.state.facts.count, step.state.nbytes
    state = setting.counted(step.state, limits.longest).state
    if state is None:
        return {**found, "error": "the counters were cut off"}
    found["delete"], found["insert"] = changes(setting, state, Sampler(facts), 1, limits.singles, limits)
    return found
