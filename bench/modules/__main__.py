"""``python -m bench.modules [NAMES...] [--quick]``: measure modules, print, write ``bench/results/``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from bench.measure import RESULTS, start
from bench.modules import report
from bench.modules.targets import targets
from bench.modules.workloads import WORKLOADS, Workload
from bench.progress import tell

EXTRAS = ("sizes", "components", "columns", "held")
PATIENCE = {"samples": 10, "singles": 100, "seconds": 2.0, "longest": 30.0, "cut_off": 5.0}
QUICK_PATIENCE = {"samples": 2, "singles": 5, "seconds": 0.1, "longest": 5.0, "cut_off": 2.0}
COMPONENTS = ((500, "standard"), (500, "compact"), (2_270, "compact"))
QUICK_COMPONENTS = ((50, "standard"), (50, "compact"))
QUICK = ("dag-r-nonlinear", "gene-ontology", "gemet", "relations", "categories-small", "categories")
GENERAL_SINGLES = 2
"""So many single edges are deleted by general rules."""

LISTED = "dag-r-nonlinear"
TIMEOUT = 240.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if an experiment fails."""
    options = _options(arguments)
    found: dict[str, Any] = {
        "command_line": " ".join(["python -m bench.modules", *sys.argv[1:]]),
        "load": os.getloadavg()[0],
        "forms": [],
        "components": [],
        "sizes": {},
        "columns": {},
        "held": {},
    }
    if _is_wanted("sizes", options):
        found["sizes"] = _task("closure_sizes", {})
    if _is_wanted("components", options):
        found["components"] = _components(options.quick)
    size = WORKLOADS[LISTED].quick if options.quick else WORKLOADS[LISTED].size
    if _is_wanted("columns", options):
        found["columns"] = _task("columns", {"workload": LISTED, "size": size})
    if _is_wanted("held", options):
        found["held"] = _task("held", {"size": size})
    for workload in WORKLOADS.values():
        if workload.name in (options.names or (QUICK if options.quick else WORKLOADS)):
            if not workload.available():
                tell(f"{workload.name} skipped: its data is not here")
                continue
            found["forms"] += _forms(workload, options.quick)
    return _finish(found, options)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.modules", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*WORKLOADS, *EXTRAS]))
    parser.add_argument(
        "--quick", action="store_true", help="small workloads, few of them, few samples; about a minute"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in WORKLOADS and name not in EXTRAS]
    if unknown:
        parser.error(f"no experiment {unknown[0]}; there are {', '.join([*WORKLOADS, *EXTRAS])}")
    return options


def _is_wanted(extra: str, options: argparse.Namespace) -> bool:
    return extra in options.names or not options.names


def _components(quick: bool) -> list[dict[str, Any]]:
    patience = QUICK_PATIENCE if quick else PATIENCE
    records = []
    for nodes, form in QUICK_COMPONENTS if quick else COMPONENTS:
        singles = GENERAL_SINGLES if form == "standard" else patience["singles"]
        records.append(_task("component", {"nodes": nodes, "form": form, **patience, "singles": singles}))
    return records


def _forms(workload: Workload, quick: bool) -> list[dict[str, Any]]:
    records = []
    for form in workload.forms:
        job = {"workload": workload.name, "size": workload.quick if quick else workload.size, "form": form}
        ran = _task("module_form", {**job, **(QUICK_PATIENCE if quick else PATIENCE)})
        records.append({**job, **ran})
    print(f"### {workload.name}\n\n{report.workload_text(records)}", end="\n\n", flush=True)
    return records


def _task(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    shown = " ".join(str(arguments[key]) for key in ("workload", "nodes", "form") if key in arguments)
    tell(f"{name} {shown}".rstrip())
    ran = start({"task": name, **arguments, "one_core": True}, TIMEOUT)
    if ran.result is None:
        tell(f"{name} {shown}: {ran.error}")
        return {"error": ran.error}
    return ran.result


def _finish(found: dict[str, Any], options: argparse.Namespace) -> int:
    verdicts = targets(found)
    for text in (report.sizes_text(found["sizes"]), report.components_text(found["components"])):
        if text:
            print(text, end="\n\n")
    print(report.targets_text(found, verdicts))
    name = "selected-modules" if options.names else "quick-modules" if options.quick else "modules"
    report.write(found, verdicts, RESULTS, name)
    print(f"\nwritten to {RESULTS.name}/{name}.json, .md, .png")
    measured = [*found["forms"], *found["components"], found["sizes"], found["columns"], found["held"]]
    return 1 if any("error" in one for one in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
