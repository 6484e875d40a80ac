"""Runs: the same facts in every order, with and without an index."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from everlog.engine.keys import columns_of, layout_for, pack, sort_unique
from everlog.engine.runs import INDEXED_FROM, Run, merge_keys, merge_runs, table_of, wide_contained

LAYOUTS = [layout_for(1, 0), layout_for(2, 0), layout_for(3, 1000), layout_for(3, 1 << 22), layout_for(5, 1 << 22)]


def random_run(seed: int, arity: int, universe: int, size: int, layout_universe: int) -> Run:
    random = np.random.default_rng(seed)
    layout = layout_for(arity, layout_universe)
    columns = [random.integers(0, universe, size) for _ in range(arity)]
    return Run.of(layout, sort_unique(pack(layout, columns, size)))


def rows(run: Run, order: tuple[int, ...]) -> list[tuple[int, ...]]:
    columns = [column.tolist() for column in columns_of(run.layout, run.keys(order))]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("layout_universe", [1000, 1 << 22])
@pytest.mark.parametrize("arity", [1, 2, 3, 4])
def test_every_order_has_the_same_facts_sorted(arity: int, layout_universe: int) -> None:
    run = random_run(arity, arity, 6, 40, layout_universe)
    primary = rows(run, run.layout.primary)
    for order in permutations(range(arity)):
        assert rows(run, order) == sorted(tuple(row[c] for c in order) for row in primary)
    assert len(run.orders) == len(set(permutations(range(arity))))


@pytest.mark.parametrize("layout_universe", [1000, 1 << 22])
@pytest.mark.parametrize("arity", [0, 1, 2, 3])
def test_merging_unites_in_the_orders_of_the_larger(arity: int, layout_universe: int) -> None:
    large, small = random_run(1, arity, 5, 60, layout_universe), random_run(2, arity, 5, 7, layout_universe)
    order = tuple(reversed(range(arity)))
    large.keys(order)
    for merged in (merge_runs(large, small), merge_runs(small, large)):
        both = {*rows(large, large.layout.primary), *rows(small, small.layout.primary)}
        assert set(merged.orders) == {large.layout.primary, order}
        assert rows(merged, large.layout.primary) == sorted(both)
        assert rows(merged, order) == sorted(row[::-1] for row in both)


def test_merging_with_nothing() -> None:
    for layout in LAYOUTS:
        some = pack(layout, [1] * layout.arity, 1)
        assert np.array_equal(merge_keys(some, layout.empty()), some)
        assert np.array_equal(merge_keys(layout.empty(), some), some)
        assert len(merge_keys(layout.empty(), layout.empty())) == 0


def test_without_marks_places_of_the_primary_order() -> None:
    run = random_run(3, 2, 9, 30, 1000)
    run.keys((1, 0))
    mask = np.arange(len(run)) % 3 == 0
    rest = run.without(mask)
    primary = rows(run, (0, 1))
    assert rows(rest, (0, 1)) == [row for i, row in enumerate(primary) if i % 3]
    assert rows(rest, (1, 0)) == sorted((b, a) for i, (a, b) in enumerate(primary) if i % 3)


def test_large_runs_over_few_values_are_indexed() -> None:
    dense = random_run(4, 2, 40, 4000, 1000)
    assert len(dense) > INDEXED_FROM
    for order in ((0, 1), (1, 0)):
        leads = dense.keys(order) >> 32
        index = dense.index(order)
        assert index.tolist() == np.searchsorted(leads, np.arange(len(index))).tolist()
        assert len(index) == leads[-1] + 2


def test_small_sparse_and_wide_runs_are_not_indexed() -> None:
    small, sparse = random_run(5, 2, 4, 16, 1000), random_run(6, 2, 1 << 30, 1000, 1 << 31)
    assert not len(small.index((0, 1)))
    assert not len(sparse.index((0, 1)))
    assert not len(random_run(7, 3, 20, 4000, 1 << 22).index((0, 1, 2)))


def test_a_table_names_keys_and_indexes() -> None:
    runs = [random_run(8, 2, 40, 4000, 1000), random_run(9, 2, 4, 10, 1000)]
    table = table_of(runs, (1, 0))
    assert table[:, 1].tolist() == [len(run) for run in runs]
    assert table[0, 0] == runs[0].keys((1, 0)).ctypes.data
    assert table[:, 3].tolist() == [len(runs[0].index((1, 0))), 0]
    assert table_of(runs, (1, 0), indexed=False)[:, 3].tolist() == [0, 0]
    assert table_of([], (0, 1)).shape == (0, 4)


def test_membership_in_runs_of_several_words() -> None:
    first, second = (random_run(seed, 3, 4, 20, 1 << 22) for seed in (10, 11))
    layout = first.layout
    asked = [(a, b, c) for a in range(5) for b in range(5) for c in range(5)]
    wanted = pack(layout, [np.array(column) for column in zip(*asked, strict=True)], len(asked))
    both = {*rows(first, (0, 1, 2)), *rows(second, (0, 1, 2))}
    empty = Run.of(layout, layout.empty())
    assert wide_contained([first, empty, second], wanted).tolist() == [row in both for row in asked]
