"""The naive oracle, compared with hand-computed results and with clingo."""

from __future__ import annotations

import pytest
from hypothesis import given

from everlog.lang.syntax import Atom, Constant, Predicate, Program, Rule, Term, Variable, Wildcard
from tests.oracle import asp, naive
from tests.strategies import Case, cases, graph_cases

P, Q, R = Predicate("p", 1), Predicate("q", 2), Predicate("r", 0)
X, Y, ANY = Variable("x"), Variable("y"), Wildcard()


def atom(predicate: Predicate, *terms: Term) -> Atom:
    return Atom(predicate, terms)


def test_a_wildcard_in_a_negated_atom_means_for_no_value() -> None:
    rule = Rule(atom(P, X), (atom(Q, X, ANY),), (atom(Q, ANY, X),))
    facts = [(Q, ("1", "2")), (Q, ("2", "3"))]
    assert naive.materialise(Program((rule,)), facts)[P] == {("1",)}


def test_each_value_of_a_positive_wildcard_is_an_instance() -> None:
    rule = Rule(atom(P, X), (atom(Q, X, ANY),))
    facts = naive.grouped([(Q, ("1", "2")), (Q, ("1", "3"))])
    assert len(naive.instances([rule], facts, facts)) == 2
    assert naive.heads([rule], facts, facts) == {(P, ("1",)): 2}


def test_repeated_variables_constants_and_empty_bodies() -> None:
    rules = (
        Rule(atom(P, X), (atom(Q, X, X),)),
        Rule(atom(Q, X, X), (atom(Q, Constant("1"), X),)),
        Rule(atom(R), ()),
    )
    found = naive.materialise(Program(rules), [(Q, ("1", "2"))])
    assert found == {Q: {("1", "2"), ("2", "2")}, P: {("2",)}, R: {()}}


def test_several_change_conditions_all_have_to_hold() -> None:
    rule = Rule(atom(P, X), (atom(Q, X, Y),), (atom(Q, Y, ANY),))
    pos = naive.grouped([(Q, ("1", "2")), (Q, ("3", "4"))])
    gone = naive.grouped([(Q, ("2", "1"))])
    first = naive.grouped([(Q, ("1", "2"))])
    assert naive.heads([rule], pos, {}) == {(P, ("1",)): 1, (P, ("3",)): 1}
    assert naive.heads([rule], pos, {}, [({}, gone)]) == {(P, ("1",)): 1}
    assert naive.heads([rule], pos, {}, [(first, {}), ({}, gone)]) == {(P, ("1",)): 1}
    assert not naive.heads([rule], pos, {}, [(first, {}), ({}, {})])
    assert not naive.heads([rule], pos, gone, [(first, {})])


def test_negation_through_recursion_is_refused() -> None:
    rules = (Rule(atom(P, X), (atom(Q, X, Y),), (atom(R),)), Rule(atom(R), (atom(P, ANY),)))
    with pytest.raises(ValueError, match="stratifiable"):
        naive.materialise(Program(rules))


@given(cases(empty_bodies=True))
def test_the_oracle_agrees_with_clingo(case: Case) -> None:
    assert naive.materialise(case.program, case.facts) == asp.materialise(case.program, case.facts)


@given(graph_cases())
def test_the_oracle_agrees_with_clingo_on_recursion(case: Case) -> None:
    assert naive.materialise(case.program, case.facts) == asp.materialise(case.program, case.facts)
