"""The experiments on the papers' programs and data, one dataset after the other."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.inputs import is_here
from bench.measure import ROOT, task
from bench.papers import prepared
from bench.papers.datasets import DATASETS, Dataset
from bench.papers.materialising import BOOKKEEPING
from bench.papers.report import report
from bench.papers.sweep import MOST_LISTED, SHARES
from bench.progress import log_progress
from bench.report import Report
from bench.suites import Benchmark

SAVED = ROOT / "build" / "bench-papers"
"""The directory in which the results of each part are saved when it is measured."""

EXTRAS = ("sweep", "growth")
QUICK = ("LUBM-LE-1", *EXTRAS)
LIMITS = {"samples": 30, "fewest": 30, "seconds": 10.0, "slow": 4.0, "cut_off": 30.0}
QUICK_LIMITS = {"samples": 1, "fewest": 1, "seconds": 0.1, "slow": 1.5, "cut_off": 2.0}
LONGEST, TIMEOUT = 300.0, 3_600.0
"""Maximum seconds of materialising, and of a measured process."""

SEARCH = {"steps": 10, "seconds": 60.0, "sizes": 8}
QUICK_SEARCH = {"steps": 1, "seconds": 1.0, "sizes": 1}
WALKED = ("Claros-LE",)
"""The datasets that are also sampled by random walks (journal paper, table 5)."""

NODES, QUICK_NODES = 100_000, 4_000
"""Number of nodes of the category graph."""

GROWN, QUICK_GROWN = {"nodes": 20_000, "updates": 180}, {"nodes": 2_000, "updates": 18}


def measure(options: argparse.Namespace) -> Report:
    quick, results = options.quick, dict[str, Any](datasets=[], sweep=[], growth={})
    wanted = options.names or (QUICK if quick else (*DATASETS, *EXTRAS))
    for dataset in DATASETS.values():
        if dataset.name in wanted and is_here(dataset):
            results["datasets"].append(_saved(dataset.name, partial(_dataset, dataset, quick), options))
    if "sweep" in wanted:
        results["sweep"] = _saved("sweep", partial(_sweep, quick), options)
    if "growth" in wanted:
        built = partial(task, "papers.growth.growth", QUICK_GROWN if quick else GROWN, TIMEOUT)
        results["growth"] = _saved("growth", built, options)
    return report(results)


def _saved(name: str, measured: Callable[[], Any], options: argparse.Namespace) -> Any:
    """The results of one part: measured and saved, or those that were saved if the run is resumed."""
    path = SAVED / f"{name}.json"
    if options.quick:
        return measured()
    if options.resume and path.exists():
        log_progress(f"{name}: measured before")
        return json.loads(path.read_text())
    results = measured()
    SAVED.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results))
    return results


def _dataset(dataset: Dataset, quick: bool) -> dict[str, Any]:
    log_progress(f"{dataset.name}: reading")
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        rules = dataset.rules()
        prepared.write(Path(scratch), rules, dataset.facts(rules, dataset.quick if quick else dataset.size))
        run = partial(_task, dataset.name, scratch)
        made = [
            {"modules": modules, "maintain": maintain}
            for modules in (False, True)
            for maintain in (BOOKKEEPING[1:2] if quick else BOOKKEEPING)
        ]
        variants = [("levels", False), ("levels", True), ("single", False)]
        samplings = ["uniform", "walk"] if dataset.name in WALKED else ["uniform"]
        limits = QUICK_LIMITS if quick else LIMITS
        return {
            "name": dataset.name,
            "paper": dataset.paper,
            "source": dataset.source,
            "materialise": [{**job, **run("materialising", {**job, "limit": LONGEST})} for job in made],
            "updates": [
                {"workload": dataset.name, **job, **run("updating", {**job, "samplings": samplings, **limits})}
                for job in (
                    {"stratification": kind, "modules": modules, "large": kind == "levels"}
                    for kind, modules in (variants[:2] if quick else variants)
                )
            ],
            "scaling": run("scaling", QUICK_SEARCH if quick else SEARCH),
        }


def _task(name: str, directory: str, module: str, job: dict[str, Any]) -> dict[str, Any]:
    log_progress(f"{name} {' '.join(str(job[key]) for key in ('stratification', 'modules', 'maintain') if key in job)}")
    return task(f"papers.{module}.{module}", {"directory": directory, **job}, TIMEOUT)


def _sweep(quick: bool) -> list[dict[str, Any]]:
    """Each share in compact form, and in the other forms if its closure has few enough pairs."""
    records, nodes = [], QUICK_NODES if quick else NODES
    for share in SHARES[1:2] if quick else SHARES:
        pairs = 0
        for form in ("compact", "plain", "standard"):
            if pairs <= MOST_LISTED:
                job = {"nodes": nodes, "share": share, "form": form}
                options = {"limit": LONGEST, "asked": share == 50 and form == "compact"}
                records.append({**job, **task("papers.sweep.share_in_form", {**job, **options}, TIMEOUT)})
                pairs = max(pairs, records[-1].get("pairs", 0))
    return records


BENCHMARK = Benchmark(measure, (*DATASETS, *EXTRAS), ("resume",))
