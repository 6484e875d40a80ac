"""Unions of several parts: changes are counted and looked up without listing them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog import KnowledgeBase
from everlog.engine.closed import Closed, ClosedDifference
from everlog.engine.reach import Reach
from everlog.engine.relation import Relation
from everlog.kb.change import Change
from everlog.reasoning.modules.union import united as union
from everlog.reasoning.modules.union.difference import PairDifference
from everlog.reasoning.modules.union.united import PairSource, United

pytestmark = pytest.mark.usefixtures("closures_in_graphs")

RULES = """
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .
near(?x, ?y) :- path(?x, ?y) . near(?x, ?y) :- path(?y, ?x) . near(?x, ?y) :- beside(?x, ?y) .
"""
NODES = 40
MIDDLE = NODES // 2
PAIRS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@pytest.fixture
def kb() -> KnowledgeBase:
    """A chain of nodes."""
    kb = KnowledgeBase(RULES)
    kb.insert("edge", [(i, i + 1) for i in range(NODES - 1)])
    kb.insert("beside", [(0, NODES - 1), (NODES, 0)])
    kb.materialise()
    return kb


def unlisted(monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(*_: object, **__: object) -> None:
        raise AssertionError("pairs are listed")

    for owner, names in ((Closed, ("blocks", "sorted_keys")), (ClosedDifference, ("keys",))):
        for name in names:
            monkeypatch.setattr(owner, name, listed)


def matched(change: Change, side: str, node: int) -> int:
    """The number of changed pairs with a given node, found by a match with a bound argument."""
    rows = getattr(change, side)["near"]
    ids = np.array([rows._dictionary.find(str(node))])
    found = sum(len(numbers) for numbers, _ in rows._relation.matches(0, ids, 1 << 20))
    assert rows._relation.match_counts(0, ids).tolist() == [found]
    return found


def test_what_is_lost_is_not_listed(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    unlisted(monkeypatch)
    change = kb.update(delete={"edge": [(MIDDLE - 1, MIDDLE)]})
    lost = change.deleted["near"]
    assert len(lost) == 2 * MIDDLE * (NODES - MIDDLE) - 1, "one of them is beside"
    assert ((0, NODES - 1) in lost, (NODES - 1, 0) in lost, (0, 1) in lost) == (False, True, False)
    assert "near" not in change.inserted
    assert (matched(change, "deleted", 0), matched(change, "deleted", MIDDLE)) == (NODES - MIDDLE - 1, MIDDLE)


def test_what_is_won_is_not_listed(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.update(delete={"edge": [(MIDDLE - 1, MIDDLE)]})
    unlisted(monkeypatch)
    change = kb.update(insert={"edge": [(MIDDLE - 1, MIDDLE)]})
    assert len(change.inserted["near"]) == 2 * MIDDLE * (NODES - MIDDLE) - 1
    assert ((0, NODES - 1) in change.inserted["near"], (NODES - 1, 0) in change.inserted["near"]) == (False, True)
    assert matched(change, "inserted", MIDDLE) == MIDDLE
    assert "near" not in change.deleted


def test_what_changed_can_be_listed(kb: KnowledgeBase) -> None:
    before = set(kb["near"].rows())
    change = kb.update(delete={"edge": [(3, 4)]}, insert={"beside": [(1, 30), (2, 2)], "edge": [(9, 9)]})
    after = set(kb["near"].rows())
    assert set(change.deleted["near"].rows()) == before - after
    assert set(change.inserted["near"].rows()) == after - before
    assert (len(change.deleted["near"]), len(kb["near"])) == (len(before - after), len(after))


@pytest.mark.parametrize("call", [0, 1 << 20], ids=["looked up", "listed"])
@given(edges=PAIRS, other=PAIRS, plain=PAIRS)
def test_unions_equal_sets(call: int, edges: Any, other: Any, plain: Any) -> None:
    """A union of two closures, the inverse of the first, and plain facts; later parts are listed or looked up."""
    first, second = closure(edges), closure(other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(union, "CALL", call)
        patch.setattr(union, "LISTED_BYTES", 0 if call else 1 << 30)
        found = united(first, second, plain)
        expected = pairs(first) | {(b, a) for a, b in pairs(first)} | pairs(second) | plain
        check(found, expected)
        smaller = united(closure(set(list(edges)[1:])), second, plain)
        rest = pairs(Relation.from_base(smaller))
        lost = PairDifference(found, smaller, found, found.most, one_way=True)
        assert (bool(lost), len(lost)) == (bool(expected - rest), len(expected - rest))
        check(lost, expected - rest)
        assert (pairs(Relation.from_base(lost)), bool(lost)) == (expected - rest, bool(expected - rest))
        check(lost, expected - rest)


def closure(edges: Any) -> Relation:
    if not edges:
        return Relation.empty(2)
    return Relation.from_base(Closed(Reach.of(np.array([a for a, _ in edges]), np.array([b for _, b in edges]))))


def united(first: Relation, second: Relation, plain: Any) -> United:
    given = Relation.from_columns([[a for a, _ in plain], [b for _, b in plain]])
    parts = [PairSource(first, False), PairSource(first, True), PairSource(second, False), PairSource(given, False)]
    return United(tuple(part for part in parts if part.relation))


def pairs(relation: Relation) -> set[tuple[int, int]]:
    first, second = relation.columns()
    return set(zip(first.tolist(), second.tolist(), strict=True))


def check(base: Any, expected: set[tuple[int, int]]) -> None:
    terms, grid = np.arange(8), [(a, b) for a in range(8) for b in range(8)]
    assert len(base) == len(expected)
    for column in (0, 1):
        assert base.match_counts(column, terms).tolist() == [sum(p[column] == t for p in expected) for t in range(8)]
        rows = [row for found in base.matches(column, terms, 3) for row in np.stack(found, axis=1).tolist()]
        assert sorted((r, o) if column == 0 else (o, r) for r, o in rows) == sorted(expected)
        keys = np.concatenate([np.empty(0, np.int64), *base.blocks(column, 3)]).tolist()
        assert sorted((k >> 32, k & 0xFFFF) if column == 0 else (k & 0xFFFF, k >> 32) for k in keys) == sorted(expected)
        assert base.terms(column).tolist() == sorted({p[column] for p in expected})
    keys = np.array([a << 32 | b for a, b in grid])
    assert base.contains(keys).tolist() == [pair in expected for pair in grid]
