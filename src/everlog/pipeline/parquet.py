"""Parquet files and Delta tables: row groups to batches of texts."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from everlog.lang.errors import DataError, Place
from everlog.lang.syntax import Predicate
from everlog.pipeline.blocks import unreadable
from everlog.pipeline.room import own_share
from everlog.pipeline.sources import ReadOptions
from everlog.pipeline.split import BadRow, Split
from everlog.pipeline.values import constant_column, texts_of
from everlog.store.errors import first_line

BATCH_ROWS = 1 << 18


def read_parquet(split: Split, options: ReadOptions, bad: list[BadRow]) -> Iterator[pa.RecordBatch]:
    """The facts of some row groups of a Parquet file. A row with a null is bad; its place is the row's number."""
    assert split.source.predicate is not None
    assert split.arity is not None
    predicate = Predicate(split.source.predicate, split.arity)
    with _open(split.path, split.source.compressed) as file:
        row = sum(file.metadata.row_group(group).num_rows for group in range(split.start))
        groups = list(range(split.start, split.end if split.end is not None else file.num_row_groups))
        held = int(BATCH_ROWS * own_share())
        try:
            for batch in file.iter_batches(held, row_groups=groups, use_threads=False):
                yield from _facts(split, predicate, batch, row, bad)
                row += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise unreadable(split.path, error) from error


def _facts(
    split: Split, predicate: Predicate, batch: pa.RecordBatch, row: int, bad: list[BadRow]
) -> Iterator[pa.RecordBatch]:
    names = list(split.columns) or batch.schema.names
    columns = [_texts(split, batch, index, name) for index, name in enumerate(names)]
    rows = batch.num_rows
    if any(column.null_count for column in columns):
        whole = np.ones(rows, np.bool_)
        for name, column in zip(names, columns, strict=True):
            missing = np.asarray(pc.is_null(column)) & whole
            whole &= ~missing
            bad += [
                BadRow(Place(split.path), f"row {row + index + 1} has no value in column {name!r}")
                for index in np.flatnonzero(missing).tolist()
            ]
        columns = [column.filter(pa.array(whole)) for column in columns]
        rows = int(whole.sum())
    if rows:
        yield pa.RecordBatch.from_arrays(
            [constant_column(str(predicate), rows), *columns],
            ["predicate", *(f"c{index}" for index in range(predicate.arity))],
        )


def _texts(split: Split, batch: pa.RecordBatch, index: int, name: str) -> pa.LargeStringArray:
    if not split.columns:
        array = batch.column(index)
    elif (found := batch.schema.get_field_index(name)) >= 0:
        array = batch.column(found)
    else:
        value = dict(split.partition).get(name)
        array = pa.repeat(pa.scalar(value), batch.num_rows)
    try:
        return texts_of(array, name)
    except DataError as error:
        raise DataError(replace(diagnostic, place=Place(split.path)) for diagnostic in error.diagnostics) from None


def parquet_splits(whole: Split, target_bytes: int) -> list[Split]:
    """Neighbouring row groups, together about as large as the target, of a file whose width fits."""
    with _open(whole.path, whole.source.compressed) as file:
        width = len(whole.columns) or len(file.schema_arrow.names)
        sizes = [file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups)]
    if whole.arity not in (None, width):
        raise DataError.of(
            "wrong-arity",
            f"the number of columns is {width}, but {whole.source.predicate} has {whole.arity} arguments",
            Place(whole.path),
            "leave out or add columns, or give the file another predicate with NAME=PATH",
        )
    found, start, size = [], 0, 0
    for group, group_size in enumerate(sizes):
        size += group_size
        if size >= target_bytes or group + 1 == len(sizes):
            found.append(replace(whole, start=start, end=group + 1, arity=width))
            start, size = group + 1, 0
    return found


def delta_files(table: Split) -> list[Split]:
    """The files of the current version of a Delta table, with the columns that only the log knows."""
    import pyarrow.dataset as ds
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        dataset = DeltaTable(table.path).to_pyarrow_dataset()
    except (DeltaError, pa.ArrowException, OSError) as error:
        message, hint = (
            f"the Delta table cannot be read: {first_line(error)}",
            "copy the table again, or take out its _delta_log",
        )
        raise DataError.of("unreadable-table", message, Place(table.path), hint) from error
    columns = tuple(dataset.schema.names)
    found = []
    for fragment in dataset.get_fragments():
        path = os.path.join(table.path, fragment.path)
        path = path if os.path.exists(path) else os.path.join(table.path, unquote(fragment.path))
        partition = tuple(ds.get_partition_keys(fragment.partition_expression).items())
        found.append(replace(table, path=path, columns=columns, partition=partition))
    return found


def _open(path: str, compressed: bool) -> Any:
    try:
        if compressed:
            with gzip.open(path) as file:
                return pq.ParquetFile(pa.BufferReader(file.read()))
        return pq.ParquetFile(path, memory_map=False)
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from error
