"""Small sparse closures are kept as plain pairs, dense ones in their graph, and either may become the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import everlog
from everlog import KnowledgeBase
from everlog.engine.closed import Closed, ClosedDifference
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate
from everlog.modules import closure
from tests.modules import test_stores
from tests.modules.test_updates import module_cases, run
from tests.reasoning.test_maintenance import ALGORITHMS
from tests.strategies import Case

PATH = Predicate("path", 2)
RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."


@pytest.fixture(autouse=True, scope="module")
def plain_if_smaller() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closure, "PLAIN_EDGES", 1 << 14)
        yield


def kept(kb: KnowledgeBase) -> Relation:
    return kb.inner_facts().relation(PATH)


def chains(count: int, length: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    starts = np.arange(count)[:, None] * (length + 1) + np.arange(length)
    return np.stack([starts.ravel(), starts.ravel() + 1], axis=1)


@given(case=module_cases(), kind=st.sampled_from(["levels", "single"]), data=st.data())
def test_updates(case: Case, kind: Any, data: st.DataObject) -> None:
    run(case, kind, data, ALGORITHMS)


def test_versions_in_a_store(tmp_path: Path) -> None:
    test_stores.test_versions_of_a_closure(tmp_path)


def test_the_smaller_form_is_kept() -> None:
    for count, length, plain in ((1_000, 3, True), (100, 200, False)):
        kb = KnowledgeBase(RULES)
        kb.insert("edge", chains(count, length))
        kb.materialise()
        pairs = kept(kb)
        assert (pairs.base is None) == plain
        assert len(pairs) == count * length * (length + 1) // 2
        if plain:
            assert pairs.nbytes < KnowledgeBase._inner(with_graph(kb)).facts.relation(PATH).nbytes
        else:
            assert pairs.nbytes < 8 * len(pairs)


def with_graph(kb: KnowledgeBase) -> KnowledgeBase:
    """The same closure in its graph."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closure, "PLAIN_EDGES", -1)
        other = KnowledgeBase(RULES)
        other.insert("edge", kb["edge"].to_arrow())
        other.materialise()
    assert isinstance(kept(other).base, Closed)
    return other


def test_large_graphs_are_kept() -> None:
    kb = KnowledgeBase(RULES)
    kb.insert("edge", chains(6_000, 3))
    kb.materialise()
    assert isinstance(kept(kb).base, Closed)


def test_a_closure_that_grows_at_once_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One edge makes a component of 12,000 nodes: 144 million pairs, which only their number is asked of."""
    edges = chains(4_000, 2)
    joined = np.stack([edges[1::2, 1], np.roll(edges[1::2, 1] - 2, -1)], axis=1)
    kb = KnowledgeBase(RULES)
    kb.insert("edge", edges)
    kb.materialise()
    assert kept(kb).base is None

    def refuse(*_: Any) -> NoReturn:
        raise AssertionError("the pairs are listed")

    monkeypatch.setattr(ClosedDifference, "keys", refuse)
    change = kb.update({"edge": joined})
    assert len(change.inserted["path"]) == 12_000**2 - 3 * 4_000
    assert isinstance(kept(kb).base, Closed)
    assert (7, 7) in kb["path"]


def test_opened_and_updated(tmp_path: Path) -> None:
    kb = KnowledgeBase(RULES)
    kb.insert("edge", chains(100, 3))
    kb.save(tmp_path / "kb")
    again = everlog.open(tmp_path / "kb")
    change = again.update({"edge": [(3, 4)]}, {"edge": [(0, 1)]})
    assert len(change.deleted["path"]) == 3
    assert len(change.inserted["path"]) == 3 * 4
    assert kept(again).base is None
    again.save()
    assert len(everlog.open(tmp_path / "kb")["path"]) == 600 - 3 + 12
