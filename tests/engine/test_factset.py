"""Fact sets behave as sets of facts of any predicates."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from everlog.engine.factset import NONE, FactSet
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate

Fact = tuple[Predicate, tuple[int, ...]]
PREDICATES = [Predicate("p", 1), Predicate("q", 2), Predicate("r", 0), Predicate("s", 3)]

facts = st.sampled_from(PREDICATES).flatmap(lambda p: st.tuples(st.just(p), st.tuples(*[st.integers(0, 2)] * p.arity)))
fact_lists = st.sets(facts, max_size=25)


def encoded(found: set[Fact]) -> FactSet:
    relations = {}
    for predicate in PREDICATES:
        rows = sorted(row for p, row in found if p == predicate)
        columns = [np.array([row[c] for row in rows], np.int64) for c in range(predicate.arity)]
        relations[predicate] = Relation.from_columns(columns, 10, len(rows))
    return FactSet(relations)


def decoded(found: FactSet) -> set[Fact]:
    return {
        (predicate, tuple(int(column[i]) for column in relation.columns()))
        for predicate, relation in found.items()
        for i in range(len(relation))
    }


@given(fact_lists, fact_lists)
def test_operations_are_those_of_sets(left: set[Fact], right: set[Fact]) -> None:
    a, b = encoded(left), encoded(right)
    assert decoded(a | b) == left | right
    assert decoded(a - b) == left - right
    assert decoded(a & b) == left & right
    assert decoded(a.extended(b - a)) == left | right
    assert a.extended(b - a).count == len(left | right)
    assert (a | b).count == len(left | right)


@given(fact_lists, fact_lists)
def test_only_predicates_with_facts_are_keys(left: set[Fact], right: set[Fact]) -> None:
    a, b = encoded(left), encoded(right)
    for found, expected in ((a, left), (a - b, left - right), (a & b, left & right), (a | b, left | right)):
        assert set(found) == {predicate for predicate, _ in expected}
        assert len(found) == len(set(found))
        assert bool(found) == bool(expected)


@given(fact_lists, st.sets(st.sampled_from(PREDICATES)))
def test_restriction_and_fitting(found: set[Fact], wanted: set[Predicate]) -> None:
    a = encoded(found)
    assert decoded(a.restricted(wanted)) == {fact for fact in found if fact[0] in wanted}
    assert decoded(a.fitted(1 << 30)) == found


def test_a_predicate_without_facts_is_an_empty_relation() -> None:
    assert len(NONE.relation(Predicate("nowhere", 5))) == 0
    assert NONE.count == 0
    assert not NONE
