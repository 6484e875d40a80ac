"""Writing answers: as a table, CSV, JSON, Parquet or Arrow, a batch of rows at a time."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from everlog.cli.terminal import VisibleBytes
from everlog.query.answers import Rows
from everlog.query.cells import csv_cells, data_of, interleaved, joined, json_values, table_cells

BINARY = frozenset({"parquet", "arrow"})
GAP = "  "


def write_answers(
    rows: Rows, form: str, output: str | None, *, limit: int | None = None, prefixes: Mapping[str, str]
) -> int:
    """Write rows to a file or stdout; returns their number. Rows without columns are true or false."""
    count = len(rows) if limit is None else min(limit, len(rows))
    with sink(output) as file:
        if form in BINARY:
            _write_arrow(rows, count, file, form, whole=output is not None)
        elif not rows.columns:
            file.write(b"true\n" if rows else b"false\n")
        else:
            TEXT_WRITERS[form](rows, count, file, prefixes)
    return count


@contextmanager
def sink(output: str | None) -> Iterator[IO[bytes]]:
    """A context with stdout, or with a file that gets its name only when it is complete; devices and pipes are not
    replaced.

    On a terminal control characters are written as escapes.
    """
    if output is None or output == "-":
        sys.stdout.flush()
        yield cast(IO[bytes], VisibleBytes(sys.stdout.buffer)) if sys.stdout.isatty() else sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(output)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    making = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with _opened(making, output) as file:
            yield file
        making.replace(path)
    finally:
        making.unlink(missing_ok=True)


def _opened(making: Path, output: str) -> IO[bytes]:
    """Open a new file; errors show the name that the user gave."""
    try:
        return making.open("wb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, output) from error


def text_batches(rows: Rows, count: int) -> Iterator[list[pa.LargeStringArray]]:
    """The first rows as columns of canonical texts."""
    if rows.columns:
        yield from rows.text_batches(count)
    elif count:
        yield []


def write_csv(rows: Rows, count: int, file: IO[bytes], prefixes: Mapping[str, str], *, header: bool = True) -> None:
    """Write one line for each row; cells are terms as rules write them, strings bare where that is unambiguous."""
    if header:
        file.write((",".join(rows.columns) + "\n").encode())
    alone = len(rows.columns) == 1
    for texts in text_batches(rows, count):
        shown = [csv_cells(column, prefixes, alone) for column in texts]
        file.write(data_of(joined([*interleaved(shown, ","), "\n"])))


def _write_json(rows: Rows, count: int, file: IO[bytes], prefixes: Mapping[str, str]) -> None:
    names = [json.dumps(name) for name in rows.columns]
    for texts in text_batches(rows, count):
        pieces: list[Any] = []
        for position, (name, column) in enumerate(zip(names, texts, strict=True)):
            pieces += [f"{', ' if position else '{'}{name}: ", json_values(column)]
        file.write(data_of(joined([*pieces, "}\n"])))


def _write_table(rows: Rows, count: int, file: IO[bytes], prefixes: Mapping[str, str]) -> None:
    """Write a table whose columns are as wide as the first batch needs; wider cells in later batches are not
    aligned."""
    widths: list[int] = []
    for texts in text_batches(rows, count):
        shown = [table_cells(column, prefixes) for column in texts]
        if not widths:
            widths = [max(len(name), _width(column)) for name, column in zip(rows.columns, shown, strict=True)]
            _write_head(rows.columns, widths, file)
        padded = [_padded(column, width) for column, width in zip(shown[:-1], widths, strict=False)]
        file.write(data_of(joined([*interleaved([*padded, shown[-1]], GAP), "\n"])))
    if not count:
        _write_head(rows.columns, [len(name) for name in rows.columns], file)


def _write_head(names: tuple[str, ...], widths: list[int], file: IO[bytes]) -> None:
    head = GAP.join(name.ljust(width) for name, width in zip(names, widths, strict=True)).rstrip()
    file.write(f"{head}\n{GAP.join('-' * width for width in widths)}\n".encode())


def _width(column: Any) -> int:
    if pc.all(pc.string_is_ascii(column)).as_py() is not False:
        return int(pc.max(pc.utf8_length(column)).as_py() or 0)
    from rich.cells import cell_len

    return max(map(cell_len, column.to_pylist()), default=0)


def _padded(column: Any, width: int) -> Any:
    if pc.all(pc.string_is_ascii(column)).as_py() is not False:
        return pc.utf8_rpad(column, width)
    from rich.cells import cell_len

    made = [cell + " " * (width - cell_len(cell)) for cell in column.to_pylist()]
    return pa.array(made, pa.large_string())


def _write_arrow(rows: Rows, count: int, file: IO[bytes], form: str, whole: bool) -> None:
    """Write Parquet, or Arrow IPC: the file format to a file, the stream format to a pipe."""
    if not rows.columns:
        answer = pa.table({"answer": pa.array([bool(rows)])})
        schema, batches = answer.schema, iter(answer.to_batches())
    else:
        schema, batches = rows.schema, rows.batches(0, count)
    target = pa.PythonFile(file, "w")
    if form == "parquet":
        import pyarrow.parquet as pq

        with pq.ParquetWriter(target, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return
    with pa.ipc.new_file(target, schema) if whole else pa.ipc.new_stream(target, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


TEXT_WRITERS: Mapping[str, Callable[[Rows, int, IO[bytes], Mapping[str, str]], None]] = {
    "csv": write_csv,
    "json": _write_json,
    "table": _write_table,
}
