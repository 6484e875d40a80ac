"""Rows of facts as sorted columns: order, search, sums.

A key is a list of int64 columns, most significant first. A predicate has one arity, so the nulls
beyond it are the same in all rows that could be compared and stand as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.tables import fact_columns
from everlog.store import schema

Ints = NDArray[np.int64]
Key = Sequence[Ints]


def plain(column: Any) -> NDArray[Any]:
    """A column as NumPy, nulls as 0, without a copy where there are none."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    found: NDArray[Any] = (column.fill_null(0) if column.null_count else column).to_numpy()
    return found


def key_of(rows: pa.Table | pa.RecordBatch, names: Sequence[str]) -> list[Ints]:
    """The key columns of rows."""
    return [plain(rows.column(name)) for name in names]


def first_disorder(key: Key) -> int | None:
    """The first row that is not greater than the one before, None if rows strictly increase.

    >>> first_disorder([np.array([1, 1, 2]), np.array([5, 6, 0])]) is None
    True
    >>> first_disorder([np.array([1, 1, 2]), np.array([5, 5, 0])])
    1
    """
    if len(key[0]) < 2:
        return None
    equal, below = key[0][:-1] == key[0][1:], key[0][:-1] < key[0][1:]
    for column in key[1:]:
        if not equal.any():
            break
        below |= equal & (column[:-1] < column[1:])
        equal &= column[:-1] == column[1:]
    wrong = np.flatnonzero(~below)
    return int(wrong[0]) + 1 if len(wrong) else None


def sort_order(key: Key) -> Ints:
    """The permutation that sorts rows."""
    return np.lexsort(tuple(reversed(key)))


def row_key(key: Key, row: int) -> tuple[int, ...]:
    """The key of one row as a tuple."""
    return tuple(int(column[row]) for column in key)


def lower_bound(key: Key, queries: Key) -> Ints:
    """For each query, the first row of the sorted ``key`` that is not below it.

    A binary search of all queries at once: O(log n) passes over the queries.

    >>> lower_bound([np.array([1, 1, 3]), np.array([2, 4, 0])], [np.array([1, 2, 4]), np.array([4, 0, 0])]).tolist()
    [1, 2, 3]
    """
    low = np.zeros(len(queries[0]), np.int64)
    high = np.full(len(queries[0]), len(key[0]), np.int64)
    while (open_ := low < high).any():
        middle = np.minimum((low + high) >> 1, max(len(key[0]) - 1, 0))
        less = _below(key, middle, queries) & open_
        low = np.where(less, middle + 1, low)
        high = np.where(open_ & ~less, middle, high)
    return low


def _below(key: Key, rows: Ints, queries: Key) -> NDArray[np.bool_]:
    below = np.zeros(len(rows), np.bool_)
    equal = np.ones(len(rows), np.bool_)
    for column, query in zip(key, queries, strict=True):
        value = column[rows]
        below |= equal & (value < query)
        equal &= value == query
    return below


def equal_at(key: Key, rows: Ints, queries: Key) -> NDArray[np.bool_]:
    """A mask of the queries that equal the row given for them; a row past the end equals no query."""
    if not len(key[0]):
        return np.zeros(len(rows), np.bool_)
    equal = rows < len(key[0])
    at = np.minimum(rows, len(key[0]) - 1)
    for column, query in zip(key, queries, strict=True):
        equal &= column[at] == query
    return equal


def changing(rows: pa.Table) -> pa.Table:
    """The rows that have a weight other than 0."""
    found = np.logical_or.reduce([plain(rows.column(name)) != 0 for name in schema.WEIGHTS])
    return rows.filter(pa.array(found))


def summed(rows: pa.Table, width: int) -> pa.Table:
    """The rows sorted, one for each fact, with weights added; facts whose weights are all 0 stay."""
    names = fact_columns(width)
    key = key_of(rows, names)
    if first_disorder(key) is None:
        return rows
    order = sort_order(key)
    key = [column[order] for column in key]
    new = np.zeros(len(order), np.bool_)
    new[:1] = True
    for column in key:
        new[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(new)
    found = rows.select(names).take(order[starts])
    for name in schema.WEIGHTS:
        weights = plain(rows.column(name))[order].astype(np.int64)
        total = np.add.reduceat(weights, starts)
        kind = schema.WEIGHT_TYPES[name]
        found = found.append_column(schema.facts(width).field(name), pa.array(total).cast(kind))
    return found
