"""The report of a benchmark: a Markdown page, a JSON file and a figure, with the machine and the date."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.machine import machine, versions

Results = Mapping[str, Any]
BUSY = 0.5
"""Maximum number of cores busy with other work; above it, the verdicts are marked provisional."""


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


def listing(columns: Mapping[str, Callable[[Any], str]], records: Iterable[Any]) -> str:
    """A table with a line for each record; the functions give the cells of the columns.

    >>> print(listing({"a": str, "half": lambda one: f"{one / 2:.1f}"}, [5]))
    | a | half |
    | - | ---- |
    | 5 | 2.5  |
    """
    return table(list(columns), [[cell(one) for cell in columns.values()] for one in records])


def number(value: float | None, form: str) -> str:
    """A formatted number, or a dash where there is none.

    >>> number(1.25, ".1f"), number(None, ".1f")
    ('1.2', '-')
    """
    return "-" if value is None else format(value, form)


def count(value: float | None) -> str:
    """A count as the papers print it, or a dash where there is none.

    >>> count(950), count(16_590), count(19_095_288), count(None)
    ('950', '16.6 k', '19.1 M', '-')
    """
    if value is None:
        return "-"
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f}"


@dataclass(frozen=True)
class Target:
    """A promise, the measured figure, and whether the promise is met; ``met`` is None if it was not measured."""

    topic: str
    promise: str
    measured: str = "-"
    met: bool | None = None

    @property
    def verdict(self) -> str:
        return {True: "met", False: "missed", None: "not measured"}[self.met]


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def about(date: str) -> str:
    """The date, the machine and the versions of packages as a list."""
    facts = {"date": date, **machine(), **versions()}
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


@dataclass(frozen=True)
class Run:
    """How a benchmark was run: the command, the number of cores that other work kept busy, and the date."""

    command: str
    load: float
    date: str = field(default_factory=now)


@dataclass(frozen=True)
class Report:
    """The outcome of a benchmark: its results as JSON data, its targets, the sections of its page, the problems that
    make the run a failure, and the function that draws its figure."""

    results: Results
    targets: Sequence[Target] = ()
    sections: Sequence[str] = ()
    wrong: Sequence[str] = ()
    plot: Callable[[Path], None] | None = None

    def page(self, title: str, run: Run) -> str:
        """The whole report as Markdown."""
        parts = [f"# {title}", f"`{run.command}`", f"{about(run.date)}\n- cores busy before: {run.load:.1f}"]
        if self.targets:
            lines = [(target.topic, target.promise, target.measured, target.verdict) for target in self.targets]
            parts += ["## Targets", table(("topic", "target", "measured", "verdict"), lines)]
            if run.load > BUSY:
                parts.append(f"Other work kept {run.load:.1f} cores busy before the run: the verdicts are provisional.")
        return "\n\n".join([*parts, *self.sections]) + "\n"

    def write(self, path: Path, title: str, run: Run) -> str:
        """Write the page (``.md``), the results (``.json``) and the figure (``.png``); return the page."""
        path.parent.mkdir(parents=True, exist_ok=True)
        page = self.page(title, run)
        about = {"command_line": run.command, "date": run.date, "load": run.load, "machine": machine()}
        data = {**about, "versions": versions(), "targets": list(map(asdict, self.targets)), **self.results}
        path.with_suffix(".md").write_text(page)
        path.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
        if self.plot is not None:
            self.plot(path.with_suffix(".png"))
        return page
