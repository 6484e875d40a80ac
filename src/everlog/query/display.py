"""HTML of rows of terms for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from everlog.lang.html import SHOWN, html_table
from everlog.lang.layout import counted
from everlog.lang.printer import cell_text


class Tabular(Protocol):
    """Rows of terms under named columns."""

    @property
    def columns(self) -> Sequence[str]: ...

    def __len__(self) -> int: ...

    def texts(self, start: int, end: int) -> Sequence[pa.Array]:
        """The texts of some rows, column by column."""


def rows_html(rows: Tabular) -> str:
    """A table of the first rows of terms. Unbound cells are empty."""
    total = len(rows)
    caption = counted(total, "row")
    if not rows.columns:
        return f"<p>{'true' if total else 'false'}</p>"
    texts = rows.texts(0, SHOWN)
    cells = ([_cell(text) for text in column.to_pylist()] for column in texts)
    shown = list(zip(*cells, strict=True))
    return html_table(rows.columns, shown, total, caption=caption)


def _cell(text: str | None) -> str:
    return "" if text is None else cell_text(text)
