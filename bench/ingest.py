"""The number of N-Triples per second that are read into a committed store.

The data are those of the Lehigh University Benchmark, every triple once. ``everlog materialise`` reads them on Spark
with a program that derives nothing; the seconds are those from the started session to the committed version. For
comparison, pyoxigraph iterates the file in the same run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench.lubm import TYPE, university
from bench.machine import busy_cores, process_tree
from bench.measure import start
from bench.progress import log_progress
from bench.report import Report, Target, table
from bench.suites import Benchmark

TRIPLES, QUICK_TRIPLES = 10_000_000, 200_000
RUNS = 3
RATE, STRETCH = 200_000, 300_000
"""Promised rate and stretch goal, in triples per second."""
MASTER = "local[2]"
RULES = "seen(?x) :- unseen(?x) .\n"
EXCLUDED = ("start Spark",)
"""Phases whose seconds do not count."""
PHASES = ("read", "load", "reason", "commit", "snapshot")
TIMEOUT = 1200.0
"""Maximum seconds of a run."""


def triples() -> Iterator[str]:
    """An endless iterator over lines of N-Triples about universities, without repetitions.

    >>> first = list(islice(triples(), 200_000))
    >>> len(set(first)), first == list(islice(triples(), 200_000))
    (200000, True)
    """
    shared: set[str] = set()
    number = 0
    while True:
        own: set[str] = set()
        for subject, predicate, value in university(number):
            line = f"{subject} {predicate} {value} .\n"
            # Other universities repeat only the types of universities.
            known = shared if predicate == TYPE and subject.startswith("<http://www.University") else own
            if line not in known:
                known.add(line)
                yield line
        number += 1


def write(count: int, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(islice(triples(), count))


def ingest(path: str, directory: str) -> dict[str, Any]:
    """Seconds by phase, and total processor seconds of all processes without the start of the session."""
    from everlog.jobs.materialise import MaterialiseJob, materialise
    from everlog.jobs.reports import Report

    rules = Path(directory, "empty.rls")
    rules.write_text(RULES)
    store = Path(directory, "store")
    began: dict[str, float] = {}

    def note(phase: str) -> None:
        began[phase] = tree_seconds()

    job = MaterialiseJob(str(rules), (path,), str(store), master=MASTER)
    result = materialise(job, Report(phase=note))
    return {
        "facts": result.statistics.facts,
        "seconds": result.seconds,
        "cpu": tree_seconds() - began["read"],
        "bytes": sum(file.stat().st_size for file in store.rglob("*.parquet")),
    }


def iterate(path: str) -> dict[str, Any]:
    """The seconds that pyoxigraph takes to iterate a file on one core."""
    import pyoxigraph

    began = perf_counter()
    with Path(path).open("rb") as file:
        results = sum(1 for _ in pyoxigraph.parse(file, pyoxigraph.RdfFormat.N_TRIPLES))
    return {"facts": results, "seconds": perf_counter() - began}


def tree_seconds() -> float:
    """Processor seconds of this process and of its running descendants."""
    ticks = (sum(map(int, fields[11:15])) for fields in process_tree(os.getpid()).values())
    return sum(ticks) / os.sysconf("SC_CLK_TCK")


def seconds_of(run: dict[str, Any]) -> float:
    """Seconds from the started session to the committed version and its snapshot."""
    return sum(taken for phase, taken in run["seconds"].items() if phase not in EXCLUDED)


def targets(results: dict[str, Any]) -> list[Target]:
    runs = results["runs"]
    whole = results["triples"] >= TRIPLES and runs
    best = max((results["triples"] / seconds_of(run) for run in runs), default=0.0)
    shown = f"{best:,.0f} a second, the best of {len(runs)}" if whole else "-"
    promises = ((RATE, "N-Triples a second into the committed store"), (STRETCH, "a second, the stretch"))
    return [
        Target("ingest", f"{rate:,} {what}, {TRIPLES:,} on {MASTER}", shown, best >= rate if whole else None)
        for rate, what in promises
    ]


def report(results: dict[str, Any], wanted: int) -> Report:
    """The results as a table; the run fails if one of the ``wanted`` runs failed or lost triples."""
    intro = f"{results['triples']:,} different triples, {results['bytes'] / 1e6:,.0f} MB of N-Triples. {EXPLAINED}"
    measured = [*results["runs"], *results["iterated"]]
    wrong = [f"{run['facts']:,} triples, not {results['triples']:,}" for run in measured
             if run["facts"] != results["triples"]]  # fmt: skip
    wrong += ["a run failed"] * (wanted - len(measured))
    return Report(results, targets(results), [intro, runs_text(results)], wrong)


EXPLAINED = (
    "`seconds` excludes the start of the session; `cpu` are the processor seconds of all processes after it; `load` is "
    "the number of cores busy before the run. pyoxigraph only iterates the triples, on one core."
)


def runs_text(results: dict[str, Any]) -> str:
    headings = ("what", "load", "seconds", "triples/s", "x pyoxigraph", "cpu", "session", *PHASES)
    plain = median(run["seconds"] for run in results["iterated"]) if results["iterated"] else None
    rows = []
    for run in results["runs"]:
        taken = seconds_of(run)
        beside = f"{taken / plain:.2f}" if plain else "-"
        phases = [f"{run['seconds'].get(phase, 0.0):.1f}" for phase in PHASES]
        rows.append(
            ["everlog materialise", f"{run['load']:.1f}", f"{taken:.1f}", f"{results['triples'] / taken:,.0f}", beside,
             f"{run['cpu']:.1f}", f"{run['seconds']['start Spark']:.1f}", *phases]
        )  # fmt: skip
    for run in results["iterated"]:
        rate = f"{results['triples'] / run['seconds']:,.0f}"
        row = ["pyoxigraph iterates", f"{run['load']:.1f}", f"{run['seconds']:.1f}", rate, "1.00"]
        rows.append([*row, *["-"] * (len(headings) - len(row))])
    return table(headings, rows)


def measure(options: argparse.Namespace) -> Report:
    count, runs = (QUICK_TRIPLES, 1) if options.quick else (TRIPLES, options.runs or RUNS)
    results: dict[str, Any] = {"triples": count}
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        path = Path(scratch, "universities.nt")
        log_progress(f"writing {count:,} triples")
        write(count, path)
        results["bytes"] = path.stat().st_size
        results["iterated"] = _measured(1, lambda _: {"task": "ingest.iterate", "path": str(path)})
        results["runs"] = _measured(
            runs, lambda directory: {"task": "ingest.ingest", "path": str(path), "directory": str(directory)}
        )
    return report(results, runs + 1)


def _measured(runs: int, job: Callable[[Path], dict[str, Any]]) -> list[dict[str, Any]]:
    done = []
    for number in range(runs):
        with tempfile.TemporaryDirectory(prefix="everlog-bench-") as directory:
            load = busy_cores()
            asked = job(Path(directory))
            name = asked["task"].rpartition(".")[2]
            log_progress(f"{name} {number + 1}, load {load:.1f}")
            ran = start(asked, TIMEOUT)
            if ran.result is None:
                log_progress(f"{name}: {ran.error}")
            else:
                done.append({**ran.result, "load": load})
    return done


BENCHMARK = Benchmark(measure, options=("runs",))
