"""Differences of states are exact, cost the parts that are not shared, and applied give the later state."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everlog import KnowledgeBase
from everlog.engine import multiset
from everlog.engine.difference import applied, difference
from everlog.engine.state import State

RULES = (
    "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . four(?x, ?y, ?x, ?y) :- edge(?x, ?y) ."
)
Edges = list[tuple[int, int]]


def same(left: State, right: State) -> bool:
    parts = (left.facts - right.facts, right.facts - left.facts, left.explicit - right.explicit)
    return not any(part.count for part in (*parts, right.explicit - left.explicit)) and (left.nr, left.rec) == (
        right.nr,
        right.rec,
    )


edges = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6)


@settings(max_examples=40)
@given(st.lists(st.tuples(edges, edges), min_size=1, max_size=5))
def test_a_difference_leads_to_the_later_state(steps: list[tuple[Edges, Edges]]) -> None:
    kb = KnowledgeBase(RULES, modules=False)
    kb.insert("edge", [(i, i + 1) for i in range(9)])
    first = before = kb.listed()
    for insert, delete in steps:
        kb.update(insert={"edge": insert}, delete={"edge": delete})
        after = kb.listed()
        change = difference(before, after)
        assert same(applied(before, change), after)
        assert bool(change) == (not same(before, after))
        before = after
        assert same(applied(first, difference(first, after)), after)
    assert not difference(before, before)


def test_what_is_shared_costs_nothing() -> None:
    """The large runs and pieces are not read."""
    kb = KnowledgeBase(RULES, modules=False)
    kb.insert("edge", [(3 * i, 3 * i + 1) for i in range(5000)])
    before = kb.listed()
    kb.update(insert={"edge": [(1, 2)]}, delete={"edge": [(30, 31)]}, algorithm="dredc")
    after, largest = kb.listed(), 0
    original = multiset.add_pieces

    def counted(left: multiset.Piece, right: multiset.Piece) -> multiset.Piece:
        nonlocal largest
        largest = max(largest, len(left[0]), len(right[0]))
        return original(left, right)

    multiset.add_pieces = counted
    try:
        change = difference(before, after)
    finally:
        multiset.add_pieces = original
    assert largest < 10
    sizes = [sum(map(len, part.values())) for part in change.parts]
    assert sizes == [7, 2, 4, 1]


def test_a_layout_that_grew() -> None:
    """Arity four has wider keys from 32,768 terms on."""
    kb = KnowledgeBase(RULES, modules=False)
    kb.insert("edge", [(i, i) for i in range(32_760)])
    before = kb.listed()
    kb.update(insert={"edge": [(f"a{i}", f"b{i}") for i in range(10)]}, algorithm="dredc")
    after = kb.listed()
    change = difference(before, after)
    assert len(change.holds) == 3
    assert all(len(counts) == 10 for counts in change.holds.values())
    assert same(applied(before, change), after)
