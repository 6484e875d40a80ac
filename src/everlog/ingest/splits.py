"""Cutting sources into splits of similar size that can be read independently."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from everlog.engine.kernels.delimited import CELL_START, record_starts
from everlog.ingest.blocks import BLOCK, BYTE_ORDER_MARK, open_bytes, unreadable
from everlog.ingest.columns import Header, Headers, TableHeader, header_of, order_of, pick_hint
from everlog.ingest.delimited import first_row
from everlog.ingest.parquet import column_names, delta_files, parquet_splits
from everlog.ingest.sources import FactSource, ReadOptions
from everlog.ingest.split import Split
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import DataError, Diagnostic, Place
from everlog.settings import LARGE_GZ

TARGET = 64 << 20
"""Bytes of a split, of files that can be cut."""
RANGED = frozenset({"csv", "tsv", "nt", "nq"})
"""The kinds of files that are read in ranges of bytes."""


def splits(sources: Sequence[FactSource], options: ReadOptions, *, headers: Headers | None = None) -> list[Split]:
    """The splits of all sources, each about ``TARGET`` bytes long where its kind can be cut.

    Tabular sources get their arguments here: the columns that the user picked, or all of them. Those of several
    files of one predicate are aligned by name (see :mod:`everlog.ingest.columns`); ``headers`` has the names that
    are known already, and gets the new ones. A bare predicate with two widths is a :class:`DataError`.
    """
    headers = {} if headers is None else headers
    known: dict[str, Split] = {}
    found = []
    for source in sources:
        for split in _splits(source, options, headers):
            if source.predicate is not None and not source.predicate.startswith("<"):
                _check_width(known.setdefault(source.predicate, split), split)
            found.append(split)
    return found


def large_files(parts: Sequence[Split], megabytes: int = LARGE_GZ) -> Iterator[Diagnostic]:
    """A warning for each compressed file above a size: it is one stream, so one task reads it alone."""
    for part in parts:
        if part.source.compressed and (size := os.path.getsize(part.path)) > megabytes << 20:
            hint = "unpack the file, or split it into several .gz files of whole rows"
            if part.source.kind in ("ttl", "trig", "rdf"):
                hint = "convert it to N-Triples or N-Quads, unpacked or in several .gz files"
            message = f"a compressed file of {size / (1 << 20):,.0f} MB is read by one task alone"
            yield Diagnostic(Code.LARGE_GZ, message, Place(part.shown), hint, severity=Severity.WARNING)


def _splits(source: FactSource, options: ReadOptions, headers: Headers) -> Iterator[Split]:
    whole = Split(source, source.path, 0, None, None)
    try:
        for file in delta_files(whole) if source.kind == "delta" else [whole]:
            if source.predicate is None:
                yield from _file_splits(file)
            elif (table := _table(file, options)) is not None:
                yield from _file_splits(_bound(file, table, options, headers))
    except OSError as error:
        raise unreadable(source.shown(source.path), error) from error
    except DataError as error:
        raise error if source.copy is None else source.copy.as_given(error) from None


def _table(split: Split, options: ReadOptions) -> TableHeader | None:
    """The columns of a file; None if it is a delimited file without a row."""
    source = split.source
    assert source.predicate is not None
    names, width = None, options.arities.get(source.predicate)
    if source.kind in ("parquet", "delta"):
        names = column_names(split)
    elif options.header or width is None:
        row = first_row(source)
        if row is None:
            return None
        names, width = row if options.header else None, len(row)
    if names is not None:
        width = len(names)
    assert width is not None
    path = source.path if source.kind == "delta" else split.path
    pick = partial(_pick_text, source.predicate, source.shown(path))
    return TableHeader(source.predicate, width, names, path, Place(path), pick)


def _pick_text(predicate: str, path: str, names: Sequence[str]) -> str:
    written = (f'"{name}"' if set(name) & set(",[] ") else name for name in names)
    return f"'{predicate}={path}[{', '.join(written)}]'"


def _bound(split: Split, table: TableHeader, options: ReadOptions, headers: Headers) -> Split:
    """The split with the order of its arguments."""
    picked = split.source.columns
    arity = options.arities.get(table.predicate)
    key = (table.predicate, len(picked) or table.width)
    order = order_of(table, picked, headers.get(key))
    if arity not in (None, len(order)):
        raise _wrong_width(table, len(order), arity, headers.get((table.predicate, arity)))
    header = header_of(table, order)
    if header is not None:
        headers.setdefault(key, header)
    return replace(split, arity=len(order), width=table.width, order=order)


def _wrong_width(table: TableHeader, width: int, arity: int, known: Header | None) -> DataError:
    what = "columns" if width == table.width else "picked columns"
    message = f"the number of {what} is {width}, but {table.predicate} has {arity} arguments"
    other = "give the file another predicate with NAME=PATH"
    picking = pick_hint(table, arity, known)
    hint = f"add columns, or {other}" if picking is None else f"{picking}, or {other}"
    return DataError.of(Code.WRONG_ARITY, message, table.place, hint)


def _file_splits(split: Split) -> Iterable[Split]:
    source = split.source
    if source.kind in ("parquet", "delta"):
        return parquet_splits(split, TARGET)
    if source.kind not in RANGED or source.compressed:
        return [split]
    size = os.path.getsize(split.path)
    if source.kind == "csv" and size > TARGET:
        cuts = [0, *_record_starts(split.path, TARGET), size]
    else:
        cuts = [*range(0, size, TARGET), size]
    return [replace(split, start=start, end=end) for start, end in pairwise(cuts) if start < end]


def _record_starts(path: str, step: int) -> list[int]:
    """Positions where rows of a comma-separated file begin, about one every ``step`` bytes."""
    found: list[int] = []
    with open_bytes(path, False) as file:
        position = len(BYTE_ORDER_MARK) if file.read(3) == BYTE_ORDER_MARK else 0
        file.seek(position)
        state, target = CELL_START, step
        while chunk := file.read(BLOCK):
            data = np.frombuffer(bytearray(chunk), np.uint8)
            starts, state, target = record_starts(data, state, position, step, target)
            found += starts.tolist()
            position += len(chunk)
    return found


def _check_width(first: Split, other: Split) -> None:
    if first.arity == other.arity:
        return
    message = f"{first.source.predicate} has {other.arity} columns here and {first.arity} in {first.shown}"
    picking = "pick as many by name with NAME=PATH[COLUMN, ...]"
    hint = f"a bare name has one number of columns; {picking}, or give one of the files another NAME=PATH"
    raise DataError.of(Code.TWO_ARITIES, message, Place(other.shown), hint)
