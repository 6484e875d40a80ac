"""Where the heads of rule instances are collected: as a set of new facts, or with their number."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from everlog.engine.factset import NONE, FactSet
from everlog.engine.kernels import sets
from everlog.engine.keys import Keys, Layout, first_of_equal, sort_unique
from everlog.engine.relation import Relation
from everlog.engine.runs import Run, merge_keys
from everlog.lang.syntax import Predicate

Weights = npt.NDArray[np.int64]


class NewFacts:
    """Collects distinct keys that are not known yet, deduplicated block by block as they come.

    Held are sorted pieces of geometrically growing size, so memory stays within twice the distinct
    new facts. Pieces that follow each other in order are only chained, and joined at the end.
    """

    def __init__(self, layout: Layout, known: Relation | None = None) -> None:
        self.layout = layout
        self.known = known if known is not None else Relation(layout)
        self._pieces: list[Keys] = []
        self._chain: list[Keys] = []

    def add(self, keys: Keys) -> None:
        """Any keys, in the primary order of columns; their memory is reused."""
        unique = sort_unique(keys)
        if self.known:
            unique = unique[~self.known.contains(unique)]
        elif 2 * len(unique) < len(keys):
            unique = unique.copy()  # a view would keep the whole block
        self.add_new(unique)

    def add_new(self, keys: Keys) -> None:
        """Ascending, unique keys that are not known."""
        if not len(keys):
            return
        if self._chain and not (keys.ndim == 1 and keys[0] > self._chain[-1][-1]):
            self._push(self._unchained())
        self._chain.append(keys)

    def _unchained(self) -> Keys:
        chain, self._chain = self._chain, []
        return chain[0] if len(chain) == 1 else np.concatenate(chain)

    def _push(self, keys: Keys) -> None:
        self._pieces.append(keys)
        while len(self._pieces) > 1 and len(self._pieces[-2]) < 2 * len(self._pieces[-1]):
            last = self._pieces.pop()
            self._pieces[-1] = merge_keys(self._pieces[-1], last)

    @property
    def held(self) -> int:
        return sum(map(len, self._pieces)) + sum(map(len, self._chain))

    def relation(self) -> Relation:
        """What was collected."""
        if self._chain:
            self._pieces.append(self._unchained())
        while len(self._pieces) > 1:
            last = self._pieces.pop()
            self._pieces[-1] = merge_keys(self._pieces[-1], last)
        if not self._pieces:
            return Relation(self.layout)
        return Relation.from_run(Run.of(self.layout, self._pieces[0]))


class Counted:
    """Collects keys with how often they came: a multiset of facts."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._pieces: list[tuple[Keys, Weights]] = []

    def add(self, keys: Keys) -> None:
        """Any keys, in the primary order of columns; their memory is reused."""
        self._pieces.append(count_keys(keys))
        while len(self._pieces) > 1 and len(self._pieces[-2][0]) < 2 * len(self._pieces[-1][0]):
            self._join()

    def _join(self) -> None:
        right, weights = self._pieces.pop()
        left, left_weights = self._pieces.pop()
        self._pieces.append(add_multisets(left, left_weights, right, weights))

    def multiset(self) -> Multiset:
        """What was collected."""
        while len(self._pieces) > 1:
            self._join()
        if not self._pieces:
            return Multiset(self.layout, self.layout.empty(), np.empty(0, np.int64))
        return Multiset(self.layout, *self._pieces[0])


class Multiset:
    """Facts of one predicate with a number each; ascending keys, no number is zero."""

    def __init__(self, layout: Layout, keys: Keys, weights: Weights) -> None:
        self.layout = layout
        self.keys = keys
        self.weights = weights

    def __len__(self) -> int:
        """How many different facts there are."""
        return len(self.keys)

    def __add__(self, other: Multiset) -> Multiset:
        return Multiset(self.layout, *add_multisets(self.keys, self.weights, other.keys, other.weights))

    def relation(self) -> Relation:
        """The different facts."""
        return Relation.from_run(Run.of(self.layout, self.keys))


def count_keys(keys: Keys) -> tuple[Keys, Weights]:
    """The different keys, ascending, and how often each occurs."""
    if keys.ndim == 1:
        keys.sort()
        counted: tuple[Keys, Weights] = sets.count_equal(keys)
        return counted
    ordered = keys[np.lexsort(keys.T[::-1])]
    first = np.flatnonzero(first_of_equal(ordered))
    return ordered[first], np.diff(np.append(first, len(ordered)))


def add_multisets(left: Keys, left_weights: Weights, right: Keys, right_weights: Weights) -> tuple[Keys, Weights]:
    """The sum of two multisets."""
    if left.ndim == 1:
        added: tuple[Keys, Weights] = sets.add_weights(left, left_weights, right, right_weights)
        return added
    keys, weights = np.concatenate([left, right]), np.concatenate([left_weights, right_weights])
    ranks = np.lexsort(keys.T[::-1])
    ordered = keys[ranks]
    first = np.flatnonzero(first_of_equal(ordered))
    sums = np.add.reduceat(weights[ranks], first) if len(first) else weights
    return ordered[first][sums != 0], sums[sums != 0]


class FactCollector:
    """A collector per head predicate, for distinct facts outside ``without``."""

    def __init__(self, without: FactSet = NONE) -> None:
        self._without = without
        self._collectors: dict[Predicate, NewFacts] = {}

    def of(self, predicate: Predicate, layout: Layout) -> NewFacts:
        if predicate not in self._collectors:
            self._collectors[predicate] = NewFacts(layout, self._without.get(predicate))
        return self._collectors[predicate]

    @property
    def held(self) -> int:
        return sum(collector.held for collector in self._collectors.values())

    def facts(self) -> FactSet:
        return FactSet({p: collector.relation() for p, collector in self._collectors.items()})


class CountCollector:
    """A collector per head predicate, for facts with the number of their instances."""

    held = 0

    def __init__(self) -> None:
        self._collectors: dict[Predicate, Counted] = {}

    def of(self, predicate: Predicate, layout: Layout) -> Counted:
        if predicate not in self._collectors:
            self._collectors[predicate] = Counted(layout)
        return self._collectors[predicate]

    def multisets(self) -> Mapping[Predicate, Multiset]:
        return {p: collector.multiset() for p, collector in self._collectors.items()}
