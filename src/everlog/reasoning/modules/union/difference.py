"""The change of a union by an update: it is looked up and matched in the union before and after, and listed
when read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from everlog.engine.keys import BLOCK_ROWS, ID_BITS, Column, Keys, Mask, layout_for, swapped
from everlog.engine.relation import Base, Relation


@dataclass(frozen=True)
class PairDifference:
    """The pairs of ``whole`` that ``other`` does not have, all of them among the ``changed`` ones.

    With ``one_way`` all pairs of the other are in the whole, so the size is the difference of the two sizes.
    """

    whole: Base
    other: Base
    changed: Base
    most: int
    """Maximum number of pairs."""
    one_way: bool

    is_counted: ClassVar[bool] = True

    def __len__(self) -> int:
        if "pairs" in self.__dict__ or not self.one_way:
            return len(self.pairs)
        return len(self.whole) - len(self.other)

    def __bool__(self) -> bool:
        if "pairs" in self.__dict__ or self.one_way:
            return len(self) > 0
        return len(self.whole) > len(self.other) or any(map(len, self._blocks(0, BLOCK_ROWS)))

    @property
    def nbytes(self) -> int:
        return self.pairs.nbytes if "pairs" in self.__dict__ else 0

    @cached_property
    def pairs(self) -> Relation:
        """The pairs as a plain relation."""
        keys = [np.empty(0, np.int64), *self._blocks(0, BLOCK_ROWS)]
        return Relation.from_keys(layout_for(2, 0), np.concatenate(keys))

    def contains(self, keys: Keys) -> Mask:
        if "pairs" in self.__dict__:
            return self.pairs.contains(keys)
        return self.whole.contains(keys) & ~self.other.contains(keys)

    def matches(self, column: int, terms: Column, block: int = BLOCK_ROWS) -> Iterator[tuple[Column, Column]]:
        """The matches; those of the whole are filtered if they are fewer than all changed pairs."""
        if "pairs" in self.__dict__ or int(self.whole.match_counts(column, terms).sum()) > self.most:
            yield from self.pairs.matches(column, terms, block)
            return
        for rows, others in self.whole.matches(column, terms, block):
            lead = terms[rows]
            gone = ~self.other.contains(lead << ID_BITS | others if column == 0 else others << ID_BITS | lead)
            yield rows[gone], others[gone]

    def match_counts(self, column: int, terms: Column) -> Column:
        counts = np.zeros(len(terms), np.int64)
        for rows, _ in self.matches(column, terms):
            counts += np.bincount(rows, minlength=len(terms))
        return counts

    def terms(self, column: int) -> Column:
        return self.pairs.terms(column)

    def blocks(self, column: int = 0, block: int = BLOCK_ROWS) -> Iterator[Keys]:
        if "pairs" not in self.__dict__:
            yield from self._blocks(column, block)
            return
        yield from self.pairs.blocks(column, block)

    def sorted_keys(self) -> Keys:
        return self.pairs.keys()

    def _blocks(self, column: int, block: int) -> Iterator[Keys]:
        for keys in self.changed.blocks(column, block):
            primary = keys if column == 0 else swapped(keys)
            yield keys[~self.other.contains(primary)]
