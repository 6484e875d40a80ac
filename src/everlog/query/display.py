"""The forms of all kinds of answers in other libraries, and their display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from everlog.lang.html import SHOWN, html_table
from everlog.lang.layout import counted
from everlog.lang.printer import cell_text


class Frames:
    """Answers in the forms of other libraries, all made from an Arrow table."""

    def to_arrow(self) -> pa.Table:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A pandas DataFrame; see :meth:`to_arrow`."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A Polars DataFrame; see :meth:`to_arrow`."""
        import polars

        return polars.from_arrow(self.to_arrow())


class Tabular(Frames):
    """Rows of terms under named columns."""

    columns: tuple[str, ...]

    def __len__(self) -> int:
        raise NotImplementedError

    def rows(self, limit: int | None = None) -> Sequence[tuple[Any, ...]]:
        raise NotImplementedError

    def texts(self, start: int = 0, stop: int | None = None) -> list[pa.LargeStringArray]:
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.rows(3)))
        more = ", ..." if len(self) > 3 else ""
        return f"<{type(self).__name__} ({', '.join(self.columns)}): {len(self):,} rows [{shown}{more}]>"

    def _repr_html_(self) -> str:
        """A table of the first rows for notebooks. Unbound cells are empty."""
        total = len(self)
        if not self.columns:
            return f"<p>{'true' if total else 'false'}</p>"
        cells = ([_cell(text) for text in column.to_pylist()] for column in self.texts(0, SHOWN))
        return html_table(self.columns, list(zip(*cells, strict=True)), total, caption=counted(total, "row"))


def _cell(text: str | None) -> str:
    return "" if text is None else cell_text(text)
