"""Relations behave as sets under any sequence of operations, and keep the invariants of their module."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from everlog.engine.keys import columns_of, layout_for, pack
from everlog.engine.relation import REWRITE_SHARE, Relation
from everlog.engine.runs import Run

Row = tuple[int, ...]
SHAPES = [(0, 10), (1, 10), (2, 10), (3, 10), (3, 1 << 22), (4, 1 << 16)]
"""Arity and universe: packed and not."""


def relation(arity: int, universe: int, rows: set[Row]) -> Relation:
    columns = [np.array([row[c] for row in sorted(rows)], np.int64) for c in range(arity)]
    return Relation.from_columns(columns, universe, len(rows))


def rows(found: Relation) -> set[Row]:
    columns = [column.tolist() for column in found.columns()]
    listed = [tuple(column[i] for column in columns) for i in range(len(found))]
    assert listed == sorted(set(listed)), "columns are sorted and each fact is there once"
    return set(listed)


def assert_invariants(found: Relation) -> None:
    """Check the invariants that the docstring of the module states."""

    def keys(run: Run) -> set[bytes]:
        return {key.tobytes() for key in iter(run.keys())}

    for parts in (found.runs, found.tombstones):
        assert all(len(run) for run in parts)
        assert not any(keys(a) & keys(b) for a, b in combinations(parts, 2)), "runs are disjoint"
        for run in parts:
            for order, held in run.orders.items():
                columns = columns_of(found.layout, held)
                listed = list(zip(*(column.tolist() for column in columns), strict=True))
                assert listed == sorted(set(listed)), f"ascending and unique in {order}"
                back = [columns[order.index(c)] for c in found.layout.primary]
                assert {k.tobytes() for k in pack(found.layout, back, len(held))} == keys(run)
        large = sum(map(len, parts))
        assert len(parts) <= 3 + max(1, large).bit_length(), "there are few runs"
    deleted = {key for run in found.tombstones for key in keys(run)}
    assert deleted <= {key for run in found.runs for key in keys(run)}, "every tombstone is in a run"
    assert len(deleted) * REWRITE_SHARE <= sum(map(len, found.runs)) or not found.tombstones


class Algebra(RuleBasedStateMachine):
    """A relation and the set it stands for; older values are kept to see that they do not change."""

    @initialize(shape=st.sampled_from(SHAPES), data=st.data())
    def start(self, shape: tuple[int, int], data: st.DataObject) -> None:
        self.arity, self.universe = shape
        values = [0, 1, 2, 3] if self.arity > 2 else list(range(10))
        if self.universe > 10:
            values[-1] = self.universe - 1
        self.domain = list(product(values, repeat=self.arity))
        self.model: set[Row] = set()
        self.found = Relation(layout_for(self.arity, self.universe))
        self.older: list[tuple[Relation, set[Row]]] = []

    def replace(self, found: Relation, model: set[Row]) -> None:
        self.older = [*self.older[-4:], (self.found, self.model)]
        self.found, self.model = found, model

    def drawn(self, data: st.DataObject, among: list[Row]) -> set[Row]:
        if not among:
            return set()
        start = data.draw(st.integers(0, len(among) - 1))
        size = data.draw(st.sampled_from([1, 2, 3, 8, 30]))
        return set(among[start : start + size])

    @rule(data=st.data(), swapped=st.booleans())
    def unite(self, data: st.DataObject, swapped: bool) -> None:
        other = self.drawn(data, self.domain)
        added = relation(self.arity, self.universe, other)
        self.replace(added | self.found if swapped else self.found | added, self.model | other)

    @rule(data=st.data())
    def extend(self, data: st.DataObject) -> None:
        """Facts that are new, deleted ones among them."""
        other = self.drawn(data, self.domain) - self.model
        self.replace(self.found.extended(relation(self.arity, self.universe, other).run()), self.model | other)

    @rule(data=st.data())
    def subtract(self, data: st.DataObject) -> None:
        other = self.drawn(data, self.domain)
        self.replace(self.found - relation(self.arity, self.universe, other), self.model - other)

    @rule(data=st.data())
    def shrink(self, data: st.DataObject) -> None:
        other = self.drawn(data, sorted(self.model))
        self.replace(self.found.shrunk(relation(self.arity, self.universe, other).run()), self.model - other)

    @rule()
    def subtract_the_newest_run(self) -> None:
        if self.found.runs and not self.found.tombstones:
            newest = Relation.from_run(self.found.runs[-1])
            self.replace(self.found - newest, self.model - rows(newest))

    @rule(data=st.data(), swapped=st.booleans())
    def intersect(self, data: st.DataObject, swapped: bool) -> None:
        other = set(self.domain[:: data.draw(st.integers(1, 3))])
        kept = relation(self.arity, self.universe, other)
        self.replace(kept & self.found if swapped else self.found & kept, self.model & other)

    @rule(data=st.data())
    def with_an_older_value(self, data: st.DataObject) -> None:
        """Values that share runs."""
        if not self.older:
            return
        older, model = data.draw(st.sampled_from(self.older))
        assert rows(self.found - older) == self.model - model
        assert rows(older - self.found) == model - self.model
        assert rows(self.found & older) == self.model & model
        self.replace(self.found | older, self.model | model)

    @rule(data=st.data())
    def ask_for_an_order(self, data: st.DataObject) -> None:
        order = tuple(data.draw(st.permutations(range(self.arity))))
        for run in self.found.runs:
            run.keys(order)

    @invariant()
    def same_as_the_set(self) -> None:
        assert len(self.found) == len(self.model)
        assert bool(self.found) == bool(self.model)
        assert rows(self.found) == self.model
        asked = pack(self.found.layout, [np.array(c) for c in zip(*self.domain, strict=True)], len(self.domain))
        assert self.found.contains(asked).tolist() == [row in self.model for row in self.domain]
        assert self.found == relation(self.arity, self.universe, self.model)

    @invariant()
    def invariants_hold(self) -> None:
        assert_invariants(self.found)

    @invariant()
    def older_values_are_as_they_were(self) -> None:
        assert all(rows(older) == model for older, model in self.older)


Algebra.TestCase.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
TestAlgebra = Algebra.TestCase


def test_runs_stay_few_when_facts_come_one_by_one() -> None:
    found = Relation.empty(2)
    for i in range(500):
        found = found.extended(relation(2, 0, {(i, i)}).run())
        assert len(found.runs) <= 2 + (i + 1).bit_length()
    assert len(found) == 500


def test_the_newest_run_goes_without_tombstones() -> None:
    """The sets of seminaive evaluation: the facts before the last round."""
    old = relation(2, 0, {(i, i) for i in range(100)})
    delta = relation(2, 0, {(1, 2), (3, 4)})
    new = old.extended(delta.run())
    assert (new - delta).runs == old.runs
    assert (new - delta).tombstones == ()


def test_few_deletions_are_tombstones_and_many_rewrite() -> None:
    found = relation(2, 0, {(i, i) for i in range(100)})
    few = found - relation(2, 0, {(1, 1), (2, 2), (200, 200)})
    assert (sum(map(len, few.tombstones)), few.runs) == (2, found.runs)
    many = few - relation(2, 0, {(i, i) for i in range(50)})
    assert not many.tombstones
    assert rows(many) == {(i, i) for i in range(50, 100)}


def test_a_deleted_fact_that_comes_back_loses_its_tombstone() -> None:
    found = relation(2, 0, {(i, i) for i in range(100)})
    less = found - relation(2, 0, {(1, 1), (2, 2)})
    again = less | relation(2, 0, {(1, 1), (7, 8)})
    assert sum(map(len, again.tombstones)) == 1
    assert rows(again) == {(i, i) for i in range(100)} - {(2, 2)} | {(7, 8)}


@pytest.mark.parametrize(("arity", "universe"), [(2, 10), (3, 10)])
def test_fitting_a_larger_universe_keeps_the_facts(arity: int, universe: int) -> None:
    facts = set(product(range(4), repeat=arity))
    deleted = {row for row in facts if row[0] == 1 and row[-1] == 2}
    found = relation(arity, universe, facts) - relation(arity, universe, deleted)
    for larger in (universe, 1 << 16, (1 << 21) - 1, 1 << 21, 1 << 30):
        fitted = found.fitted(larger)
        assert fitted.layout.fits(larger)
        assert fitted.layout == layout_for(arity, larger)
        assert rows(fitted) == facts - deleted
        assert fitted.fitted(universe) is fitted, "a layout never gets narrower"


@given(st.sets(st.tuples(*[st.integers(0, 5)] * 3), max_size=30), st.lists(st.integers(0, 2), max_size=3))
def test_projection(facts: set[Row], positions: list[int]) -> None:
    found = relation(3, 10, facts).projected(positions, 1 << 22)
    assert rows(found) == {tuple(row[p] for p in positions) for row in facts}


@given(st.sets(st.tuples(*[st.integers(0, 5)] * 3), max_size=30), st.permutations(range(6)))
def test_renumbering(facts: set[Row], ids: list[int]) -> None:
    found = relation(3, 6, facts).renumbered(np.array(ids, np.int64), 6)
    assert rows(found) == {tuple(ids[value] for value in row) for row in facts}


def test_no_arguments() -> None:
    yes, no = Relation.from_columns([], size=3), Relation.from_columns([], size=0)
    assert (len(yes), len(no), len(yes | yes), len(yes - yes), len(yes & no)) == (1, 0, 1, 0, 0)
    assert len(no | yes) == 1
    assert yes.columns() == []
    assert yes != no
