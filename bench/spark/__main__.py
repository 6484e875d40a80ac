"""``python -m bench.spark [NAMES...] [--quick]``: measure, print, write ``bench/results/``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from bench.measure import RESULTS
from bench.progress import shown, tell
from bench.spark import report
from bench.spark.parts import FULL, PARTS, QUICK, Sizes, errors
from bench.spark.processes import busy_cores
from bench.spark.targets import disagreements, targets
from bench.spark.workloads import WORKLOADS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if two systems disagree or one of ours fails."""
    options = _options(arguments)
    name = "quick-spark" if options.quick else "spark" if options.merge or not options.names else "selected-spark"
    parts = report.read(RESULTS, name) if options.merge else {}
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as stores:
        sizes = replace(_sizes(options), stores=stores)
        for chosen in _parts(options.names):
            about = {"command_line": " ".join(["python -m bench.spark", *sys.argv[1:]]), "load": busy_cores()}
            began = perf_counter()
            found = PARTS[chosen](sizes)
            tell(f"{chosen}: {shown(perf_counter() - began)} minutes")
            parts[chosen] = _merged(parts.get(chosen, {}), {**found, **about, "took": perf_counter() - began})
            report.write(parts, RESULTS, name)
    print(report.document(parts))
    for error in (wrong := [*errors(parts), *disagreements(parts.get("compare", {}).get("runs", ()))]):
        tell(error)
    print(report.targets_text(parts, targets(parts)))
    print(f"\nwritten to {RESULTS.name}/{name}.json, .md, .png")
    return int(bool(wrong))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.spark", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*PARTS, *WORKLOADS]))
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--merge", action="store_true", help="keep the other parts of the last results")
    parser.add_argument("--limit", type=float, help="do not stop an obvious loop before so many seconds (30)")
    parser.add_argument("--times", type=int, nargs="*", help="only these sizes of joins and memory (1 2 4 8)")
    parser.add_argument("--systems", type=lambda names: names.split(";"), help="only these, with ; between them")
    parser.add_argument("--cores", type=int, nargs="*", choices=(1, 2), help="joins with so many cores only (1 2)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in PARTS and name not in WORKLOADS]
    if unknown:
        parser.error(f"no part {unknown[0]}; there are {', '.join([*PARTS, *WORKLOADS])}")
    return options


def _parts(names: Sequence[str]) -> list[str]:
    """The parts that are asked for; a workload is one of the first."""
    wanted = {name if name in PARTS else "compare" for name in names} or set(PARTS)
    return [name for name in PARTS if name in wanted]


def _sizes(options: argparse.Namespace) -> Sizes:
    sizes = QUICK if options.quick else FULL
    workloads = tuple(name for name in options.names if name in WORKLOADS)
    if options.systems:
        sizes = replace(sizes, systems=tuple(options.systems))
    if options.cores:
        sizes = replace(sizes, cores=tuple(options.cores))
    if options.times:
        sizes = replace(sizes, times=tuple(options.times))
    if options.limit is not None:
        sizes = replace(sizes, limit=options.limit, timeout=max(sizes.timeout, 3 * options.limit))
    return replace(sizes, compared=workloads) if workloads else sizes


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """A part with those of its runs that were not measured again."""
    again = {_of(run) for run in new.get("runs", ())}
    kept = [run for run in old.get("runs", ()) if _of(run) not in again]
    return {**new, "runs": [*kept, *new["runs"]]} if kept else new


def _of(run: dict[str, Any]) -> tuple[Any, ...]:
    return run.get("workload"), run.get("system"), run.get("times"), run.get("cores")


if __name__ == "__main__":
    sys.exit(main())
