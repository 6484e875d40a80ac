"""Collectors of the heads of rule instances: as a set of new facts, with the number of instances, or in the order
found.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

import numpy as np

from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Column, Keys, Layout, columns_of, sort_unique
from everlog.engine.multiset import Counts, Multiset, Piece, Weights, count_keys
from everlog.engine.relation import Relation
from everlog.engine.runs import Run, merge_keys
from everlog.lang.syntax import Predicate


class NewFacts:
    """Collects the distinct keys that are not known, and removes duplicates block by block.

    Keys are held in sorted pieces of geometrically growing size, so that memory stays within twice the distinct new
    facts. Pieces that follow each other in order are chained, and joined at the end.
    """

    def __init__(self, layout: Layout, known: Relation | None) -> None:
        self.layout = layout
        self.known = known if known is not None else Relation(layout)
        self._pieces: list[Keys] = []
        self._chain: list[Keys] = []

    def add(self, keys: Keys) -> None:
        """Add keys in any order, in the primary order of columns. Their memory is reused."""
        unique = sort_unique(keys)
        if self.known:
            unique = unique[~self.known.contains(unique)]
        elif 2 * len(unique) < len(keys):
            unique = unique.copy()  # a view would hold the whole block in memory
        self.add_new(unique)

    def add_new(self, keys: Keys) -> None:
        """Add ascending, unique keys none of which are known."""
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


class CountingCollector:
    """Collects the multiset of all keys that are added. Pieces are chained as in :class:`NewFacts`."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._multiset = Multiset(layout)
        self._chain: list[Piece] = []

    def add(self, keys: Keys) -> None:
        """Add keys in any order, in the primary order of columns. Their memory is reused."""
        self.add_counted(*count_keys(keys))

    def add_counted(self, keys: Keys, weights: Weights) -> None:
        """Add ascending, unique keys with their numbers."""
        if not len(keys):
            return
        if self._chain and not (keys.ndim == 1 and keys[0] > self._chain[-1][0][-1]):
            self._unchain()
        self._chain.append((keys, weights))

    @property
    def held(self) -> int:
        return sum(len(keys) for keys, _ in (*self._multiset.pieces, *self._chain))

    def _unchain(self) -> None:
        if self._chain:
            keys, weights = zip(*self._chain, strict=True)
            self._multiset += Multiset(self.layout, ((np.concatenate(keys), np.concatenate(weights)),))
            self._chain = []

    def multiset(self) -> Multiset:
        """What was collected."""
        self._unchain()
        return Multiset(self.layout, (self._multiset.whole(),))


class EnoughError(Exception):
    """Raised once as many heads are collected as were asked for."""


class Heads:
    """Collects keys in the order in which they come, and raises :class:`EnoughError` once there are ``enough``.

    With ``repeated`` a key may come several times, and is collected once.
    """

    def __init__(self, layout: Layout, enough: int | None, repeated: bool) -> None:
        self.layout = layout
        self._enough = enough
        self._seen = Relation(layout) if repeated else None
        self._pieces: list[Keys] = []
        self.held = 0

    def add(self, keys: Keys) -> None:
        """Add keys in the primary order of columns. Their memory is reused if keys may come several times."""
        if self._seen is not None:
            keys = sort_unique(keys)
            keys = keys[~self._seen.contains(keys)]
            self._seen = self._seen.extended(Run.of(self.layout, keys))
        self._pieces.append(keys)
        self.held += len(keys)
        if self._enough is not None and self.held >= self._enough:
            raise EnoughError

    def keys(self) -> Keys:
        """What was collected."""
        return np.concatenate([self.layout.empty(), *self._pieces])


class PredicateCollector(Protocol):
    """A collector of the heads of one predicate."""

    @property
    def held(self) -> int:
        """How many rows are held."""


C = TypeVar("C", bound=PredicateCollector)


class PerPredicate(ABC, Generic[C]):
    """A collector for each head predicate, made when the first heads of the predicate are found."""

    only_new = True
    """Whether no row held is a known fact."""

    def __init__(self) -> None:
        self.collectors: dict[Predicate, C] = {}

    @abstractmethod
    def make(self, predicate: Predicate, layout: Layout) -> C:
        """A new collector for a predicate."""

    def of(self, predicate: Predicate, layout: Layout) -> C:
        """The collector of a predicate."""
        if predicate not in self.collectors:
            self.collectors[predicate] = self.make(predicate, layout)
        return self.collectors[predicate]

    @property
    def held(self) -> int:
        """How many rows are held in all."""
        return sum(collector.held for collector in self.collectors.values())


class ListCollector(PerPredicate[Heads]):
    """A collector per head predicate, for heads in the order in which they are found."""

    def __init__(self, enough: int | None, repeated: bool) -> None:
        self._enough = enough
        self._repeated = repeated
        super().__init__()

    def make(self, predicate: Predicate, layout: Layout) -> Heads:
        return Heads(layout, self._enough, self._repeated)

    def columns(self, predicate: Predicate) -> tuple[list[Column], int]:
        """The columns of the heads of a predicate, and their number."""
        found = self.collectors.get(predicate)
        if found is None:
            return [np.empty(0, np.int64)] * predicate.arity, 0
        keys = found.keys()
        return columns_of(found.layout, keys), len(keys)


class FactCollector(PerPredicate[NewFacts]):
    """A collector per head predicate, for distinct facts outside ``without``."""

    def __init__(self, without: FactSet = NONE) -> None:
        self._without = without
        super().__init__()

    def make(self, predicate: Predicate, layout: Layout) -> NewFacts:
        return NewFacts(layout, self._without.get(predicate))

    def facts(self) -> FactSet:
        return FactSet({p: collector.relation() for p, collector in self.collectors.items()})


class CountCollector(PerPredicate[CountingCollector]):
    """A collector per head predicate, for facts with the number of their instances, known ones among them."""

    only_new = False

    def make(self, predicate: Predicate, layout: Layout) -> CountingCollector:
        return CountingCollector(layout)

    def counts(self) -> Counts:
        return Counts({p: collector.multiset() for p, collector in self.collectors.items()})


Collector = FactCollector | CountCollector | ListCollector
