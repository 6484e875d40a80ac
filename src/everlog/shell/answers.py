"""Answers as lines of a table, up to a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from everlog.lang.printer import print_text

if TYPE_CHECKING:
    from everlog.query.answers import Rows
    from everlog.query.sparql.results import Result


def table_lines(
    rows: Rows, limit: int, prefixes: Mapping[str, str], remember: Callable[[Iterable[str]], None]
) -> Iterator[str]:
    """The lines of the first rows, and the number of rows; ``remember`` is called with the terms shown."""
    total = len(rows)
    shown = min(limit, total)
    columns = [_cells(column, prefixes) for column in rows.texts(0, shown)]
    widths = [max(map(len, [name, *cells])) for name, cells in zip(rows.columns, columns, strict=True)]
    yield _line(rows.columns, widths)
    yield _line(["-" * width for width in widths], widths)
    for row in zip(*columns, strict=True):
        yield _line(row, widths)
    for cells in columns:
        remember(cells)
    many = f"{total:,} answer{'' if total == 1 else 's'}"
    yield many if shown == total else f"{many}, {shown:,} shown; `:limit N` shows more"


def result_lines(result: Result, limit: int, prefixes: Mapping[str, str]) -> Iterator[str]:
    """The lines of the result of a SPARQL query: true or false, triples, or solutions."""
    from everlog.query.sparql.results import Triples, Truth

    if isinstance(result, Truth):
        yield "true" if result else "false"
        return
    shown = result.first(limit)
    cells = [_cells(column, prefixes) for column in shown.texts(0, len(shown))]
    end = " ." if isinstance(result, Triples) else ""
    widths = [max(map(len, [name, *column]), default=0) for name, column in zip(shown.columns, cells, strict=True)]
    if not end:
        yield _line(shown.columns, widths)
        yield _line(["-" * width for width in widths], widths)
    for row in zip(*cells, strict=True):
        yield _line(row, widths) + end
    many = f"{len(result):,} {'triple' if end else 'answer'}{'' if len(result) == 1 else 's'}"
    yield many if len(shown) == len(result) else f"{many}, {len(shown):,} shown; `:limit N` shows more"


def _cells(column: Any, prefixes: Mapping[str, str]) -> list[str]:
    """Terms as they are typed; unbound ones are empty."""
    return ["" if text is None else print_text(text, prefixes) for text in column.to_pylist()]


def _line(cells: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
