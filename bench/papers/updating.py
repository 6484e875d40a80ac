"""Deleting and inserting 1,000 facts by every algorithm (journal paper, section 10.3; thesis, tables 4.2 and 5.7)."""

from __future__ import annotations

import gc
from typing import Any

from bench.maintenance.robustness import SampleLimits, sampled
from bench.maintenance.samples import Sampler, Sampling
from bench.maintenance.setting import Setting
from bench.maintenance.workloads import changed_facts
from bench.papers import prepared
from bench.papers.sequential import sequential_instances
from bench.peers import peak_mb

LARGE = 0.25
"""The share of the explicit facts that a large deletion deletes (thesis, table 5.7)."""


def updating(
    directory: str, stratification: Any, modules: bool, samplings: list[Sampling], large: bool, **limits: Any
) -> dict[str, Any]:
    """All algorithms on random samples; ``limits`` are the fields of ``SampleLimits``."""
    rules, facts = prepared.read(directory)
    sample_limits = SampleLimits(**limits)
    Setting(rules, prepared.few(facts), stratification, modules=modules)
    setting, sampler = Setting(rules, facts, stratification, modules=modules), Sampler(facts)
    changed = changed_facts(sampler.size)
    results: dict[str, Any] = {"explicit": sampler.size, "changed": changed, "first": setting.seconds, "records": []}
    for sampling in samplings:
        results["records"] += sampled(setting, sampler, sampling, changed, sample_limits)
    if large:
        gc.collect()
        sample = setting.encoded(sampler.draw("uniform", round(LARGE * sampler.size), seed=0))
        run = setting.run("dredc", setting.state("dredc"), delete=sample, limit=sample_limits.cut_off)
        results["large"] = {"seconds": run.seconds, "cut_off": run.done is None, **run.figures()}
    if not modules and stratification == "levels":
        delete = setting.encoded(sampler.draw("uniform", changed, seed=1))
        results["sequential"] = sequential_instances(setting, delete)
    return {**results, "peak_mb": peak_mb()}
