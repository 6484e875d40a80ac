"""A relation: the facts of one predicate as an immutable value.

A relation is a few runs of geometrically growing size and a few runs of tombstones:

    facts = (``base`` and union of ``runs``) minus (union of ``tombstones``)

The base is a set of facts in a form of its own, such as the pairs of a closure, if there is one.
Invariants: base and runs are pairwise disjoint, so are the tombstones, and every tombstone is in
the base or a run. Adding appends a run after merging the earlier ones that are less than twice as large as
the next (so the newest run stays as it was given, and ``relation - newest`` costs nothing);
deleting appends tombstones; when these are no longer few, the runs are rewritten without them.
Values share runs: an older value stays readable and costs only what was rewritten since.

``a | b``, ``a - b`` and ``a & b`` look up the smaller side in the larger, so that the sets the
papers write, I \\ (D \\ A) or (I \\ D) u A, cost what their small parts cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Protocol

import numpy as np
import numpy.typing as npt

from everlog.engine.kernels import joins, search
from everlog.engine.keys import (
    Column,
    Keys,
    Layout,
    Mask,
    Order,
    columns_of,
    layout_for,
    pack,
    reorder,
    sort_unique,
    unpack,
)
from everlog.engine.runs import Run, merge_keys, merge_runs, prefix_range, table_of, wide_contained

REMEMBERED = 1 << 20
"""Minimum number of terms in the tables that remember counts of a base; a table may have as many terms as the base has
facts."""

REWRITE_SHARE = 4
"""The runs are rewritten once more than one fact in this many is a tombstone."""


class Base(Protocol):
    """A set of pairs in a representation of its own. Keys are first << 32 | second, columns 0 and 1."""

    @property
    def is_counted(self) -> bool:
        """Whether the length is the number of pairs; otherwise it is an upper bound."""

    def __len__(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    def contains(self, keys: Keys) -> Mask:
        """Which of the given pairs are in the set."""

    def matches(self, column: int, terms: Column, block: int = ...) -> Iterator[tuple[Column, Column]]:
        """Yield, in blocks, all pairs that have given terms in a column: the index of the term, and the term in the
        other column.
        """

    def match_counts(self, column: int, terms: Column) -> Column:
        """For each term, the number of pairs that have it in a column."""

    def terms(self, column: int) -> Column:
        """The different terms in a column, ascending."""

    def blocks(self, column: int = ..., block: int = ...) -> Iterator[Keys]:
        """Yield all pairs, in blocks, as keys that lead with a column; pairs with the same lead are in one block."""

    def sorted_keys(self) -> Keys:
        """All pairs, ascending."""


class Relation:
    """The facts of one predicate, as runs, tombstones and perhaps a base.

    >>> r = Relation.from_columns([[1, 1, 2], [2, 2, 3]])
    >>> len(r), len(r - r), len(r | Relation.from_columns([[5], [5]]))
    (2, 0, 3)
    """

    def __init__(
        self, layout: Layout, runs: tuple[Run, ...] = (), tombstones: tuple[Run, ...] = (), base: Base | None = None
    ) -> None:
        self.layout = layout
        self.runs = runs
        self.tombstones = tombstones
        self.base = base
        self._tables: dict[tuple[Order, bool], Keys] = {}
        self._counts: dict[int, npt.NDArray[np.int32]] = {}

    @classmethod
    def empty(cls, arity: int) -> Relation:
        return cls(layout_for(arity, 0))

    @classmethod
    def from_keys(cls, layout: Layout, keys: Keys) -> Relation:
        """The relation of keys in the primary order of columns. Their memory may be reused."""
        return cls.from_run(Run.of(layout, sort_unique(keys))) if len(keys) else cls(layout)

    @classmethod
    def from_base(cls, base: Base) -> Relation:
        """The pairs of a base."""
        return cls(layout_for(2, 0), base=base)

    @classmethod
    def from_run(cls, run: Run) -> Relation:
        return cls(run.layout, (run,) if len(run) else ())

    @classmethod
    def from_columns(
        cls, columns: Sequence[Column | Sequence[int]], universe: int = 0, size: int | None = None
    ) -> Relation:
        """The relation of rows given by columns; ``size`` is needed for arity 0 only."""
        arrays = [np.asarray(column, np.int64) for column in columns]
        size = len(arrays[0]) if arrays else int(bool(size))
        layout = layout_for(len(arrays), universe)
        return cls.from_keys(layout, pack(layout, arrays, size))

    def __len__(self) -> int:
        based = 0 if self.base is None else len(self.base)
        if not self.runs and not self.tombstones:
            return based
        return based + sum(map(len, self.runs)) - sum(map(len, self.tombstones))

    def __bool__(self) -> bool:
        if self.tombstones:
            return len(self) > 0
        return any(map(len, self.runs)) or bool(self.base)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relation):
            return NotImplemented
        return len(self) == len(other) and not self - other

    __hash__ = None  # type: ignore[assignment]

    @property
    def nbytes(self) -> int:
        """Bytes of the facts in all orders."""
        base = 0 if self.base is None else self.base.nbytes + sum(known.nbytes for known in self._counts.values())
        return base + sum(run.nbytes for run in self.runs + self.tombstones)

    def table(self, order: Order, indexed: bool = True) -> Keys:
        """The table by which kernels read the runs in an order; it is valid as long as the relation lives."""
        if (order, indexed) not in self._tables:
            self._tables[order, indexed] = table_of(self.runs, order, indexed)
        return self._tables[order, indexed]

    @cached_property
    def _deleted(self) -> Relation:
        """The tombstones as a relation."""
        return Relation(self.layout, self.tombstones)

    def contains(self, keys: Keys) -> Mask:
        """Which of the given keys, in the primary order, are facts of the relation."""
        if not self.runs:
            found: Mask = np.zeros(len(keys), np.bool_)
        elif self.layout.is_packed:
            found = search.contained(self.table(self.layout.primary), keys, self.layout.lead_shift)
        else:
            found = wide_contained(self.runs, keys)
        if self.base is not None:
            found |= self.base.contains(keys)
        return found & ~self._deleted.contains(keys) if self.tombstones else found

    def match_counts(self, column: int, terms: Column) -> Column:
        """For each term, the number of facts of a binary relation that have it in a column. Counts of a base are
        remembered.
        """
        if self.base is None:
            return self._plain_counts(column, terms)
        largest = int(terms.max(initial=-1))
        if largest >= max(len(self), REMEMBERED):
            return self.base.match_counts(column, terms) + self._plain_counts(column, terms)
        known = self._known_counts(column, largest)
        counts, missing = search.recalled(known, terms)
        if missing:
            unknown = np.flatnonzero(counts < 0)
            asked = terms[unknown]
            counts[unknown] = self.base.match_counts(column, asked) + self._plain_counts(column, asked)
            known[asked] = counts[unknown] + 1
        return counts

    def _plain_counts(self, column: int, terms: Column) -> Column:
        """The counts of the runs and tombstones, without those of the base."""
        counts = np.zeros(len(terms), np.int64)
        order: Order = (0, 1) if column == 0 else (1, 0)
        prefix = pack(self.layout, [terms], len(terms))
        for runs, sign in ((self.runs, 1), (self.tombstones, -1)):
            for run in runs:
                low, high = prefix_range(self.layout, run.keys(order), prefix, 1)
                counts += sign * (high - low)
        return counts

    def _known_counts(self, column: int, largest: int) -> npt.NDArray[np.int32]:
        """The table of remembered counts for terms up to the largest: each count plus one, 0 where it is not known.
        Pages that are not used take no memory.
        """
        known = self._counts.get(column)
        if known is None or len(known) <= largest:
            grown = np.zeros(1 << largest.bit_length(), np.int32)
            if known is not None:
                grown[: len(known)] = known
            self._counts[column] = known = grown
        return known

    def matches(self, column: int, terms: Column, block: int) -> Iterator[tuple[Column, Column]]:
        """Yield, in blocks, all facts of a binary relation that have given terms in a column; see :class:`Base`."""
        if self.base is not None:
            for rows, others in self.base.matches(column, terms, block):
                yield self._living(column, terms, rows, others)
        if not self.runs:
            return
        table = self.table((0, 1) if column == 0 else (1, 0))
        width = self.layout.width
        matched = search.ranges(table, terms << width, 1 << width, width)
        total = int(matched[2][-1])
        for first in range(0, total, block):
            rows, keys = joins.expand(table, *matched, first, min(total, first + block))
            yield self._living(column, terms, rows, keys & ((1 << width) - 1))

    def _living(self, column: int, terms: Column, rows: Column, others: Column) -> tuple[Column, Column]:
        """The matches that are no tombstones."""
        if not self.tombstones:
            return rows, others
        lead, width = terms[rows], self.layout.width
        dead = self._deleted.contains(lead << width | others if column == 0 else others << width | lead)
        return rows[~dead], others[~dead]

    def blocks(self, column: int, block: int) -> Iterator[Keys]:
        """Yield all facts of a binary relation, in blocks, as keys that lead with a column."""
        order: Order = (0, 1) if column == 0 else (1, 0)
        runs = (run.keys(order) for run in self.runs)
        pieces = (keys[first : first + block] for keys in runs for first in range(0, len(keys), block))
        based = self.base.blocks(column, block) if self.base is not None else iter(())
        for keys in chain(pieces, based):
            if self.tombstones:
                primary = reorder(self.layout, keys, order, self.layout.primary)
                yield keys[~self._deleted.contains(primary)]
            else:
                yield keys

    def terms(self, column: int) -> Column:
        """The different terms in a column, ascending."""
        if self.base is not None and not self.tombstones:
            mine = Relation(self.layout, self.runs).terms(column)
            return sort_unique(np.concatenate([mine, self.base.terms(column)]))
        return sort_unique(unpack(self.layout, self.keys(), column).copy())

    def run(self) -> Run:
        """All facts as one run."""
        runs = self.runs if self.base is None else (Run.of(self.layout, self.base.sorted_keys()), *self.runs)
        if self.tombstones:
            return Relation(self.layout, runs, self.tombstones)._rewritten().run()
        if not runs:
            return Run.of(self.layout, self.layout.empty())
        merged = runs[-1]
        for run in reversed(runs[:-1]):
            merged = merge_runs(run, merged)
        return merged

    def plain(self) -> Relation:
        """The relation with the facts of its base as runs."""
        return self if self.base is None else Relation.from_run(self.run())

    def settled(self) -> Relation:
        """The relation with one run, which look-ups and memory like best; a base stays."""
        if self.base is not None:
            return self
        return self if len(self.runs) <= 1 and not self.tombstones else Relation.from_run(self.run())

    def keys(self) -> Keys:
        """The keys of all facts, ascending."""
        return self.run().keys()

    def columns(self) -> list[Column]:
        """The columns of all facts, sorted by the first column, then the second, and so on."""
        return columns_of(self.layout, self.keys())

    def extended(self, run: Run) -> Relation:
        """The relation with the facts of a run, none of which it may have."""
        if not len(run):
            return self
        tombstones = self.tombstones
        if tombstones:
            back = self._deleted.contains(run.keys())
            if back.any():
                tombstones = self._deleted._filtered(Relation.from_run(run), keep=False).runs
                run = run.without(back)
        runs = list(self.runs)
        while len(runs) > 1 and len(runs[-2]) < 2 * len(runs[-1]):
            runs[-2:] = [merge_runs(runs[-2], runs[-1])]
        return Relation(self.layout, (*runs, run) if len(run) else tuple(runs), tombstones, self.base)

    def shrunk(self, run: Run) -> Relation:
        """The relation without the facts of a run, all of which it must have."""
        if not len(run):
            return self
        if any(run is mine for mine in self.runs):
            kept = tuple(mine for mine in self.runs if mine is not run)
            return Relation(self.layout, kept, self.tombstones, self.base)
        deleted = self._deleted.extended(run)
        less = Relation(self.layout, self.runs, deleted.runs, self.base)
        if self.base is not None:
            return less
        return less._rewritten() if len(deleted) * REWRITE_SHARE > sum(map(len, self.runs)) else less

    def _rewritten(self) -> Relation:
        """The relation with runs that are written anew, without tombstones."""
        runs = (run.without(self._deleted.contains(run.keys())) for run in self.runs)
        return Relation(self.layout, tuple(run for run in runs if len(run)))

    def _filtered(self, other: Relation, keep: bool) -> Relation:
        """The facts that are (or are not) in the other relation, each looked up there."""
        run = self.run()
        found = other.contains(run.keys())
        marked = found if keep else ~found
        if marked.all():
            return self if self.base is None or self.base.is_counted else Relation.from_run(run)
        return Relation.from_run(Run.of(self.layout, run.keys()[marked]))

    def __or__(self, other: Relation) -> Relation:
        if not self or not other:
            return self or other
        assert self.layout == other.layout
        small, large = (self, other) if len(self) < len(other) else (other, self)
        return large.extended(small._filtered(large, keep=False).run())

    def __sub__(self, other: Relation) -> Relation:
        if not self or not other:
            return self
        assert self.layout == other.layout
        if self.base is not None and self.base is other.base:
            keys = merge_keys(Relation(self.layout, self.runs).keys(), Relation(self.layout, other.tombstones).keys())
            return Relation.from_keys(self.layout, keys[self.contains(keys) & ~other.contains(keys)])
        plain = self.base is None and other.base is None
        if (
            plain
            and not self.tombstones
            and not other.tombstones
            and any(a is b for a in self.runs for b in other.runs)
        ):
            rest = Relation(self.layout, tuple(run for run in self.runs if all(run is not b for b in other.runs)))
            other = Relation(other.layout, tuple(run for run in other.runs if all(run is not a for a in self.runs)))
            return rest - other
        if len(self) <= len(other):
            return self._filtered(other, keep=False)
        return self.shrunk(other._filtered(self, keep=True).run())

    def __and__(self, other: Relation) -> Relation:
        if not self or not other:
            return Relation(self.layout)
        assert self.layout == other.layout
        small, large = (self, other) if len(self) < len(other) else (other, self)
        return small._filtered(large, keep=True)

    def fitted(self, universe: int) -> Relation:
        """The relation in a layout that holds ids below ``universe``."""
        layout = layout_for(self.layout.arity, universe)
        if layout == self.layout or self.layout.fits(universe):
            return self
        return Relation.from_keys(layout, pack(layout, self.columns(), len(self)))

    def renumbered(self, ids: Column, universe: int) -> Relation:
        """The relation with ``ids[i]`` in the place of ``i``; it must have no base."""
        return Relation.from_columns([ids[column] for column in self.columns()], universe, len(self))

    def projected(self, positions: Sequence[int], universe: int) -> Relation:
        """The relation of some of the columns."""
        keys = self.keys()
        columns = [unpack(self.layout, keys, position) for position in positions]
        return Relation.from_columns(columns, universe, len(keys))
