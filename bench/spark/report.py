"""What a run says: a table with ratios to the obvious loop, and a file for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.report import table
from bench.spark.measure import Run
from bench.spark.workloads import OBVIOUS

HEADINGS = ("workload", "system", "seconds", "answers", "times the obvious loop")


def text(runs: Sequence[Run]) -> str:
    """All runs as a table."""
    loops = {run.workload: run for run in runs if run.system == OBVIOUS}
    rows = [[run.workload, run.system, *_figures(run), _times(run, loops.get(run.workload))] for run in runs]
    notes = [f"{run.workload}, {run.system}: {run.error}" for run in runs if run.error]
    return "\n\n".join([table(HEADINGS, rows), *notes, *disagreements(runs)])


def _figures(run: Run) -> tuple[str, str]:
    return f"{run.seconds:.1f}", "-" if run.answers is None else f"{run.answers:,}"


def _times(run: Run, loop: Run | None) -> str:
    """How many times as fast as the loop; at least so many if that was stopped."""
    if loop is None or run is loop or run.answers is None or loop.failed:
        return "-"
    return f"{'>' if loop.answers is None else ''}{loop.seconds / run.seconds:.1f}"


def disagreements(runs: Sequence[Run]) -> list[str]:
    """Systems that give other answers; representatives of components may differ, their vertices not."""
    found = []
    for workload in dict.fromkeys(run.workload for run in runs):
        mine = [run for run in runs if run.workload == workload and run.answers is not None]
        keys = {run.answers if workload.startswith("components") else (run.answers, run.mixed) for run in mine}
        if len(keys) > 1:
            found.append(f"DISAGREEMENT about {workload}: {', '.join(map(str, mine))}")
    return found


def write(runs: Sequence[Run], path: Path, about: Mapping[str, str]) -> None:
    """Write ``PATH.json`` and ``PATH.md``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"about": dict(about), "runs": [asdict(run) for run in runs]}
    path.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    facts = "\n".join(f"- {name}: {value}" for name, value in about.items())
    intro = "Seconds from edges in Parquet files until every answer has been counted and hashed, after a warm-up."
    path.with_suffix(".md").write_text(f"# Reasoning on Spark\n\n{facts}\n\n{intro}\n\n{text(runs)}\n")
