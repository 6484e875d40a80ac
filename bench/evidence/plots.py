"""The figures of the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.plots import figure
from bench.report import Results

OURS, OTHERS = "#1f6feb", "#9aa4b2"


def _bars(axes: Any, bars: Sequence[tuple[str, float, bool]], label: str) -> None:
    """Horizontal bars on a logarithmic scale, ours in colour."""
    names = [name for name, _, _ in bars]
    axes.barh(names, [value for _, value, _ in bars], color=[OURS if ours else OTHERS for _, _, ours in bars])
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.invert_yaxis()
    for place, (_, value, _) in enumerate(bars):
        axes.annotate(f" {value:,.3g}", (value, place), va="center", fontsize=8)
    axes.margins(x=0.15)


def closure_bars(general: Results, modules: Results, path: Path) -> bool:
    """Seconds of all systems to close DAG-R; False if they were not measured."""
    results = {one["workload"]: one for one in general.get("comparisons", ())}
    linear = results.get("dag-r-linear")
    if not linear:
        return False
    bars = [(row["system"], row["outcome"]["seconds"], row["system"].startswith("everlog")) for row in linear["rows"]
            if row["outcome"] and "kernel" not in row["system"]]  # fmt: skip
    forms = [f for f in modules.get("forms", ()) if f["workload"] == "dag-r-linear" and f["form"] == "compact"]
    if forms and "materialise" in forms[0]:
        bars.append(("everlog, module", forms[0]["materialise"]["seconds"], True))
    return _save_bars(sorted(bars, key=lambda bar: bar[1]), "seconds, linear closure of DAG-R (22.4 M pairs)", path)


def update_bars(general: Results, path: Path) -> bool:
    """Milliseconds of a small update by each algorithm, and of rematerialising; False if they were not measured."""
    updated = general.get("updated") or {}
    if "updates" not in updated:
        return False
    bars = [(name, one["median"] * 1000, True) for name, one in updated["updates"].items()]
    bars = [*sorted(bars, key=lambda bar: bar[1]), ("computing all again", updated["rematerialise"] * 1000, False)]
    return _save_bars(bars, f"milliseconds, 1,000 of {updated['facts'] / 1e6:.0f} M facts changed", path)


def _save_bars(bars: Sequence[tuple[str, float, bool]], label: str, path: Path) -> bool:
    with figure(path, figsize=(7, 0.6 + 0.42 * len(bars))) as axes:
        _bars(axes, bars, label)
    return True


def memory_over_time(memory: Results, path: Path) -> bool:
    """Resident memory since the start of each process; False if it was not measured."""
    systems = memory.get("systems")
    if not systems:
        return False
    curves = [(name, one["samples"]) for name, one in systems.items()]
    _curves(curves, "seconds since the process was started", "resident MB", path, logarithmic=False)
    return True


def scaling_curves(maintenance: Results, spark: Results, path: Path) -> bool:
    """Seconds of thesis Example 1 by n, and of joins on Spark by size, both relative to the smallest run; False if
    they were not measured."""
    curves = []
    for algorithm in ("dredc", "bfc", "dred", "dred, heads first"):
        points = [(one["n"], one["columns"][algorithm]["seconds"]) for one in maintenance.get("example", ())
                  if "columns" in one and (one["columns"].get(algorithm) or {}).get("seconds")]  # fmt: skip
        curves.append((f"Example 1, {algorithm}", _relative(points)))
    curves.append(("Spark, joins", _relative(_spark_points(spark))))
    curves = [(name, points) for name, points in curves if len(points) > 1]
    if not curves:
        return False
    most = max(x for _, points in curves for x, _ in points)
    curves.append(("linear", [(1, 1), (most, most)]))
    _curves(curves, "times the data", "times the seconds", path, logarithmic=True)
    return True


def _spark_points(spark: Results) -> list[tuple[float, float]]:
    runs = spark.get("parts", {}).get("joins", {}).get("runs", ())
    return sorted((one["times"], one["seconds"]) for one in runs if one.get("cores") == 2 and one.get("seconds"))


def _relative(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x / points[0][0], y / points[0][1]) for x, y in points]


def _curves(
    curves: Sequence[tuple[str, Sequence[tuple[float, float]]]], x: str, y: str, path: Path, *, logarithmic: bool
) -> None:
    with figure(path, figsize=(7, 4)) as axes:
        for name, points in curves:
            style: dict[str, Any] = {"color": "black", "linestyle": ":"} if name == "linear" else {}
            axes.plot(*zip(*points, strict=True), label=name, marker="." if logarithmic else "", **style)
        if logarithmic:
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.legend(fontsize="small")
