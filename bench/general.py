"""General rules and the compared systems: closures, start-up, memory, small updates, and the dictionary."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from bench.compare import Comparison, Row, compare, ratio
from bench.inputs import table_of, write
from bench.measure import task
from bench.peers import EVERLOG, SORT_KERNEL, SYSTEMS
from bench.plots import figure, grouped_bars
from bench.report import Report, number, table
from bench.startup import Startup, startup
from bench.suites import Benchmark
from bench.targets import targets
from bench.workloads import OURS, WORKLOADS, chosen, dag_r

BOOKKEEPING = ("none", "dredc")
EXTRAS = ("start", "memory", "updates", "dictionary")
FOREST = {"trees": 1_350, "size": 1_000}
"""Size of the forest for small updates: about ten million facts."""

TERMS = 5_000_000
HEADINGS = ("system", "seconds", "closure", "cpu", "peak MB", "facts", "M instances/s", "x everlog", "x sort kernel")


def measure(options: argparse.Namespace) -> Report:
    unknown = [name for name in options.systems or () if name not in SYSTEMS]
    if unknown:
        raise SystemExit(f"no system {unknown[0]}; there are {', '.join(SYSTEMS)}")
    named = [name for name in options.names if name in WORKLOADS]
    workloads = chosen(named, options.quick, bool(options.full)) if named or not options.names else []
    runs = 1 if options.quick else options.runs
    comparisons = [compare(workload, runs, options.systems or ()) for workload in workloads]
    extras = options.names or (EXTRAS[:1] if options.quick else EXTRAS)
    start_times = startup(first_runs=not options.quick) if "start" in extras else None
    held = _memory() if "memory" in extras else {}
    updated = task("extras.small_updates", FOREST, 600) if "updates" in extras else {}
    terms = task("extras.terms_per_second", {"terms": TERMS}, 600) if "dictionary" in extras else {}
    return report(comparisons, start_times, held, updated, terms)


def _memory() -> dict[str, Any]:
    """Bytes held per fact of DAG-R's closure, without and with the default counters."""
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        write({"edge": table_of(dag_r())}, Path(scratch))
        return {
            maintain: task("extras.bytes_per_fact", {"directory": scratch, "maintain": maintain}, 300, one_core=False)
            for maintain in BOOKKEEPING
        }


def report(
    comparisons: Sequence[Comparison],
    start_times: Startup | None,
    held: Mapping[str, Any],
    updated: Mapping[str, Any],
    terms: Mapping[str, Any],
) -> Report:
    sections = []
    if start_times:
        sections += ["## Start", startup_text(start_times)]
    if held:
        sections += ["## Memory held by the closure of DAG-R", held_text(held)]
    if updated:
        changed, facts = updated.get("changed", 0), updated.get("facts", 0)
        sections += [f"## {changed:,} facts changed of {facts:,}, in memory", updates_text(updated)]
    sections += ["## Workloads", "Best of the runs; `x everlog` above 1 is slower than Everlog on one core."]
    sections += [comparison_text(comparison) for comparison in comparisons]
    results = {
        "comparisons": [asdict(comparison) for comparison in comparisons],
        "held": held,
        "startup": asdict(start_times) if start_times else None,
        "updated": updated,
        "terms": terms,
    }
    verdicts = targets({each.workload: each for each in comparisons}, held, start_times, updated, terms)
    measured = [each for each in comparisons if any(row.outcome for row in each.rows)]
    draw = partial(plot, measured) if measured else None
    return Report(results, verdicts, sections, wrong(comparisons), draw)


def wrong(comparisons: Sequence[Comparison]) -> list[str]:
    """The workloads on which two systems disagree, and those on which Everlog fails."""
    problems = [problem for comparison in comparisons for problem in comparison.disagreements]
    for comparison in comparisons:
        failed = [row for row in comparison.rows if row.system in OURS and row.outcome is None]
        problems += [f"{comparison.workload}: {row.system}: {row.error}" for row in failed]
    return problems


def comparison_text(comparison: Comparison) -> str:
    """One workload as a table. Ratios are of total seconds; above 1 is slower."""
    if comparison.skipped:
        return f"### {comparison.workload}\n\nskipped: {comparison.skipped}"
    rows = [_cells(comparison, row) for row in comparison.rows]
    text = f"### {comparison.workload} ({comparison.program})\n\n{table(HEADINGS, rows)}"
    notes = [f"{row.system}: {row.error}" for row in comparison.rows if row.error and row.stopped_after is None]
    notes += [f"DISAGREEMENT {problem}" for problem in comparison.disagreements]
    return "\n".join([text, *(f"\n{note}" for note in notes)])


def _cells(comparison: Comparison, row: Row) -> list[str]:
    outcome = row.outcome
    if outcome is None:
        if row.stopped_after is None:
            return [row.system, "failed", *["-"] * (len(HEADINGS) - 2)]
        ratios = [number(ratio(comparison, row.system, other), ">.2f") for other in (EVERLOG, SORT_KERNEL)]
        least = [shown if shown == "-" else ">" + shown for shown in ratios]
        return [row.system, f">{row.stopped_after:g}", *["-"] * (len(HEADINGS) - 4), *least]
    rate = outcome.instances / (outcome.closure or outcome.seconds) / 1e6 if outcome.instances else None
    return [
        row.system,
        f"{outcome.seconds:.3f}",
        number(outcome.closure, ".3f"),
        number(outcome.cpu, ".3f"),
        number(outcome.peak_mb, ",.0f"),
        number(outcome.facts, ",d"),
        number(rate, ".1f"),
        number(ratio(comparison, row.system), ".2f"),
        number(ratio(comparison, row.system, SORT_KERNEL), ".2f"),
    ]


def startup_text(start_times: Startup) -> str:
    measured = [(name.replace("_", " "), value) for name, value in asdict(start_times).items() if name != "error"]
    rows = [(name, number(value, ".3f") if not isinstance(value, bool) else str(value)) for name, value in measured]
    return table(("start", "seconds"), rows) + (f"\n\nfirst run: {start_times.error}" if start_times.error else "")


def held_text(held: Mapping[str, Any]) -> str:
    """Bytes per fact of the closure of DAG-R as a table by kind of bookkeeping."""
    columns = ("accounted", "resident_one_order", "resident")
    rows = [
        (maintain, figures["error"], "-", "-")
        if "error" in figures
        else (maintain, *(number(figures[column], ".3f") for column in columns))
        for maintain, figures in held.items()
    ]
    headings = ("maintain", "bytes/fact by the relation", "growth of the process, as derived", "in both orders")
    return table(headings, rows)


def updates_text(updated: Mapping[str, Any]) -> str:
    if "error" in updated:
        return f"updates: {updated['error']}"
    again = updated["rematerialise"]
    rows = [("materialise again", f"{again * 1000:.1f}", "100%", "-", "-")]
    for algorithm, figures in updated["updates"].items():
        instances = ", ".join(f"{phase} {count:,}" for phase, count in figures["instances"].items() if count)
        seconds = figures["median"]
        rows.append((algorithm, f"{seconds * 1000:.1f}", f"{seconds / again:.2%}", figures["chosen"], instances))
    return table(("algorithm", "ms", "of materialising", "chosen", "instances of the last update"), rows)


def plot(comparisons: Sequence[Comparison], path: Path) -> None:
    groups = {
        each.workload: {row.system: row.outcome.seconds if row.outcome else None for row in each.rows}
        for each in comparisons
    }
    with figure(path, figsize=(max(6.0, 1.6 * len(comparisons)), 5)) as axes:
        grouped_bars(axes, groups, "seconds, facts to last derived fact", ncols=2)


BENCHMARK = Benchmark(measure, (*WORKLOADS, *EXTRAS), ("full", "runs", "systems"))
