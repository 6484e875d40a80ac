"""Parquet files and Delta tables: row groups to batches of texts."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from everlog.ingest.blocks import unreadable
from everlog.ingest.room import own_share
from everlog.ingest.sources import ReadOptions
from everlog.ingest.split import BadRow, Split
from everlog.ingest.values import fact_batch, texts_of
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Place
from everlog.lang.syntax import Predicate
from everlog.store.errors import first_line

BATCH_ROWS = 1 << 18
"""Maximum number of rows of a batch."""


def read_parquet(split: Split, options: ReadOptions, bad: list[BadRow]) -> Iterator[pa.RecordBatch]:
    """The facts of some row groups of a Parquet file. A row with a null is bad; its place is the row's number."""
    assert split.source.predicate is not None
    predicate = Predicate(split.source.predicate, len(split.order))
    with _open(split.path, split.source.compressed) as file:
        row = sum(file.metadata.row_group(group).num_rows for group in range(split.start))
        groups = list(range(split.start, split.end if split.end is not None else file.num_row_groups))
        held = int(BATCH_ROWS * own_share())
        there = file.schema_arrow.names
        columns = [_column(split, there, place) for place in split.order]
        unique = len(set(there)) == len(there)
        wanted = [column.name for column in columns if column.name in there] if unique else None
        try:
            for batch in file.iter_batches(held, row_groups=groups, columns=wanted, use_threads=False):
                yield from _facts(split, predicate, columns, batch, row, bad)
                row += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise unreadable(split.path, error) from error


@dataclass(frozen=True)
class _Column:
    """The column of an argument: its name, and its position if names do not identify the columns of the file."""

    name: str
    place: int | None
    value: object
    """The value of all rows, if the column is not in the file."""

    def array(self, batch: pa.RecordBatch) -> pa.Array:
        place = batch.schema.get_field_index(self.name) if self.place is None else self.place
        return batch.column(place) if place >= 0 else pa.repeat(pa.scalar(self.value), batch.num_rows)


def _column(split: Split, there: list[str], place: int) -> _Column:
    if split.columns:
        return _Column(split.columns[place], None, dict(split.partition).get(split.columns[place]))
    return _Column(there[place], place if len(set(there)) < len(there) else None, None)


def _facts(
    split: Split, predicate: Predicate, columns: list[_Column], batch: pa.RecordBatch, row: int, bad: list[BadRow]
) -> Iterator[pa.RecordBatch]:
    texts = [_texts(split, column.array(batch), column.name, row) for column in columns]
    whole = _kept(split, row, batch.num_rows)
    if any(each.null_count for each in texts):
        for column, each in zip(columns, texts, strict=True):
            missing = np.asarray(pc.is_null(each)) & whole
            whole &= ~missing
            bad += [
                BadRow(Place(split.path), f"row {row + index + 1} has no value in column {column.name!r}")
                for index in np.flatnonzero(missing).tolist()
            ]
    rows = int(whole.sum())
    if rows < len(whole):
        texts = [each.filter(pa.array(whole)) for each in texts]
    if rows:
        yield fact_batch(predicate, texts, rows)


def _kept(split: Split, row: int, rows: int) -> np.ndarray[Any, Any]:
    """A mask of the rows of the file that are rows of the table."""
    if not split.deleted:
        return np.ones(rows, np.bool_)
    bits = np.unpackbits(np.frombuffer(split.deleted, np.uint8), count=row + rows)
    return bits[row:] == 0


def _texts(split: Split, array: pa.Array, name: str, row: int) -> pa.LargeStringArray:
    try:
        return texts_of(array, name, row)
    except DataError as error:
        raise DataError(replace(diagnostic, place=Place(split.path)) for diagnostic in error.diagnostics) from None


def column_names(split: Split) -> tuple[str, ...]:
    """The names of the columns of a Parquet file or a Delta table."""
    if split.columns:
        return split.columns
    with _open(split.path, split.source.compressed) as file:
        return tuple(file.schema_arrow.names)


def parquet_splits(whole: Split, target_bytes: int) -> list[Split]:
    """Splits of neighbouring row groups, each about as large as the target."""
    with _open(whole.path, whole.source.compressed) as file:
        sizes = [file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups)]
    found, start, size = [], 0, 0
    for group, group_size in enumerate(sizes):
        size += group_size
        if size >= target_bytes or group + 1 == len(sizes):
            found.append(replace(whole, start=start, end=group + 1))
            start, size = group + 1, 0
    return found


READABLE = frozenset({"timestampNtz", "deletionVectors", "columnMapping", "variantType", "variantType-preview"})
"""The features of Delta tables that :func:`delta_files` and a plain reader handle."""


def delta_files(table: Split) -> list[Split]:
    """The files of the current version of a Delta table, with columns and deleted rows, which only the log has."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        opened = DeltaTable(table.path)
        _refuse_unreadable(opened, table.path)
        columns = tuple(field.name for field in opened.schema().fields)
        actions = pa.table(opened.get_add_actions()).to_pylist()
        deleted = _deleted_rows(opened)
    except (DeltaError, pa.ArrowException, OSError) as error:
        message = f"the Delta table cannot be read: {first_line(error)}"
        hint = "copy the table again; if it is whole, write its rows as Parquet files with the tool that wrote it"
        raise DataError.of(Code.UNREADABLE_TABLE, message, Place(table.path), hint) from error
    found = []
    for action in actions:
        path = os.path.join(table.path, unquote(action["path"]))
        partition = tuple((action.get("partition") or {}).items())
        rows = deleted.pop(os.path.realpath(path), b"")
        found.append(replace(table, path=path, columns=columns, partition=partition, deleted=rows))
    assert not deleted, "deleted rows of files that the table does not have"
    return found


def _deleted_rows(table: Any) -> dict[str, bytes]:
    """The rows that deletion vectors remove from files, by the file's path: a bit for each row."""
    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return {}
    vectors = pa.table(table.deletion_vectors())
    paths = (os.path.realpath(unquote(urlparse(uri).path)) for uri in vectors["filepath"].to_pylist())
    kept = (np.asarray(rows.values) for chunk in vectors["selection_vector"].chunks for rows in chunk)
    return {path: np.packbits(~rows).tobytes() for path, rows in zip(paths, kept, strict=True)}


def _refuse_unreadable(table: Any, path: str) -> None:
    """Raise an error if the files of a table do not have the meaning that a plain reader finds in them."""
    needed = set(table.protocol().reader_features or ()) - READABLE
    mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    if mapping != "none":
        needed.add(f"columnMapping by {mapping}")
    if needed:
        names = ", ".join(sorted(needed))
        hint = "write its rows as Parquet files with the tool that wrote the table, or insert them as a data frame"
        message = f"the Delta table needs what Everlog does not have: {names}"
        raise DataError.of(Code.UNREADABLE_TABLE, message, Place(path), hint)


def _open(path: str, compressed: bool) -> Any:
    try:
        if compressed:
            with gzip.open(path) as file:
                return pq.ParquetFile(pa.BufferReader(file.read()))
        return pq.ParquetFile(path, memory_map=False)
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from error
