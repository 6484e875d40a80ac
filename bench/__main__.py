"""``python -m bench [NAMES...] [--quick | --full]``: measure, print, write ``bench/results/``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import report
from bench.compare import Comparison, compare
from bench.inputs import table_of, write
from bench.measure import RESULTS, start
from bench.peers import SYSTEMS
from bench.progress import tell
from bench.startup import Startup, startup
from bench.targets import targets
from bench.workloads import WORKLOADS, chosen, dag_r

BOOKKEEPING = ("none", "dredc")
EXTRAS = ("start", "memory", "updates", "dictionary")
FOREST = {"trees": 1_350, "size": 1_000}
"""About ten million facts."""

TERMS = 5_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if two systems disagree or Everlog fails."""
    options = _options(arguments)
    workloads = chosen([name for name in options.names if name not in EXTRAS], options.quick, options.full)
    everything = not options.names
    if not everything and all(name in EXTRAS for name in options.names):
        workloads = []
    load = os.getloadavg()[0]
    comparisons = []
    for workload in workloads:
        comparisons.append(compare(workload, 1 if options.quick else options.runs, tell, options.systems))
        print(report.comparison_text(comparisons[-1]), end="\n\n", flush=True)
    began = startup(first_runs=not options.quick) if everything or "start" in options.names else None
    held = _memory() if (everything and not options.quick) or "memory" in options.names else {}
    whole = everything and not options.quick
    updated = _task("updates", FOREST) if whole or "updates" in options.names else {}
    terms = _task("dictionary", {"terms": TERMS}) if whole or "dictionary" in options.names else {}
    results = _results(comparisons, began, held, load, updated, terms)
    _finish(results, options)
    return 0 if results.agreed else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join([*WORKLOADS, *EXTRAS])}")
    parser.add_argument("--quick", action="store_true", help="small workloads, one run each; under a minute")
    parser.add_argument("--full", action="store_true", help="the long workloads too")
    parser.add_argument("--runs", type=int, help="at most so many runs of each system (3)")
    parser.add_argument(
        "--systems", type=lambda names: names.split(","), default=[], help=f"only these of {', '.join(SYSTEMS)}"
    )
    options = parser.parse_args(arguments)
    strangers = [name for name in options.systems if name not in SYSTEMS]
    if strangers:
        parser.error(f"no system {strangers[0]}; there are {'; '.join(SYSTEMS)}")
    unknown = [name for name in options.names if name not in WORKLOADS and name not in EXTRAS]
    if unknown:
        parser.error(f"no workload {unknown[0]}; there are {', '.join([*WORKLOADS, *EXTRAS])}")
    return options


def _memory() -> dict[str, Any]:
    """Bytes held per fact of DAG-R's closure, without and with the default counters."""
    held: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        write({"edge": table_of(dag_r())}, Path(scratch))
        for maintain in BOOKKEEPING:
            tell(f"memory, maintain={maintain}")
            ran = start({"task": "memory", "directory": scratch, "maintain": maintain}, 300)
            held[maintain] = ran.result if ran.result is not None else {"error": ran.error}
    return held


def _task(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    tell(name)
    ran = start({"task": name, **arguments, "one_core": True}, 600)
    return ran.result if ran.result is not None else {"error": ran.error}


def _results(
    comparisons: list[Comparison],
    began: Startup | None,
    held: dict[str, Any],
    load: float,
    updated: dict[str, Any],
    terms: dict[str, Any],
) -> report.Results:
    by_name = {comparison.workload: comparison for comparison in comparisons}
    command = " ".join(["python -m bench", *sys.argv[1:]])
    verdicts = targets(by_name, held, began, updated, terms)
    return report.Results(command, comparisons, held, began, verdicts, load, updated, terms)


def _finish(results: report.Results, options: argparse.Namespace) -> None:
    if results.startup:
        print(report.startup_text(results.startup), end="\n\n")
    if results.held:
        print(report.held_text(results.held), end="\n\n")
    if results.updated:
        print(report.updates_text(results.updated), end="\n\n")
    print(report.targets_text(results))
    name = "selected" if options.names or options.systems else "quick" if options.quick else "general"
    report.write(results, RESULTS, name)
    print(f"\nwritten to {RESULTS.name}/{name}.json, .md, .png")


if __name__ == "__main__":
    sys.exit(main())
