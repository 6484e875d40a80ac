"""The recursion that decomposes, how it does, and the reasons why other recursion does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from everlog.analysis.decompose import Decomposition, Obstacle, decompose, parts_of
from everlog.analysis.stratify import Stratum
from everlog.lang.syntax import Predicate
from tests.backends.spark.by_plans import stratified
from tests.strategies import Case, cases, graph_cases

P, E = Predicate("p", 2), Predicate("e", 2)
BASE = "p(?x, ?y) :- e(?x, ?y) ."


def recursive(text: str, kind: str = "levels") -> Stratum:
    (found,) = [stratum for stratum in stratified(text, kind=kind).strata if stratum.recursive]
    return found


def decomposed(text: str) -> Decomposition:
    found = decompose(recursive(text))
    assert isinstance(found, Decomposition)
    return found


def obstacles(text: str) -> tuple[Obstacle, ...]:
    found = decompose(recursive(text))
    assert not isinstance(found, Decomposition)
    return found


@pytest.mark.parametrize(
    ("rule", "carried"),
    [("p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .", 0), ("p(?x, ?z) :- e(?x, ?y), p(?y, ?z) .", 1)],
)
def test_linear_closure_carries_the_argument_it_passes_on(rule: str, carried: int) -> None:
    assert decomposed(f"{BASE} {rule}") == Decomposition({P: carried}, (), (E,))


def test_nonlinear_transitivity_does_not_decompose() -> None:
    first, second = obstacles(f"{BASE} p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .")
    assert str(first).startswith("argument 1 of p: ?x, ?x, ?y are not one variable in p(?x, ?z) :-")
    assert (second.predicate, second.argument) == (P, 1)


def test_left_and_right_linear_rules_together_do_not_decompose() -> None:
    found = obstacles(f"{BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . p(?x, ?z) :- e(?x, ?y), p(?y, ?z) .")
    assert [obstacle.rule is not None for obstacle in found] == [True, True]


def test_a_constant_in_the_carried_argument_of_the_head_is_named() -> None:
    (first, second) = obstacles(f"{BASE} p(a, ?z) :- p(a, ?y), e(?y, ?z) .")
    assert "argument 1 of p: a in the head is no variable" in str(first)
    assert "are not one variable" in str(second)


def test_a_constant_in_the_carried_argument_of_the_body_is_named() -> None:
    assert "a in the body is no variable" in str(obstacles(f"{BASE} p(?x, ?z) :- p(a, ?x), e(?x, ?z) .")[0])


def test_constants_elsewhere_are_no_obstacle() -> None:
    assert decomposed(f"{BASE} p(?x, a) :- p(?x, ?y), e(?y, b) .").carried == {P: 0}


def test_same_generation_does_not_decompose() -> None:
    assert len(obstacles(f"{BASE} p(?x, ?y) :- e(?v, ?x), p(?v, ?w), e(?w, ?y) .")) == 2


def test_a_predicate_without_arguments_is_an_obstacle() -> None:
    assert "has no arguments" in str(obstacles("r(?x) :- m(?x) . s() :- r(?x) . r(?x) :- s(), e(?x, ?y) .")[0])


def test_atoms_with_the_carried_variable_go_along_and_others_are_shared() -> None:
    found = decomposed(f"{BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z), f(?w, ?x), ~g(?x), ~h(?z, _) .")
    assert found.copartitioned == ((Predicate("f", 2), 1), (Predicate("g", 1), 0))
    assert found.shared == (E, Predicate("h", 2))


def test_a_relation_that_some_atom_needs_in_full_is_only_shared() -> None:
    found = decomposed(f"{BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z), ~e(?x, ?z) .")
    assert (found.copartitioned, found.shared) == ((), (E,))


def test_a_relation_can_go_along_by_two_of_its_arguments() -> None:
    found = decomposed(f"{BASE} p(?x, ?z) :- p(?x, ?z), f(?x, ?z) . p(?x, ?x) :- p(?x, ?z), f(?z, ?x) .")
    assert found.copartitioned == ((Predicate("f", 2), 0), (Predicate("f", 2), 1))


def test_mutual_recursion_may_carry_different_arguments() -> None:
    found = decomposed(f"{BASE} q(?y, ?x) :- p(?x, ?y) . p(?x, ?z) :- q(?y, ?x), e(?y, ?z) .")
    assert found.carried == {Predicate("q", 2): 1, P: 0}


def test_a_repeated_variable_is_tried_in_each_place() -> None:
    rules = "q(?x, ?x) :- p(?x) . p(?y) :- q(?x, ?y), m(?x) . p(?x) :- m(?x) ."
    assert decomposed(rules).carried == {Predicate("p", 1): 0, Predicate("q", 2): 1}


def test_of_several_arguments_the_one_that_shares_less_is_taken() -> None:
    text = "t(?x, ?y, ?z) :- s(?x, ?y, ?z) . t(?x, ?w, ?z) :- t(?x, ?y, ?z), e(?x, ?w), f(?z, ?w) ."
    t, f = Predicate("t", 3), Predicate("f", 2)
    for sizes, carried in (({E: 10, f: 5}, 0), ({E: 5, f: 10}, 2)):
        found = decompose(recursive(text), sizes)
        assert isinstance(found, Decomposition)
        assert found.carried == {t: carried}


def test_parts_separate_what_decomposes_from_what_does_not() -> None:
    text = f"""
        {BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .
        q(?x, ?y) :- e(?x, ?y) . q(?x, ?z) :- q(?x, ?y), q(?y, ?z) .
        r(?x, ?y) :- e(?x, ?y) . r(?x, ?z) :- r(?y, ?z), e(?y, ?x) .
        s(?x) :- e(?x, ?x) .
    """
    (stratum,) = stratified(text).strata
    found = [([predicate.name for predicate in part.predicates], len(part.recursive)) for part in parts_of(stratum)]
    assert found == [(["s"], 0), (["p", "r"], 2), (["q"], 1)]


def test_parts_of_one_stratum_follow_each_other() -> None:
    text = f"{BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . q(?x, ?y) :- p(?x, ?y) . q(?x, ?z) :- q(?x, ?y), p(?y, ?z) ."
    (stratum,) = stratified(text, kind="single").strata
    first, second = parts_of(stratum)
    assert ([len(part.nonrecursive) for part in (first, second)], second.predicates) == ([1, 1], (Predicate("q", 2),))
    found = decompose(second)
    assert isinstance(found, Decomposition)
    assert found.shared == (P,)


def test_a_stratum_that_is_not_split_carries_through_all_of_its_atoms() -> None:
    text = f"{BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . q(?x, ?y) :- p(?x, ?y) . q(?x, ?z) :- q(?x, ?y), p(?y, ?z) ."
    (stratum,) = stratified(text, kind="single").strata
    assert not isinstance(decompose(stratum), Decomposition)


@settings(max_examples=100)
@given(cases() | graph_cases())
def test_a_decomposition_has_one_variable_in_every_rule(case: Case) -> None:
    for stratum in stratified(case.program).strata:
        parts = parts_of(stratum)
        assert sorted(rule.head.predicate for part in parts for rule in part.rules) == sorted(
            rule.head.predicate for rule in stratum.rules
        )
        for part in parts:
            found = decompose(part)
            if not isinstance(found, Decomposition):
                assert found
                continue
            for rule in part.recursive:
                own = [rule.head, *(atom for atom in rule.positive if atom.predicate in part.predicates)]
                assert len({atom.terms[found.carried[atom.predicate]] for atom in own}) == 1
