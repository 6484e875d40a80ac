"""The report of the experiments on the papers' programs and data: their tables, ours beside them, and curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.maintenance.setting import COLUMNS
from bench.papers import closure_tables, update_tables
from bench.papers.compared import PaperTable
from bench.papers.records import Record
from bench.papers.scaling import CURVES
from bench.papers.targets import targets
from bench.plots import figure
from bench.report import Report, Results, count, number, table

COMPARED = (
    "Cells are the paper's figure / ours; ours is bold where they differ by more than 2 times. Names of columns divide "
    "one figure by another: seconds are those of one machine, so only their ratios are compared."
)
MEASURED = "Seconds, rule instances, millions of bytes held in all and by the bookkeeping, and the peak of the process."


def report(results: Results) -> Report:
    records = [Record(one) for one in results["datasets"]]
    tables = tables_of(results)
    parts = ["## The papers' tables", COMPARED]
    for each in tables:
        parts += [f"### {each.title}", each.text()]
    if records:
        parts += ["## Materialising", MEASURED, materialising_text(records)]
        parts += ["## 1,000 facts changed: mean seconds and instances, with 95% intervals", changes_text(records)]
        parts += ["## Seconds by the number of deleted facts", curves_text(records)]
    if results["sweep"]:
        parts += ["## Shares of a category graph", sweep_text(results["sweep"])]
    measured = [one for record in records for part in ("materialise", "updates") for one in record.results[part]]
    measured += [record.results["scaling"] for record in records] + [*results["sweep"], results["growth"]]
    wrong = [one["error"] for one in measured if "error" in one]
    draw = partial(plot, records) if any(record.scaling.get("curves") for record in records) else None
    return Report(results, targets(records, results["growth"], tables), parts, wrong, draw)


def tables_of(results: Results) -> list[PaperTable]:
    """The tables of all papers, from the results of a run."""
    records = [Record(one) for one in results.get("datasets", ())]
    return [*closure_tables.tables(records, results.get("sweep", ())), *update_tables.tables(records)]


def papers_text(results: Results) -> str:
    """The tables as a part of the report of all benchmarks."""
    return "\n\n".join([COMPARED, *(f"### {each.title}\n\n{each.text()}" for each in tables_of(results))])


def materialising_text(records: Sequence[Record]) -> str:
    headings = ("input", "modules", "bookkeeping", "explicit", "facts", "seconds", "instances", "held", "counters",
                "peak")  # fmt: skip
    rows = []
    for record in records:
        for one in record.results["materialise"]:
            cells = [record.name, "yes" if one["modules"] else "no", one["maintain"]]
            counts = [count(one.get(key)) for key in ("explicit", "facts")]
            seconds = f">{one['cut_off']:.0f}" if "cut_off" in one else number(one.get("seconds"), ".3f")
            held = [number(one[key] / 1e6 if key in one else None, ",.1f") for key in ("held", "bookkeeping")]
            rows.append(
                [*cells, *counts, seconds, count(one.get("instances")), *held, number(one.get("peak_mb"), ",.0f")]
            )
    return table(headings, rows)


def changes_text(records: Sequence[Record]) -> str:
    headings = ("input", "strata", "modules", "sample", "change", "algorithm", "runs", "seconds", "delete", "backward",
                "forward", "deleted", "added")  # fmt: skip
    rows = []
    for record in records:
        for variant in record.results["updates"]:
            for one in variant.get("records", ()):
                shown = [variant["stratification"], "yes" if variant["modules"] else "no", one["sampling"], one["kind"]]
                rows.append([record.name, *shown, one["algorithm"], str(len(one["seconds"])), *_figures(one)])
    ranked = {name: place for place, name in enumerate(COLUMNS)}
    return table(headings, sorted(rows, key=lambda cells: (cells[:5], ranked[cells[5]])))


def _figures(one: Results) -> list[str]:
    """The mean seconds, and the mean instances of each phase."""
    if one["cut_off"] is not None:
        return [f">{one['cut_off']:.0f}", *["-"] * 5]
    if one["mean"] is None:
        return ["-"] * 6
    mean, half = one["mean"]
    instances = one["instances"]
    phases = ("delete", "backward", "forward", "deleted", "added")
    return [f"{mean:.4f} ± {half:.4f}", *(_interval(instances.get(phase)) for phase in phases)]


def _interval(pair: tuple[float, float] | None) -> str:
    return "-" if pair is None else f"{count(pair[0])} ± {count(pair[1])}"


def curves_text(records: Sequence[Record]) -> str:
    rows = []
    for record in records:
        for point in record.scaling.get("curves", ()):
            seconds = [number(point.get(a, {}).get("delete"), ".3f") for a in CURVES]
            rows.append([record.name, count(point["facts"]), number(point["rematerialise"], ".3f"), *seconds])
    return table(("input", "deleted", "rematerialise", *CURVES), rows)


def sweep_text(sweep: Sequence[Results]) -> str:
    headings = ("share", "form", "edges", "closure", "seconds", "held MB", "peak MB", "1,000 inserted: seconds")
    rows = []
    for one in sweep:
        rounds = ", ".join(f"{each['seconds']:.3f}" for each in one.get("rounds", ())) or "-"
        seconds = f">{one['cut_off']:.0f}" if "cut_off" in one else number(one.get("seconds"), ".3f")
        held = number(one["held"] / 1e6 if "held" in one else None, ",.1f")
        counts = [count(one.get("edges")), count(one.get("pairs"))]
        rows.append(
            [f"{one['share']}%", one["form"], *counts, seconds, held, number(one.get("peak_mb"), ",.0f"), rounds]
        )
    return table(headings, rows)


def plot(records: Sequence[Record], path: Path) -> None:
    """Seconds over the number of deleted facts, for each input (journal paper, figure 8)."""
    shown = [record for record in records if record.scaling.get("curves")]
    columns = min(4, len(shown))
    lines = -(-len(shown) // columns)
    with figure(path, lines, columns, figsize=(4 * columns, 3 * lines), squeeze=False) as grid:
        for axes, record in zip(grid.flat, shown, strict=False):
            _draw(axes, record)


def _draw(axes: Any, record: Record) -> None:
    curves = record.scaling["curves"]
    for name in (*CURVES, "rematerialise"):
        points = [
            (point["facts"], point[name] if name == "rematerialise" else point[name]["delete"])
            for point in curves
            if name in point
        ]
        if points:
            axes.plot(
                *zip(*points, strict=True), marker=".", label=name, linestyle="--" if name == "rematerialise" else "-"
            )
    axes.set_title(record.name, fontsize="small")
    axes.set_xlabel("deleted facts")
    axes.set_ylabel("seconds")
    axes.legend(fontsize="x-small")
