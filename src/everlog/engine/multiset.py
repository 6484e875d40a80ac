"""Facts with a number each: how often they are derived.

A multiset is a few pieces of sorted keys with signed weights, of geometrically growing size; the
weight of a fact is the sum over the pieces. Adding appends a piece after merging the earlier ones
that are less than twice as large, so that a small change costs what it is and an older value stays
readable. Multisets are immutable values. One may have a base: numbers that lie elsewhere, and are looked up.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from everlog.engine.algebra import AnyCounts, AnyFactSet, foreign
from everlog.engine.factset import NONE, FactSet, as_local
from everlog.engine.kernels import search, sets, wide
from everlog.engine.keys import Column, Keys, Layout, columns_of, first_of_equal, layout_for, pack
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate

Weights = npt.NDArray[np.int32]
Piece = tuple[Keys, Weights]


class Numbers(Protocol):
    """Numbers of facts that lie elsewhere."""

    def whole(self) -> Piece:
        """All keys whose weight is not zero, ascending, with their weights. Costs all numbers."""

    def weights(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The weights of keys."""


class Multiset:
    """The numbers of the facts of one predicate.

    >>> layout = layout_for(1, 9)
    >>> twice = Multiset.counted(layout, np.array([3, 5, 3]))
    >>> twice.weights(np.array([3, 4, 5])).tolist(), (twice - twice).is_zero
    ([2, 0, 1], True)
    """

    __slots__ = ("base", "layout", "pieces")

    def __init__(self, layout: Layout, pieces: tuple[Piece, ...] = (), base: Numbers | None = None) -> None:
        self.layout = layout
        self.pieces = tuple(piece for piece in pieces if len(piece[0]))
        self.base = base

    @classmethod
    def counted(cls, layout: Layout, keys: Keys) -> Multiset:
        """Make a multiset with the number of times that each key occurs. The memory of ``keys`` may be reused."""
        return cls(layout, (count_keys(keys),))

    @classmethod
    def once(cls, relation: Relation) -> Multiset:
        """Make a multiset with each fact of a relation once."""
        keys = relation.keys()
        return cls(relation.layout, ((keys, np.ones(len(keys), np.int32)),))

    @property
    def nbytes(self) -> int:
        return sum(keys.nbytes + weights.nbytes for keys, weights in self.pieces)

    @property
    def is_zero(self) -> bool:
        """Whether every weight is zero."""
        return not len(self.whole()[0])

    def __len__(self) -> int:
        """Number of different facts that have a weight."""
        return len(self.whole()[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Multiset) and (self - other).is_zero

    __hash__ = None  # type: ignore[assignment]

    def whole(self) -> Piece:
        """All keys whose weight is not zero, ascending, with their weights. Those of a base are fetched."""
        pieces = self.pieces if self.base is None else (self.base.whole(), *self.pieces)
        if not pieces:
            return self.layout.empty(), np.empty(0, np.int32)
        keys, weights = pieces[-1]
        for piece in reversed(pieces[:-1]):
            keys, weights = add_pieces(piece, (keys, weights))
        return keys, weights

    def settled(self) -> Multiset:
        """The multiset as one piece."""
        if self.base is not None or len(self.pieces) <= 1:
            return self
        return Multiset(self.layout, (self.whole(),))

    def weights(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The weights of keys."""
        total = np.zeros(len(keys), np.int64) if self.base is None else self.base.weights(keys)
        for mine, weights in self.pieces:
            if self.layout.is_packed:
                search.add_found(mine, weights, keys, total)
            else:
                at = np.minimum(wide.lower_bounds(mine, keys), len(mine) - 1)
                total += np.where((mine[at] == keys).all(axis=1), weights[at], 0)
        return total

    def __add__(self, other: Multiset) -> Multiset:
        return self._appended(other.whole())

    def __sub__(self, other: Multiset) -> Multiset:
        keys, weights = other.whole()
        return self._appended((keys, -weights))

    def _appended(self, piece: Piece) -> Multiset:
        if not len(piece[0]):
            return self
        pieces = [*self.pieces, piece]
        while len(pieces) > 1 and len(pieces[-2][0]) < 2 * len(pieces[-1][0]):
            pieces[-2:] = [add_pieces(pieces[-2], pieces[-1])]
        return Multiset(self.layout, tuple(pieces), self.base)

    def changed_since(self, old: Multiset) -> Multiset:
        """The multiset that, added to an older value, gives this one. It costs the pieces that the two do not share.
        Both have the same base, or none.
        """
        if self.base is not old.base:
            raise TypeError("numbers over different bases cannot be compared")
        if old.layout != self.layout:
            return Multiset(self.layout, (difference_of(self.pieces, old.repacked(self.layout).pieces),))
        return Multiset(self.layout, (difference_of(self.pieces, old.pieces),))

    def repacked(self, layout: Layout) -> Multiset:
        """The multiset in another layout."""
        keys, weights = self.whole()
        return Multiset(layout, ((pack(layout, columns_of(self.layout, keys), len(keys)), weights),))

    def relation(self) -> Relation:
        """The facts whose weight is not zero."""
        return Relation.from_run(Run.of(self.layout, self.whole()[0]))

    def fitted(self, universe: int) -> Multiset:
        """The multiset in a layout that holds ids below ``universe``."""
        if self.layout.fits(universe):
            return self
        return self.renumbered(None, universe)

    def renumbered(self, ids: Column | None, universe: int) -> Multiset:
        """The multiset with ``ids[i]`` in the place of ``i``, if there are such, in a layout that fits."""
        keys, weights = self.whole()
        columns = columns_of(self.layout, keys)
        layout = layout_for(self.layout.arity, universe)
        turned = pack(layout, columns if ids is None else [ids[column] for column in columns], len(keys))
        order = np.argsort(turned) if layout.is_packed else np.lexsort(turned.T[::-1])
        return Multiset(layout, ((turned[order], weights[order]),))


class Counts(Mapping[Predicate, Multiset]):
    """A multiset per predicate, as an immutable value; implements :class:`~everlog.engine.algebra.AnyCounts`."""

    __slots__ = ("_multisets",)

    def __init__(self, multisets: Mapping[Predicate, Multiset] | Iterable[tuple[Predicate, Multiset]] = ()) -> None:
        self._multisets = {p: each for p, each in dict(multisets).items() if each.pieces or each.base is not None}

    @classmethod
    def once(cls, facts: FactSet) -> Counts:
        """Make counts with each fact once."""
        return cls({p: Multiset.once(relation) for p, relation in facts.items()})

    def __getitem__(self, predicate: Predicate) -> Multiset:
        return self._multisets[predicate]

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self._multisets)

    def __len__(self) -> int:
        return len(self._multisets)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counts) and all(m.is_zero for m in (self - other).values())

    __hash__ = None  # type: ignore[assignment]

    @property
    def nbytes(self) -> int:
        return sum(multiset.nbytes for multiset in self._multisets.values())

    def renamed(self, names: Mapping[Predicate, Predicate]) -> Counts:
        """The counts with some multisets under other predicates."""
        return Counts({names.get(p, p): multiset for p, multiset in self._multisets.items()})

    def restricted(self, predicates: Collection[Predicate]) -> Counts:
        """The multisets of some predicates."""
        return Counts({p: multiset for p, multiset in self._multisets.items() if p in predicates})

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return self._foreign(other)
        if not self._multisets:
            return other
        both = dict(self._multisets)
        for predicate, multiset in other.items():
            both[predicate] = both[predicate] + multiset if predicate in both else multiset
        return Counts(both)

    def __sub__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return self._foreign(other)
        both = dict(self._multisets)
        for predicate, multiset in other.items():
            both[predicate] = both.get(predicate, Multiset(multiset.layout)) - multiset
        return Counts(both)

    def _foreign(self, other: object) -> Any:
        """NotImplemented if there are no numbers, since another implementation takes them for empty counts of its own;
        an error otherwise.
        """
        if self._multisets:
            raise foreign(Counts, other)
        return NotImplemented

    def facts(self) -> FactSet:
        """The facts whose number is not zero."""
        return FactSet({p: multiset.relation() for p, multiset in self._multisets.items()})

    def counted(self, facts: AnyFactSet) -> FactSet:
        """Those of the facts whose number is above zero."""
        if not self._multisets:
            none: Any = NONE
            return cast("FactSet", facts & none)
        return FactSet({p: self._counted(p, relation) for p, relation in as_local(facts).items()})

    def _counted(self, predicate: Predicate, relation: Relation) -> Relation:
        multiset = self._multisets.get(predicate)
        if multiset is None:
            return Relation(relation.layout)
        keys = relation.keys()
        positive = multiset.weights(keys) > 0
        return relation if positive.all() else Relation.from_run(Run.of(relation.layout, keys[positive]))

    def renumbered(self, ids: Column, universe: int) -> Counts:
        return Counts({p: multiset.renumbered(ids, universe) for p, multiset in self._multisets.items()})

    def settled(self) -> Counts:
        """The counts with each multiset as one piece."""
        return Counts({p: multiset.settled() for p, multiset in self._multisets.items()})

    def fitted(self, universe: int) -> Counts:
        return Counts({p: multiset.fitted(universe) for p, multiset in self._multisets.items()})


NO_COUNTS = Counts()
"""The empty counts, which every engine accepts; see :mod:`everlog.engine.algebra`."""


def counts_as_local(counts: AnyCounts) -> Counts:
    """The counts, which must be local ones; those of another implementation are an error."""
    if not isinstance(counts, Counts):
        raise foreign(Counts, counts)
    return counts


def count_keys(keys: Keys) -> Piece:
    """The distinct keys, ascending, with the number of times that each occurs. The memory of ``keys`` may be reused."""
    if keys.ndim == 1:
        keys.sort()
        counted: Piece = sets.count_equal(keys)
        return counted
    ordered = keys[np.lexsort(keys.T[::-1])]
    first = np.flatnonzero(first_of_equal(ordered))
    return ordered[first], np.diff(np.append(first, len(ordered))).astype(np.int32)


def difference_of(new: Iterable[Piece], old: Iterable[Piece]) -> Piece:
    """The sum of the new pieces minus that of the old ones. Pieces among both cost nothing."""
    here, there = {id(piece) for piece in new}, {id(piece) for piece in old}
    signed = [piece for piece in new if id(piece) not in there]
    signed += [(keys, -weights) for keys, weights in (piece for piece in old if id(piece) not in here)]
    if not signed:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    return functools.reduce(add_pieces, sorted(signed, key=lambda piece: len(piece[0])))


def add_pieces(left: Piece, right: Piece) -> Piece:
    """The sum of two pieces; keys whose weights cancel disappear."""
    if left[0].ndim == 1:
        added: Piece = sets.add_weights(*left, *right)
        return added
    keys, weights = np.concatenate([left[0], right[0]]), np.concatenate([left[1], right[1]])
    ranks = np.lexsort(keys.T[::-1])
    ordered = keys[ranks]
    first = np.flatnonzero(first_of_equal(ordered))
    sums = np.add.reduceat(weights[ranks], first).astype(np.int32) if len(first) else weights
    return ordered[first][sums != 0], sums[sums != 0]
