"""Reasons why a fact does not hold: every rule that could derive it, and the first atom that fails."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import everlog
from everlog.lang.syntax import Atom, Constant, Predicate, Query, Rule, Term, Variable
from everlog.query.explain import Answer, Reason
from tests.oracle import naive
from tests.oracle.naive import Fact, Facts
from tests.query.explain.test_proofs import texts
from tests.running import knowledge_base
from tests.strategies import Case, cases

FAMILY = """
ancestor(?x, ?y) :- parent(?x, ?y) .
ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
heir(?x) :- parent(?y, ?x), ~alive(?y), king(?y) .
parent(ann, bob) . parent(bob, cid) . parent(eve, dan) . alive(eve) . king(eve) .
"""


def test_each_rule_says_what_it_lacks() -> None:
    assert str(everlog.KnowledgeBase(FAMILY).explain("ancestor(ann, dan)")).splitlines() == [
        "ancestor(ann, dan)   does not hold",
        "  rule 1   parent(ann, dan) does not hold",
        "  rule 2   ancestor(ann, ?y) holds for ?y = bob; ?y = cid, but parent(?y, dan) does not hold for any of them",
        "",
        "rule 1   ancestor(?x, ?y) :- parent(?x, ?y) .   line 2",
        "rule 2   ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .   line 3",
    ]


def test_a_negated_atom_fails_because_it_holds() -> None:
    text = str(everlog.KnowledgeBase(FAMILY).explain("heir(dan)"))
    assert "parent(?y, dan), king(?y) hold for ?y = eve, but alive(?y) holds" in text


def test_what_no_rule_derives_and_terms_that_no_fact_has() -> None:
    kb = everlog.KnowledgeBase(FAMILY)
    assert "it was not given, and no rule derives it" in str(kb.explain("king(ann)"))
    assert "no fact has the term zoe" in str(kb.explain("king(zoe)"))
    assert kb.explain("king(zoe)").holds is False


def test_a_query_without_answers() -> None:
    kb = everlog.KnowledgeBase(FAMILY)
    assert "parent(cid, ?y) does not hold" in str(kb.explain("ancestor(cid, ?x)"))
    assert "query   king(?x) holds for ?x = eve, but heir(?x) does not hold" in str(kb.explain("king(?x), heir(?x)"))


def applied(rule: Rule, fact: Fact) -> Rule | None:
    """The rule with its head unified with the fact, by the definition."""
    values: dict[Term, Constant] = {}
    for term, text in zip(rule.head.terms, fact[1], strict=True):
        if values.setdefault(term, Constant(text)) != Constant(text) or (
            isinstance(term, Constant) and term.text != text
        ):
            return None

    def put(atom: Atom) -> Atom:
        return Atom(atom.predicate, tuple(values.get(t, t) if isinstance(t, Variable) else t for t in atom.terms))

    return Rule(put(rule.head), tuple(map(put, rule.positive)), tuple(map(put, rule.negative)))


def satisfied(atoms: list[tuple[Atom, bool]], holds: Facts) -> bool:
    positive = tuple(atom for atom, negated in atoms if not negated)
    return bool(naive.query(Query(positive, tuple(atom for atom, negated in atoms if negated)), holds))


def check_reason(reason: Reason, rule: Rule, holds: Facts) -> None:
    held = list(reason.held)
    assert satisfied(held, holds)
    assert not satisfied([*held, (reason.failed, reason.negated)], holds)
    body = {*((a.predicate, False) for a in rule.positive), *((a.predicate, True) for a in rule.negative)}
    assert {(atom.predicate, negated) for atom, negated in held} <= body
    for values in reason.bindings:
        if not reason.negated:
            example = reason.failed.put({Variable(name): constant for name, constant in values})
            assert not satisfied([(example, False)], holds)


@settings(max_examples=30, deadline=None)
@given(cases(), st.data())
def test_reasons_are_right_and_complete(case: Case, data: st.DataObject) -> None:
    holds = naive.materialise(case.program, case.facts)
    predicate: Predicate = data.draw(st.sampled_from([rule.head.predicate for rule in case.program.rules]))
    row = tuple(data.draw(st.sampled_from(case.domain)) for _ in range(predicate.arity))
    kb = knowledge_base(case.program, case.facts)
    answer: Answer = kb.explain(texts((predicate, row)))[0]
    assert answer.holds == (row in holds.get(predicate, ()))
    if answer.holds:
        return
    own = ((n, rule) for n, rule in enumerate(case.program.rules) if rule.head.predicate == predicate)
    fitting = {n: made for n, rule in own if (made := applied(rule, (predicate, row))) is not None}
    assert [reason.rule for reason in answer.reasons] == sorted(fitting)
    for reason in answer.reasons:
        check_reason(reason, fitting[reason.rule], holds)
