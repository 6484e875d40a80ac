"""Virtual unions: a relation that is looked up in its parts and stores no pairs itself.

The largest part comes first. It is counted and matched as it is, and so is its inverse if that comes next. Of later
parts, pairs that earlier ones have are left out, for which they have to be looked up. If the later parts are small
compared with the memory of all parts, the pairs that only they have are listed once the look-ups have cost as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from everlog.engine.closed import Closed
from everlog.engine.keys import BLOCK_ROWS, ID_BITS, Column, Keys, Layout, Mask, layout_for, sort_unique, swapped
from everlog.engine.relation import Relation

PAIRS: Layout = layout_for(2, 0)

LISTED_BYTES = 16
"""Bytes of a listed pair, in two orders."""

CALL = 256
"""Minimum cost of a look-up in the parts of a union, in pairs looked up."""


@dataclass(frozen=True)
class PairSource:
    """The pairs of a relation, or their inverses."""

    relation: Relation
    inverted: bool

    def contains(self, keys: Keys) -> Mask:
        return self.relation.contains(swapped(keys) if self.inverted else keys)

    def match_counts(self, column: int, terms: Column) -> Column:
        return self.relation.match_counts(self._own(column), terms)

    def matches(self, column: int, terms: Column, block: int) -> Iterator[tuple[Column, Column]]:
        return self.relation.matches(self._own(column), terms, block)

    def terms(self, column: int) -> Column:
        return self.relation.terms(self._own(column))

    def blocks(self, column: int, block: int) -> Iterator[Keys]:
        """All pairs in blocks, each with ascending leads; a graph is not inverted for it."""
        base, own = self.relation.base, self._own(column)
        if not isinstance(base, Closed) or own == base.lead or self.relation.runs or self.relation.tombstones:
            return self.relation.blocks(own, block)
        return (np.sort(swapped(keys)) for keys in base.blocks(base.lead, block))

    def _own(self, column: int) -> int:
        return 1 - column if self.inverted else column

    def flattened(self) -> Iterator[PairSource]:
        """The parts of this part if it is a union itself; otherwise this part."""
        base = self.relation.base
        if isinstance(base, United) and not self.relation.runs and not self.relation.tombstones:
            for part in base.parts:
                yield PairSource(part.relation, part.inverted != self.inverted)
        else:
            yield self

    def inverse_of(self, other: PairSource) -> Closed | None:
        """The closure if one of the two is a closure and the other its inverse; otherwise None."""
        mine, theirs = self.relation, other.relation
        base = mine.base
        if self.inverted == other.inverted or base is not theirs.base or not isinstance(base, Closed):
            return None
        return (
            base if base.is_whole and not (mine.runs or mine.tombstones or theirs.runs or theirs.tombstones) else None
        )


@dataclass
class LookupCost:
    """The number of pairs that were looked up in the parts of a union so far."""

    pairs: int = 0


@dataclass(frozen=True)
class United:
    """Pairs that are in at least one of the parts, each once; see the module."""

    parts: tuple[PairSource, ...]
    _cost: LookupCost = field(default_factory=LookupCost, repr=False, compare=False)

    is_counted: ClassVar[bool] = True

    def __len__(self) -> int:
        return self._count

    def __bool__(self) -> bool:
        return any(part.relation for part in self.parts)

    @cached_property
    def _count(self) -> int:
        count = sum(len(part.relation) for part in self._counted)
        if self._twofold is not None:
            count -= self._twofold.mutual
        rest = self._rest(self.later)
        return count + (sum(map(len, self._later_blocks(0, BLOCK_ROWS))) if rest is None else len(rest))

    @cached_property
    def _twofold(self) -> Closed | None:
        """The first part if it is a closure and the second part is its inverse; otherwise None."""
        return self.parts[0].inverse_of(self.parts[1]) if len(self.parts) > 1 else None

    @cached_property
    def _counted(self) -> tuple[PairSource, ...]:
        """The parts whose pairs need not be listed to be counted."""
        return self.parts[: 1 if self._twofold is None else 2]

    @cached_property
    def later(self) -> int:
        """The number of pairs of the parts after the counted ones, common pairs included."""
        return sum(len(part.relation) for part in self.parts[len(self._counted) :])

    @property
    def most(self) -> int:
        """The number of pairs of all parts, common pairs included."""
        return sum(len(part.relation) for part in self.parts)

    @property
    def nbytes(self) -> int:
        return self._listed.nbytes if "_listed" in self.__dict__ else 0

    # pairs that only later parts have -----------------------------------------------------------------

    def _rest(self, pairs: int) -> Relation | None:
        """The pairs that only the later parts have, if they are listed or are to be listed now; otherwise None.
        ``pairs`` more pairs are looked up."""
        if "_listed" not in self.__dict__:
            self._cost.pairs += pairs + CALL
            if self._cost.pairs < self.later or not self._is_listable:
                return None
        return self._listed

    @cached_property
    def _is_listable(self) -> bool:
        relations = [part.relation for part in self.parts]
        held = {id(each if each.base is None else each.base): each.nbytes for each in relations}
        return LISTED_BYTES * self.later <= sum(held.values())

    @cached_property
    def _listed(self) -> Relation:
        keys = [PAIRS.empty(), *self._later_blocks(0, BLOCK_ROWS)]
        return Relation.from_keys(PAIRS, np.concatenate(keys))

    def _later_blocks(self, column: int, block: int) -> Iterator[Keys]:
        for number in range(len(self._counted), len(self.parts)):
            yield from self._part_blocks(number, column, block)

    # reading ------------------------------------------------------------------------------------

    def contains(self, keys: Keys) -> Mask:
        found = np.zeros(len(keys), np.bool_)
        rest = self._listed if "_listed" in self.__dict__ else None
        for part in self.parts if rest is None else self._counted:
            found |= part.contains(keys)
        return found if rest is None else found | rest.contains(keys)

    def matches(self, column: int, terms: Column, block: int = BLOCK_ROWS) -> Iterator[tuple[Column, Column]]:
        yield from _gathered(self._matches(column, terms, block), block)

    def _matches(self, column: int, terms: Column, block: int) -> Iterator[tuple[Column, Column]]:
        for number in range(len(self._counted)):
            yield from self._part_matches(number, column, terms, block)
        yield from self._later_matches(column, terms, block)

    def _later_matches(self, column: int, terms: Column, block: int) -> Iterator[tuple[Column, Column]]:
        rest = self._rest(len(terms)) if self.later else Relation(PAIRS)
        if rest is not None:
            yield from rest.matches(column, terms, block)
            return
        for number in range(len(self._counted), len(self.parts)):
            yield from self._part_matches(number, column, terms, block)

    def _part_matches(self, number: int, column: int, terms: Column, block: int) -> Iterator[tuple[Column, Column]]:
        """The matches of one part without those of earlier parts."""
        if not number or self._is_disjoint(number):
            yield from self.parts[number].matches(column, terms, block)
            return
        doubtful = self._doubtful(number, terms)
        for rows, others in self.parts[number].matches(column, terms, block):
            at = np.flatnonzero(doubtful[rows])
            if not len(at):
                yield rows, others
                continue
            self._cost.pairs += len(at)
            lead, other = terms[rows[at]], others[at]
            kept = np.ones(len(rows), np.bool_)
            kept[at] = self._not_before(number, lead << ID_BITS | other if column == 0 else other << ID_BITS | lead)
            yield rows[kept], others[kept]

    def _doubtful(self, number: int, terms: Column) -> Mask:
        """The terms for which the part may have pairs of an earlier part; in an inverse these are the terms
        in cycles.
        """
        if number == 1 and self._twofold is not None:
            return self._twofold.mutual_counts(terms) > 0
        return np.full(len(terms), number > 0)

    def match_counts(self, column: int, terms: Column) -> Column:
        counts = np.zeros(len(terms), np.int64)
        for part in self._counted:
            counts += part.match_counts(column, terms)
        if self._twofold is not None and self._twofold.mutual:
            counts -= self._twofold.mutual_counts(terms)
        for rows, _ in self._later_matches(column, terms, BLOCK_ROWS):
            counts += np.bincount(rows, minlength=len(terms))
        return counts

    def terms(self, column: int) -> Column:
        found = [part.terms(column) for part in self.parts]
        return sort_unique(np.concatenate([np.empty(0, np.int64), *found]))

    def blocks(self, column: int = 0, block: int = BLOCK_ROWS) -> Iterator[Keys]:
        rest = self._rest(self.later)
        if self._twofold is not None:
            yield from self._twofold_blocks(column, block)
        elif self.parts:
            yield from self.parts[0].blocks(column, block)
        yield from self._later_blocks(column, block) if rest is None else rest.blocks(column, block)

    def _twofold_blocks(self, column: int, block: int) -> Iterator[Keys]:
        """The pairs of the first two parts, each once, in one pass."""
        for keys in self.parts[0].blocks(column, block):
            yield keys
            inverse = np.sort(swapped(keys))
            yield inverse if self._is_disjoint(1) else inverse[~self.parts[0].contains(self._primary(inverse, column))]

    @staticmethod
    def _primary(keys: Keys, column: int) -> Keys:
        return keys if column == 0 else swapped(keys)

    def _part_blocks(self, number: int, column: int, block: int) -> Iterator[Keys]:
        """The pairs of one part without those of earlier parts."""
        for keys in self.parts[number].blocks(column, block):
            if not number or self._is_disjoint(number):
                yield keys
            else:
                yield keys[self._not_before(number, self._primary(keys, column))]

    def sorted_keys(self) -> Keys:
        return np.sort(np.concatenate([PAIRS.empty(), *self.blocks()]))

    def _is_disjoint(self, number: int) -> bool:
        """Whether the part is the inverse of the first, which has no cycles."""
        return number == 1 and self._twofold is not None and not self._twofold.mutual

    def _not_before(self, number: int, keys: Keys) -> Mask:
        """A mask of the pairs that no earlier part has."""
        found = self.parts[0].contains(keys)
        for part in self.parts[1:number]:
            found |= part.contains(keys)
        return ~found


def _gathered(pieces: Iterator[tuple[Column, Column]], block: int) -> Iterator[tuple[Column, Column]]:
    """The pieces, with small ones joined, since each piece has a cost for the caller."""
    held: list[tuple[Column, Column]] = []
    size = 0
    for piece in pieces:
        if len(piece[0]):
            held.append(piece)
            size += len(piece[0])
        if size >= block:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)


def _joined(pieces: list[tuple[Column, Column]]) -> tuple[Column, Column]:
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate([rows for rows, _ in pieces]), np.concatenate([others for _, others in pieces])
