"""Unions of a closure and its inverse: shared, counted and updated without listing the closure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.modules.programs import CATEGORIES, SEMANTIC_RELATION
from bench.modules.setting import Setting
from everlog.engine.closed import Closed
from everlog.engine.relation import Relation
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.modules.union.united import United
from tests.reasoning.modules.test_updates import run
from tests.reasoning.test_maintenance import ALGORITHMS
from tests.strategies import Case

pytestmark = pytest.mark.usefixtures("closures_in_graphs")

RULES = CATEGORIES + SEMANTIC_RELATION
GIVEN = [Predicate(name, 2) for name in ("broader", "narrowerTransitive", "related", "semanticRelation")]
DOMAIN = ("a", "b", "c", "d", "e")
ROWS = st.tuples(st.sampled_from(DOMAIN), st.sampled_from(DOMAIN))
EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=14)


@given(facts=st.sets(st.tuples(st.sampled_from(GIVEN), ROWS), max_size=14), data=st.data())
def test_updates_equal_rules(facts: Any, data: st.DataObject) -> None:
    case = Case(Program(parse_program(RULES).rules), frozenset(facts), tuple(GIVEN), DOMAIN)
    run(case, "levels", data, ALGORITHMS)


def semantic_relation(broader: Any, related: Any) -> Relation:
    rows = {"broader": np.array(broader), "related": np.array(related)}
    state = Setting(RULES, rows, "compact").materialised().state
    assert state is not None
    return state.facts[Predicate("semanticRelation", 2)]


@given(broader=EDGES, related=EDGES)
def test_counts_equal_the_pairs(broader: Any, related: Any) -> None:
    union = semantic_relation(broader, related)
    assert isinstance(union.base, United)
    first, second = union.columns()
    assert len(union) == len(first) == len(np.unique(first << 32 | second))
    terms = np.arange(8)
    for column, found in enumerate((first, second)):
        assert union.match_counts(column, terms).tolist() == np.bincount(found, minlength=8).tolist()
        matched = [rows for rows, _ in union.base.matches(column, terms, block=3)]
        assert np.bincount(np.concatenate(matched), minlength=8).tolist() == np.bincount(found, minlength=8).tolist()


def test_the_closure_is_not_listed_to_count_the_union(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matches", "blocks", "sorted_keys"):
        monkeypatch.setattr(Closed, name, None)
    union = semantic_relation([(0, 1), (1, 2), (2, 1)], [(3, 4)])
    assert len(union) == 6 + 2 + 2
    assert union.match_counts(0, np.array([0, 1, 3])).tolist() == [2, 3, 1]
