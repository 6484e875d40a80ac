"""Reads rows of a version of a store by row group; row groups that cannot have the values looked up are not read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from everlog.backends.too_much import TooMuchError
from everlog.engine.keys import Column
from everlog.engine.tables import argument_names
from everlog.store import schema
from everlog.store.blooms import Bloom, read_bloom
from everlog.store.files import open_file
from everlog.store.groups import Chosen, Groups

REMEMBERED_ROWS = 1 << 21
"""Maximum number of rows in the row groups that stay in memory after reading, and, times eight, of rows behind the
Bloom filters that do."""

FILTER_ROWS = 100
"""Number of rows that can be read in the time of looking into one Bloom filter; a look counts as this many rows."""

Values = NDArray[Any]
RowGroup = tuple[int, int]
"""The number of a file, and of a row group in it."""


@dataclass(frozen=True)
class FoundRows:
    """Rows of a predicate: the columns of their arguments, and those of their weights by name."""

    arguments: list[Column]
    weights: Mapping[str, Values]


class RowReader:
    """Reads rows by row group and keeps the row groups read last in memory, up to ``room`` rows.

    ``read`` is the number of rows read so far; the reader gives up at more than ``most``.
    """

    def __init__(self, groups: Groups, most: int, room: int = REMEMBERED_ROWS) -> None:
        self.groups = groups
        self.most = most
        self.room = room
        self.read = 0
        self._looked_into = 0
        self._footers: dict[int, Any] = {}
        self._blocks: OrderedDict[RowGroup, _Block] = OrderedDict()
        self._kept = 0
        largest = int(groups.rows.max(initial=1))
        self._remembered = lru_cache(maxsize=max(1, 8 * room // largest))(read_bloom)

    def size(self, predicate: int) -> int:
        """The maximum number of rows of a predicate, from the footers."""
        return self.groups.size([predicate])

    def touched(self, predicate: int, column: int | None = None, values: Column | None = None) -> Chosen:
        """The row groups of a predicate that may have one of the values in a column."""
        chosen = self.groups.having([predicate])
        if column is None or values is None:
            return chosen
        touched = self.groups.touched(chosen, column, values, self._filter)
        self._require(0)
        return chosen if touched is None else touched

    def of(
        self,
        predicate: int,
        arity: int,
        chosen: Chosen,
        column: int | None = None,
        values: Column | None = None,
        weighing: Sequence[str] = (),
    ) -> FoundRows:
        """The rows of a predicate in the chosen row groups that have one of the values, ascending, in a column.

        If weights are named, only rows for which one of these is not zero are returned.
        """
        file, group, rows = self.groups.different(chosen)
        places = list(zip(file.tolist(), group.tolist(), strict=True))
        if weighing:
            there = [self._weighs(place, weighing) for place in places]
            places, rows = [place for place, is_there in zip(places, there, strict=True) if is_there], rows[there]
        self._require(int(rows[[place not in self._blocks for place in places]].sum()))
        blocks = (block for block in map(self._block, places) if len(block.arguments) >= arity)
        found = [block.having(predicate, arity, column, values, weighing) for block in blocks]
        arguments = [_joined(each.arguments[i] for each in found) for i in range(arity)]
        return FoundRows(arguments, {name: _joined(each.weights[name] for each in found) for name in schema.WEIGHTS})

    def _require(self, rows: int) -> None:
        if self.read + rows + FILTER_ROWS * self._looked_into > self.most:
            raise TooMuchError(f"more than {self.most:,} rows would be read")

    def _filter(self, file: str, offset: int, length: int) -> Bloom:
        self._looked_into += 1
        return self._remembered(file, offset, length)

    def _footer(self, number: int) -> Any:
        if number not in self._footers:
            self._footers[number] = open_file(Path(self.groups.files[number])).metadata
        return self._footers[number]

    def _weighs(self, place: RowGroup, names: Sequence[str]) -> bool:
        """Whether one of the named weights may be other than zero in some row of a row group."""
        group = self._footer(place[0]).row_group(place[1])
        columns = [group.column(i) for i in range(group.num_columns)]
        found = [column.statistics for column in columns if column.path_in_schema in names]
        return any(each is None or not each.has_min_max or each.min != 0 or each.max != 0 for each in found)

    def _block(self, place: RowGroup) -> _Block:
        if place not in self._blocks:
            number, group = place
            with open_file(Path(self.groups.files[number]), self._footer(number)) as file:
                self._blocks[place] = block = _Block.read(file, group)
            self.read += len(block)
            self._kept += len(block)
            while self._kept > self.room and len(self._blocks) > 1:
                self._kept -= len(self._blocks.popitem(last=False)[1])
        self._blocks.move_to_end(place)
        return self._blocks[place]


def _joined(columns: Iterable[Values]) -> Values:
    return np.concatenate([np.empty(0, np.int64), *columns])


@dataclass(frozen=True, eq=False)
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
        arguments = [columns[name] for name in argument_names(schema.width_of(columns)) if name in columns]
        return cls(columns["predicate"], arguments, {name: columns[name] for name in schema.WEIGHTS})

    def having(
        self, predicate: int, arity: int, column: int | None, values: Column | None, weighing: Sequence[str]
    ) -> FoundRows:
        """The rows of a predicate that have one of the values in a column, and one of the weights other than zero."""
        first, end = np.searchsorted(self.predicates, predicate), np.searchsorted(self.predicates, predicate, "right")
        mine: slice | Column = slice(int(first), int(end))
        if column is not None and values is not None:
            mine = first + self._places(self.arguments[column][mine], values, is_sorted=column == 0)
        if weighing:
            there = np.logical_or.reduce([self.weights[name][mine] != 0 for name in weighing])
            mine = np.arange(first, end)[there] if isinstance(mine, slice) else mine[there]
        arguments = [self.arguments[i][mine] for i in range(arity)]
        return FoundRows(arguments, {name: weights[mine] for name, weights in self.weights.items()})

    @staticmethod
    def _places(column: Column, values: Column, is_sorted: bool) -> Column:
        """The positions at which a column has one of the values."""
        if not is_sorted:
            at = np.minimum(np.searchsorted(values, column), len(values) - 1)
            return np.flatnonzero(values[at] == column)
        low, high = np.searchsorted(column, values), np.searchsorted(column, values, "right")
        counts = high - low
        starts = np.repeat(low - (np.cumsum(counts) - counts), counts)
        return starts + np.arange(counts.sum())
