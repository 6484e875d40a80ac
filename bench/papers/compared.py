"""Tables of figures of a paper beside ours, with a sentence where they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.papers.figures import FIGURES, explanation
from bench.report import table

Pair = tuple[float | None, float | None]
"""A figure of the paper and ours."""

DIFFER = 2.0
"""The factor above which a difference is explained."""

UNEXPLAINED = "Not explained yet."


@dataclass(frozen=True)
class Compared:
    """One row: an input with its figures by column."""

    name: str
    pairs: Mapping[str, Pair]


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper: its key in ``figures.json``, a title, and its rows."""

    key: str
    title: str
    rows: Sequence[Compared]
    form: Callable[[float], str] = lambda figure: f"{figure:.3g}"

    @property
    def measured(self) -> list[Compared]:
        """The rows with a figure of ours."""
        return [row for row in self.rows if any(ours is not None for _, ours in row.pairs.values())]

    def differences(self) -> Iterable[tuple[str, str, str | None]]:
        """The input and the column of each figure that differs by more than twice, and why."""
        for row in self.measured:
            for column, pair in row.pairs.items():
                if differs(pair):
                    theirs, ours = pair
                    yield row.name, column, explanation(self.key, row.name, column, more=(ours or 0) > (theirs or 0))

    def text(self) -> str:
        rows = self.measured
        if not rows:
            return "not measured"
        why: dict[str, dict[str, None]] = {row.name: {} for row in rows}
        for name, _, reason in self.differences():
            why[name][reason or UNEXPLAINED] = None
        columns = list(dict.fromkeys(column for row in rows for column in row.pairs))
        cells = [
            [
                row.name,
                *(self._cell(row.pairs.get(column, (None, None))) for column in columns),
                " ".join(why[row.name]),
            ]
            for row in rows
        ]
        source = FIGURES[self.key]["source"]
        return f"{source}: theirs / ours\n\n" + table(("input", *columns, "why they differ"), cells)

    def _cell(self, pair: Pair) -> str:
        theirs, ours = ("-" if figure is None else self.form(figure) for figure in pair)
        if theirs == ours == "-":
            return "-"
        return f"{theirs} / **{ours}**" if differs(pair) else f"{theirs} / {ours}"


def differs(pair: Pair) -> bool:
    """Whether both figures are known and differ by more than :data:`DIFFER`.

    >>> differs((1.0, 1.5)), differs((1.0, 3.0)), differs((None, 1.0)), differs((0.0, 1.0))
    (False, True, False, False)
    """
    theirs, ours = pair
    return bool(theirs) and bool(ours) and not 1 / DIFFER <= ours / theirs <= DIFFER  # type: ignore[operator]
