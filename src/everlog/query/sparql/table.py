"""Solutions as columns of ids.

A table is a multiset of solutions: a column for each variable, with :data:`UNBOUND` where a solution does not bind it.
A row may stand for several equal solutions; their number is its *weight*. Counting the matches of a pattern therefore
does not need to list them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from everlog.engine.keys import Column, Mask
from everlog.query.sparql.pool import UNBOUND, distinct_ids


@dataclass(frozen=True)
class SolutionTable:
    """A multiset of solutions; see the module.

    >>> table = SolutionTable({"x": np.array([1, 1, 2])}, 3)
    >>> table.distinct().columns["x"]
    array([1, 2])
    """

    columns: Mapping[str, Column]
    size: int
    weights: Column | None = None

    def __len__(self) -> int:
        """The number of rows, not of solutions."""
        return self.size

    @property
    def count(self) -> int:
        """The number of solutions."""
        return self.size if self.weights is None else int(self.weights.sum())

    @classmethod
    def unit(cls) -> SolutionTable:
        """One solution that binds nothing."""
        return cls({}, 1)

    @classmethod
    def empty(cls, names: Iterable[str] = ()) -> SolutionTable:
        return cls({name: np.empty(0, np.int64) for name in names}, 0)

    def column(self, name: str) -> Column:
        """A column; one that is unbound in every row if there is none of that name."""
        found = self.columns.get(name)
        return np.full(self.size, UNBOUND, np.int64) if found is None else found

    def take(self, rows: Column) -> SolutionTable:
        weights = None if self.weights is None else self.weights[rows]
        return SolutionTable({name: column[rows] for name, column in self.columns.items()}, len(rows), weights)

    def where(self, mask: Mask) -> SolutionTable:
        return self if mask.all() else self.take(np.flatnonzero(mask))

    def only(self, names: Iterable[str]) -> SolutionTable:
        """The table with the named columns only."""
        wanted = set(names)
        kept = {name: column for name, column in self.columns.items() if name in wanted}
        return SolutionTable(kept, self.size, self.weights)

    def extended(self, name: str, column: Column) -> SolutionTable:
        return SolutionTable({**self.columns, name: column}, self.size, self.weights)

    def bound_columns(self) -> list[str]:
        """The columns in which every row has a term."""
        return [name for name, column in self.columns.items() if not len(column) or column.min() >= 0]

    def unweighted(self) -> SolutionTable:
        """The table with one row for each solution."""
        if self.weights is None:
            return self
        rows = np.repeat(np.arange(self.size), self.weights)
        return SolutionTable({name: column[rows] for name, column in self.columns.items()}, len(rows))

    def distinct(self) -> SolutionTable:
        """The distinct rows, in the order of their first occurrence."""
        rows = first_rows(list(self.columns.values()), self.size)
        if len(rows) == self.size:
            return SolutionTable(self.columns, self.size)
        return SolutionTable({name: column[rows] for name, column in self.columns.items()}, len(rows))


def union(tables: Sequence[SolutionTable]) -> SolutionTable:
    """All solutions of some tables."""
    names = dict.fromkeys(name for table in tables for name in table.columns)
    columns = {name: np.concatenate([table.column(name) for table in tables]) for name in names}
    weights = None
    if any(table.weights is not None for table in tables):
        weights = np.concatenate([np.ones(t.size, np.int64) if t.weights is None else t.weights for t in tables])
    return SolutionTable(columns, sum(table.size for table in tables), weights)


def codes(columns: Sequence[Column], size: int) -> Column:
    """A number for each row, equal exactly for equal rows, and as small as the columns allow.

    >>> codes([np.array([5, 5, 6]), np.array([1, 1, 1]), np.array([-1, -1, 0])], 3).tolist()
    [0, 0, 3]
    """
    if len(columns) == 1:
        return columns[0]
    code, below = np.zeros(size, np.int64), 1
    for column in columns:
        different, places = distinct_ids(column)
        if below * len(different) >= 1 << 62:
            kept, code = distinct_ids(code)
            below = len(kept)
        code = code * len(different) + places
        below *= max(len(different), 1)
    return code


def groups(columns: Sequence[Column], size: int) -> tuple[Column, Column]:
    """The first row of each group of equal rows, and the group of each row; groups in order of appearance."""
    different, places = distinct_ids(codes(columns, size))
    heads = np.empty(len(different), np.int64)
    heads[places[::-1]] = np.arange(size - 1, -1, -1)  # of several assignments to one index, the last remains
    by_appearance = np.argsort(heads, kind="stable")
    ranks = np.empty(len(heads), np.int64)
    ranks[by_appearance] = np.arange(len(heads))
    return heads[by_appearance], ranks[places]


def first_rows(columns: Sequence[Column], size: int) -> Column:
    """The indexes of the first occurrence of each distinct row, ascending."""
    return groups(columns, size)[0] if size > 1 else np.arange(size)
