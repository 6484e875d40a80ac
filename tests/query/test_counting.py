"""Counts, look-ups and joins with a bound argument, with compact relations that cannot be expanded."""

from __future__ import annotations

import pytest

from everlog import KnowledgeBase
from everlog.engine.closed import Closed
from everlog.reasoning.modules.union.united import United

RULES = """
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .
near(?x, ?y) :- path(?x, ?y) . near(?x, ?y) :- path(?y, ?x) . near(?x, ?y) :- beside(?x, ?y) .
"""
NODES = 40
"""A chain of nodes: node i reaches all nodes after it."""


class ExpandedError(Exception):
    pass


@pytest.fixture
def kb(monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    kb = KnowledgeBase(RULES)
    kb.insert("edge", [(i, i + 1) for i in range(NODES - 1)])
    kb.insert("beside", [(0, NODES), (0, 1)])
    kb.insert("few", [(3,), (NODES - 2,)])
    kb.materialise()

    def expanded(*_: object, **__: object) -> None:
        raise ExpandedError

    for base in (Closed, United):
        for name in ("blocks", "sorted_keys"):
            monkeypatch.setattr(base, name, expanded)
    return kb


def test_expanding_is_noticed(kb: KnowledgeBase) -> None:
    with pytest.raises(ExpandedError):
        kb["path"].rows()


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("path(?x, ?y)", NODES * (NODES - 1) // 2),
        ("path(?x, _)", NODES - 1),
        ("path(_, _)", 1),
        ("path(3, ?y)", NODES - 4),
        ("path(?x, 3)", 3),
        ("path(3, _)", 1),
        ("path(?x, ?y), path(?y, ?z)", sum(y * (NODES - 1 - y) for y in range(NODES))),
        ("path(?x, ?y), path(?y, _)", sum(range(NODES - 1))),
        ("path(3, ?y), path(?y, ?z)", sum(NODES - 1 - y for y in range(4, NODES))),
        ("few(?x), path(?x, ?y)", NODES - 4 + 1),
        ("few(?y), path(?x, ?y), path(?y, ?z)", 3 * (NODES - 4) + (NODES - 2)),
        ("few(?x), path(?x, ?y), ~edge(?x, ?y)", NODES - 5),
        ("few(?x), near(?x, ?y)", 2 * (NODES - 1)),
        ("near(0, ?y)", NODES),
        ("near(?x, ?y), few(?x), few(?z)", 4 * (NODES - 1)),
        ("path(?x, ?y), few(?z), few(?w)", 4 * NODES * (NODES - 1) // 2),
        ("path(?x, 99), path(?x, ?y)", 0),
        ("few(?x), ~path(_, _)", 0),
        ("few(?x), ~path(?x, _)", 0),
        ("edge(_, ?x), ~path(?x, _)", 1),
    ],
)
def test_counted_without_expanding(kb: KnowledgeBase, query: str, count: int) -> None:
    assert len(kb.query(query)) == count


def test_counted_and_found_are_the_same() -> None:
    kb = KnowledgeBase(RULES)
    kb.insert("edge", [(i, (i * 7) % 13) for i in range(10)])
    kb.insert("beside", [(i, i) for i in range(3)])
    for query in (
        "near(?x, ?y), path(?y, ?z)",
        "near(?x, _), path(?x, ?y), ~edge(?x, ?y)",
        "path(?x, ?x), near(?x, ?y)",
    ):
        assert len(kb.query(query)) == len(kb.query(query).rows())


def test_looking_one_up_does_not_find_all(kb: KnowledgeBase) -> None:
    found = kb.query("path(?x, ?y), path(?y, ?z)")
    assert (0, 1, 2) in found
    assert (0, 1, 1) not in found
    assert (0, 1) not in found
    assert (0, 1, object()) not in found
    assert "_relation" not in found.__dict__


def test_whether_there_is_an_answer(kb: KnowledgeBase) -> None:
    assert kb.query("path(3, ?y), path(?y, ?z)")
    assert not kb.query(f"path({NODES - 2}, ?y), path(?y, ?z)")


def test_products_of_counts_near_64_bits() -> None:
    kb = KnowledgeBase()
    kb.insert("p", [(0, i) for i in range(2_000)])
    kb.insert("q", [(0, i) for i in range(250)])
    atoms = ", ".join(f"p(?x, ?y{i})" for i in range(5))
    assert len(kb.query(f"{atoms}, q(?x, ?z)")) == 2_000**5 * 250


def test_answers_are_those_to_the_facts_when_asked() -> None:
    kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . edge(a, b) .")
    before = kb.query("path(a, ?x)")
    kb.update(insert={"edge": [("b", "c")]})
    assert (len(before), before.rows(), len(kb.query("path(a, ?x)"))) == (1, [("b",)], 2)
