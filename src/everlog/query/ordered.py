"""The order of rows in output: rows as numbers of their terms.

The terms that occur in a column are sorted by value or by hash, and numbered; rows are then sorted by these numbers
without comparing terms. There are fewer terms than rows, and the pairs of a compact relation are sorted lead by lead as
they are listed, so that only one block of them is in memory at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary
from everlog.engine.kernels import boards
from everlog.engine.keys import BLOCK_ROWS, ID_BITS, ID_MASK, Column, columns_of, pack
from everlog.engine.relation import Base, Relation

SORTED_BELOW = 1_000_000
"""Maximum number of rows that are sorted by value; more are sorted by hash."""

Numbers = NDArray[np.int32]


def ordered(dictionary: Dictionary, relation: Relation) -> Ordered:
    """The rows of a relation: by value, numbers first, up to :data:`SORTED_BELOW`; by the terms' hashes beyond."""
    if len(relation) > SORTED_BELOW and relation.base is not None and not relation.runs and not relation.tombstones:
        terms = [_in_order(dictionary, relation.base.terms(column), by_value=False) for column in (0, 1)]
        return PairListing(relation.base, terms, len(dictionary))
    return _sorted(dictionary, relation)


@dataclass(frozen=True)
class InMemory:
    """Rows that are all in memory."""

    terms: list[Column]
    """For each column, the distinct ids in order."""
    columns: list[Numbers]

    def blocks(self, start: int, stop: int) -> Iterator[list[Numbers]]:
        """A range of rows in blocks: for each column, the numbers of its terms."""
        for first in range(start, stop, BLOCK_ROWS):
            yield [column[first : min(first + BLOCK_ROWS, stop)] for column in self.columns]


class PairListing:
    """The pairs of a compact relation, listed as they are read."""

    def __init__(self, base: Base, terms: list[Column], universe: int) -> None:
        self.terms = terms
        self._base = base
        self._places = np.zeros(universe, np.int64)
        self._places[terms[1]] = np.arange(len(terms[1]))
        self._ends = np.cumsum(base.match_counts(0, terms[0]))

    def blocks(self, start: int, stop: int) -> Iterator[list[Numbers]]:
        first = int(np.searchsorted(self._ends, start, side="right"))
        done = int(self._ends[first - 1]) if first else 0
        while done < stop and first < len(self._ends):
            last = max(first + 1, int(np.searchsorted(self._ends, done + BLOCK_ROWS, side="right")))
            leads, others = self._listed(first, last)
            low, high = max(start - done, 0), min(stop - done, len(leads))
            yield [leads[low:high], others[low:high]]
            first, done = last, int(self._ends[last - 1])

    def _listed(self, first: int, last: int) -> tuple[Numbers, Numbers]:
        """The pairs of a range of leads."""
        size = int(self._ends[last - 1]) - (int(self._ends[first - 1]) if first else 0)
        found = self._base.matches(0, self.terms[0][first:last], BLOCK_ROWS)
        words = (len(self.terms[1]) >> 6) + 1
        if (last - first) * words > size:
            codes = np.concatenate([rows << ID_BITS | self._places[others] for rows, others in found])
            codes.sort()
            return ((codes >> ID_BITS) + first).astype(np.int32), (codes & ID_MASK).astype(np.int32)
        bits = np.zeros((last - first, words), np.uint64)
        for rows, others in found:
            boards.mark_pairs(bits, rows, others, self._places)
        leads, places = np.empty(size, np.int32), np.empty(size, np.int32)
        boards.take_pairs(bits, leads, places, first)
        return leads, places


Ordered = InMemory | PairListing


def _sorted(dictionary: Dictionary, relation: Relation) -> InMemory:
    columns = relation.columns()
    seen = [_seen(column, len(dictionary)) for column in columns]
    used = np.flatnonzero(np.logical_or.reduce(seen)) if seen else np.empty(0, np.int64)
    terms = _in_order(dictionary, used, by_value=len(relation) <= SORTED_BELOW)
    if len(relation) > 1 and terms is not used:
        columns = _resorted(relation, columns, terms, len(dictionary))
    mine = [terms[marked[terms]] for marked in seen]
    numbered = [_numbered(column, each, len(dictionary)) for column, each in zip(columns, mine, strict=True)]
    return InMemory(mine, numbered)


def _resorted(relation: Relation, columns: Sequence[Column], terms: Column, universe: int) -> list[Column]:
    """The rows, sorted by the numbers of their terms."""
    places = np.zeros(universe, np.int64)
    places[terms] = np.arange(len(terms))
    keys = pack(relation.layout, [places[column] for column in columns], len(relation))
    if relation.layout.is_packed:
        keys.sort()
    else:
        keys = keys[np.lexsort(keys.T[::-1])]
    return [terms[column] for column in columns_of(relation.layout, keys)]


def _numbered(column: Column, terms: Column, universe: int) -> Numbers:
    numbers = np.zeros(universe, np.int32)
    numbers[terms] = np.arange(len(terms), dtype=np.int32)
    return numbers[column]


def _seen(column: Column, universe: int) -> NDArray[np.bool_]:
    seen = np.zeros(universe, np.bool_)
    seen[column] = True
    return seen


def _in_order(dictionary: Dictionary, ids: Column, by_value: bool) -> Column:
    """Terms, given by ascending ids, sorted by value or by hash; the ids may be in the order of the hashes already."""
    if len(ids) < 2 or (not by_value and len(dictionary.base) == len(dictionary)):
        return ids
    if not by_value:
        return ids[np.argsort(dictionary.hashes()[ids], kind="stable")]
    texts = dictionary.decode(ids)
    numbers = pc.cast(pc.if_else(pc.match_substring_regex(texts, r"^-?[0-9]"), texts, None), pa.float64())
    table = pa.table({"number": numbers, "text": texts})
    order = pc.sort_indices(table, sort_keys=[("number", "ascending"), ("text", "ascending")])
    return ids[order.to_numpy()]
