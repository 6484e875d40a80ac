"""Which row groups of a store a few facts can touch, so that no others are read.

The rows of a store are sorted by predicate and first argument, and the footers of its files say what each row group
ranges over. Tasks that write facts return, for each predicate and argument, which row groups have that value as first
argument of some fact: a bit mask, not the values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.engine.keys import Column

MOST_VALUES = 1 << 14
"""More values than this in one file touch all row groups: ids are hashes, which spread."""

MOST_RANGES = 200
"""A filter of more ranges than this is no filter."""

Mask = int
"""The row groups whose bits are set."""

Ends = tuple[int, int, int, int, int]

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest first argument in each row group.

    >>> bounds = Bounds(np.array([0, 10, 20]), np.array([9, 19, 29]))
    >>> bin(bounds.touched(np.array([5, 25, 26])))
    '0b101'
    """

    low: Column
    high: Column

    def touched(self, values: Column) -> Mask:
        """The row groups that may have one of the values."""
        ordered = np.sort(values)
        first, end = np.searchsorted(ordered, self.low), np.searchsorted(ordered, self.high, side="right")
        return int.from_bytes(np.packbits(end > first, bitorder="little").tobytes(), "little")


@dataclass(frozen=True)
class Groups:
    """The row groups of some files, and what predicates and first arguments they have.

    A row group of several predicates is there once for the first, once for the last and once for those between:
    rows are sorted, so the groups beside it bound the first arguments of the one and the other.
    """

    files: tuple[str, ...]
    file: Column
    group: Column
    rows: Column
    first: Column
    last: Column
    bounds: Bounds

    @classmethod
    def of(cls, files: Sequence[str]) -> Groups:
        """Reads the footers of files."""
        found = []
        for number, file in enumerate(files):
            found += [(number, *part) for part in _parts(list(_footer(pq.read_metadata(file))))]
        table = np.array(found, np.int64).reshape(-1, 7).T
        bounds = Bounds(table[5], table[6])
        return cls(tuple(files), table[0], table[1], table[2], table[3], table[4], bounds)

    def having(self, predicates: Collection[int]) -> npt.NDArray[np.bool_]:
        """Which may have facts of some predicates."""
        wanted = np.sort(np.array(list(predicates), np.int64))
        return np.searchsorted(wanted, self.last, side="right") > np.searchsorted(wanted, self.first)

    def size(self, predicates: Collection[int]) -> int:
        """How many facts of some predicates there are at most."""
        return int(self.rows[self.having(predicates)].sum())

    def chosen(self, predicates: Collection[int], mask: Mask | None) -> npt.NDArray[np.bool_]:
        """Those with the predicates that a mask has, all if there is none."""
        having = self.having(predicates)
        if mask is None:
            return having
        size = len(self.rows)
        bits = np.frombuffer((mask & ((1 << size) - 1)).to_bytes(-(-size // 8), "little"), np.uint8)
        return having & np.unpackbits(bits, count=size, bitorder="little").astype(np.bool_)

    def files_of(self, chosen: npt.NDArray[np.bool_]) -> list[str]:
        """The files that row groups are in."""
        return [self.files[number] for number in np.unique(self.file[chosen]).tolist()]

    def ranges(self, chosen: npt.NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
        """What the rows in them have: the least and the greatest predicate, and first argument."""
        bounds = (self.first, self.last, self.bounds.low, self.bounds.high)
        return list(dict.fromkeys(zip(*(each[chosen].tolist() for each in bounds), strict=True)))


def _footer(metadata: Any) -> Iterator[Ends]:
    """How many rows each row group has, and the least and the greatest of its predicates and of its first arguments."""
    names = [metadata.schema.column(i).name for i in range(metadata.num_columns)]
    places = names.index("predicate"), names.index("c0")
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        (first, last), (low, high) = (_range(group.column(place).statistics) for place in places)
        yield group.num_rows, first, last, low, high


def _parts(groups: Sequence[Ends]) -> Iterator[tuple[int, int, int, int, int, int]]:
    """For each predicate of a row group its number, its rows, the predicate twice, and where first arguments range."""
    for number, (rows, first, last, low, high) in enumerate(groups):
        if first == last:
            yield number, rows, first, last, low, high
            continue
        before, after = groups[number - 1 : number], groups[number + 1 : number + 2]
        least = [end for _, a, b, _, end in before if a == b == first]
        most = [start for _, a, b, start, _ in after if a == b == last]
        yield number, rows, first, first, least[0] if least else low, high
        yield number, rows, last, last, low, most[0] if most else high
        if last - first > 1:
            yield number, rows, first + 1, last - 1, low, high


def _range(statistics: Any) -> tuple[int, int]:
    """The least and the greatest value of a column: none if there are only nulls, any if nobody knows."""
    if statistics is None:
        return LEAST, MOST
    if not statistics.has_min_max:
        return (LEAST, MOST) if statistics.num_values else (MOST, LEAST)
    return statistics.min, statistics.max


Touches = Mapping[tuple[int, int], Mask]
"""For the id of a predicate and an argument, the row groups that have one of its values as first argument."""


def touches(rows: pa.Table, bounds: Bounds) -> Touches | None:
    """The row groups that some facts touch; None, which is all, if they are many."""
    if rows.num_rows > MOST_VALUES:
        return None
    numbers = rows.column("predicate").to_numpy()
    columns = [rows.column(name).to_numpy() for name in rows.column_names if name[0] == "c" and name[1:].isdigit()]
    found = {}
    for number in np.unique(numbers).tolist():
        mine = numbers == number
        found.update({(number, place): bounds.touched(column[mine]) for place, column in enumerate(columns)})
    return found


def all_touches(parts: Iterable[Touches | None]) -> Touches | None:
    """What several files touch together."""
    found: dict[tuple[int, int], Mask] = {}
    for part in parts:
        if part is None:
            return None
        for key, mask in part.items():
            found[key] = found.get(key, 0) | mask
    return found


def joined(masks: Iterable[Mask | None]) -> Mask | None:
    """All row groups of several masks; None, which is all there are, if one of them is."""
    found = 0
    for mask in masks:
        if mask is None:
            return None
        found |= mask
    return found
