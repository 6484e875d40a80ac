"""Figures that all benchmarks draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def figure(path: Path, rows: int = 1, columns: int = 1, **options: Any) -> Iterator[Any]:
    """Axes to draw on; the figure is saved when the block ends."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn, axes = pyplot.subplots(rows, columns, **options)
    yield axes
    drawn.tight_layout()
    drawn.savefig(path, dpi=120)
    pyplot.close(drawn)


def grouped_bars(axes: Any, groups: Mapping[str, Mapping[str, float | None]], label: str, **legend: Any) -> None:
    """Draw a group of bars for each key, with one bar for each name, on a logarithmic scale; None draws no bar."""
    names = list(dict.fromkeys(name for group in groups.values() for name, value in group.items() if value))
    width = 0.85 / max(1, len(names))
    for index, name in enumerate(names):
        known = {at: group[name] for at, group in enumerate(groups.values()) if group.get(name)}
        places = [at + (index - len(names) / 2) * width for at in known]
        axes.bar(places, list(known.values()), width, label=name, align="edge")
    axes.set_ylabel(label)
    axes.set_xticks(range(len(groups)), list(groups), rotation=25)
    if names:
        axes.set_yscale("log")
        axes.legend(fontsize="small", **legend)
