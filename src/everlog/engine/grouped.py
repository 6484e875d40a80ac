"""The facts of many predicates as a few arrays, so that 50,000 predicates cost little more than their facts.

A group has the keys of all predicates of one arity, those of each predicate together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from everlog.engine.keys import Column, Keys, Layout, Mask, layout_for, pack, sort_unique, unpack
from everlog.engine.multiset import Counts, Multiset, Weights
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate

MANY, LARGE = 1 << 10, 1 << 16
"""Maximum number of predicates of a group, and the number of facts of one predicate that ends it."""


@dataclass(frozen=True)
class Group:
    """The facts of several predicates of one arity: those of predicate ``i`` are ``keys[starts[i]:starts[i + 1]]``, in
    any order.

    >>> from everlog.engine.keys import layout_for
    >>> p, q = Predicate("p", 1), Predicate("q", 1)
    >>> group = Group([p, q], layout_for(1, 9), np.array([0, 2, 3]), np.array([5, 7, 5]))
    >>> [(str(p), r.keys().tolist()) for p, r in group.where(group.keys == 5).relations()]
    [('p/1', [5]), ('q/1', [5])]
    """

    predicates: Sequence[Predicate]
    layout: Layout
    starts: Column
    keys: Keys

    def renumbered(self, ids: Column, universe: int) -> Group:
        """The group with ``ids[i]`` in the place of ``i``."""
        layout = layout_for(self.layout.arity, universe)
        columns = (ids[unpack(self.layout, self.keys, position)] for position in range(layout.arity))
        return Group(self.predicates, layout, self.starts, pack(layout, columns, len(self.keys)))

    def where(self, mask: Mask) -> Group:
        """The group with the facts that are marked."""
        if mask.all():
            return self
        counts = np.concatenate([[0], np.cumsum(mask)])
        return Group(self.predicates, self.layout, counts[self.starts], self.keys[mask])

    def relations(self) -> Iterator[tuple[Predicate, Relation]]:
        """Yield the relation of each predicate. A fact may occur more than once in the group. The memory of the keys
        may be reused.
        """
        for predicate, start, end, in_order in self._slices():
            mine = self.keys[start:end]
            yield predicate, Relation.from_run(Run.of(self.layout, mine if in_order else sort_unique(mine)))

    def multisets(self, weights: Weights) -> Iterator[tuple[Predicate, Multiset]]:
        """Yield the multiset of each predicate. Each fact must occur once in the group."""
        for predicate, start, end, in_order in self._slices():
            keys, mine = self.keys[start:end], weights[start:end]
            if not in_order:
                order = np.argsort(keys, kind="stable") if self.layout.is_packed else np.lexsort(keys.T[::-1])
                keys, mine = keys[order], mine[order]
            yield predicate, Multiset(self.layout, ((keys, mine),))

    def _slices(self) -> Iterator[tuple[Predicate, int, int, bool]]:
        """Yield each predicate that has keys, with their start and end, and whether they ascend."""
        in_order = self._in_order().tolist()
        starts = self.starts.tolist()
        for number, predicate in enumerate(self.predicates):
            if starts[number] < starts[number + 1]:
                yield predicate, starts[number], starts[number + 1], in_order[number]

    def _in_order(self) -> Mask:
        falls = np.flatnonzero(~_ascending(self.keys)) + 1
        owners = np.searchsorted(self.starts, falls, side="right") - 1
        found = np.ones(len(self.predicates), np.bool_)
        found[owners[self.starts[owners] != falls]] = False
        return found


def renumbered_relations(
    relations: Mapping[Predicate, Relation], ids: Column, universe: int
) -> Iterator[tuple[Predicate, Relation]]:
    """Relations with ``ids[i]`` in the place of ``i``."""
    for group in _groups({p: (relation.layout, relation.keys()) for p, relation in relations.items()}):
        yield from group.renumbered(ids, universe).relations()


def renumbered_counts(counts: Counts, ids: Column, universe: int) -> Counts:
    """Counters with ``ids[i]`` in the place of ``i``."""
    settled = counts.settled()
    found: dict[Predicate, Multiset] = {}
    for group in _groups({p: (multiset.layout, multiset.whole()[0]) for p, multiset in settled.items()}):
        weights = np.concatenate([settled[p].whole()[1] for p in group.predicates])
        found.update(group.renumbered(ids, universe).multisets(weights))
    return Counts(found)


def _groups(parts: Mapping[Predicate, tuple[Layout, Keys]]) -> Iterator[Group]:
    """Yield all predicates in groups of bounded size; only a predicate that is larger alone makes a larger group."""
    held: dict[Layout, list[tuple[Predicate, Keys]]] = {}
    for predicate, (layout, keys) in parts.items():
        mine = held.setdefault(layout, [])
        mine.append((predicate, keys))
        if len(mine) >= MANY or len(keys) >= LARGE:
            yield _joined(layout, held.pop(layout))
    for layout, mine in held.items():
        yield _joined(layout, mine)


def _joined(layout: Layout, found: Sequence[tuple[Predicate, Keys]]) -> Group:
    starts = np.cumsum([0, *(len(keys) for _, keys in found)])
    joined = found[0][1] if len(found) == 1 else np.concatenate([keys for _, keys in found])
    return Group([predicate for predicate, _ in found], layout, starts, joined)


def _ascending(keys: Keys) -> Mask:
    """Whether each key but the first is above the one before."""
    if keys.ndim == 1:
        rises: Mask = keys[1:] > keys[:-1]
        return rises
    rises, equal = np.zeros(max(len(keys) - 1, 0), np.bool_), np.ones(max(len(keys) - 1, 0), np.bool_)
    for word in range(keys.shape[1]):
        rises |= equal & (keys[1:, word] > keys[:-1, word])
        equal &= keys[1:, word] == keys[:-1, word]
    return rises
