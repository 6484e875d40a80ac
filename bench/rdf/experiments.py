"""RDF with ontologies: reading, materialising and the queries of LUBM, by every system."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import ProcessResult, start, task
from bench.progress import log_progress
from bench.rdf.data import ONTOLOGY, WORKLOADS, RdfWorkload
from bench.rdf.query_times import ASKING
from bench.rdf.reasoners import REASONERS, Reasoner
from bench.rdf.report import report
from bench.report import Report
from bench.suites import Benchmark

TIMEOUT = 400.0
REPEAT_SECONDS = 10.0
"""A system is run again until its runs have taken this number of seconds in total."""

RUNS = 3
"""Maximum number of runs of a system."""
QUICK, USUAL = ("lubm-1",), ("lubm-1", "lubm-10")


def measure(options: argparse.Namespace) -> Report:
    if not ONTOLOGY.exists():
        log_progress("LUBM's ontology is not here")
        return Report({})
    results: dict[str, Any] = {"reasoned": [], "asked": []}
    for name in options.names or (QUICK if options.quick else WORKLOADS if options.full else USUAL):
        workload = WORKLOADS[name]
        with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
            log_progress(f"{name}: writing")
            given = workload.write(Path(scratch))
            for reasoner in REASONERS.values():
                skipped = options.quick and reasoner.name == "owlrl"
                if reasoner.available() and workload.universities <= reasoner.most and not skipped:
                    about = {"workload": name, "system": reasoner.name, "given": given}
                    results["reasoned"].append({**about, **_best(reasoner, workload, scratch)})
            asked = {
                system: task("rdf.query_times.measure_queries", {"system": system, "directory": scratch}, TIMEOUT)
                for system in ASKING
            }
            results["asked"].append({"workload": name, **asked})
    return report(results)


def _run(reasoner: Reasoner, workload: RdfWorkload, directory: str) -> ProcessResult:
    log_progress(f"{workload.name}: {reasoner.name}")
    job = {"task": "rdf.reasoners.measure_reasoner", "system": reasoner.name, "directory": directory}
    return start({**job, "one_core": reasoner.one_core}, TIMEOUT)


def _best(reasoner: Reasoner, workload: RdfWorkload, directory: str) -> dict[str, Any]:
    """The run with the fastest reasoning out of a few, with the fastest reading of all runs."""
    ran = [_run(reasoner, workload, directory)]
    while len(ran) < RUNS and ran[-1].result is not None and sum(each.wall for each in ran) < REPEAT_SECONDS:
        ran.append(_run(reasoner, workload, directory))
    results = [each.result for each in ran if each.result is not None]
    if not results:
        last = ran[-1]
        return {"error": last.error, **({"stopped": last.wall} if last.timed_out else {})}
    best = min(results, key=lambda result: float(result["reason"]))
    return {**best, "read": min(result["read"] for result in results), "runs": len(results)}


BENCHMARK = Benchmark(measure, WORKLOADS, ("full",))
