"""Finds the row groups of a store that a few facts can touch, so that no others are read.

The rows of a store are sorted by predicate and first argument, and the footers of its files have the range of each row
group. Tasks that write facts return, for each predicate and argument, the row groups that may have a value of it as
first argument of some fact: a bit mask, not the values. For other arguments large files have Bloom filters, which tasks
read when facts are looked up by these arguments (:class:`Probe`).
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

from everlog.engine.hashing import hash_numbers
from everlog.engine.keys import Column
from everlog.engine.tables import PREDICATE, argument_name, argument_of
from everlog.store.blooms import Bloom, read_bloom
from everlog.store.files import open_file

MOST_VALUES = 1 << 14
"""Maximum number of values in one file for which the row groups they touch are found.

Ids are hashes, so more values than this touch nearly all row groups.
"""

MOST_HASHES = 1 << 8
"""Maximum number of values that are looked up in Bloom filters, which find one in a thousand absent values."""

Mask = int
"""A set of row groups: bit ``n`` is set for row group ``n``."""

Chosen = npt.NDArray[np.bool_]
"""A set of row groups: for each row group whether it is one of them."""

Filters = Callable[[str, int, int], Bloom]
"""Reads a Bloom filter, given the path of a file, the filter's offset and its length."""

Ends = tuple[int, int, int, int, int]
"""The number of rows of a row group, its least and greatest predicate, and its least and greatest first argument."""

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
"""The least and the greatest id."""


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
        """The row groups that may have one of the values, as a mask."""
        return mask_of(self.having(values))

    def having(self, values: Column) -> Chosen:
        """The row groups that may have one of the values, as an array."""
        ordered = np.sort(values)
        return np.searchsorted(ordered, self.high, side="right") > np.searchsorted(ordered, self.low)


def mask_of(chosen: Chosen) -> Mask:
    """The mask of a set of row groups.

    >>> bin(mask_of(np.array([True, False, True])))
    '0b101'
    """
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


@dataclass(frozen=True)
class Groups:
    """The row groups of some files, with the ranges of their predicates and first arguments.

    A row group of several predicates has an entry for the first, one for the last and one for those between them:
    rows are sorted, so the row groups before and after it bound the first arguments of the first and last predicate.
    """

    files: tuple[str, ...]
    file: Column
    group: Column
    rows: Column
    first: Column
    last: Column
    bounds: ArgumentBounds
    blooms: Mapping[int, npt.NDArray[np.int64]]
    """For each argument after the first the offsets and the lengths of the row groups' Bloom filters; 0 without one."""

    @classmethod
    def of(cls, files: Sequence[str]) -> Groups:
        """The row groups of files, from their footers."""
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
        """The row groups that may have facts of some predicates."""
        wanted = np.sort(np.array(list(predicates), np.int64))
        return np.searchsorted(wanted, self.last, side="right") > np.searchsorted(wanted, self.first)

    def size(self, predicates: Collection[int]) -> int:
        """The maximum number of facts of some predicates."""
        return int(self.rows[self.having(predicates)].sum())

    def chosen(self, predicates: Collection[int], mask: Mask | None) -> Chosen:
        """The row groups of a mask that may have some predicates; without a mask all that may have them."""
        having = self.having(predicates)
        if mask is None:
            return having
        size = len(self.rows)
        bits = np.frombuffer((mask & ((1 << size) - 1)).to_bytes(-(-size // 8), "little"), np.uint8)
        return having & np.unpackbits(bits, count=size, bitorder="little").astype(np.bool_)

    def number(self, predicates: Collection[int], mask: Mask | None) -> int:
        """The number of different row groups that :meth:`chosen` returns."""
        return len(self.different(self.chosen(predicates, mask))[0])

    def touched(self, chosen: Chosen, argument: int, values: Column, read: Filters = read_bloom) -> Chosen | None:
        """The chosen row groups that may have one of the values as an argument; None, which is all, if not known.

        For arguments after the first, Bloom filters are read from the files.
        """
        if argument == 0:
            return chosen & self.bounds.having(values) if len(values) <= MOST_VALUES else None
        if argument not in self.blooms or len(values) > MOST_HASHES:
            return None
        hashed = hash_numbers(values)
        found, (offsets, lengths) = chosen.copy(), self.blooms[argument]
        for number in np.flatnonzero(chosen & (lengths > 0)).tolist():
            try:
                bloom = read(self.files[self.file[number]], int(offsets[number]), int(lengths[number]))
            except ValueError:  # of another kind
                continue
            found[number] = bloom.may_have(hashed).any()
        return found

    def files_of(self, chosen: Chosen) -> list[str]:
        """The paths of the files that have the chosen row groups."""
        return [self.files[number] for number in np.unique(self.file[chosen]).tolist()]

    def different(self, chosen: Chosen) -> tuple[Column, Column, Column]:
        """The number of the file, the number in the file, and the number of rows of each different row group."""
        found = np.unique(np.stack([self.file[chosen], self.group[chosen], self.rows[chosen]]), axis=1)
        return found[0], found[1], found[2]


def _footer(metadata: Any) -> Iterator[Ends]:
    """The rows and ranges of each row group of a file."""
    names = [metadata.schema.column(i).name for i in range(metadata.num_columns)]
    places = names.index(PREDICATE), names.index(argument_name(0))
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        (first, last), (low, high) = (_range(group.column(place).statistics) for place in places)
        yield group.num_rows, first, last, low, high


def _parts(groups: Sequence[Ends]) -> Iterator[tuple[int, int, int, int, int, int]]:
    """The entries of row groups: number, rows, first and last predicate, least and greatest first argument."""
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
    """The offsets and lengths of the Bloom filters of a file, by the numbers of row group and argument."""
    names = [metadata.schema.column(i).name for i in range(metadata.num_columns)]
    columns = {i: number for i, number in enumerate(map(argument_of, names)) if number}
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
    """The offsets and the lengths of an argument's filters, given the files and numbers of row groups."""
    found = [blooms[file].get((group, argument), (0, 0)) for file, group in groups.T.tolist()]
    return np.array(found, np.int64).reshape(-1, 2).T


def _range(statistics: Any) -> tuple[int, int]:
    """The least and the greatest value of a column: an empty range if it has only nulls, all values if not known."""
    if statistics is None:
        return LEAST, MOST
    if not statistics.has_min_max:
        return (LEAST, MOST) if statistics.num_values else (MOST, LEAST)
    return statistics.min, statistics.max


Touches = Mapping[tuple[int, int], Mask]
"""Maps the id of a predicate and an argument to the row groups that may have a value of it as first argument."""


def touches(rows: pa.Table, bounds: ArgumentBounds) -> Touches | None:
    """The row groups that some facts touch; None, which is all, for more than :data:`MOST_VALUES` facts."""
    if rows.num_rows > MOST_VALUES:
        return None
    numbers = rows.column("predicate").to_numpy()
    columns = [rows.column(name).to_numpy() for name in rows.column_names if argument_of(name) is not None]
    found = {}
    for number in np.unique(numbers).tolist():
        mine = numbers == number
        found.update({(number, place): bounds.touched(column[mine]) for place, column in enumerate(columns)})
    return found


def all_touches(parts: Iterable[Touches | None]) -> Touches | None:
    """The row groups that one of several files touches; None, which is all, if one of them touches all."""
    found: dict[tuple[int, int], Mask] = {}
    for part in parts:
        if part is None:
            return None
        for key, mask in part.items():
            found[key] = found.get(key, 0) | mask
    return found


def joined(masks: Iterable[Mask | None]) -> Mask | None:
    """The union of masks; None, which is all row groups, if one of them is None."""
    found = 0
    for mask in masks:
        if mask is None:
            return None
        found |= mask
    return found


Place = tuple[tuple[int, ...], int]
"""A place of values in a store: the ids of predicates, and the number of their argument."""


@dataclass(frozen=True)
class Probe:
    """Finds, in a task, the row groups that may have some values at some places."""

    groups: Groups
    places: tuple[Place, ...]

    def __call__(self, values: Column) -> Mask | None:
        """The row groups that may have one of the values; None, which is all, if not known."""
        different = np.unique(values)
        found = [self.groups.touched(self.groups.having(ids), argument, different) for ids, argument in self.places]
        return joined(None if each is None else mask_of(each) for each in found)
