"""ASK, LIMIT and COUNT find no more solutions than necessary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from everlog import KnowledgeBase
from everlog.engine.closed import Closed
from everlog.query.sparql import matching

RULES = """
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .
near(?x, ?y) :- path(?x, ?y) . near(?x, ?y) :- beside(?x, ?y) .
"""
NODES = 60
PAIRS = NODES * (NODES - 1) // 2


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = KnowledgeBase(RULES)
    kb.insert("edge", [(i, i + 1) for i in range(NODES - 1)])
    kb.insert("beside", [(0, NODES)])
    kb.materialise()
    return kb


def counting(method: Callable[..., Iterator[Any]], sizes: list[int]) -> Callable[..., Iterator[Any]]:
    def counted(*args: Any, **options: Any) -> Iterator[Any]:
        for found in method(*args, **options):
            sizes.append(len(found[0]) if isinstance(found, tuple) else len(found))
            yield found

    return counted


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of pairs of closures that are listed at a time."""
    sizes: list[int] = []
    for name in ("matches", "blocks"):
        monkeypatch.setattr(Closed, name, counting(getattr(Closed, name), sizes))
    monkeypatch.setattr(matching, "FIRST", NODES)
    return sizes


@pytest.mark.parametrize(
    "query",
    [
        "ASK { ?x everlog:path ?y }",
        "ASK { ?x everlog:path ?y . ?y everlog:path ?z }",
        "ASK { ?x everlog:near ?y }",
        "SELECT * { ?x everlog:path ?y } LIMIT 3",
        "SELECT ?x ?z { ?x everlog:path ?y . ?y everlog:path ?z } LIMIT 3",
        "SELECT DISTINCT ?y { ?x everlog:path ?y } LIMIT 3",
        "SELECT ?n { ?x everlog:path ?y BIND(?x + ?y AS ?n) } LIMIT 3",
        "SELECT * { { ?x everlog:path ?y } UNION { ?y everlog:path ?x } } LIMIT 3",
    ],
)
def test_little_is_listed(kb: KnowledgeBase, listed: list[int], query: str) -> None:
    found = kb.sparql(query)
    assert len(found) == (3 if "LIMIT" in query else 1)
    assert 0 < sum(listed) <= 6 * NODES < PAIRS


def test_all_is_listed_if_all_is_needed(kb: KnowledgeBase, listed: list[int]) -> None:
    assert len(kb.sparql("SELECT * { ?x everlog:path ?y } ORDER BY ?x LIMIT 3")) == 3
    assert sum(listed) >= PAIRS


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("SELECT (COUNT(*) AS ?n) { ?x everlog:path ?y }", PAIRS),
        ("SELECT (COUNT(*) AS ?n) { 3 everlog:path ?y }", NODES - 4),
        ("SELECT (COUNT(*) AS ?n) { 3 everlog:near ?y }", NODES - 4),
        ("SELECT (COUNT(?z) AS ?n) { 3 everlog:edge ?y . ?y everlog:path ?z }", NODES - 5),
        ("SELECT (COUNT(?z) AS ?n) { 0 everlog:near ?y . ?y everlog:edge ?x . ?x everlog:path ?z }",
         sum(range(NODES - 2))),
    ],
)  # fmt: skip
def test_counting_lists_no_more_than_what_is_bound(
    kb: KnowledgeBase, listed: list[int], query: str, count: int
) -> None:
    assert kb.sparql(query).rows() == [(count,)]
    assert sum(listed) <= NODES


@pytest.mark.parametrize("pattern", ["?x everlog:path ?y", "?x ?p ?y", "?x everlog:near ?y . ?y everlog:path ?z"])
@pytest.mark.parametrize("distinct", ["", "DISTINCT"])
def test_pages_follow_each_other(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, pattern: str, distinct: str
) -> None:
    monkeypatch.setattr(matching, "FIRST", 50)
    query = f"SELECT {distinct} ?x ?y {{ {pattern} }}"
    everything = sorted(kb.sparql(query).rows(), key=str)
    size = len(everything) // 5 + 1
    pages = [kb.sparql(f"{query} LIMIT {size} OFFSET {start * size}").rows() for start in range(6)]
    assert pages[-1] == []
    assert sorted((row for page in pages for row in page), key=str) == everything


def test_wide_answers_are_each_there_once(kb: KnowledgeBase) -> None:
    found = kb.sparql("SELECT * { ?a everlog:edge ?b . ?b everlog:edge ?c . ?c everlog:edge ?d . ?d everlog:edge ?e }")
    assert sorted(found.rows()) == [tuple(range(i, i + 5)) for i in range(NODES - 4)]
