"""The benchmarks by name: where each is, how to run it again, and where its results are."""

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
from bench.progress import tell
from bench.report import Report, Run


@dataclass(frozen=True)
class Ran:
    """How a benchmark went: its seconds, how its process ended, and whether it wrote results."""

    seconds: float
    status: int
    wrote: bool

    @property
    def failed(self) -> bool:
        """Whether something was wrong: it stopped, or what it found is not as it must be."""
        return bool(self.status) or not self.wrote

    def __str__(self) -> str:
        ended = f"ended with status {self.status}" if self.status else "done"
        return ended if self.wrote else f"{ended}, nothing was written: its figures are those of an earlier run"


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark's module offers: the function that measures, the parts that can be named, and which options
    (of :data:`OPTIONS`) it has besides ``--quick``."""

    measure: Callable[[argparse.Namespace], Report]
    parts: Collection[str] = ()
    options: tuple[str, ...] = ()


OPTIONS: Mapping[str, dict[str, Any]] = {
    "full": {"action": "store_true", "help": "everything, however long it takes"},
    "runs": {"type": int, "help": "maximum number of runs of each system"},
    "systems": {"type": lambda names: names.split(","), "help": "only these systems, with commas between them"},
    "limit": {"type": float, "help": "minimum number of seconds before an obvious loop is stopped"},
    "merge": {"action": "store_true", "help": "keep the other parts of the last results"},
}


@dataclass(frozen=True)
class Suite:
    """One benchmark: its module, and its arguments when everything is measured."""

    name: str
    title: str
    module: str
    arguments: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """How to run it again."""
        return " ".join(["python -m bench", self.name, *self.arguments])

    def benchmark(self) -> Benchmark:
        """Import the benchmark."""
        found: Benchmark = import_module(self.module).BENCHMARK
        return found

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
        """Run the benchmark in this process, print and write its report; 1 if something is wrong."""
        options = self.options(arguments)
        run = Run(" ".join(["python -m bench", self.name, *arguments]), busy_cores())
        report = self.benchmark().measure(options)
        part = bool(options.names or options.systems) and not options.merge
        path = self.path(results, part=part, quick=options.quick, full=bool(options.full))
        print(report.write(path, self.title, run))
        print(f"written to {path.parent.name}/{path.stem}")
        for line in report.wrong:
            tell(line)
        return int(bool(report.wrong))

    def run(self, names: Sequence[str] = (), *, quick: bool = False, results: Path = RESULTS) -> Ran:
        """Run the benchmark, or a part of it, or quickly with small sizes, in a process of its own."""
        arguments = ("--quick",) if quick else names or self.arguments
        path = self.path(results, part=bool(names), quick=quick)
        before = _written(path)
        environment = {**os.environ, "EVERLOG_BENCH_RESULTS": str(results)}
        command = [sys.executable, "-m", "bench", self.name, *arguments]
        began = perf_counter()
        done = subprocess.run(command, cwd=ROOT, check=False, env=environment)
        return Ran(perf_counter() - began, done.returncode, _written(path) != before)

    def found(self, part: bool = False, *, quick: bool = False, results: Path = RESULTS) -> dict[str, Any]:
        """What it wrote last; nothing if it never ran."""
        path = self.path(results, part=part, quick=quick)
        return json.loads(path.read_text()) if path.exists() else {}

    def path(self, results: Path, *, part: bool = False, quick: bool = False, full: bool = False) -> Path:
        """The file for machines that a run writes."""
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
        Suite("rdf", "RDF and OWL", "bench.rdf.experiments"),
        Suite("ingest", "Ingest", "bench.ingest", ("--runs", "1")),
        Suite("explain", "Explanations", "bench.explain"),
        Suite("spark", "Reasoning on Spark", "bench.spark.experiments"),
        Suite("memory", "Memory over time", "bench.evidence.memory"),
        Suite("theory", "Counts against theory", "bench.evidence.theory"),
    )
}
