"""Proofs of random programs: every fact that holds has one, each step is correct, and each has the least height."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import everlog
from everlog.lang.parser import parse_program
from everlog.lang.printer import print_atom
from everlog.lang.syntax import Atom, Constant, Predicate, Program
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.query.explain.checker import all_proofs, check_explanation, fact_of, least_heights
from tests.reasoning.modules.test_detection import DERIVED, LAYERS, fact_sets, layered_programs, word_programs
from tests.reasoning.modules.test_graphs import mutual_cases, quoted
from tests.reasoning.modules.test_updates import module_cases
from tests.running import knowledge_base
from tests.strategies import Case, cases, graph_cases


def explicit(case: Case) -> set[Fact]:
    return {*case.facts, *naive.explicit(case.program)}


def pattern(predicate: Predicate) -> str:
    name = predicate.name
    return f"{name}({', '.join(f'?x{i}' for i in range(predicate.arity))})"


def texts(fact: Fact) -> str:
    return print_atom(Atom(fact[0], tuple(map(Constant, fact[1]))))


def check_everything(case: Case, kb: everlog.KnowledgeBase, least: bool) -> None:
    holds = naive.materialise(case.program, case.facts)
    heights = least_heights(case.program, explicit(case), holds) if least else {}
    for predicate in holds:
        explained = kb.explain(pattern(predicate)).to_dict()
        found = check_explanation(explained, case.program, explicit(case), holds)
        assert found == len(holds[predicate])
        for answer in explained["answers"] if least else ():
            assert answer["proofs"][0]["height"] == heights[fact_of(answer["fact"], {})]


@settings(max_examples=25, deadline=None)
@given(cases(empty_bodies=True))
def test_rules_prove_what_holds_at_the_least_height(case: Case) -> None:
    check_everything(case, knowledge_base(case.program, case.facts, modules=False), least=True)


@settings(max_examples=15, deadline=None)
@given(graph_cases(max_nodes=7))
def test_recursion_is_proved_at_the_least_height(case: Case) -> None:
    check_everything(case, knowledge_base(case.program, case.facts, modules=False), least=True)


@settings(max_examples=25, deadline=None)
@given(graph_cases(max_nodes=7))
def test_modules_prove_what_holds(case: Case) -> None:
    check_everything(case, knowledge_base(case.program, case.facts), least=False)


@settings(max_examples=15, deadline=None)
@given(cases())
def test_modules_in_arbitrary_rules(case: Case) -> None:
    check_everything(case, knowledge_base(case.program, case.facts), least=False)


def identity(steps: list[dict[str, Any]]) -> frozenset[Any]:
    """A form of a proof that does not depend on the order of its steps."""
    facts = [step["fact"] for step in steps]
    return frozenset(
        (step["fact"], str(step.get("rules")), *(facts[at] for at in step.get("from", ()))) for step in steps
    )


TINY = cases(max_rules=4, max_predicates=3)


@settings(max_examples=25, deadline=None)
@given(TINY)
def test_all_proofs_are_found_once_lowest_first(case: Case) -> None:
    holds = naive.materialise(case.program, case.facts)
    given_facts = explicit(case)
    kb = knowledge_base(case.program, case.facts, modules=False)
    for fact in sorted(naive.flat(holds))[:6]:
        every = all_proofs(case.program.rules, given_facts, holds, fact)
        (answer,) = (explained := kb.explain(texts(fact), all=True, limit=50).to_dict())["answers"]
        check_explanation(explained, case.program, given_facts, holds)
        heights = [proof["height"] for proof in answer["proofs"]]
        assert heights == sorted(heights)
        seen = {identity(proof["steps"]) for proof in answer["proofs"]}
        assert len(seen) == len(answer["proofs"])
        expected = len(every) + (fact in given_facts)
        if expected <= 50:
            assert len(answer["proofs"]) == expected
        else:
            assert len(answer["proofs"]) == 50


def test_a_fact_that_was_given_is_its_own_proof() -> None:
    kb = everlog.KnowledgeBase("p(?x) :- q(?x) . p(a) . q(a) .")
    assert [len(proof) for proof in kb.explain("p(a)").proofs] == [1]
    assert [len(proof) for proof in kb.explain("p(a)", all=True).proofs] == [1, 2]


def test_the_order_of_rules_and_facts_decides_nothing_but_ties() -> None:
    program = "p(?x) :- a(?x, ?y) . p(?x) :- b(?x) . a(1, 2) . a(1, 3) . b(1) ."
    kb = everlog.KnowledgeBase(program)
    first = kb.explain("p(1)").to_dict()
    other = everlog.KnowledgeBase("p(?x) :- a(?x, ?y) . p(?x) :- b(?x) . b(1) . a(1, 3) . a(1, 2) .")
    assert other.explain("p(1)").to_dict() == first
    assert first["answers"][0]["proofs"][0]["steps"][-1]["rules"] == [1]


def test_a_long_chain_without_modules() -> None:
    kb = everlog.KnowledgeBase(
        "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .", modules=False
    )
    kb.insert("edge", [(i, i + 1) for i in range(300)])
    assert kb.explain("path(0, 300)")[0].proof.height == 300  # type: ignore[union-attr]


def test_no_path_rests_on_what_it_proves() -> None:
    """The shortest path from a to c has an edge that follows only from the path itself."""
    text = """
    p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .
    p(?x, ?y) :- e(?x, ?y) .
    p(?x, ?y) :- q(?x, ?y) .
    q(?x, ?y) :- p(?x, ?y), m(?x) .
    e(a, b) . e(b, c) . m(a) .
    """
    kb = everlog.KnowledgeBase(text)
    program = parse_program(text)
    holds = naive.materialise(program)
    explained = kb.explain("q(a, ?y)").to_dict()
    assert check_explanation(explained, program, naive.explicit(program), holds) == 2


@settings(max_examples=60, deadline=None)
@given((module_cases() | mutual_cases()).map(quoted))
def test_closures_unions_and_what_feeds_them(case: Case) -> None:
    check_everything(case, knowledge_base(case.program, case.facts), least=False)


def check_modules_over_modules(program: Program, facts: set[Fact]) -> None:
    texts_of = {(predicate, tuple(f'"{text}"' for text in row)) for predicate, row in facts}
    case = Case(program, frozenset(texts_of), (), ())
    try:
        kb = knowledge_base(case.program, case.facts)
    except everlog.EverlogError:  # not stratifiable
        return
    check_everything(case, kb, least=False)


@settings(max_examples=25, deadline=None)
@given(layered_programs(), fact_sets(LAYERS))
def test_modules_over_modules(program: Program, facts: set[Fact]) -> None:
    check_modules_over_modules(program, facts)


@settings(max_examples=25, deadline=None)
@given(word_programs(), fact_sets(DERIVED))
def test_rules_that_are_words(program: Program, facts: set[Fact]) -> None:
    check_modules_over_modules(program, facts)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(layered_programs() | word_programs(), fact_sets([*LAYERS, *DERIVED]))
def test_many_modules(program: Program, facts: set[Fact]) -> None:
    check_modules_over_modules(program, facts)


def test_a_path_names_the_rules_of_closures_that_it_goes_along() -> None:
    """The closure of p1 uses the edges of the closure of p0, so that a path needs the rules of p0, too."""
    rules = """p0(?x, ?z) :- p0(?x, ?y), f(?y, ?z) . p0(?x, ?y) :- f(?x, ?y) . p1(?x, ?y) :- f(?x, ?y) .
        p1(?x, ?y) :- f(?z, ?y), p1(?x, ?z) . p1(?x, ?y) :- p0(?y, ?z), p1(?x, ?z) ."""
    check_modules_over_modules(parse_program(rules), {(Predicate("f", 2), ('"a"', '"b"'))})


def test_proofs_through_the_goal_leave_room_for_others() -> None:
    """p(b, 1) has more proofs than requested, most of which need p(b, b)."""
    rules = "p(?y, ?y) :- p(?x, ?y), p(?z, _) . p(?z, ?y) :- p(?z, _), p(?y, ?y), p(?x, ?x) ."
    program = parse_program(rules)
    pairs = [("a", "a"), ("a", "b"), ("a", "1"), ("b", "a"), ("b", "b"), ("1", "a")]
    facts = {(Predicate("p", 2), tuple(f'"{text}"' for text in pair)) for pair in pairs}
    kb = knowledge_base(program, facts, modules=False)
    every = all_proofs(program.rules, facts, naive.materialise(program, facts), (Predicate("p", 2), ('"b"', '"b"')))
    assert len(kb.explain("p(b, b)", all=True, limit=50)[0].proofs) == len(every) + 1 == 21
