"""The facts of a predicate that were looked up in a store, with their numbers.

Looked up are all facts with a term in a column, so a fact comes with all of its rows, and its numbers are their
sums. Each fact is taken in once, whichever of its arguments it was looked up by: the first that is bound, unless
another one touches fewer row groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everlog.backends.lookup.numbering import GrowingNumbering
from everlog.backends.lookup.rows import FoundRows, RowReader
from everlog.backends.spark.groups import Chosen
from everlog.backends.too_much import TooMuchError
from everlog.engine.keys import Column, Keys, Layout, first_of_equal, layout_for, pack, sort_unique
from everlog.engine.lazy import Bound, LazyFacts, bound_by
from everlog.engine.multiset import Multiset
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate

UNIVERSE = 1 << 22
"""More different terms than this are too much for one task."""

SELECTIVE = 2
"""A column in which each term touches at most so many row groups is good to look facts up by."""

Ints = NDArray[np.int64]
Sums = Mapping[str, Ints]
Taken = Callable[[Keys, Sums], None]

TERMS = layout_for(1, UNIVERSE)


class LookedUpFacts:
    """What was looked up of a version of a store; ``facts`` are at ``most`` so many."""

    def __init__(self, rows: RowReader, numbers: Mapping[Predicate, int], most: int) -> None:
        self.rows = rows
        self.numbering = GrowingNumbering()
        self.most = most
        self.facts = 0
        self._numbers = numbers
        self._predicates: dict[tuple[Predicate, tuple[str, ...]], LookedUp] = {}

    def of(self, predicate: Predicate, *weighing: str) -> LookedUp:
        """The facts of a predicate; if numbers are named, those for which one of these is not zero, and these only."""
        key = predicate, weighing
        if key not in self._predicates:
            self._predicates[key] = LookedUp(self, predicate, self._numbers[predicate], weighing)
        return self._predicates[key]

    def require(self, more: int) -> None:
        """Give up if so many more facts are too many."""
        if self.facts + more > self.most:
            raise TooMuchError(f"more than {self.most:,} facts would be held")
        if len(self.numbering) >= UNIVERSE:
            raise TooMuchError(f"more than {UNIVERSE:,} terms would be held")


class LookedUp:
    """The facts of one predicate; see the module."""

    def __init__(
        self, excerpt: LookedUpFacts, predicate: Predicate, number: int, weighing: tuple[str, ...] = ()
    ) -> None:
        self.predicate = predicate
        self.layout: Layout = layout_for(predicate.arity, UNIVERSE)
        self.size = excerpt.rows.size(number)
        self._excerpt = excerpt
        self._number = number
        self._weighing = weighing
        self._is_whole = not self.size
        self._asked = [Relation(TERMS)] * predicate.arity
        """For each column the terms that were looked up."""
        self._seen = Relation(self.layout)
        self._takers: list[Taken] = []

    def tell(self, taken: Taken) -> None:
        """Somebody hears of each fact that is looked up; nothing was before."""
        assert not self._seen
        self._takers.append(taken)

    def having(self, *names: str) -> Relation:
        """The facts for which some numbers have a sum above zero."""
        return Relation(self.layout, base=_Having(self, names))

    def numbers(self, name: str) -> Multiset:
        """A number of each fact."""
        return Multiset(self.layout, base=_Number(self, name))

    def fetch(self, bound: Bound) -> None:
        """Look up all facts with such terms in these columns, or all there are, unless that was done."""
        if self._is_whole:
            return
        rows, arity = self._excerpt.rows, self.predicate.arity
        if not bound:
            self._is_whole = True
            self._take(rows.of(self._number, arity, rows.touched(self._number), weighing=self._weighing))
            return
        known = np.logical_or.reduce([self._asked[column].contains(terms) for column, terms in bound.items()])
        if known.all():
            return
        column, new, chosen = self._chosen({column: sort_unique(terms[~known]) for column, terms in bound.items()})
        self._asked[column] = self._asked[column].extended(Run.of(TERMS, new))
        self._take(rows.of(self._number, arity, chosen, column, self._ids(new), self._weighing))

    def _chosen(self, bound: Bound) -> tuple[int, Column, Chosen]:
        """A column to look facts up by, with its different terms, and the row groups that may have them."""
        found: list[tuple[int, int, Column, Chosen]] = []
        for column, terms in bound.items():
            chosen = self._excerpt.rows.touched(self._number, column, self._ids(terms))
            found.append((int(np.count_nonzero(chosen)), column, terms, chosen))
            if found[-1][0] <= SELECTIVE * len(terms):
                return found[-1][1:]
        return min(found, key=lambda each: each[0])[1:]

    def _ids(self, terms: Column) -> Column:
        """The ids of terms, ascending."""
        return np.sort(self._excerpt.numbering.ids(terms))

    def _take(self, found: FoundRows) -> None:
        count = len(found.weights["holds"])
        self._excerpt.require(count)
        arguments = [self._excerpt.numbering.numbers(column) for column in found.arguments]
        self._excerpt.require(0)
        keys, sums = _summed(pack(self.layout, arguments, count), found.weights)
        new = ~self._seen.contains(keys)
        keys, sums = keys[new], {name: each[new] for name, each in sums.items()}
        self._seen = self._seen.extended(Run.of(self.layout, keys))
        self._excerpt.facts += len(keys)
        for taken in self._takers:
            taken(keys, sums)


def _summed(keys: Keys, weights: Mapping[str, NDArray[Any]]) -> tuple[Keys, Sums]:
    """The different keys, ascending, and the sums of their weights."""
    order = np.argsort(keys, kind="stable") if keys.ndim == 1 else np.lexsort(keys.T[::-1])
    ordered = keys[order]
    if not len(ordered):
        return ordered, {name: np.empty(0, np.int64) for name in weights}
    first = np.flatnonzero(first_of_equal(ordered))
    return ordered[first], {n: np.add.reduceat(w[order].astype(np.int64), first) for n, w in weights.items()}


class _Having(LazyFacts):
    """Those of the facts for which some numbers have a sum above zero."""

    def __init__(self, source: LookedUp, names: Sequence[str]) -> None:
        self.layout = source.layout
        self.held = Relation(source.layout)
        self._source = source
        self._names = names
        source.tell(self._take)

    def __len__(self) -> int:
        return self._source.size

    def fetch(self, bound: Bound) -> None:
        self._source.fetch(bound)

    def _take(self, keys: Keys, sums: Sums) -> None:
        there = sum(sums[name] for name in self._names) > 0
        self.held = self.held.extended(Run.of(self.layout, keys[there]))


class _Number:
    """A number of each of the facts."""

    def __init__(self, source: LookedUp, name: str) -> None:
        self.held = Multiset(source.layout)
        self._source = source
        self._name = name
        source.tell(self._take)

    def weights(self, keys: Keys) -> Ints:
        self._source.fetch(bound_by(self.held.layout, keys))
        return self.held.weights(keys)

    def _take(self, keys: Keys, sums: Sums) -> None:
        numbers = sums[self._name]
        there = numbers != 0
        piece = keys[there], numbers[there].astype(np.int32)
        self.held = self.held + Multiset(self.held.layout, (piece,))
