"""Joins of tables: merging compatible solutions, which agree on all variables that both bind.

Where both sides bind all shared variables, which is the usual case, a join is one sort and one search of combined keys.
Otherwise the rows of each side are split by the set of shared variables that they bind; there are few such sets, and
each pair of parts is joined on the variables that both bind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from everlog.engine.keys import Column, Mask
from everlog.engine.limits import Limits
from everlog.query.sparql.table import SolutionTable, codes

Rows = tuple[Column, Column]
"""Indexes of matching rows of the left and of the right side."""


def join(left: SolutionTable, right: SolutionTable, limits: Limits) -> SolutionTable:
    """The merged compatible solutions of two tables."""
    rows = compatible(left, right, limits)
    limits.reserve(len(rows[0]), 8 * len(rows[0]) * len(left.columns.keys() | right.columns.keys()))
    return merged(left, right, *rows)


def merged(left: SolutionTable, right: SolutionTable, left_rows: Column, right_rows: Column) -> SolutionTable:
    """Pairs of rows of two tables as rows of one table."""
    columns = {name: column[left_rows] for name, column in left.columns.items()}
    for name, column in right.columns.items():
        other = column[right_rows]
        mine = columns.get(name)
        columns[name] = other if mine is None else np.where(mine >= 0, mine, other)
    weights = None
    if left.weights is not None or right.weights is not None:
        weights = np.ones(len(left_rows), np.int64)
        for table, rows in ((left, left_rows), (right, right_rows)):
            if table.weights is not None:
                weights = weights * table.weights[rows]
    return SolutionTable(columns, len(left_rows), weights)


def compatible(left: SolutionTable, right: SolutionTable, limits: Limits) -> Rows:
    """The pairs of compatible rows."""
    shared = [name for name in left.columns if name in right.columns]
    found = []
    for on, left_part, right_part in _parts(left, right, shared):
        left_keys, right_keys = _keys(left, right, on, left_part, right_part)
        left_rows, right_rows = matches(left_keys, right_keys, limits)
        found.append((left_part[left_rows], right_part[right_rows]))
    if len(found) == 1:
        return found[0]
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    left_rows = np.concatenate([rows for rows, _ in found])
    right_rows = np.concatenate([rows for _, rows in found])
    order = np.argsort(left_rows, kind="stable")
    return left_rows[order], right_rows[order]


def has_compatible(left: SolutionTable, right: SolutionTable, need_shared: Sequence[str]) -> Mask:
    """A mask of the left rows with a compatible right row that shares one of the given variables with them."""
    found = np.zeros(left.size, np.bool_)
    shared = [name for name in left.columns if name in right.columns]
    for on, left_part, right_part in _parts(left, right, shared):
        if any(name in need_shared for name in on):
            left_keys, right_keys = _keys(left, right, on, left_part, right_part)
            found[left_part] |= contained(left_keys, right_keys)
    return found


def _keys(left: SolutionTable, right: SolutionTable, on: Sequence[str], left_part: Column, right_part: Column) -> Rows:
    """One key for each row of two parts, equal where all given columns are equal."""
    both = [np.concatenate([left.columns[name][left_part], right.columns[name][right_part]]) for name in on]
    keys = codes(both, len(left_part) + len(right_part))
    return keys[: len(left_part)], keys[len(left_part) :]


def _parts(
    left: SolutionTable, right: SolutionTable, shared: Sequence[str]
) -> Iterator[tuple[list[str], Column, Column]]:
    """Pairs of parts of the rows, each with the variables that both bind."""
    rights = bound_parts(right, shared)
    for left_bound, left_part in bound_parts(left, shared):
        for right_bound, right_part in rights:
            yield [name for name in left_bound if name in right_bound], left_part, right_part


def bound_parts(table: SolutionTable, names: Sequence[str]) -> list[tuple[list[str], Column]]:
    """The rows of a table split by the set of variables that they bind.

    >>> bound_parts(SolutionTable({"x": np.array([1, -1, 2])}, 3), ["x"])
    [([], array([1])), (['x'], array([0, 2]))]
    """
    loose = [name for name in names if table.size and table.columns[name].min() < 0]
    if not loose:
        return [(list(names), np.arange(table.size))]
    pattern = np.zeros(table.size, np.int64)
    for bit, name in enumerate(loose):
        pattern |= (table.columns[name] >= 0).astype(np.int64) << bit
    found = []
    for present in np.unique(pattern).tolist():
        unbound = {name for bit, name in enumerate(loose) if not present >> bit & 1}
        found.append(([name for name in names if name not in unbound], np.flatnonzero(pattern == present)))
    return found


PAIRS = 1 << 22
"""Number of pairs that are made between two checks of the limits."""


def matches(left: Column, right: Column, limits: Limits | None = None) -> Rows:
    """All pairs of indexes with equal keys, ascending on the left.

    >>> matches(np.array([1, 2]), np.array([2, 1, 2]))
    (array([0, 1, 1]), array([1, 0, 2]))
    """
    limits = limits or Limits()
    order = np.argsort(right, kind="stable")
    low, high = _searched(right[order], left)
    ends = np.cumsum(high - low)
    total = int(ends[-1]) if len(ends) else 0
    limits.reserve(total, 16 * total)
    found: list[Rows] = []
    start = 0
    while start < len(left) or not found:
        begin = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, begin + PAIRS, side="right")))
        limits.check(total)
        found.append(_expanded(low, high, order, start, min(stop, len(left))))
        start = stop
    if len(found) == 1:
        return found[0]
    return np.concatenate([rows for rows, _ in found]), np.concatenate([rows for _, rows in found])


def _expanded(low: Column, high: Column, order: Column, start: int, stop: int) -> Rows:
    """The pairs of left indexes from ``start`` to ``stop`` with the sorted right ones from low to high."""
    low, counts = low[start:stop], high[start:stop] - low[start:stop]
    starts = np.cumsum(counts) - counts
    within = np.arange(int(counts.sum())) - np.repeat(starts, counts)
    return np.repeat(np.arange(start, stop), counts), order[np.repeat(low, counts) + within]


def contained(left: Column, right: Column) -> Mask:
    """A mask of the left keys that are among the right ones."""
    low, high = _searched(np.sort(right), left)
    return high > low


SORTED_SEARCH = 1 << 16
"""Minimum number of keys that are sorted before they are searched."""


def _searched(ordered: Column, wanted: Column) -> Rows:
    """The range of each wanted key among ascending keys."""
    if len(wanted) < SORTED_SEARCH:
        return np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, side="right")
    order = np.argsort(wanted, kind="stable")
    low, high = np.empty(len(wanted), np.int64), np.empty(len(wanted), np.int64)
    low[order] = np.searchsorted(ordered, wanted[order])
    high[order] = np.searchsorted(ordered, wanted[order], side="right")
    return low, high
