"""One workload in one form: seconds of materialising, memory, updates and queries.

These are tables 1 and 2 of the modular paper and tables 1 to 3 of the storage paper.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bench.extras import resident_bytes
from bench.maintenance.samples import Sampler
from bench.maintenance.workloads import Facts, changed_facts
from bench.modules.queries import time_queries
from bench.modules.setting import Form, Setting, State, Step
from bench.modules.workloads import WORKLOADS, ModuleWorkload
from bench.peers import peak_mb
from everlog.engine.keys import pack
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate

RUNS = 9
"""Maximum number of runs of materialising."""

REPEAT_SECONDS = 1.0
"""Materialising is repeated until its runs have taken this number of seconds in total."""

LOOK_UPS = 1_000_000

COUNTING = 2
"""Time limit for computing the counters, as a multiple of that for an update."""

LARGE = 0.25
"""The share of the explicit facts that a large deletion deletes."""


@dataclass(frozen=True)
class FormLimits:
    """Limits of the measurement of a workload in one form.

    ``samples`` is the maximum number of small changes, ``seconds`` the total time after which no further sample is
    run, and ``singles`` the number of single edges that are changed. ``longest`` limits materialising, and updates of
    modules, which are only stopped between strata; ``cut_off`` limits everything else, in seconds."""

    samples: int
    singles: int
    seconds: float
    longest: float
    cut_off: float

    def of_update(self, form: Form) -> float:
        return self.cut_off if form == "standard" else self.longest


@dataclass
class Timed:
    """Seconds of the runs of one operation; ``cut_off`` are the seconds after which a run was stopped."""

    seconds: list[float] = field(default_factory=list)
    facts: int = 0
    cut_off: float | None = None

    def note(self, step: Step) -> None:
        if step.state is None:
            self.cut_off = step.seconds
        else:
            self.seconds.append(step.seconds)
            self.facts = step.deleted + step.inserted

    def record(self) -> dict[str, Any]:
        """The record for the report; ``facts`` is the number of facts that the last run changed."""
        middle = median(self.seconds) if self.seconds else None
        return {"median": middle, "runs": len(self.seconds), "facts": self.facts, "cut_off": self.cut_off}


def measure_form(workload: str, size: int, form: Form, **options: Any) -> dict[str, Any]:
    """All measurements of a workload in one form; steps that were stopped, and those that need them, are missing."""
    chosen, limits = WORKLOADS[workload], FormLimits(**options)
    facts, more = chosen.inputs(size)
    warm_up(chosen, facts, more, form)
    setting = Setting(chosen.rules, {**facts, **more}, form)
    results: dict[str, Any] = {"workload": workload, "form": form, "modules": setting.modules()}
    results["rules"] = len(setting.program.program.rules)
    results["explicit"] = setting.explicit.count
    state = _materialised(setting, chosen, limits, results)
    if state is None:
        return results
    counted = setting.counted(state, COUNTING * limits.cut_off)
    results["counters"] = {"seconds": counted.seconds, "cut_off": counted.state is None}
    if counted.state is not None:
        results["held_counted"] = counted.state.nbytes
        _updated(setting, counted.state, Sampler(facts), chosen, limits, results)
    results["contains"] = looked_up(state.facts.relation(Predicate(chosen.closure, 2)), setting.universe)
    if chosen.asked:
        wanted = {"closure": chosen.closure, "union": chosen.union}
        seen = state.facts
        results["queries"] = {family: time_queries(setting, seen, name) for family, name in wanted.items() if name}
        results["held_asked"] = state.nbytes
    return results


def warm_up(workload: ModuleWorkload, facts: Facts, more: Facts, form: Form) -> None:
    """Run all steps on a few of the facts, so that compiled code is loaded."""
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
        time_queries(setting, state.facts, workload.closure)


def _materialised(
    setting: Setting, workload: ModuleWorkload, limits: FormLimits, results: dict[str, Any]
) -> State | None:
    before = resident_bytes()
    step = setting.materialised(limits.longest)
    results["peak_mb"] = peak_mb()
    if step.state is None:
        results["materialise"] = {"seconds": None, "cut_off": step.seconds}
        return None
    results["resident"] = resident_bytes() - before
    results["held"] = step.state.nbytes
    results["facts"] = setting.visible(step.state.facts).count
    results["pairs"] = len(step.state.facts.relation(Predicate(workload.closure, 2)))
    seconds = [step.seconds]
    while len(seconds) < RUNS and sum(seconds) < REPEAT_SECONDS:
        seconds.append(setting.materialised().seconds)
    results["materialise"] = {"seconds": min(seconds), "cut_off": None, "runs": len(seconds)}
    return step.state


def looked_up(relation: Relation, universe: int) -> float:
    """Seconds of the second run of looking up a million random pairs."""
    random = np.random.default_rng(1)
    for _ in range(2):
        terms = random.integers(0, universe, size=(2, LOOK_UPS))
        keys = pack(relation.layout, list(terms), LOOK_UPS)
        began = perf_counter()
        relation.contains(keys)
        spent = perf_counter() - began
    return spent


def _updated(
    setting: Setting,
    state: State,
    sampler: Sampler,
    workload: ModuleWorkload,
    limits: FormLimits,
    results: dict[str, Any],
) -> None:
    changed = changed_facts(sampler.size)
    results["changed"] = changed
    results["delete"], results["insert"] = changes(setting, state, sampler, changed, limits.samples, limits)
    if workload.single and setting.form == "compact":
        results["delete_one"], results["insert_one"] = changes(setting, state, sampler, 1, limits.singles, limits)
    large = Timed()
    gc.collect()
    sample = setting.encoded(sampler.draw("uniform", round(LARGE * sampler.size), seed=0))
    large.note(setting.updated(state, delete=sample, limit=limits.of_update(setting.form)))
    results["large"] = large.record()


def changes(
    setting: Setting, state: State, sampler: Sampler, changed: int, samples: int, limits: FormLimits
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Delete samples of the explicit facts, and insert them again. The first sample is not measured: it builds the
    sort orders that later ones use."""
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
