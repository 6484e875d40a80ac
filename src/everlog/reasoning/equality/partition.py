"""Which terms are equal: a partition of the ids into classes, each with a representative."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from everlog.engine.keys import Column, Mask


@dataclass(frozen=True, eq=False)
class Partition:
    """``of[i]`` is the representative of the term i.

    >>> pairs = Partition.trivial(6).joined(np.array([4, 2]), np.array([2, 5]), preferred=np.array([5]))
    >>> pairs.of.tolist(), pairs.shared.tolist()
    ([0, 1, 5, 3, 5, 5], [False, False, True, False, True, True])
    """

    of: Column

    @classmethod
    def trivial(cls, universe: int) -> Partition:
        """Every term is equal to itself only."""
        return cls(np.arange(universe, dtype=np.int64))

    def fitted(self, universe: int) -> Partition:
        """The partition extended to the ids below ``universe``; each added term is equal to itself only."""
        known = len(self.of)
        return self if known >= universe else Partition(np.append(self.of, np.arange(known, universe)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and (self is other or np.array_equal(self.of, other.of))

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def sizes(self) -> Column:
        """The number of terms of each representative; 0 for terms that are no representatives."""
        return np.bincount(self.of, minlength=len(self.of))

    @cached_property
    def shared(self) -> Mask:
        """The terms that are equal to another one."""
        return self.sizes[self.of] > 1

    @property
    def is_trivial(self) -> bool:
        return not self.shared.any()

    def changed_since(self, old: Partition) -> Mask:
        """The old and new representatives of the classes that differ between the two partitions."""
        found = np.zeros(len(self.of), np.bool_)
        moved = self.of != old.of
        found[self.of[moved]] = found[old.of[moved]] = True
        return found

    @cached_property
    def _grouped(self) -> tuple[Column, Column]:
        """The terms sorted by representative, and the position at which the terms of each begin."""
        return np.argsort(self.of, kind="stable"), np.cumsum(self.sizes) - self.sizes

    def members(self, representatives: Column) -> tuple[Column, Column]:
        """All terms that some representatives stand for, and for each the position of its representative."""
        order, starts = self._grouped
        counts = self.sizes[representatives]
        positions = np.repeat(np.arange(len(representatives)), counts)
        within = np.arange(len(positions)) - np.repeat(np.cumsum(counts) - counts, counts)
        return order[starts[representatives[positions]] + within], positions

    def joined(self, left: Column, right: Column, preferred: Column) -> Partition:
        """The partition in which the given pairs of terms are equal, too.

        The representative of a class is a preferred term if it has one, and the first of those.
        """
        left, right = self.of[left], self.of[right]
        differ = left != right
        if not differ.any():
            return self
        nodes, places = np.unique(np.concatenate([left[differ], right[differ]]), return_inverse=True)
        labels = _components(len(nodes), *np.split(places, 2))
        rank = nodes + len(self.of)
        rank[np.isin(nodes, preferred)] -= len(self.of)
        chosen = np.full(len(nodes), np.iinfo(np.int64).max)
        np.minimum.at(chosen, labels, rank)
        renamed = np.arange(len(self.of), dtype=np.int64)
        renamed[nodes] = chosen[labels] % len(self.of)
        return Partition(renamed[self.of])


def _components(nodes: int, left: Column, right: Column) -> Column:
    """The least node of the component of each node: labels sink along edges and jump, until nothing changes."""
    labels = np.arange(nodes)
    while True:
        one, other = labels[left], labels[right]
        if np.array_equal(one, other):
            return labels
        np.minimum.at(labels, np.maximum(one, other), np.minimum(one, other))
        while not np.array_equal(labels, labels[labels]):
            labels = labels[labels]


class NormalisedConstants(Mapping[str, int]):
    """Maps each constant of the rules to the id of its representative."""

    def __init__(self, constants: Mapping[str, int], partition: Partition) -> None:
        self._constants = constants
        self._of = partition.of

    def __getitem__(self, text: str) -> int:
        found = self._constants[text]
        return int(self._of[found]) if 0 <= found < len(self._of) else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._constants)

    def __len__(self) -> int:
        return len(self._constants)
