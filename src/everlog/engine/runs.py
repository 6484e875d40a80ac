"""A run: an immutable set of facts of one predicate, sorted in each order that was asked for.

Invariants: the keys of every order are ascending and unique, and stand for the same facts. The first order is given,
others are sorted at their first use and cached. The index of an order has the start of each value of the leading
column. It is made for runs that are large compared with the number of these values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from everlog.engine.kernels import search, sets, wide
from everlog.engine.keys import Column, Keys, Layout, Mask, Order, reorder, sort_unique

NO_INDEX = np.empty(0, np.int32)
INDEXED_FROM = 256
"""Minimum number of facts of a run that has an index."""

INDEXED_BELOW = 1 << 31
"""Runs with this many facts have no index: positions in an index have 32 bits."""


class Run:
    """An immutable, sorted set of facts."""

    __slots__ = ("_indexes", "_orders", "_rows", "layout", "size")

    def __init__(self, layout: Layout, orders: Mapping[Order, Keys]) -> None:
        self.layout = layout
        self._orders = dict(orders)
        self._indexes: dict[Order, npt.NDArray[np.int32]] = {}
        self._rows: dict[tuple[Order, bool], tuple[int, int, int, int]] = {}
        self.size = len(next(iter(orders.values())))

    @classmethod
    def of(cls, layout: Layout, keys: Keys) -> Run:
        """The run of ascending, unique keys in the primary order."""
        return cls(layout, {layout.primary: keys})

    def __len__(self) -> int:
        return self.size

    @property
    def orders(self) -> Mapping[Order, Keys]:
        return self._orders

    @property
    def nbytes(self) -> int:
        """Bytes of the keys in all orders, and of their indexes."""
        return sum(a.nbytes for a in self._orders.values()) + sum(a.nbytes for a in self._indexes.values())

    def keys(self, order: Order | None = None) -> Keys:
        """The keys in an order of the columns."""
        order = order or self.layout.primary
        if order not in self._orders:
            source, keys = next(iter(self._orders.items()))
            turned = reorder(self.layout, keys, source, order)
            self._orders[order] = sort_unique(turned)
        return self._orders[order]

    def index(self, order: Order) -> npt.NDArray[np.int32]:
        """The start of each value of the leading column, or an empty array if the run has no index."""
        if not INDEXED_FROM <= self.size < INDEXED_BELOW or not self.layout.is_packed or not self.layout.indexed:
            return NO_INDEX
        if order not in self._indexes:
            keys, shift = self.keys(order), self.layout.lead_shift
            values = int(keys[-1] >> shift) + 2
            worth = values <= max(self.size // 4, min(2 * self.size, 1 << 20))
            self._indexes[order] = search.leading_offsets(keys, shift, values) if worth else NO_INDEX
        return self._indexes[order]

    def row(self, order: Order, indexed: bool) -> tuple[int, int, int, int]:
        """The row of numbers by which kernels read the run (see ``kernels.memory``)."""
        if (order, indexed) not in self._rows:
            keys, index = self.keys(order), self.index(order) if indexed else NO_INDEX
            self._rows[order, indexed] = (keys.ctypes.data, len(keys), index.ctypes.data, len(index))
        return self._rows[order, indexed]

    def without(self, mask: Mask) -> Run:
        """The run of the facts that are not marked; the mask is in the primary order."""
        return Run.of(self.layout, self.keys()[~mask])


def merge_runs(left: Run, right: Run) -> Run:
    """The union of two runs, in all orders that the larger one has."""
    larger = left if left.size >= right.size else right
    return Run(left.layout, {order: merge_keys(left.keys(order), right.keys(order)) for order in larger.orders})


def merge_keys(left: Keys, right: Keys) -> Keys:
    """The union of two sets of keys."""
    if len(left) == 0 or len(right) == 0:
        return left if len(right) == 0 else right
    if left.ndim == 1:
        return sets.merge(left, right)
    return sort_unique(np.concatenate([left, right]))


def table_of(runs: Iterable[Run], order: Order, indexed: bool = True) -> Keys:
    """The table by which kernels read runs (see ``kernels.memory``); the runs must outlive it."""
    rows = [run.row(order, indexed) for run in runs]
    return np.array(rows, np.int64).reshape(len(rows), 4)


def wide_contained(runs: Iterable[Run], wanted: Keys) -> Mask:
    """Which of the wanted keys of several words are in any of the runs."""
    found = np.zeros(len(wanted), np.bool_)
    for run in runs:
        rows = run.keys()
        if len(rows):
            at = wide.lower_bounds(rows, wanted)
            found |= (rows[np.minimum(at, len(rows) - 1)] == wanted).all(axis=1) & (at < len(rows))
    return found


def prefix_range(layout: Layout, keys: Keys, prefix: Keys, bound: int) -> tuple[Column, Column]:
    """For each prefix, the positions ``[low, high)`` of the ascending keys that share its first ``bound`` columns."""
    if bound == 0:
        return np.zeros(len(prefix), np.int64), np.full(len(prefix), len(keys), np.int64)
    word, shift = layout.place(bound - 1)
    if layout.is_packed:
        keys, prefix = keys.reshape(-1, 1), prefix.reshape(-1, 1)
    after = prefix.copy()
    after[:, word] += 1 << shift
    return wide.lower_bounds(keys, prefix), wide.lower_bounds(keys, after)
