"""``python -m bench.rdf [NAMES...] [--quick | --full]``: measure RDF with ontologies, write ``bench/results/``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.measure import RESULTS, Report, start
from bench.progress import tell
from bench.rdf import report
from bench.rdf.asking import ASKING
from bench.rdf.data import ONTOLOGY, WORKLOADS, Workload
from bench.rdf.reasoners import REASONERS, Reasoner
from bench.rdf.targets import targets

TIMEOUT = 400.0
PATIENCE = 10.0
"""A system is run again, three times at most, while its runs so far took less than so many seconds."""

RUNS = 3
QUICK, USUAL = ("lubm-1",), ("lubm-1", "lubm-10")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if Everlog fails or answers differ."""
    options = _options(arguments)
    if not ONTOLOGY.exists():
        tell("LUBM's ontology is not here")
        return 0
    names = options.names or (QUICK if options.quick else WORKLOADS if options.full else USUAL)
    found: dict[str, Any] = {
        "command_line": " ".join(["python -m bench.rdf", *sys.argv[1:]]),
        "load": os.getloadavg()[0],
        "reasoned": [],
        "asked": [],
    }
    for name in names:
        with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
            _workload(WORKLOADS[name], Path(scratch), found, options)
    return _finish(found, options)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.rdf", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(WORKLOADS))
    parser.add_argument("--quick", action="store_true", help="one university, without owlrl; under a minute")
    parser.add_argument("--full", action="store_true", help="50 universities, too")
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT, help="seconds until a system is stopped (%(default)g)"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in WORKLOADS]
    if unknown:
        parser.error(f"no workload {unknown[0]}; there are {', '.join(WORKLOADS)}")
    return options


def _workload(workload: Workload, directory: Path, found: dict[str, Any], options: argparse.Namespace) -> None:
    tell(f"{workload.name}: writing")
    given = workload.write(directory)
    mine = []
    for reasoner in REASONERS.values():
        if (
            not reasoner.available()
            or workload.universities > reasoner.most
            or (options.quick and reasoner.name == "owlrl")
        ):
            continue
        best = _best(reasoner, workload, directory, options.timeout)
        mine.append({"workload": workload.name, "system": reasoner.name, "given": given, **best})
    found["reasoned"] += mine
    print(f"### {workload.name}\n\n{report.reasoned_text(mine)}", end="\n\n", flush=True)
    asked: dict[str, Any] = {"workload": workload.name}
    for system in ASKING:
        tell(f"{workload.name}: {system} answers")
        job = {"task": "rdf_asking", "system": system, "directory": str(directory), "one_core": True}
        ran = start(job, options.timeout)
        asked[system] = ran.result if ran.result is not None else {"error": ran.error}
    found["asked"].append(asked)
    print(report.asked_text(asked), end="\n\n", flush=True)


def _run(reasoner: Reasoner, workload: Workload, directory: Path, timeout: float) -> Report:
    tell(f"{workload.name}: {reasoner.name}")
    job = {"task": "rdf_reasoner", "system": reasoner.name, "directory": str(directory)}
    return start({**job, "one_core": reasoner.one_core}, timeout)


def _best(reasoner: Reasoner, workload: Workload, directory: Path, timeout: float) -> dict[str, Any]:
    """The best of a few runs, by reasoning, and the best reading."""
    ran = [_run(reasoner, workload, directory, timeout)]
    while len(ran) < RUNS and ran[-1].result is not None and sum(each.wall for each in ran) < PATIENCE:
        ran.append(_run(reasoner, workload, directory, timeout))
    results = [each.result for each in ran if each.result is not None]
    if not results:
        last = ran[-1]
        return {"error": last.error, **({"stopped": last.wall} if last.timed_out else {})}
    best = min(results, key=lambda result: float(result["reason"]))
    return {**best, "read": min(result["read"] for result in results), "runs": len(results)}


def _finish(found: dict[str, Any], options: argparse.Namespace) -> int:
    verdicts = targets(found["reasoned"], found["asked"])
    print(report.targets_text(found, verdicts))
    name = "selected-rdf" if options.names else "quick-rdf" if options.quick else "rdf"
    report.write(found, verdicts, RESULTS, name)
    print(f"\nwritten to {RESULTS.name}/{name}.json, .md, .png")
    failed = any("error" in one for one in found["reasoned"] if one["system"].startswith("everlog"))
    wrong = any(target.met is False for target in verdicts if target.topic.startswith(("queries", "facts")))
    return 1 if failed or wrong or any("error" in one["everlog"] for one in found["asked"]) else 0


if __name__ == "__main__":
    sys.exit(main())
