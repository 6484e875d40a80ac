"""The facts of a predicate that were looked up in a store, with their weights.

A look-up reads all facts with a given term in a column, so all rows of a fact are read at once, and its weights are the
sums over these. A fact is added once, whichever of its arguments it was looked up by: that is the first bound
argument, unless another one touches fewer row groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everlog.backends.lookup.numbering import GrowingNumbering
from everlog.backends.lookup.rows import FoundRows, RowReader
from everlog.backends.too_much import TooMuchError
from everlog.engine.keys import Column, Keys, Layout, first_of_equal, layout_for, pack, sort_unique
from everlog.engine.lazy import NOTHING, Bound, LazyFacts, bound_by
from everlog.engine.multiset import Multiset, Piece
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate
from everlog.store.groups import Chosen

UNIVERSE = 1 << 22
"""Maximum number of different terms in one task; the task gives up at more."""

SELECTIVE = 2
"""Maximum number of row groups that a term touches, on average, in a column that is chosen without trying others."""

Ints = NDArray[np.int64]
Sums = Mapping[str, Ints]
Listener = Callable[[Keys, Sums], None]
"""Receives the keys of facts that were looked up, ascending, and their weights by name."""

TERMS = layout_for(1, UNIVERSE)


class LookedUpFacts:
    """All facts looked up in a version of a store; ``facts`` is their number, and ``most`` the maximum of it."""

    def __init__(self, rows: RowReader, numbers: Mapping[Predicate, int], most: int) -> None:
        self.rows = rows
        self.numbering = GrowingNumbering()
        self.most = most
        self.facts = 0
        self._numbers = numbers
        self._predicates: dict[tuple[Predicate, tuple[str, ...]], LookedUp] = {}

    def of(self, predicate: Predicate, *weighing: str) -> LookedUp:
        """The facts of a predicate; if weights are named, only those with a row in which one of these is not zero."""
        key = predicate, weighing
        if key not in self._predicates:
            self._predicates[key] = LookedUp(self, predicate, self._numbers[predicate], weighing)
        return self._predicates[key]

    def require(self, more: int) -> None:
        """Raise :class:`TooMuchError` if ``more`` further facts would exceed the limit of facts or terms."""
        if self.facts + more > self.most:
            raise TooMuchError(f"more than {self.most:,} facts would be held")
        if len(self.numbering) >= UNIVERSE:
            raise TooMuchError(f"more than {UNIVERSE:,} terms would be held")


class LookedUp:
    """The facts of one predicate that have been looked up so far; :meth:`fetch` looks up more."""

    def __init__(
        self, looked_up: LookedUpFacts, predicate: Predicate, number: int, weighing: tuple[str, ...] = ()
    ) -> None:
        self.predicate = predicate
        self.layout: Layout = layout_for(predicate.arity, UNIVERSE)
        self.size = looked_up.rows.size(number)
        self._looked_up = looked_up
        self._number = number
        self._weighing = weighing
        self._is_whole = not self.size
        self._fetched = [Relation(TERMS)] * predicate.arity
        """For each column the terms that were looked up."""
        self._seen = Relation(self.layout)
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> None:
        """Pass each fact that is looked up from now on to the listener. No fact may have been looked up before."""
        assert not self._seen
        self._listeners.append(listener)

    def having(self, *names: str) -> Relation:
        """The facts for which the sum of the named weights is above zero, as a relation that looks them up."""
        return Relation(self.layout, base=_Having(self, names))

    def numbers(self, name: str) -> Multiset:
        """The named weight of each fact, as a multiset that looks facts up."""
        return Multiset(self.layout, base=_Number(self, name))

    def fetch(self, bound: Bound) -> None:
        """Look up the facts with the given terms in these columns, all facts if no column is given.

        Terms that were looked up before are not read again.
        """
        if self._is_whole:
            return
        rows, arity = self._looked_up.rows, self.predicate.arity
        if not bound:
            self._is_whole = True
            self._take(rows.of(self._number, arity, rows.touched(self._number), weighing=self._weighing))
            return
        known = np.logical_or.reduce([self._fetched[column].contains(terms) for column, terms in bound.items()])
        if known.all():
            return
        column, new, chosen = self._chosen({column: sort_unique(terms[~known]) for column, terms in bound.items()})
        self._fetched[column] = self._fetched[column].extended(Run.of(TERMS, new))
        self._take(rows.of(self._number, arity, chosen, column, self._ids(new), self._weighing))

    def _chosen(self, bound: Bound) -> tuple[int, Column, Chosen]:
        """A column to look facts up by, with its different terms, and the row groups that may have them."""
        found: list[tuple[int, int, Column, Chosen]] = []
        for column, terms in bound.items():
            chosen = self._looked_up.rows.touched(self._number, column, self._ids(terms))
            found.append((int(np.count_nonzero(chosen)), column, terms, chosen))
            if found[-1][0] <= SELECTIVE * len(terms):
                return found[-1][1:]
        return min(found, key=lambda each: each[0])[1:]

    def _ids(self, terms: Column) -> Column:
        """The ids of terms, ascending."""
        return np.sort(self._looked_up.numbering.ids(terms))

    def _take(self, found: FoundRows) -> None:
        count = len(found.weights["holds"])
        self._looked_up.require(count)
        arguments = [self._looked_up.numbering.numbers(column) for column in found.arguments]
        self._looked_up.require(0)
        keys, sums = _summed(pack(self.layout, arguments, count), found.weights)
        new = ~self._seen.contains(keys)
        keys, sums = keys[new], {name: each[new] for name, each in sums.items()}
        self._seen = self._seen.extended(Run.of(self.layout, keys))
        self._looked_up.facts += len(keys)
        for listener in self._listeners:
            listener(keys, sums)


def _summed(keys: Keys, weights: Mapping[str, NDArray[Any]]) -> tuple[Keys, Sums]:
    """The different keys, ascending, and the sums of their weights."""
    order = np.argsort(keys, kind="stable") if keys.ndim == 1 else np.lexsort(keys.T[::-1])
    ordered = keys[order]
    if not len(ordered):
        return ordered, {name: np.empty(0, np.int64) for name in weights}
    first = np.flatnonzero(first_of_equal(ordered))
    return ordered[first], {n: np.add.reduceat(w[order].astype(np.int64), first) for n, w in weights.items()}


class _Having(LazyFacts):
    """The facts for which the sum of some weights is above zero."""

    def __init__(self, source: LookedUp, names: Sequence[str]) -> None:
        self.layout = source.layout
        self.held = Relation(source.layout)
        self._source = source
        self._names = names
        source.subscribe(self._take)

    def __len__(self) -> int:
        return self._source.size

    def fetch(self, bound: Bound) -> None:
        self._source.fetch(bound)

    def _take(self, keys: Keys, sums: Sums) -> None:
        there = sum(sums[name] for name in self._names) > 0
        self.held = self.held.extended(Run.of(self.layout, keys[there]))


class _Number:
    """One weight column of the looked-up facts."""

    def __init__(self, source: LookedUp, name: str) -> None:
        self.held = Multiset(source.layout)
        self._source = source
        self._name = name
        source.subscribe(self._take)

    def weights(self, keys: Keys) -> Ints:
        self._source.fetch(bound_by(self.held.layout, keys))
        return self.held.weights(keys)

    def whole(self) -> Piece:
        self._source.fetch(NOTHING)
        return self.held.whole()

    def _take(self, keys: Keys, sums: Sums) -> None:
        numbers = sums[self._name]
        there = numbers != 0
        piece = keys[there], numbers[there].astype(np.int32)
        self.held = self.held + Multiset(self.held.layout, (piece,))
