"""The facts that a search for proofs has found, by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.engine.keys import Column, Keys, layout_for, pack
from everlog.lang.syntax import Predicate

Flat = npt.NDArray[Any]


class Facts:
    """Facts of all predicates with numbers from 0, in the order in which they were found.

    >>> facts, p = Facts(10), Predicate("p", 2)
    >>> facts.numbers(p, [np.array([1, 3, 1]), np.array([2, 4, 2])], 3).tolist()
    [0, 1, 0]
    >>> [column.tolist() for column in facts.columns(p, np.array([1]))], len(facts)
    ([[3], [4]], 2)
    """

    def __init__(self, universe: int) -> None:
        self.universe = universe
        self.predicates: list[Predicate] = []
        self._known: dict[Predicate, _Known] = {}
        self._predicate_of: Column = np.empty(0, np.int64)
        self._row_of: Column = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self._predicate_of)

    def numbers(self, predicate: Predicate, columns: Sequence[Column], size: int) -> Column:
        """The numbers of facts; new facts get new numbers."""
        known = self._known.get(predicate)
        if known is None:
            known = self._known[predicate] = _Known(len(self.predicates), predicate.arity)
            self.predicates.append(predicate)
        layout = layout_for(predicate.arity, self.universe)
        keys = flat(pack(layout, columns, size))
        new = np.flatnonzero(~known.has(keys))
        if len(new):
            _, first = np.unique(keys[new], return_index=True)
            new = new[np.sort(first)]
            rows = known.add(keys[new], [column[new] for column in columns], len(self))
            self._row_of = np.append(self._row_of, rows)
            self._predicate_of = np.append(self._predicate_of, np.full(len(new), known.number))
        return known.find(keys)

    def predicates_of(self, numbers: Column) -> Column:
        """For each fact, the position of its predicate in ``predicates``."""
        return self._predicate_of[numbers]

    def columns(self, predicate: Predicate, numbers: Column) -> list[Column]:
        """The terms of facts of one predicate."""
        rows = self._row_of[numbers]
        return [column[rows] for column in self._known[predicate].columns]

    def by_predicate(self, numbers: Column) -> dict[Predicate, Column]:
        """The given facts grouped by predicate, in their order."""
        places = self._predicate_of[numbers]
        return {self.predicates[at]: numbers[places == at] for at in np.unique(places).tolist()}


class _Known:
    """The facts of one predicate: sorted keys with numbers, and columns by row."""

    def __init__(self, number: int, arity: int) -> None:
        self.number = number
        self.columns: list[Column] = [np.empty(0, np.int64)] * arity
        self._keys: Flat | None = None
        self._numbers: Column = np.empty(0, np.int64)

    def has(self, keys: Flat) -> npt.NDArray[np.bool_]:
        if self._keys is None:
            return np.zeros(len(keys), np.bool_)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found: npt.NDArray[np.bool_] = self._keys[at] == keys
        return found

    def find(self, keys: Flat) -> Column:
        return self._numbers[np.searchsorted(self._keys, keys)] if self._keys is not None else self._numbers

    def add(self, keys: Flat, columns: Sequence[Column], first: int) -> Column:
        """Add new keys, which get the numbers from ``first`` on; returns their rows."""
        rows = np.arange(len(self._numbers), len(self._numbers) + len(keys))
        order = np.argsort(keys)
        numbers = (first + np.arange(len(keys)))[order]
        if self._keys is None:
            self._keys, self._numbers = keys[order], numbers
        else:
            at = np.searchsorted(self._keys, keys[order])
            self._keys, self._numbers = np.insert(self._keys, at, keys[order]), np.insert(self._numbers, at, numbers)
        self.columns = [np.append(old, new) for old, new in zip(self.columns, columns, strict=True)]
        return rows


def flat(keys: Keys) -> Flat:
    """Keys as one column with the order and equality of the keys."""
    if keys.ndim == 1:
        return keys
    return np.ascontiguousarray(keys.astype(">i8")).view(f"S{8 * keys.shape[1]}").ravel()
