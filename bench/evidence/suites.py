"""The benchmarks that the report is made of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.measure import RESULTS, ROOT


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
class Suite:
    """One benchmark: its module, its arguments in the report, and the names of what it writes, of all, of a part and
    of a quick run."""

    name: str
    title: str
    module: str
    arguments: tuple[str, ...] = ()
    selected: str = ""
    quick: str = ""

    @property
    def command(self) -> str:
        """How to run it again."""
        return " ".join(["python -m", self.module, *self.arguments])

    def run(self, names: Sequence[str] = (), *, quick: bool = False, results: Path = RESULTS) -> Ran:
        """Run it, or a part of it, or quickly with small sizes."""
        arguments = ("--quick",) if quick else names or self.arguments
        path = self.path(results, part=bool(names), quick=quick)
        before = _written(path)
        environment = {**os.environ, "EVERLOG_BENCH_RESULTS": str(results)}
        began = perf_counter()
        done = subprocess.run([sys.executable, "-m", self.module, *arguments], cwd=ROOT, check=False, env=environment)
        return Ran(perf_counter() - began, done.returncode, _written(path) != before)

    def found(self, part: bool = False, *, quick: bool = False, results: Path = RESULTS) -> dict[str, Any]:
        """What it wrote last; nothing if it never ran."""
        path = self.path(results, part=part, quick=quick)
        return json.loads(path.read_text()) if path.exists() else {}

    def path(self, results: Path, *, part: bool = False, quick: bool = False) -> Path:
        """The file that it writes, for machines."""
        return (
            results / f"{(self.quick or f'quick-{self.name}') if quick else self.selected if part else self.name}.json"
        )


def _written(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


SUITES = {
    suite.name: suite
    for suite in (
        Suite("general", "General rules and the peers", "bench", selected="selected", quick="quick"),
        Suite("maintenance", "Updates", "bench.maintenance", selected="selected-maintenance"),
        Suite("modules", "Modules and compact relations", "bench.modules", selected="selected-modules"),
        Suite("rdf", "RDF and OWL", "bench.rdf", selected="selected-rdf"),
        Suite("ingest", "Ingest", "bench.ingest", ("--runs", "1")),
        Suite("explain", "Explanations", "bench.explain"),
        Suite("spark", "Reasoning on Spark", "bench.spark", selected="selected-spark"),
        Suite("memory", "Memory over time", "bench.evidence.memory"),
        Suite("theory", "Counts against theory", "bench.evidence.theory"),
    )
}
