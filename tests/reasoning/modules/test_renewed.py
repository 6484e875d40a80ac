"""Graphs of closures that are built again, and perhaps turned around, whenever that may save a byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog import KnowledgeBase
from everlog.engine import reach
from everlog.engine.closed import Closed
from everlog.engine.reach import Reach
from everlog.reasoning.modules.closure import plain
from tests.reasoning.modules.test_plain import CLOSURES, RULES, closure_cases, kept
from tests.reasoning.modules.test_updates import run
from tests.reasoning.test_maintenance import ALGORITHMS


@pytest.mark.parametrize("rules", CLOSURES.values(), ids=CLOSURES)
@settings(max_examples=25)
@given(data=st.data())
def test_updates(rules: str, data: st.DataObject) -> None:
    """Updates are correct after any number of renewals, for graphs and for plain pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reach, "SMALL", 0)
        patch.setattr(reach, "RENEWED_AT", 0)
        patch.setattr(reach, "GAINED", 0)
        patch.setattr(plain, "PAIRS_BY_EDGE", data.draw(st.sampled_from([0, 2])))
        run(data.draw(closure_cases(rules)), "levels", data, ALGORITHMS)


def graph_of(kb: KnowledgeBase) -> Reach:
    base = kept(kb).base
    assert isinstance(base, Closed)
    return base.graph


def test_the_direction_follows_the_shape() -> None:
    """At first most nodes have an edge to them, in the end much more nodes have one from them."""
    nodes, random = np.arange(1, 1_000), np.random.default_rng(1)
    edges = np.stack([nodes // 2, nodes], axis=1)
    kb = KnowledgeBase(RULES)
    kb.insert("edge", edges)
    kb.materialise()
    directions = [graph_of(kb).turned]
    for first in range(1_000, 9_000, 500):
        more = np.stack([np.arange(first, first + 500), random.integers(0, 1_000, 500)], axis=1)
        kb.insert("edge", more)
        edges = np.concatenate([edges, more])
        directions.append(graph_of(kb).turned)
    assert directions[:2] == [False, False]
    assert directions[-1]
    other = KnowledgeBase(RULES)
    other.insert("edge", edges)
    other.materialise()
    assert len(kb["path"]) == len(other["path"])
    assert graph_of(other).turned
    assert graph_of(kb).nbytes <= 1.5 * graph_of(other).nbytes


def test_what_is_left_of_a_graph_becomes_plain_pairs() -> None:
    nodes = np.arange(1, 6_000)
    edges = np.stack([nodes // 2, nodes], axis=1)
    kb = KnowledgeBase(RULES)
    kb.insert("edge", edges)
    kb.materialise()
    assert graph_of(kb).pairs == len(kb["path"])
    kb.delete("edge", edges[:-1_200])
    assert kept(kb).base is None
    assert set(kb["path"]) == set(kb["edge"])
