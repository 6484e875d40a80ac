"""Columns survive packing in every layout, and nothing overflows when ids outgrow a layout."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import everlog
from everlog.engine import dictionary, keys
from everlog.engine.keys import Layout, columns_of, layout_for, pack, reorder, sort_unique, unpack
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.lang.terms import text_of
from tests.oracle import naive
from tests.oracle.naive import Row
from tests.running import relation

ARITIES = range(10)
UNIVERSES = (1, 100, (1 << 12) - 1, 1 << 12, (1 << 21) - 1, 1 << 21, (1 << 31) - 1)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys of nine bits: three columns of three bits, four of two."""
    monkeypatch.setattr(keys, "KEY_BITS", 9)
    layout_for.cache_clear()
    yield
    layout_for.cache_clear()


@st.composite
def tables(draw: st.DrawFn) -> tuple[Layout, list[tuple[int, ...]]]:
    """Rows with ids up to the last one that the universe has."""
    universe = draw(st.sampled_from(UNIVERSES))
    layout = layout_for(draw(st.sampled_from(ARITIES)), universe)
    ids = st.integers(0, universe - 1) | st.just(universe - 1)
    return layout, draw(st.lists(st.tuples(*[ids] * layout.arity), max_size=6))


def columns(layout: Layout, rows: list[tuple[int, ...]]) -> list[keys.Column]:
    return [np.array([row[c] for row in rows], np.int64) for c in range(layout.arity)]


def rows_of(layout: Layout, packed: keys.Keys) -> list[tuple[int, ...]]:
    found = [column.tolist() for column in columns_of(layout, packed)]
    return [tuple(column[i] for column in found) for i in range(len(packed))]


@given(tables())
def test_columns_come_back(table: tuple[Layout, list[tuple[int, ...]]]) -> None:
    layout, rows = table
    packed = pack(layout, columns(layout, rows), len(rows))
    assert packed.shape == ((len(rows),) if layout.is_packed else (len(rows), layout.words))
    assert rows_of(layout, packed) == rows
    assert (packed >= 0).all()


@given(tables())
def test_keys_sort_as_rows_do(table: tuple[Layout, list[tuple[int, ...]]]) -> None:
    layout, rows = table
    packed = pack(layout, columns(layout, rows), len(rows))
    assert rows_of(layout, sort_unique(packed)) == sorted(set(rows))


@given(tables(), st.randoms(use_true_random=False))
def test_reordering_and_back(table: tuple[Layout, list[tuple[int, ...]]], random: Random) -> None:
    layout, rows = table
    order = tuple(random.sample(range(layout.arity), layout.arity))
    packed = pack(layout, columns(layout, rows), len(rows))
    turned = reorder(layout, packed, layout.primary, order)
    assert rows_of(layout, turned) == [tuple(row[c] for c in order) for row in rows]
    assert np.array_equal(reorder(layout, turned, order, layout.primary), packed)


def test_a_number_stands_for_a_column() -> None:
    for arity in ARITIES[1:]:
        layout = layout_for(arity, 1 << 30)
        packed = pack(layout, [7] * arity, 3)
        assert rows_of(layout, packed) == [(7,) * arity] * 3


def test_missing_columns_are_zero() -> None:
    layout = layout_for(5, 1 << 30)
    assert rows_of(layout, pack(layout, [3, 4, 5], 1)) == [(3, 4, 5, 0, 0)]


@pytest.mark.parametrize("arity", ARITIES)
def test_a_layout_is_packed_exactly_as_long_as_ids_fit(arity: int) -> None:
    """The end of the range of the last id's keys is below 2**63, too."""
    if arity <= 2:
        assert all(layout_for(arity, universe).is_packed for universe in UNIVERSES)
        return
    width = 63 // arity
    limit = min(1 << width, (1 << 31)) - 1
    assert layout_for(arity, limit) == Layout(arity, width, arity)
    assert layout_for(arity, limit).fits(limit)
    assert limit << layout_for(arity, limit).lead_shift < 1 << 63
    assert not layout_for(arity, limit + 1).is_packed
    assert not layout_for(arity, limit).fits(limit + 1)


def test_the_largest_dictionary_fits_every_layout() -> None:
    for arity in ARITIES:
        layout = layout_for(arity, dictionary.MAX_TERMS)
        assert layout.fits(dictionary.MAX_TERMS)
        for bound in range(1, arity + 1):
            _, shift = layout.place(bound - 1)
            assert (dictionary.MAX_TERMS << shift) < 1 << 63


def test_single_columns() -> None:
    layout = layout_for(3, 1 << 22)
    packed = pack(layout, columns(layout, [(1, 2, 3), (4, 5, 6)]), 2)
    assert [unpack(layout, packed, c).tolist() for c in range(3)] == [[1, 4], [2, 5], [3, 6]]


RECURSIVE = """
t(?x, ?y, ?z) :- e(?x, ?y, ?z) .
t(?x, ?y, ?w) :- t(?x, ?y, ?z), e(?z, ?y, ?w) .
f(?x, ?y, ?z, ?x) :- t(?x, ?y, ?z), ~e(?z, _, ?x) .
f(?x, ?y, ?w, ?v) :- f(?x, ?y, ?z, ?v), t(?z, ?y, ?w) .
n(?x, ?y) :- t(?x, ?y, ?z), ~f(_, ?y, ?z, ?x) .
c(?x, fixed, ?x) :- f(?x, _, ?x, _) .
"""


def row_texts(rows: list[tuple[str, ...]]) -> set[Row]:
    return {tuple(map(text_of, row)) for row in rows}


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("stratification", ["levels", "single"])
def test_growing_past_the_boundaries_step_by_step(stratification: str) -> None:
    """Terms arrive one by one past 4 and past 8; at each step all facts equal those of the oracle."""
    assert layout_for(3, 7).is_packed
    assert not layout_for(3, 8).is_packed
    program = parse_program(RECURSIVE)
    kb = everlog.KnowledgeBase(program, stratification=stratification, maintain="none")  # type: ignore[arg-type]
    e = Predicate("e", 3)
    given_rows: list[tuple[str, ...]] = []
    seen = []
    for step in range(11):
        new = [(f"n{step}", "l", f"n{step + 1}"), (f"n{step + 1}", "m", f"n{step}"), (f"n{step}", "m", "n0")]
        if step % 3 == 2:
            gone = given_rows.pop(0)
            kb.delete("e", [gone])
        kb.insert("e", new[:1])
        kb.insert("e", new[1:])
        given_rows += [row for row in new if row not in given_rows]
        if step % 2:
            kb.materialise()
        expected = naive.materialise(program, {(e, row) for row in row_texts(given_rows)})
        for name, arity in (("e", 3), ("t", 3), ("f", 4), ("n", 2), ("c", 3)):
            predicate = Predicate(name, arity)
            assert relation(kb, predicate) == expected.get(predicate, set())
        seen.append(kb.state().facts.relation(e).layout.is_packed)
    assert seen[0]
    assert not seen[-1]


@pytest.mark.usefixtures("narrow")
def test_updates_and_queries_across_the_boundary() -> None:
    program = parse_program(RECURSIVE)
    kb = everlog.KnowledgeBase(program, maintain="none")
    e = Predicate("e", 3)
    rows: set[tuple[str, ...]] = {("a", "l", "b")}
    kb.insert("e", list(rows))
    old = naive.materialise(program, {(e, row) for row in row_texts(list(rows))})
    assert relation(kb, Predicate("t", 3)) == old[Predicate("t", 3)]
    for step in range(8):
        insert, delete = {(f"b{step}", "l", "a"), ("b", "l", f"b{step}")}, set(sorted(rows)[:1])
        change = kb.update(insert={"e": sorted(insert)}, delete={"e": sorted(delete)})
        rows = (rows - delete) | insert
        new = naive.materialise(program, {(e, row) for row in row_texts(list(rows))})
        for predicate in (e, Predicate("t", 3), Predicate("f", 4)):
            before, after = old.get(predicate, set()), new.get(predicate, set())
            for part, expected in ((change.inserted, after - before), (change.deleted, before - after)):
                assert row_texts(part[predicate].rows() if predicate in part else []) == expected  # type: ignore[arg-type]
        texts = {row[2] for row in new.get(Predicate("t", 3), ()) if row[:2] == ('"b"', '"l"')}
        assert {text_of(x) for (x,) in kb.query("t(b, l, ?x)")} == texts
        old = new


@pytest.mark.usefixtures("narrow")
def test_older_rows_are_not_confused_by_newer_terms() -> None:
    """Ids that a narrow layout cannot hold must not spill into other columns."""
    kb = everlog.KnowledgeBase()
    kb.insert("t", [(a, b, c) for a, b, c in permutations(["t0", "t1", "t2"])])
    old = kb["t"]
    change = kb.update(insert={"t": [("t1", "t1", "t1")]}).inserted["t"]
    kb.insert("other", [(f"x{i}",) for i in range(60)])
    newer = [f"x{i}" for i in range(60)]
    assert not any((a, b, c) in rows for rows in (old, change) for a in ("t0", "t1") for b in newer for c in newer)
    assert ("t0", "t1", "t2") in old
    assert ("t1", "t1", "t1") in change
    assert len(kb["t"]) == 7
    assert ("t0", "t1", "t2") in kb["t"]
