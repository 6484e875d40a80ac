"""The benchmarks by name: the module of each, its command, and its result files."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.machine import busy_cores
from bench.measure import RESULTS, ROOT
from bench.progress import log_progress
from bench.report import Report, Run


@dataclass(frozen=True)
class SuiteRun:
    """One run of a benchmark: its seconds, the exit status of its process, and whether it wrote results."""

    seconds: float
    status: int
    wrote: bool

    @property
    def failed(self) -> bool:
        return bool(self.status) or not self.wrote

    def __str__(self) -> str:
        ended = f"ended with status {self.status}" if self.status else "done"
        return ended if self.wrote else f"{ended}, nothing was written: its figures are those of an earlier run"


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: the function that measures, the parts that can be selected, and its options (of :data:`OPTIONS`)
    besides ``--quick``."""

    measure: Callable[[argparse.Namespace], Report]
    parts: Collection[str] = ()
    options: tuple[str, ...] = ()


OPTIONS: Mapping[str, dict[str, Any]] = {
    "full": {"action": "store_true", "help": "everything, however long it takes"},
    "runs": {"type": int, "help": "maximum number of runs of each system"},
    "systems": {"type": lambda names: names.split(","), "help": "only these systems, with commas between them"},
    "limit": {"type": float, "help": "minimum number of seconds before an obvious loop is stopped"},
    "resume": {"action": "store_true", "help": "take what an interrupted run has measured"},
    "merge": {"action": "store_true", "help": "keep the other parts of the last results"},
}


@dataclass(frozen=True)
class Suite:
    """A named benchmark: its title, its module, and its arguments when everything is measured."""

    name: str
    title: str
    module: str
    arguments: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        return " ".join(["python -m bench", self.name, *self.arguments])

    def benchmark(self) -> Benchmark:
        benchmark: Benchmark = import_module(self.module).BENCHMARK
        return benchmark

    def options(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments; options that the benchmark does not have are None."""
        benchmark = self.benchmark()
        parser = argparse.ArgumentParser(prog=f"python -m bench {self.name}", description=self.title)
        parser.set_defaults(**dict.fromkeys(OPTIONS), names=[])
        parser.add_argument("--quick", action="store_true", help="small sizes: whether it works")
        for option in benchmark.options:
            parser.add_argument(f"--{option}", **OPTIONS[option])
        if benchmark.parts:
            parser.add_argument("names", nargs="*", metavar="PART", help=", ".join(benchmark.parts))
        options = parser.parse_args(arguments)
        for unknown in (name for name in options.names if name not in benchmark.parts):
            parser.error(f"no part {unknown}; there are {', '.join(benchmark.parts)}")
        return options

    def measure(self, arguments: Sequence[str], results: Path = RESULTS) -> int:
        """Run the benchmark in this process, print and write its report; return 1 if it has problems."""
        options = self.options(arguments)
        run = Run(" ".join(["python -m bench", self.name, *arguments]), busy_cores())
        report = self.benchmark().measure(options)
        part = bool(options.names or options.systems) and not options.merge
        path = self.path(results, part=part, quick=options.quick, full=bool(options.full))
        print(report.write(path, self.title, run))
        print(f"written to {path.parent.name}/{path.stem}")
        for line in report.wrong:
            log_progress(line)
        return int(bool(report.wrong))

    def run(self, names: Sequence[str] = (), *, quick: bool = False, results: Path = RESULTS) -> SuiteRun:
        """Run the benchmark, or the named parts of it, in a new process; ``quick`` selects small sizes."""
        arguments = ("--quick",) if quick else names or self.arguments
        path = self.path(results, part=bool(names), quick=quick)
        before = _written(path)
        environment = {**os.environ, "EVERLOG_BENCH_RESULTS": str(results)}
        command = [sys.executable, "-m", "bench", self.name, *arguments]
        began = perf_counter()
        done = subprocess.run(command, cwd=ROOT, check=False, env=environment)
        return SuiteRun(perf_counter() - began, done.returncode, _written(path) != before)

    def last_results(self, part: bool = False, *, quick: bool = False, results: Path = RESULTS) -> dict[str, Any]:
        """The results of its last run; empty if it never ran."""
        path = self.path(results, part=part, quick=quick)
        return json.loads(path.read_text()) if path.exists() else {}

    def path(self, results: Path, *, part: bool = False, quick: bool = False, full: bool = False) -> Path:
        """The JSON file that a run writes."""
        effort = "selected-" if part else "quick-" if quick else "full-" if full else ""
        return results / f"{effort}{self.name}.json"


def _written(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


SUITES = {
    suite.name: suite
    for suite in (
        Suite("general", "General rules and the peers", "bench.general"),
        Suite("maintenance", "Updates", "bench.maintenance.experiments"),
        Suite("modules", "Modules and compact relations", "bench.modules.experiments"),
        Suite("papers", "The papers' programs and data", "bench.papers.experiments"),
        Suite("rdf", "RDF and OWL", "bench.rdf.experiments"),
        Suite("ingest", "Ingest", "bench.ingest", ("--runs", "1")),
        Suite("explain", "Explanations", "bench.explain"),
        Suite("spark", "Reasoning on Spark", "bench.spark.experiments"),
        Suite("memory", "Memory over time", "bench.evidence.memory"),
        Suite("theory", "Counts against theory", "bench.evidence.theory"),
    )
}
