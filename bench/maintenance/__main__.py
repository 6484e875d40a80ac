"""``python -m bench.maintenance [NAMES...] [--quick | --full]``: measure updates, print, write ``bench/results/``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from bench.maintenance import report
from bench.maintenance.targets import targets
from bench.maintenance.workloads import WORKLOADS, Workload
from bench.measure import RESULTS, start
from bench.progress import tell

EXTRAS = ("break-even", "example", "command")
STRATIFICATIONS = ("levels", "single")
PATIENCE = {"samples": 10, "fewest": 5, "seconds": 0.5, "slow": 1.5, "cut_off": 15.0}
FULL_PATIENCE = {**PATIENCE, "fewest": 10, "slow": 30.0}
QUICK_PATIENCE = {"samples": 2, "fewest": 2, "seconds": 0.1, "slow": 1.5, "cut_off": 2.0}
SIZES = (10_000, 20_000, 50_000, 100_000)
QUICK_SIZES = (1_000, 4_000)
QUICK_SEARCHED = ("forest", "symmetric-transitive")
FOREST = {"trees": 2_700, "size": 1_000}
"""About twenty million facts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if an experiment fails."""
    options = _options(arguments)
    found: dict[str, Any] = {
        "command_line": " ".join(["python -m bench.maintenance", *sys.argv[1:]]),
        "load": os.getloadavg()[0],
        "robustness": [],
        "break_even": [],
        "example": [],
        "command": {},
    }
    workloads = [WORKLOADS[name] for name in options.names if name in WORKLOADS] or (
        list(WORKLOADS.values()) if not options.names else []
    )
    for workload in workloads:
        if not workload.available():
            tell(f"{workload.name} skipped: its data is not here")
            continue
        found["robustness"] += _robustness(workload, options)
    if _is_wanted("break-even", options):
        searched = [WORKLOADS[name] for name in QUICK_SEARCHED] if options.quick else WORKLOADS.values()
        found["break_even"] = [_break_even(workload, options.quick) for workload in searched if workload.available()]
    if _is_wanted("example", options):
        found["example"] = _example(options.quick)
    if "command" in options.names or not (options.names or options.quick):
        found["command"] = _task("command_update", FOREST, 900, one_core=False)
    return _finish(found, options)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.maintenance", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*WORKLOADS, *EXTRAS]))
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--full", action="store_true", help="ten samples of everything, however slow; about half an hour"
    )
    effort.add_argument(
        "--quick", action="store_true", help="small workloads, two samples, stratified by levels; under a minute"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in WORKLOADS and name not in EXTRAS]
    if unknown:
        parser.error(f"no experiment {unknown[0]}; there are {', '.join([*WORKLOADS, *EXTRAS])}")
    return options


def _is_wanted(extra: str, options: argparse.Namespace) -> bool:
    return extra in options.names or not options.names


def _robustness(workload: Workload, options: argparse.Namespace) -> list[dict[str, Any]]:
    quick, records = options.quick, []
    patience = QUICK_PATIENCE if quick else FULL_PATIENCE if options.full else PATIENCE
    for stratification in STRATIFICATIONS[:1] if quick else STRATIFICATIONS:
        job = {"workload": workload.name, "stratification": stratification}
        size = workload.quick if quick else workload.size
        ran = _task("robustness", {**job, "size": size, **patience}, 1_200 if options.full else 400)
        records.append({**job, **ran})
        if ran.get("strata") == 1:
            tell(f"{workload.name} is one stratum either way")
            break
    for kind in ("delete", "add"):
        print(f"### {workload.name}, {kind}\n\n{report.robustness_text(records, kind)}", end="\n\n", flush=True)
    return records


def _break_even(workload: Workload, quick: bool) -> dict[str, Any]:
    size = workload.quick if quick else workload.middle
    job = {"workload": workload.name, "size": size, "steps": 4 if quick else 10, "seconds": 2.0 if quick else 10.0}
    return {"workload": workload.name, **_task("break_even", job, 200)}


def _example(quick: bool) -> list[dict[str, Any]]:
    cut_off = 2.0 if quick else 10.0
    return [_task("example", {"n": n, "cut_off": cut_off}, 120) for n in (QUICK_SIZES if quick else SIZES)]


def _task(name: str, arguments: dict[str, Any], timeout: float, one_core: bool = True) -> dict[str, Any]:
    shown = " ".join(str(arguments[key]) for key in ("workload", "stratification", "n") if key in arguments)
    tell(f"{name} {shown}".rstrip())
    ran = start({"task": name, **arguments, "one_core": one_core}, timeout)
    if ran.result is None:
        tell(f"{name} {shown}: {ran.error}")
        return {"error": ran.error}
    return ran.result


def _finish(found: dict[str, Any], options: argparse.Namespace) -> int:
    verdicts = targets(found)
    if found["break_even"]:
        print(report.break_even_text(found["break_even"]), end="\n\n")
    if found["example"]:
        print(report.example_text(found["example"]), end="\n\n")
    print(report.targets_text(found, verdicts))
    effort = "selected-" if options.names else "quick-" if options.quick else "full-" if options.full else ""
    name = f"{effort}maintenance"
    report.write(found, verdicts, RESULTS, name)
    print(f"\nwritten to {RESULTS.name}/{name}.json, .md, .png")
    measured = [*found["robustness"], *found["break_even"], *found["example"], found["command"]]
    return 1 if any("error" in one for one in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
