"""The figures of the papers' tables (``figures.json``), and why ours differ from them (``explanations.json``).

A table has its source, the headings of its columns, and its rows by the name of an input; ``N`` after a name means
without stratification, ``Y`` with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FIGURES: Mapping[str, Any] = json.loads((HERE / "figures.json").read_text())
EXPLANATIONS: Mapping[str, str] = json.loads((HERE / "explanations.json").read_text())


def row(table: str, name: str) -> dict[str, float]:
    """The figures of an input by column; empty if the table does not have them.

    >>> row("thesis-4.2", "UOBM-U")["dred s"], row("thesis-4.2", "nothing")
    (1185.87, {})
    """
    figures = FIGURES[table]
    found = dict(zip(figures["columns"], figures["rows"].get(name, ()), strict=False))
    return {column: figure for column, figure in found.items() if figure is not None}


def explanation(table: str, name: str, column: str, more: bool) -> str | None:
    """Why our figure is more or less than the paper's: the text for an input and a column, or for one of them.

    ``/more`` or ``/less`` at the end of a key restricts it to one of the directions."""
    side = "more" if more else "less"
    cells = (f"{table}/{name}/{column}", f"{table}/*/{column}", f"{table}/{name}")
    keys = (key for cell in cells for key in (f"{cell}/{side}", cell))
    return next((EXPLANATIONS[key] for key in keys if key in EXPLANATIONS), None)
