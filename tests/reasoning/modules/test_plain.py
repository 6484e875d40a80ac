"""Closures hardly larger than their edges are stored as plain pairs, others as graphs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everlog
from everlog import KnowledgeBase
from everlog.engine.closed import Closed, ClosedDifference
from everlog.engine.reach import Reach
from everlog.engine.relation import Relation
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.closure import plain
from everlog.reasoning.modules.closure.implementation import ClosureImplementation
from tests.reasoning.modules import test_stores
from tests.reasoning.modules.test_updates import run
from tests.reasoning.test_maintenance import ALGORITHMS
from tests.strategies import Case

PATH = Predicate("path", 2)
RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."


def kept(kb: KnowledgeBase) -> Relation:
    return kb.facts_with_hidden().relation(PATH)


def chains(count: int, length: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    starts = np.arange(count)[:, None] * (length + 1) + np.arange(length)
    return np.stack([starts.ravel(), starts.ravel() + 1], axis=1)


CLOSURES = {
    "transitive": "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- e(?x, ?y) .",
    "symmetric": "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- p(?y, ?x) . p(?x, ?y) :- e(?x, ?y) .",
    "left": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "right": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- e(?x, ?y), p(?y, ?z) .",
    "inverted": "p(?x, ?y) :- e(?y, ?x) . p(?x, ?z) :- p(?x, ?y), e(?z, ?y) .",
    "two states": "p(?x, ?z) :- q(?x, ?y), e(?y, ?z) . q(?x, ?z) :- p(?x, ?y), e(?y, ?z) . p(?x, ?y) :- e(?x, ?y) .",
}
READERS = ("", "t(?x, ?z) :- p(?x, ?y), e(?z, ?y) .", "u(?x, ?y) :- p(?x, ?y) . u(?x, ?y) :- p(?y, ?x) .")
EDGE = Predicate("e", 2)


@st.composite
def closure_cases(draw: st.DrawFn, rules: str) -> Case:
    """A closure, rules that read it, and edges; updates may insert other facts of the closed predicate."""
    node = st.sampled_from(tuple("abcdefgh"))
    edges = draw(st.lists(st.tuples(node, node), min_size=1, max_size=12))
    changing = draw(st.sampled_from([(EDGE,), (EDGE, Predicate("p", 2))]))
    program = parse_program(rules + draw(st.sampled_from(READERS)))
    return Case(program, frozenset((EDGE, edge) for edge in edges), changing, tuple("abcdefgh"))


@pytest.mark.parametrize("rules", CLOSURES.values(), ids=CLOSURES)
@settings(max_examples=25)
@given(data=st.data())
def test_updates(rules: str, data: st.DataObject) -> None:
    """Updates are correct for any number of pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "PAIR", 0)
        patch.setattr(plain, "PAIRS_BY_EDGE", 1_000)
        run(data.draw(closure_cases(rules)), "levels", data, ALGORITHMS)


def test_versions_in_a_store(tmp_path: Path) -> None:
    test_stores.test_versions_of_a_closure(tmp_path)


@pytest.mark.parametrize(("count", "length", "is_plain"), [(1_000, 1, True), (1_000, 2, True), (1_000, 3, False)])
def test_the_smaller_form_is_kept(count: int, length: int, is_plain: bool) -> None:
    kb = KnowledgeBase(RULES)
    kb.insert("edge", chains(count, length))
    kb.materialise()
    pairs, graph = kept(kb), graph_of(kb)
    assert (pairs.base is None) == is_plain
    assert len(pairs) == count * length * (length + 1) // 2
    unread, listed = graph.nbytes, graph.plain()
    for order in ((0, 1), (1, 0)):
        listed.table(order)
    if is_plain:
        assert listed.nbytes < unread


def graph_of(kb: KnowledgeBase) -> Relation:
    """The closure as a graph."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "PAIRS_BY_EDGE", 0)
        other = KnowledgeBase(RULES)
        other.insert("edge", kb["edge"].to_arrow())
        other.materialise()
    assert isinstance(kept(other).base, Closed)
    return kept(other)


def test_an_update_looks_only_at_what_it_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def of(sources: Any, targets: Any, **options: Any) -> Reach:
        made.append(len(sources))
        return Reach.of(sources, targets, **options)

    kb = KnowledgeBase(RULES)
    kb.insert("edge", chains(1_000, 2))
    kb.materialise()
    monkeypatch.setattr(plain, "Reach", SimpleNamespace(of=of))
    change = kb.update({"edge": [(2, 3)]}, {"edge": [(6, 7)]})
    assert made == [6]  # 0-1-2-3-4-5 and 7-8
    assert len(change.inserted["path"]) == 3 * 3
    assert set(change.deleted["path"]) == {(6, 7), (6, 8)}
    assert kept(kb).base is None


def test_a_closure_that_grows_at_once_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few edges make a component of 12,000 nodes with 144 million pairs, which are only counted."""
    edges = chains(4_000, 2)
    joined = np.stack([edges[1::2, 1], np.roll(edges[1::2, 1] - 2, -1)], axis=1)
    kb = KnowledgeBase(RULES)
    kb.insert("edge", edges)
    kb.materialise()
    assert kept(kb).base is None

    def refuse(*_: Any) -> NoReturn:
        raise AssertionError("the pairs are listed")

    monkeypatch.setattr(ClosedDifference, "keys", refuse)
    monkeypatch.setattr(Closed, "matches", refuse)
    change = kb.update({"edge": joined})
    assert len(change.inserted["path"]) == 12_000**2 - 3 * 4_000
    assert isinstance(kept(kb).base, Closed)
    assert (7, 7) in kb["path"]


def test_opened_and_updated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pairs are read from the store, not derived again."""
    kb = KnowledgeBase(RULES)
    kb.insert("edge", chains(100, 2))
    kb.save(tmp_path / "kb")

    def refuse(*_: Any) -> NoReturn:
        raise AssertionError("the closure is derived again")

    monkeypatch.setattr(ClosureImplementation, "derive", refuse)
    again = everlog.open(tmp_path / "kb")
    change = again.update({"edge": [(2, 3)]}, {"edge": [(0, 1)]})
    assert len(change.deleted["path"]) == 2
    assert len(change.inserted["path"]) == 2 * 3
    assert kept(again).base is None
    again.save()
    assert len(everlog.open(tmp_path / "kb")["path"]) == 300 - 2 + 6
