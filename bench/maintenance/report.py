"""The maintenance experiments as tables with the papers' columns, and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median

from bench.maintenance.example import COLUMNS as EXAMPLE_COLUMNS
from bench.maintenance.setting import COLUMNS, REMATERIALISE, REMATERIALISE_COUNTED
from bench.maintenance.targets import auto_ratios, medians, targets
from bench.plots import figure, grouped_bars
from bench.report import Report, Results, count, table

SHORT = {REMATERIALISE: "remat", REMATERIALISE_COUNTED: "remat+c"}
STRATA = {"levels": "Y", "single": "N"}
PHASES = {
    "counting": ("deleted", "added"),
    "dred": ("delete", "backward", "forward"),
    "fbf": ("delete", "backward", "forward"),
    "dredc": ("delete", "forward"),
    "bfc": ("delete", "backward", "forward"),
}


def report(results: Results) -> Report:
    parts: list[str] = []
    if results["robustness"]:
        parts += ["## Workloads", workloads_text(results["robustness"])]
        for kind in ("delete", "add"):
            parts += [f"## Robustness: {kind} a sample (median seconds)", robustness_text(results["robustness"], kind)]
        parts += ["## Rematerialising with counters (seconds)", counters_text(results["robustness"])]
        parts += ["## Instances by phase, deleting", instances_text(results["robustness"])]
        parts += ["## Auto beside the best", auto_text(results["robustness"])]
    if results["break_even"]:
        parts += ["## Break-even points", break_even_text(results["break_even"])]
        parts += ["## Large deletions (seconds)", large_text(results["break_even"])]
    if results["example"]:
        parts += ["## Example 1 of the thesis (seconds)", example_text(results["example"])]
    measured = [*results["robustness"], *results["break_even"], *results["example"], results["command"]]
    wrong = [one["error"] for one in measured if "error" in one]
    draw = partial(plot, results) if results["robustness"] or results["example"] else None
    return Report(results, targets(results), parts, wrong, draw)


def workloads_text(robustness: Sequence[Results]) -> str:
    """Sizes, and the seconds of the first materialisation and of the bookkeeping. A program with one stratum by levels
    is not measured again without stratification."""
    headings = ("workload", "strat", "strata", "rules (recursive)", "explicit", "facts", "instances", "changed",
                "first", "counters", "trace")  # fmt: skip
    rows = []
    for one in robustness:
        if "error" in one:
            rows.append([one["workload"], STRATA[one["stratification"]], *["-"] * 8, one["error"]])
            continue
        counts = [f"{one[name]:,}" for name in ("explicit", "facts", "instances", "changed")]
        seconds = [f"{one['first'][name]:.3f}" for name in ("first", "counters", "trace")]
        rules = f"{one['rules']} ({one['recursive']})"
        rows.append([one["workload"], STRATA[one["stratification"]], str(one["strata"]), rules, *counts, *seconds])
    return table(headings, rows)


def counters_text(robustness: Sequence[Results]) -> str:
    """Seconds of rematerialising without counters, with the nonrecursive counter, and with both (thesis, table 4.4)."""
    rows = []
    for one in robustness:
        if "error" in one:
            continue
        remat = median(r["median"] for r in one["records"] if r["algorithm"] == REMATERIALISE and r["median"])
        seconds = [remat, *(remat + one["first"][counted] for counted in ("nonrecursive", "counters"))]
        cells = [f"{second:.3f}" for second in seconds] + [f"{second / remat:.2f}" for second in seconds[1:]]
        rows.append([one["workload"], STRATA[one["stratification"]], *cells])
    return table(("workload", "strat", "remat", "remat-1C", "remat-2C", "1C / remat", "2C / remat"), rows)


def robustness_text(robustness: Sequence[Results], kind: str) -> str:
    """Median seconds by algorithm, then the scores: an algorithm's time divided by the best time on an instance
    (journal, section 10.2)."""
    headings = ("workload", "strat", "sample", "runs", *(SHORT.get(c, c) for c in COLUMNS))
    rows, scores = [], {column: [] for column in COLUMNS}  # type: ignore[var-annotated]
    for one, sampling in _instances(robustness):
        records = {r["algorithm"]: r for r in one["records"] if r["sampling"] == sampling and r["kind"] == kind}
        known = {c: r["median"] for c, r in records.items() if r["median"] is not None and r["cut_off"] is None}
        for column, seconds in known.items():
            scores[column].append(seconds / min(known.values()))
        runs = f"{min(len(r['seconds']) for r in records.values())}-{max(len(r['seconds']) for r in records.values())}"
        cells = [_seconds(records[c]) for c in COLUMNS]
        rows.append([one["workload"], STRATA[one["stratification"]], sampling, runs, *cells])
    for name, average in (("average score", mean), ("median score", median)):
        rows.append([name, "", "", "", *(f"{average(scores[c]):.2f}" if scores[c] else "-" for c in COLUMNS)])
    return table(headings, rows)


def instances_text(robustness: Sequence[Results]) -> str:
    """Rule instances of the median run by phase (journal, table 4), and numbers of overdeleted and checked facts."""
    headings = ["workload", "strat", "sample"]
    headings += [f"{algorithm} {phase}" for algorithm, phases in PHASES.items() for phase in phases]
    headings += ["dred overdeleted", "dredc overdeleted", "bfc checked", "remat"]
    rows = []
    for one, sampling in _instances(robustness):
        records = {r["algorithm"]: r for r in one["records"] if r["sampling"] == sampling and r["kind"] == "delete"}
        counted = {a: r["figures"].get("instances", {}) if r["seconds"] else None for a, r in records.items()}
        cells = [count(None if (each := counted[a]) is None else each.get(phase, 0))
                 for a, phases in PHASES.items() for phase in phases]  # fmt: skip
        extra = (("dred", "overdeleted"), ("dredc", "overdeleted"), ("bfc", "checked"))
        cells += [count(records[algorithm]["figures"].get(name)) for algorithm, name in extra]
        rows.append([one["workload"], STRATA[one["stratification"]], sampling, *cells, count(one["instances"])])
    return table(headings, rows)


def auto_text(robustness: Sequence[Results]) -> str:
    """The algorithm that auto chose, and its time divided by the best time."""
    rows = []
    chosen = {
        (one["workload"], one["stratification"], r["sampling"], r["kind"]): r["figures"].get("algorithm", "-")
        + (f" ({r['figures']['reason']})" if r["figures"].get("reason") else "")
        for one in robustness
        for r in one.get("records", ())
        if r["algorithm"] == "auto"
    }
    instances = medians(robustness)
    for instance, ratio, best, within in auto_ratios(instances):
        taken = instances[instance].get("auto")
        shown = ["-" if taken is None else f"{taken * 1000:.1f}", best, f"{instances[instance][best] * 1000:.1f}"]
        rows.append([*instance, *shown, f"{ratio:.2f}", "yes" if within else "no", chosen.get(instance, "-")])
    headings = ("workload", "strat", "sample", "kind", "auto ms", "best", "best ms", "ratio", "within", "chosen")
    return table(headings, rows)


def break_even_text(searched: Sequence[Results]) -> str:
    """The number of deleted facts from which rematerialising is faster (journal, table 7); ``~`` where the search ended
    before the times were equal."""
    done = [one for one in searched if "points" in one]
    if not done:
        return "; ".join(one.get("error", "-") for one in searched)
    algorithms = list(done[0]["points"])
    rows = []
    for one in done:
        cells = [
            f"{'' if point['exact'] else '~'}{count(point['facts'])} ({point['share']:.1%})"
            for point in one["points"].values()
        ]
        rows.append([one["workload"], count(one["explicit"]), *cells])
    for name, average in (("average score", mean), ("median score", median), ("maximal score", max)):
        rows.append([name, "", *(f"{average([_behind(one['points'], a) for one in done]):.2f}" for a in algorithms)])
    return table(("workload", "explicit", *algorithms), rows)


def _behind(points: Results, algorithm: str) -> float:
    """The largest break-even point of an input divided by that of an algorithm."""
    return max(max(point["facts"], 1) for point in points.values()) / max(points[algorithm]["facts"], 1)


def large_text(searched: Sequence[Results]) -> str:
    """All algorithms at the larger break-even point of dredc and bfc (thesis, table 4.3)."""
    rows = [
        [one["workload"], f"{one['largest'] / one['explicit']:.1%}",
         *(f"{'>' if c in one['cut_off'] else ''}{one['seconds'][c]:.3f}" for c in COLUMNS)]
        for one in searched if "points" in one
    ]  # fmt: skip
    return table(("workload", "deleted", *(SHORT.get(c, c) for c in COLUMNS)), rows)


def example_text(scaling: Sequence[Results]) -> str:
    rows = []
    for one in scaling:
        if "columns" in one:
            cells = [one["columns"][c] for c in EXAMPLE_COLUMNS]
            seconds = (f"{c['spent']:.4f}" if c["seconds"] else f">{c['spent']:.0f}" for c in cells)
            rows.append([f"{one['n']:,}", *seconds])
    return table(("n", *EXAMPLE_COLUMNS), rows)


def _instances(robustness: Sequence[Results]) -> list[tuple[Results, str]]:
    return [(one, sampling) for one in robustness if "records" in one for sampling in ("uniform", "walk")]


def _seconds(record: Results) -> str:
    if record["cut_off"] is not None:
        return f">{record['cut_off']:.0f}"
    return "-" if record["median"] is None else f"{record['median']:.4f}"


def plot(results: Results, path: Path) -> None:
    shown = {
        key[0]: {column: seconds.get(column) for column in COLUMNS}
        for key, seconds in medians(results["robustness"]).items()
        if key[1:] == ("levels", "uniform", "delete")
    }
    done = [one for one in results["example"] if "columns" in one]
    with figure(path, 1, 2, figsize=(15, 5), width_ratios=(2, 1)) as (bars, lines):
        label = "seconds to delete a uniform sample (median)"
        grouped_bars(bars, shown, label, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        for column in EXAMPLE_COLUMNS:
            seconds = {one["n"]: one["columns"][column]["seconds"] for one in done}
            points = [(n, taken) for n, taken in seconds.items() if taken]
            if points:
                lines.loglog(*zip(*points, strict=True), marker="o", label=column)
        lines.set_xlabel("n")
        lines.set_ylabel("seconds (thesis, Example 1)")
        if done:
            lines.legend(fontsize="small")
