"""Comma- and tab-separated files: bytes to batches of texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from everlog.engine.kernels import delimited as kernel
from everlog.ingest.blocks import BLOCK, Blocks, is_utf8
from everlog.ingest.cells import CellRules
from everlog.ingest.sources import FactSource, ReadOptions
from everlog.ingest.split import BadRow, Split
from everlog.ingest.values import fact_batch
from everlog.lang.syntax import Predicate

DELIMITERS = {"csv": ord(","), "tsv": ord("\t")}
REASONS = {
    kernel.STRAY_QUOTE: "a quote inside an unquoted cell; quote the cell and double the quotes in it",
    kernel.AFTER_QUOTE: "text after the closing quote of a cell; double the quotes inside a quoted cell",
    kernel.UNCLOSED_QUOTE: "a quoted cell is never closed",
}


def read_delimited(split: Split, options: ReadOptions, bad: list[BadRow]) -> Iterator[pa.RecordBatch]:
    """The facts of a range of a comma- or tab-separated file."""
    assert split.source.predicate is not None
    assert split.width is not None
    predicate = Predicate(split.source.predicate, len(split.order))
    rules = CellRules.of(options.types, options.prefixes)
    skip = options.header and split.start == 0
    with Blocks(split.path, split.source.compressed, split.start, split.end, BLOCK) as blocks:
        while blocks.read():
            tokens = _tokenise(blocks, split.source, split.width)
            row_starts, _, status, _, _ = tokens
            if len(status) == 0:
                continue
            if skip:
                status[0], skip = kernel.SKIPPED, False
            columns = _mark_bad_bytes(blocks.data, row_starts, status)
            bad += _bad_rows(blocks, tokens, columns, split.width)
            if rows := int(np.count_nonzero(status == kernel.GOOD)):
                texts = [rules.texts(tokens, blocks.data, split.width, place) for place in split.order]
                yield fact_batch(predicate, texts, rows)
            blocks.drop(int(row_starts[-1]))


def first_row(source: FactSource) -> tuple[str, ...] | None:
    """The cells of the first row of a file, unchanged, which may name its columns; None if it has no row."""
    with Blocks(source.path, source.compressed, block=1 << 16) as blocks:
        while blocks.read():
            _, cells, _, _, _ = _tokenise(blocks, source, 1)
            if len(cells):
                width = int(cells[0])
                _, _, _, starts, ends = _tokenise(blocks, source, width)
                return tuple(_cell(blocks.data, *place) for place in zip(starts[:width], ends[:width], strict=True))
    return None


def _cell(data: np.ndarray[Any, Any], start: int, end: int) -> str:
    """A cell without the quotes around it; a negative end says that quotes inside it are doubled."""
    text = data[start : end if end >= 0 else ~end].tobytes().decode(errors="replace")
    return text if end >= 0 else text.replace('""', '"')


def _tokenise(blocks: Blocks, source: FactSource, arity: int) -> Any:
    return kernel.tokenise(blocks.data, DELIMITERS[source.kind], source.kind == "csv", arity, blocks.final)


def _mark_bad_bytes(
    data: np.ndarray[Any, Any], row_starts: np.ndarray[Any, Any], status: np.ndarray[Any, Any]
) -> dict[int, str]:
    """Mark the rows that are not UTF-8, and return the reason for each."""
    if is_utf8(data[: row_starts[-1]]):
        return {}
    reasons = {}
    raw = data[: row_starts[-1]].tobytes()
    for row, (start, end) in enumerate(zip(row_starts[:-1].tolist(), row_starts[1:].tolist(), strict=True)):
        try:
            raw[start:end].decode()
        except UnicodeDecodeError as error:
            if status[row] != kernel.SKIPPED:
                status[row] = kernel.NOT_UTF8
                reasons[row] = (
                    f"byte 0x{raw[start + error.start]:02x} at {error.start + 1} of the row is not valid UTF-8"
                )
    return reasons


def _bad_rows(blocks: Blocks, tokens: Any, not_utf8: dict[int, str], arity: int) -> list[BadRow]:
    row_starts, cells, status, _, _ = tokens
    rows = np.flatnonzero((status != kernel.GOOD) & (status != kernel.SKIPPED)).tolist()
    if not rows:
        return []
    places = blocks.places(int(row_starts[row]) for row in rows)
    return [
        BadRow(place, not_utf8.get(row) or REASONS.get(int(status[row])) or _ragged(int(cells[row]), arity, place))
        for row, place in zip(rows, places, strict=True)
    ]


def _ragged(cells: int, arity: int, place: Any) -> str:
    if cells == 1 and not place.text:
        return f"the row is empty, {arity} cells were expected"
    return f"the row has {cells} cell{'s' * (cells != 1)}, {arity} {'was' if arity == 1 else 'were'} expected"
