"""The benchmarks that the report is made of."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.measure import ROOT

RESULTS = Path(__file__).resolve().parents[1] / "results"


@dataclass(frozen=True)
class Suite:
    """One benchmark: its module, its arguments in the report, and the names of what it writes, of all and of a part."""

    name: str
    title: str
    module: str
    arguments: tuple[str, ...] = ()
    selected: str = ""

    @property
    def command(self) -> str:
        """How to run it again."""
        return " ".join(["python -m", self.module, *self.arguments])

    def run(self, names: Sequence[str] = ()) -> float:
        """Run it, or a part of it; seconds."""
        began = perf_counter()
        subprocess.run([sys.executable, "-m", self.module, *(names or self.arguments)], cwd=ROOT, check=False)
        return perf_counter() - began

    def found(self, part: bool = False) -> dict[str, Any]:
        """What it wrote last; nothing if it never ran."""
        path = RESULTS / f"{self.selected if part else self.name}.json"
        return json.loads(path.read_text()) if path.exists() else {}


SUITES = {
    suite.name: suite
    for suite in (
        Suite("general", "General rules and the peers", "bench", selected="selected"),
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
