"""The experiments on closures and unions: general rules, modules, and compact relations."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from bench.inputs import is_here
from bench.measure import task
from bench.modules.report import report
from bench.modules.targets import DAG
from bench.modules.workloads import WORKLOADS, ModuleWorkload
from bench.report import Report
from bench.suites import Benchmark

EXTRAS = ("sizes", "components", "columns", "held")
LIMITS = {"samples": 10, "singles": 100, "seconds": 2.0, "longest": 30.0, "cut_off": 5.0}
QUICK_LIMITS = {"samples": 2, "singles": 5, "seconds": 0.1, "longest": 5.0, "cut_off": 2.0}
COMPONENTS = ((500, "standard"), (500, "compact"), (2_270, "compact"))
QUICK_COMPONENTS = ((50, "standard"), (50, "compact"))
QUICK = ("dag-r-nonlinear", "gene-ontology", "gemet", "relations", "categories-small", "categories")
GENERAL_SINGLES = 2
"""Number of single edges that are deleted with general rules."""

_task = partial(task, timeout=240.0)


def measure(options: argparse.Namespace) -> Report:
    quick, names = options.quick, options.names
    wanted = names or [*EXTRAS, *(QUICK if quick else WORKLOADS)]
    size = WORKLOADS[DAG].quick if quick else WORKLOADS[DAG].size
    results: dict[str, Any] = {
        "sizes": _task("modules.closure_sizes.closure_sizes", {}) if "sizes" in wanted else {},
        "components": _components(quick) if "components" in wanted else [],
        "columns": _task("modules.extras.columns", {"size": size}) if "columns" in wanted else {},
        "held": _task("modules.extras.held_memory", {"size": size}) if "held" in wanted else {},
        "forms": [],
    }
    for workload in WORKLOADS.values():
        if workload.name in wanted and is_here(workload):
            results["forms"] += _forms(workload, quick)
    return report(results)


def _components(quick: bool) -> list[dict[str, Any]]:
    limits = QUICK_LIMITS if quick else LIMITS
    records = []
    for nodes, form in QUICK_COMPONENTS if quick else COMPONENTS:
        singles = GENERAL_SINGLES if form == "standard" else limits["singles"]
        records.append(_task("modules.extras.component", {"nodes": nodes, "form": form, **limits, "singles": singles}))
    return records


def _forms(workload: ModuleWorkload, quick: bool) -> list[dict[str, Any]]:
    records = []
    for form in workload.forms:
        job = {"workload": workload.name, "size": workload.quick if quick else workload.size, "form": form}
        ran = _task("modules.forms.measure_form", {**job, **(QUICK_LIMITS if quick else LIMITS)})
        records.append({**job, **ran})
    return records


BENCHMARK = Benchmark(measure, (*WORKLOADS, *EXTRAS))
