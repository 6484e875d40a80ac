"""The experiments on updates: robustness, break-even points, the thesis's example, and the command line."""

from __future__ import annotations

import argparse
from typing import Any

from bench.inputs import is_here
from bench.maintenance.report import report
from bench.maintenance.workloads import WORKLOADS, UpdateWorkload
from bench.measure import task
from bench.progress import log_progress
from bench.report import Report
from bench.suites import Benchmark

EXTRAS = ("break-even", "example", "command")
STRATIFICATIONS = ("levels", "single")
LIMITS = {"samples": 10, "fewest": 5, "seconds": 0.5, "slow": 1.5, "cut_off": 15.0}
FULL_LIMITS = {**LIMITS, "fewest": 10, "slow": 30.0}
QUICK_LIMITS = {"samples": 2, "fewest": 2, "seconds": 0.1, "slow": 1.5, "cut_off": 2.0}
SIZES = (10_000, 20_000, 50_000, 100_000)
QUICK_SIZES = (1_000, 4_000)
QUICK_SEARCHED = ("forest", "symmetric-transitive")
FOREST = {"trees": 2_700, "size": 1_000}
"""Size of the forest for the command line: about twenty million facts."""


def measure(options: argparse.Namespace) -> Report:
    quick, names = options.quick, options.names
    results: dict[str, Any] = {"robustness": [], "break_even": [], "example": [], "command": {}}
    for workload in WORKLOADS.values():
        if (not names or workload.name in names) and is_here(workload):
            results["robustness"] += _robustness(workload, options)
    if not names or "break-even" in names:
        searched = [WORKLOADS[name] for name in QUICK_SEARCHED] if quick else WORKLOADS.values()
        results["break_even"] = [_break_even(workload, quick) for workload in searched if is_here(workload)]
    if not names or "example" in names:
        results["example"] = _example(quick)
    if "command" in names or not (names or quick):
        results["command"] = task("maintenance.command.command_update", FOREST, 900, one_core=False)
    return report(results)


def _robustness(workload: UpdateWorkload, options: argparse.Namespace) -> list[dict[str, Any]]:
    quick, records = options.quick, []
    limits = QUICK_LIMITS if quick else FULL_LIMITS if options.full else LIMITS
    for stratification in STRATIFICATIONS[:1] if quick else STRATIFICATIONS:
        job = {"workload": workload.name, "stratification": stratification}
        size = workload.quick if quick else workload.size
        ran = task("maintenance.robustness.robustness", {**job, "size": size, **limits}, 1_200 if options.full else 400)
        records.append({**job, **ran})
        if ran.get("strata") == 1:
            log_progress(f"{workload.name} is one stratum either way")
            break
    return records


def _break_even(workload: UpdateWorkload, quick: bool) -> dict[str, Any]:
    size = workload.quick if quick else workload.middle
    job = {"workload": workload.name, "size": size, "steps": 4 if quick else 10, "seconds": 2.0 if quick else 10.0}
    return {"workload": workload.name, **task("maintenance.break_even.break_even", job, 200)}


def _example(quick: bool) -> list[dict[str, Any]]:
    cut_off = 2.0 if quick else 10.0
    return [
        task("maintenance.example.example", {"n": n, "cut_off": cut_off}, 120)
        for n in (QUICK_SIZES if quick else SIZES)
    ]


BENCHMARK = Benchmark(measure, (*WORKLOADS, *EXTRAS), ("full",))
