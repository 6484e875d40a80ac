"""Answers as lines of a table, up to a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from everlog.lang.layout import counted
from everlog.lang.printer import print_text

if TYPE_CHECKING:
    from everlog.query.answers import Rows
    from everlog.query.sparql.results import Result


def table_lines(
    rows: Rows, limit: int, prefixes: Mapping[str, str], remember: Callable[[Iterable[str]], None]
) -> Iterator[str]:
    """The lines of the first rows, and the number of rows; ``remember`` is called with the terms shown."""
    columns = [_cells(column, prefixes) for column in rows.texts(0, limit)]
    yield from _table(rows.columns, columns, min(limit, len(rows)), len(rows), "answer")
    for cells in columns:
        remember(cells)


def result_lines(result: Result, limit: int, prefixes: Mapping[str, str]) -> Iterator[str]:
    """The lines of the result of a SPARQL query: true or false, triples, or solutions."""
    from everlog.query.sparql.results import Triples, Truth

    if isinstance(result, Truth):
        yield "true" if result else "false"
        return
    shown = result.first(limit)
    columns = [_cells(column, prefixes) for column in shown.texts(0, len(shown))]
    what = "triple" if isinstance(result, Triples) else "answer"
    yield from _table(shown.columns, columns, len(shown), len(result), what)


def _table(names: Sequence[str], columns: Sequence[Sequence[str]], shown: int, total: int, what: str) -> Iterator[str]:
    """The lines of rows; triples have no header and end with a dot."""
    widths = [max(map(len, [name, *cells])) for name, cells in zip(names, columns, strict=True)]
    end = " ." if what == "triple" else ""
    if not end:
        yield _line(names, widths)
        yield _line(["-" * width for width in widths], widths)
    for row in zip(*columns, strict=True):
        yield _line(row, widths) + end
    many = counted(total, what)
    yield many if shown == total else f"{many}, {shown:,} shown; `:limit N` shows more"


def _cells(column: Any, prefixes: Mapping[str, str]) -> list[str]:
    """Terms as they are typed; unbound ones are empty."""
    return ["" if text is None else print_text(text, prefixes) for text in column.to_pylist()]


def _line(cells: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
