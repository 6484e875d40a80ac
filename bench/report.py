"""What a run of the benchmark says: tables, a file for machines, a plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.compare import Comparison, Row, ratio
from bench.machine import machine, versions
from bench.peers import EVERLOG, SORT_KERNEL
from bench.startup import Startup
from bench.targets import Target
from bench.workloads import OURS

HEADINGS = ("system", "seconds", "closure", "cpu", "peak MB", "facts", "M instances/s", "x everlog", "x sort kernel")


BUSY = 0.5
"""A load at which times say little about the systems."""


@dataclass(frozen=True)
class Results:
    """Everything one run measured."""

    command: str
    comparisons: Sequence[Comparison]
    held: dict[str, Any]
    startup: Startup | None
    targets: Sequence[Target]
    load: float
    updated: dict[str, Any] = field(default_factory=dict)
    terms: dict[str, Any] = field(default_factory=dict)

    @property
    def agreed(self) -> bool:
        """Whether all systems gave the same counts, and Everlog gave some."""
        rows = [row for comparison in self.comparisons for row in comparison.rows]
        failed = any(row.system in OURS and row.outcome is None for row in rows)
        return not failed and not any(comparison.disagreements for comparison in self.comparisons)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with aligned columns.

    >>> print(table(["a", "b"], [["x", "1"], ["yy", "22"]]))
    | a  | b  |
    | -- | -- |
    | x  | 1  |
    | yy | 22 |
    """
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = [headings, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def comparison_text(comparison: Comparison) -> str:
    """One workload as a table; ratios are of the whole work, over 1 is slower."""
    if comparison.skipped:
        return f"### {comparison.workload}\n\nskipped: {comparison.skipped}"
    rows = [_cells(comparison, row) for row in comparison.rows]
    text = f"### {comparison.workload} ({comparison.program})\n\n{table(HEADINGS, rows)}"
    notes = [f"{row.system}: {row.error}" for row in comparison.rows if row.error and row.stopped_after is None]
    notes += [f"DISAGREEMENT {told}" for told in comparison.disagreements]
    return "\n".join([text, *(f"\n{note}" for note in notes)])


def _cells(comparison: Comparison, row: Row) -> list[str]:
    outcome = row.outcome
    if outcome is None:
        if row.stopped_after is None:
            return [row.system, "failed", *["-"] * (len(HEADINGS) - 2)]
        ratios = [_number(ratio(comparison, row.system, other), ">.2f") for other in (EVERLOG, SORT_KERNEL)]
        least = [shown if shown == "-" else ">" + shown for shown in ratios]
        return [row.system, f">{row.stopped_after:g}", *["-"] * (len(HEADINGS) - 4), *least]
    rate = outcome.instances / (outcome.closure or outcome.seconds) / 1e6 if outcome.instances else None
    return [
        row.system,
        f"{outcome.seconds:.3f}",
        _number(outcome.closure, ".3f"),
        _number(outcome.cpu, ".3f"),
        _number(outcome.peak_mb, ",.0f"),
        _number(outcome.facts, ",d"),
        _number(rate, ".1f"),
        _number(ratio(comparison, row.system), ".2f"),
        _number(ratio(comparison, row.system, SORT_KERNEL), ".2f"),
    ]


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def targets_text(results: Results) -> str:
    """The targets, one a line, with a warning if other work was going on."""
    lines = [(target.topic, target.promise, target.measured, target.verdict) for target in results.targets]
    text = table(("topic", "target", "measured", "verdict"), lines)
    if results.load <= BUSY:
        return text
    return f"{text}\n\nThe machine was busy (load {results.load:.1f} before the run): the verdicts are provisional."


def startup_text(startup: Startup) -> str:
    """Seconds of whole processes."""
    measured = [(name.replace("_", " "), value) for name, value in asdict(startup).items() if name != "error"]
    rows = [(name, _number(value, ".3f") if not isinstance(value, bool) else str(value)) for name, value in measured]
    return table(("start", "seconds"), rows) + (f"\n\nfirst run: {startup.error}" if startup.error else "")


def held_text(held: dict[str, Any]) -> str:
    """Bytes per fact of the closure of DAG-R, by kind of bookkeeping."""
    columns = ("accounted", "resident_one_order", "resident")
    rows = [
        (maintain, figures["error"], "-", "-")
        if "error" in figures
        else (maintain, *(_number(figures[column], ".3f") for column in columns))
        for maintain, figures in held.items()
    ]
    return table(
        ("maintain", "bytes/fact by the relation", "growth of the process, as derived", "in both orders"), rows
    )


def updates_text(updated: dict[str, Any]) -> str:
    """The median of small updates by algorithm, beside computing everything again."""
    if "error" in updated:
        return f"updates: {updated['error']}"
    again = updated["rematerialise"]
    rows = [("materialise again", f"{again * 1000:.1f}", "100%", "-", "-")]
    for algorithm, figures in updated["updates"].items():
        instances = ", ".join(f"{phase} {count:,}" for phase, count in figures["instances"].items() if count)
        seconds = figures["median"]
        rows.append((algorithm, f"{seconds * 1000:.1f}", f"{seconds / again:.2%}", figures["chosen"], instances))
    return table(("algorithm", "ms", "of materialising", "chosen", "instances of the last update"), rows)


def document(results: Results) -> str:
    """The whole report as Markdown."""
    facts = [f"- {name}: {value}" for name, value in {**machine(), **versions()}.items()]
    facts.append(f"- load before: {results.load:.1f}")
    parts = ["# General rules", f"`{results.command}`", "\n".join(facts), "## Targets", targets_text(results)]
    if results.startup:
        parts += ["## Start", startup_text(results.startup)]
    if results.held:
        parts += ["## Memory held by the closure of DAG-R", held_text(results.held)]
    if results.updated:
        title = (
            f"## {results.updated.get('changed', 0):,} facts changed of {results.updated.get('facts', 0):,}, in memory"
        )
        parts += [title, updates_text(results.updated)]
    parts += ["## Workloads", "Best of the runs; `x everlog` above 1 is slower than Everlog on one core."]
    parts += [comparison_text(comparison) for comparison in results.comparisons]
    return "\n\n".join(parts) + "\n"


def write(results: Results, directory: Path, name: str) -> None:
    """Write ``NAME.json``, ``NAME.md`` and ``NAME.png``."""
    directory.mkdir(parents=True, exist_ok=True)
    data = {"machine": machine(), "versions": versions(), **asdict(results)}
    (directory / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
    (directory / f"{name}.md").write_text(document(results))
    measured = [comparison for comparison in results.comparisons if any(row.outcome for row in comparison.rows)]
    if measured:
        plot(measured, directory / f"{name}.png")


def plot(comparisons: Sequence[Comparison], path: Path) -> None:
    """Seconds of every system on every workload, as bars on a logarithmic scale."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    systems = list(dict.fromkeys(row.system for comparison in comparisons for row in comparison.rows if row.outcome))
    figure, axes = pyplot.subplots(figsize=(max(6.0, 1.6 * len(comparisons)), 5))
    width = 0.85 / len(systems)
    for index, system in enumerate(systems):
        outcomes = [comparison.outcome(system) for comparison in comparisons]
        places = [place + (index - len(systems) / 2) * width for place, found in enumerate(outcomes) if found]
        axes.bar(places, [found.seconds for found in outcomes if found], width, label=system, align="edge")
    axes.set_yscale("log")
    axes.set_ylabel("seconds, facts to last derived fact")
    axes.set_xticks(range(len(comparisons)), [comparison.workload for comparison in comparisons], rotation=25)
    axes.legend(fontsize="small", ncols=2)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
