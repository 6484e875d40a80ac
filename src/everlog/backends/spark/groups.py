"""Which row groups of a store a few facts can touch, so that no others are read.

The rows of a store are sorted by predicate and first argument, and the footers of its files say what each row group
ranges over. Tasks that write facts return, for each predicate and argument, which row groups have that value as first
argument of some fact: a bit mask, not the values. For other arguments large files have Bloom filters, which tasks
look into when something is to be looked up by them (:class:`Probe`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from everlog.engine.keys import Column
from everlog.store.blooms import Bloom, hashes, read_bloom
from everlog.store.files import open_file

MOST_VALUES = 1 << 14
"""More values than this in one file touch all row groups: ids are hashes, which spread."""

MOST_HASHES = 1 << 8
"""The same for Bloom filters, in which one of a thousand values that are not there is found."""

Mask = int
"""The row groups whose bits are set."""

Chosen = npt.NDArray[np.bool_]
"""For each row group whether it is meant."""

Filters = Callable[[str, int, int], Bloom]
"""Reads a Bloom filter: from which file, where it begins, and how long it is."""

Ends = tuple[int, int, int, int, int]

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class ArgumentBounds:
    """The least and the greatest first argument in each row group.

    >>> bounds = ArgumentBounds(np.array([0, 10, 20]), np.array([9, 19, 29]))
    >>> bin(bounds.touched(np.array([5, 25, 26])))
    '0b101'
    """

    low: Column
    high: Column

    def touched(self, values: Column) -> Mask:
        """The row groups that may have one of the values."""
        return mask_of(self.having(values))

    def having(self, values: Column) -> Chosen:
        """The same, one by one."""
        ordered = np.sort(values)
        return np.searchsorted(ordered, self.high, side="right") > np.searchsorted(ordered, self.low)


def mask_of(chosen: Chosen) -> Mask:
    """
    >>> bin(mask_of(np.array([True, False, True])))
    '0b101'
    """
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


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
    bounds: ArgumentBounds
    blooms: Mapping[int, npt.NDArray[np.int64]]
    """For arguments after the first, where the Bloom filter of each row group begins, and how long it is: 0 if there is
    none."""

    @classmethod
    def of(cls, files: Sequence[str]) -> Groups:
        """Reads the footers of files."""
        found, blooms = [], []
        for number, file in enumerate(files):
            metadata: Any = open_file(Path(file), filters=True).metadata
            found += [(number, *part) for part in _parts(list(_footer(metadata)))]
            blooms.append(_blooms(metadata))
        table = np.array(found, np.int64).reshape(-1, 7).T
        bounds = ArgumentBounds(table[5], table[6])
        filters = {argument: _placed(blooms, argument, table[:2]) for argument in _arguments(blooms)}
        return cls(tuple(files), table[0], table[1], table[2], table[3], table[4], bounds, filters)

    def having(self, predicates: Collection[int]) -> Chosen:
        """Which may have facts of some predicates."""
        wanted = np.sort(np.array(list(predicates), np.int64))
        return np.searchsorted(wanted, self.last, side="right") > np.searchsorted(wanted, self.first)

    def size(self, predicates: Collection[int]) -> int:
        """How many facts of some predicates there are at most."""
        return int(self.rows[self.having(predicates)].sum())

    def chosen(self, predicates: Collection[int], mask: Mask | None) -> Chosen:
        """Those with the predicates that a mask has, all if there is none."""
        having = self.having(predicates)
        if mask is None:
            return having
        size = len(self.rows)
        bits = np.frombuffer((mask & ((1 << size) - 1)).to_bytes(-(-size // 8), "little"), np.uint8)
        return having & np.unpackbits(bits, count=size, bitorder="little").astype(np.bool_)

    def number(self, predicates: Collection[int], mask: Mask | None) -> int:
        """How many row groups that are, each counted once."""
        return len(self.different(self.chosen(predicates, mask))[0])

    def touched(self, chosen: Chosen, argument: int, values: Column, read: Filters = read_bloom) -> Chosen | None:
        """Those of some row groups that may have one of the values as an argument; None, which is all, if nobody knows.

        This looks into the filters in the files, unless it is the first argument.
        """
        if argument == 0:
            return chosen & self.bounds.having(values) if len(values) <= MOST_VALUES else None
        if argument not in self.blooms or len(values) > MOST_HASHES:
            return None
        hashed = hashes(values)
        found, (offsets, lengths) = chosen.copy(), self.blooms[argument]
        for number in np.flatnonzero(chosen & (lengths > 0)).tolist():
            try:
                bloom = read(self.files[self.file[number]], int(offsets[number]), int(lengths[number]))
            except ValueError:  # of another kind
                continue
            found[number] = bloom.may_have(hashed).any()
        return found

    def files_of(self, chosen: Chosen) -> list[str]:
        """The files that row groups are in."""
        return [self.files[number] for number in np.unique(self.file[chosen]).tolist()]

    def different(self, chosen: Chosen) -> tuple[Column, Column, Column]:
        """The file, the number in it and the rows of each row group, each once."""
        found = np.unique(np.stack([self.file[chosen], self.group[chosen], self.rows[chosen]]), axis=1)
        return found[0], found[1], found[2]


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


def _blooms(metadata: Any) -> dict[tuple[int, int], tuple[int, int]]:
    """Where the Bloom filters of arguments are, by the numbers of row group and argument."""
    names = [metadata.schema.column(i).name for i in range(metadata.num_columns)]
    columns = {i: int(name[1:]) for i, name in enumerate(names) if name[0] == "c" and name != "c0"}
    found = {}
    for number, (column, argument) in itertools.product(range(metadata.num_row_groups), columns.items()):
        chunk = metadata.row_group(number).column(column)
        if chunk.bloom_filter_offset is not None and chunk.bloom_filter_length is not None:
            found[number, argument] = chunk.bloom_filter_offset, chunk.bloom_filter_length
    return found


def _arguments(blooms: Iterable[Mapping[tuple[int, int], object]]) -> list[int]:
    return sorted({argument for each in blooms for _, argument in each})


def _placed(
    blooms: Sequence[Mapping[tuple[int, int], tuple[int, int]]], argument: int, groups: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Where the filters of an argument begin and how long they are, given the files and numbers of row groups."""
    found = [blooms[file].get((group, argument), (0, 0)) for file, group in groups.T.tolist()]
    return np.array(found, np.int64).reshape(-1, 2).T


def _range(statistics: Any) -> tuple[int, int]:
    """The least and the greatest value of a column: none if there are only nulls, any if nobody knows."""
    if statistics is None:
        return LEAST, MOST
    if not statistics.has_min_max:
        return (LEAST, MOST) if statistics.num_values else (MOST, LEAST)
    return statistics.min, statistics.max


Touches = Mapping[tuple[int, int], Mask]
"""For the id of a predicate and an argument, the row groups that have one of its values as first argument."""


def touches(rows: pa.Table, bounds: ArgumentBounds) -> Touches | None:
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


Place = tuple[tuple[int, ...], int]
"""Where values are in a store: as an argument of some predicates, by their ids."""


@dataclass(frozen=True)
class Probe:
    """Finds out, in a task, which row groups may have some values at some places."""

    groups: Groups
    places: tuple[Place, ...]

    def __call__(self, values: Column) -> Mask | None:
        """The row groups; None, which is all, if nobody knows."""
        different = np.unique(values)
        found = [self.groups.touched(self.groups.having(ids), argument, different) for ids, argument in self.places]
        return joined(None if each is None else mask_of(each) for each in found)
