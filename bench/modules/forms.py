"""One workload in one form: materialised, held, updated, asked.

These are tables 1 and 2 of the modular paper and 1 to 3 of the storage paper.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bench.maintenance.samples import Sampler
from bench.maintenance.workloads import Facts
from bench.memory import resident_bytes
from bench.modules.queries import asked
from bench.modules.setting import Form, Setting, State, Step
from bench.modules.workloads import WORKLOADS, Workload
from bench.peers import peak_mb
from everlog.engine.keys import pack
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate

RUNS, SHORT = 9, 1.0
"""Materialising is repeated so often while it has taken less than so many seconds."""

LOOK_UPS = 1_000_000

COUNTING = 2
"""Computing the counters may take so many times as long as an update until it is cut off."""

LARGE = 0.25
"""The share of the facts that a large deletion takes away."""


@dataclass(frozen=True)
class Patience:
    """``samples`` of small changes, fewer once they took ``seconds`` together; ``singles`` edges one by one.
    ``longest`` is for materialising, and for updates of modules, which are only stopped between strata; ``cut_off`` is
    for everything else."""

    samples: int
    singles: int
    seconds: float
    longest: float
    cut_off: float

    def of_update(self, form: Form) -> float:
        """When an update is cut off."""
        return self.cut_off if form == "standard" else self.longest


@dataclass
class Timed:
    """Seconds of the same thing done several times; ``cut_off`` are those after which one was stopped."""

    seconds: list[float] = field(default_factory=list)
    facts: int = 0
    cut_off: float | None = None

    def note(self, step: Step) -> None:
        """Take in a step."""
        if step.state is None:
            self.cut_off = step.seconds
        else:
            self.seconds.append(step.seconds)
            self.facts = step.lost + step.won

    def record(self) -> dict[str, Any]:
        """As part of the report; ``facts`` is how many the last one changed."""
        middle = median(self.seconds) if self.seconds else None
        return {"median": middle, "runs": len(self.seconds), "facts": self.facts, "cut_off": self.cut_off}


def measured(workload: str, size: int, form: Form, **patience: Any) -> dict[str, Any]:
    """All that is measured of a workload in one form; what was cut off, and what needs it, is missing."""
    chosen, limits = WORKLOADS[workload], Patience(**patience)
    facts, more = chosen.inputs(size)
    warm_up(chosen, facts, more, form)
    setting = Setting(chosen.rules, {**facts, **more}, form)
    found: dict[str, Any] = {"workload": workload, "form": form, "modules": setting.modules()}
    found["rules"] = len(setting.program.program.rules)
    found["explicit"] = setting.explicit.count
    state = _materialised(setting, chosen, limits, found)
    if state is None:
        return found
    booked = setting.counted(state, COUNTING * limits.cut_off)
    found["counters"] = {"seconds": booked.seconds, "cut_off": booked.state is None}
    if booked.state is not None:
        found["held_counted"] = booked.state.nbytes
        _updated(setting, booked.state, Sampler(facts), chosen, limits, found)
    found["contains"] = looked_up(state.facts.relation(Predicate(chosen.closure, 2)), setting.universe)
    if chosen.asked:
        wanted = {"closure": chosen.closure, "union": chosen.union}
        seen = state.facts
        found["queries"] = {family: asked(setting, seen, name) for family, name in wanted.items() if name}
        found["held_asked"] = state.nbytes
    return found


def warm_up(workload: Workload, facts: Facts, more: Facts, form: Form) -> None:
    """Run a few of the facts through everything, so that compiled code is loaded."""
    few = {name: rows[:10] for name, rows in facts.items()}
    setting = Setting(workload.rules, {**few, **more}, form)
    step = setting.materialised()
    assert step.state is not None
    state = setting.counted(step.state).state
    assert state is not None
    one = setting.encoded({next(iter(few)): next(iter(few.values()))[:1]})
    less = setting.updated(state, delete=one)
    assert less.state is not None
    setting.updated(less.state, insert=one)
    if more:
        asked(setting, state.facts, workload.closure)


def _materialised(setting: Setting, workload: Workload, limits: Patience, found: dict[str, Any]) -> State | None:
    before = resident_bytes()
    step = setting.materialised(limits.longest)
    found["peak_mb"] = peak_mb()
    if step.state is None:
        found["materialise"] = {"seconds": None, "cut_off": step.seconds}
        return None
    found["resident"] = resident_bytes() - before
    found["held"] = step.state.nbytes
    found["facts"] = setting.visible(step.state.facts).count
    found["pairs"] = len(step.state.facts.relation(Predicate(workload.closure, 2)))
    seconds = [step.seconds]
    while len(seconds) < RUNS and sum(seconds) < SHORT:
        seconds.append(setting.materialised().seconds)
    found["materialise"] = {"seconds": min(seconds), "cut_off": None, "runs": len(seconds)}
    return step.state


def looked_up(relation: Relation, universe: int) -> float:
    """The seconds of looking up a million random pairs, the second time."""
    random = np.random.default_rng(1)
    for _ in range(2):
        terms = random.integers(0, universe, size=(2, LOOK_UPS))
        keys = pack(relation.layout, list(terms), LOOK_UPS)
        began = perf_counter()
        relation.contains(keys)
        spent = perf_counter() - began
    return spent


def _updated(
    setting: Setting, state: State, sampler: Sampler, workload: Workload, limits: Patience, found: dict[str, Any]
) -> None:
    """The first small change is not measured: it makes the sort orders that later ones share."""
    changed = workload.change(sampler.size)
    found["changed"] = changed
    found["delete"], found["insert"] = changes(setting, state, sampler, changed, limits.samples, limits)
    if workload.single and setting.form == "compact":
        found["delete_one"], found["insert_one"] = changes(setting, state, sampler, 1, limits.singles, limits)
    large = Timed()
    gc.collect()
    sample = setting.encoded(sampler.draw("uniform", round(LARGE * sampler.size), seed=0))
    large.note(setting.updated(state, delete=sample, limit=limits.of_update(setting.form)))
    found["large"] = large.record()


def changes(
    setting: Setting, state: State, sampler: Sampler, changed: int, samples: int, limits: Patience
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Samples of the explicit facts deleted, and inserted again."""
    deleting, inserting = Timed(), Timed()
    full, seconds, limit = state.facts.count, 0.0, limits.of_update(setting.form)
    for seed in range(samples + 1):
        sample = setting.encoded(sampler.draw("uniform", changed, seed))
        gc.collect()
        less = setting.updated(state, delete=sample, limit=limit)
        again = setting.updated(less.state, insert=sample, limit=limit) if less.state else None
        if again is not None and again.state is not None:
            state = again.state
            if state.facts.count != full:
                raise RuntimeError(f"{state.facts.count:,} facts after inserting what was deleted, not {full:,}")
        if seed or less.state is None:
            deleting.note(less)
        if again is not None and (seed or again.state is None):
            inserting.note(again)
        seconds += less.seconds + (again.seconds if again is not None else 0.0)
        if again is None or again.state is None or (seed and changed > 1 and seconds > limits.seconds):
            break
    return deleting.record(), inserting.record()
