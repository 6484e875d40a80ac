"""Reasoning on Spark: compared with DataFrame loops, by size and cores, in limited memory, and small updates."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from bench.machine import busy_cores
from bench.progress import log_progress, shown
from bench.report import Report
from bench.spark.parts import FULL, PARTS, QUICK, Sizes
from bench.spark.report import report
from bench.spark.workloads import WORKLOADS
from bench.suites import SUITES, Benchmark


def measure(options: argparse.Namespace) -> Report:
    parts = SUITES["spark"].last_results(quick=options.quick).get("parts", {}) if options.merge else {}
    command = " ".join(["python -m bench", *sys.argv[1:]])
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as stores:
        sizes = replace(_sizes(options), stores=stores)
        for chosen in _parts(options.names):
            about: dict[str, Any] = {"command_line": command, "load": busy_cores()}
            began = perf_counter()
            results = PARTS[chosen](sizes)
            about["took"] = perf_counter() - began
            log_progress(f"{chosen}: {shown(about['took'])} minutes")
            parts[chosen] = merged(parts.get(chosen, {}), {**results, **about})
    return report(parts)


def _parts(names: Sequence[str]) -> list[str]:
    """The selected parts; the name of a workload selects the part ``compare``."""
    wanted = {name if name in PARTS else "compare" for name in names} or set(PARTS)
    return [name for name in PARTS if name in wanted]


def _sizes(options: argparse.Namespace) -> Sizes:
    sizes = QUICK if options.quick else FULL
    workloads = tuple(name for name in options.names if name in WORKLOADS)
    if options.limit is not None:
        sizes = replace(sizes, limit=options.limit, timeout=max(sizes.timeout, 3 * options.limit))
    return replace(sizes, compared=workloads) if workloads else sizes


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The new results of a part, with the old runs that were not measured again."""
    measured = {_identity(run) for run in new.get("runs", ())}
    materialise_once = [run for run in old.get("runs", ()) if _identity(run) not in measured]
    return {**new, "runs": [*materialise_once, *new["runs"]]} if materialise_once else new


def _identity(run: dict[str, Any]) -> tuple[Any, ...]:
    return run.get("workload"), run.get("system"), run.get("times"), run.get("cores")


BENCHMARK = Benchmark(measure, (*PARTS, *WORKLOADS), ("limit", "merge"))
