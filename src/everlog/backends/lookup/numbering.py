"""Dense numbers for the ids of terms, given in the order in which ids are first seen."""

from __future__ import annotations

import numpy as np

from everlog.engine.keys import Column, sort_unique

Part = tuple[Column, Column]
"""Ids, ascending, and their numbers."""


class GrowingNumbering:
    """Maps ids of terms to dense numbers and back, and numbers new ids. Ids are in sorted parts of geometric sizes.

    >>> numbering = GrowingNumbering()
    >>> numbering.numbers(np.array([70, 50, 70])).tolist(), numbering.numbers(np.array([60, 50])).tolist()
    ([1, 0, 1], [2, 0])
    >>> numbering.ids(np.array([2, 1])).tolist(), len(numbering)
    ([60, 70], 3)
    """

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._ids = np.empty(1 << 10, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def numbers(self, ids: Column) -> Column:
        """The numbers of ids; ids without a number are given the next free ones."""
        found = self._found(ids)
        missing = found < 0
        if missing.any():
            self._add(sort_unique(ids[missing]))
            found[missing] = self._found(ids[missing])
        return found

    def ids(self, numbers: Column) -> Column:
        """The ids that have some numbers."""
        return self._ids[numbers]

    def _found(self, ids: Column) -> Column:
        """The numbers of ids, -1 for those that have none."""
        found = np.full(len(ids), -1, np.int64)
        for ordered, numbers in self._parts:
            at = np.minimum(np.searchsorted(ordered, ids), len(ordered) - 1)
            found = np.where(ordered[at] == ids, numbers[at], found)
        return found

    def _add(self, new: Column) -> None:
        end = self._count + len(new)
        if end > len(self._ids):
            self._ids = np.concatenate([self._ids[: self._count], np.empty(2 * end - self._count, np.int64)])
        self._ids[self._count : end] = new
        self._parts.append((new, np.arange(self._count, end)))
        self._count = end
        while len(self._parts) > 1 and len(self._parts[-2][0]) < 2 * len(self._parts[-1][0]):
            self._parts[-2:] = [_merged(*self._parts[-2:])]


def _merged(left: Part, right: Part) -> Part:
    ids, numbers = (np.concatenate(pair) for pair in zip(left, right, strict=True))
    order = np.argsort(ids, kind="stable")
    return ids[order], numbers[order]
