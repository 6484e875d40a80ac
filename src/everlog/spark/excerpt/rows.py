"""Rows of a version of a store, read by row group: only such as may have what is looked up."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from everlog.engine.keys import Column
from everlog.spark.groups import Groups
from everlog.store import schema

REMEMBERED_ROWS = 1 << 21
"""Row groups that were read last are kept up to so many rows."""

Values = NDArray[Any]


class TooMuchError(Exception):
    """More than one task should take on."""


@dataclass(frozen=True)
class Found:
    """Rows of a predicate: their arguments, and their weights by name."""

    arguments: list[Column]
    weights: Mapping[str, Values]


class Rows:
    """See the module. ``read`` says how many rows were read so far; at ``most`` so many are.

    The row groups that were read last are remembered, as long as they have at most ``room`` rows together.
    """

    def __init__(self, groups: Groups, most: int, room: int = REMEMBERED_ROWS) -> None:
        self.groups = groups
        self.most = most
        self.room = room
        self.read = 0
        self._files: dict[int, pq.ParquetFile] = {}
        self._blocks: OrderedDict[tuple[int, int], _Block] = OrderedDict()
        self._kept = 0

    def size(self, predicate: int) -> int:
        """How many rows of a predicate there are at most."""
        return self.groups.size([predicate])

    def of(self, predicate: int, arity: int, column: int | None, values: Column) -> Found:
        """The rows of a predicate that have one of the values, ascending, in a column; without a column all rows."""
        chosen = self.groups.having([predicate])
        if column is not None:
            touched = self.groups.touched(chosen, column, values)
            chosen = chosen if touched is None else touched
        file, group, rows = self.groups.different(chosen)
        places = list(zip(file.tolist(), group.tolist(), strict=True))
        self._require(int(rows[[place not in self._blocks for place in places]].sum()))
        blocks = [block for block in map(self._block, places) if len(block.arguments) >= arity]
        found = [block.having(predicate, arity, column, values) for block in blocks]
        arguments = [_joined(each.arguments[i] for each in found) for i in range(arity)]
        return Found(arguments, {name: _joined(each.weights[name] for each in found) for name in schema.WEIGHTS})

    def _require(self, rows: int) -> None:
        if self.read + rows > self.most:
            raise TooMuchError(f"more than {self.most:,} rows would be read")

    def _block(self, place: tuple[int, int]) -> _Block:
        if place not in self._blocks:
            number, group = place
            if number not in self._files:
                self._files[number] = pq.ParquetFile(self.groups.files[number], memory_map=True)
            self._blocks[place] = block = _Block.read(self._files[number], group)
            self.read += len(block)
            self._kept += len(block)
            while self._kept > self.room and len(self._blocks) > 1:
                self._kept -= len(self._blocks.popitem(last=False)[1])
        self._blocks.move_to_end(place)
        return self._blocks[place]


def _joined(columns: Iterable[Values]) -> Values:
    return np.concatenate([np.empty(0, np.int64), *columns])


@dataclass(frozen=True)
class _Block:
    """The columns of a row group, whose rows are sorted by predicate and first argument; nulls are 0."""

    predicates: Column
    arguments: list[Column]
    weights: Mapping[str, Values]

    def __len__(self) -> int:
        return len(self.predicates)

    @classmethod
    def read(cls, file: pq.ParquetFile, group: int) -> _Block:
        rows = file.read_row_group(group, use_threads=False)
        columns = {name: rows.column(name).fill_null(0).to_numpy() for name in rows.column_names}
        arguments = [columns[name] for name in schema.columns(schema.width_of(columns)) if name in columns]
        return cls(columns["predicate"], arguments, {name: columns[name] for name in schema.WEIGHTS})

    def having(self, predicate: int, arity: int, column: int | None, values: Column) -> Found:
        """The rows of a predicate that have one of the values in a column."""
        first, end = np.searchsorted(self.predicates, predicate), np.searchsorted(self.predicates, predicate, "right")
        mine: slice | Column = slice(int(first), int(end))
        if column is not None:
            mine = first + self._places(self.arguments[column][mine], values, is_sorted=column == 0)
        arguments = [self.arguments[i][mine] for i in range(arity)]
        return Found(arguments, {name: weights[mine] for name, weights in self.weights.items()})

    @staticmethod
    def _places(column: Column, values: Column, is_sorted: bool) -> Column:
        """Where a column has one of the values."""
        if not is_sorted:
            at = np.minimum(np.searchsorted(values, column), len(values) - 1)
            return np.flatnonzero(values[at] == column)
        low, high = np.searchsorted(column, values), np.searchsorted(column, values, "right")
        counts = high - low
        starts = np.repeat(low - (np.cumsum(counts) - counts), counts)
        return starts + np.arange(counts.sum())
