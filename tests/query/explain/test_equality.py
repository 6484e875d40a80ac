"""Proofs with representatives of equal terms: down to given facts, with proofs of the equalities."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everlog
from everlog.ingest.values import argument_columns
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Atom, Predicate, Program, Rule, Term, Variable
from everlog.reasoning import merging
from tests.oracle import naive
from tests.oracle.naive import Fact, Facts
from tests.query.explain.checker import SAME, check_explanation, check_proof
from tests.query.explain.test_missing import applied, check_reason
from tests.query.explain.test_proofs import pattern
from tests.reasoning.equality.test_representatives import (
    DERIVED,
    OWL,
    PREDICATES,
    Rows,
    in_both,
    programs,
    rows,
    stratifiable,
)

PEOPLE = (
    OWL
    + """
likes(?x, ?y) :- knows(?x, ?y), kind(?y) .
owl:sameAs(?y, ?z) :- mother(?x, ?y), mother(?x, ?z) .
owl:sameAs(bob, robert) . owl:sameAs(rob, bob) .
knows(ann, bob) . kind(robert) . mother(bob, eve) . mother(robert, eva) . mother(eve, una) . mother(eva, uma) .
kind(uma) .
"""
)


def people() -> everlog.KnowledgeBase:
    return everlog.KnowledgeBase(PEOPLE, equality="representatives")


def axioms(predicates: list[Predicate]) -> list[Rule]:
    """The axioms of equality, as rules."""
    x, y, z = Variable("x"), Variable("y"), Variable("z")

    def same(one: Variable, other: Variable) -> Atom:
        return Atom(SAME, (one, other))

    found = [Rule(same(y, x), (same(x, y),)), Rule(same(x, z), (same(x, y), same(y, z)))]
    for predicate in predicates:
        terms: list[Term] = [Variable(f"x{i}") for i in range(predicate.arity)]
        for i, term in enumerate(terms):
            assert isinstance(term, Variable)
            other = [z if i == j else each for j, each in enumerate(terms)]
            found.append(Rule(Atom(predicate, tuple(other)), (Atom(predicate, tuple(terms)), same(term, z))))
    return found


def facts_of(given_rows: Rows) -> set[Fact]:
    found: set[Fact] = set()
    for predicate, some in given_rows.items():
        assert isinstance(predicate, Predicate)
        columns, *_ = argument_columns(some, predicate.arity, predicate.name)
        found |= {(predicate, row) for row in zip(*(c.to_pylist() for c in columns), strict=True)}
    return found


def meant(program: Program, given_facts: set[Fact]) -> Facts:
    rules = (*program.rules, *axioms([*PREDICATES, *DERIVED]))
    return naive.materialise(Program(rules, program.facts, program.prefixes), given_facts)


def check_proofs(kb: everlog.KnowledgeBase, program: Program, given_facts: set[Fact], holds: Facts) -> None:
    for predicate in holds:
        explained = kb.explain(pattern(predicate)).to_dict()
        assert check_explanation(explained, program, given_facts, holds) == len(holds[predicate])


def made(text: str, first: Rows) -> tuple[everlog.KnowledgeBase, Program, set[Fact], Facts]:
    kb, _ = in_both(text)
    for predicate in PREDICATES:
        kb.insert(predicate, first.get(predicate, []))
    program, given_facts = parse_program(OWL + text), facts_of(first)
    return kb, program, given_facts, meant(program, given_facts)


def check_all(text: str, first: Rows) -> None:
    kb, program, given_facts, holds = made(text, first)
    check_proofs(kb, program, given_facts, holds)
    for query in ("owl:sameAs(?x, ?y), p(?y, _)", "p(?x, ?x), ~a(?x)"):
        check_explanation(kb.explain(query).to_dict(), program, given_facts, holds)


@settings(max_examples=20, deadline=None)
@given(programs.filter(stratifiable), rows(12))
def test_every_fact_is_proved_from_what_was_given(text: str, first: Rows) -> None:
    check_all(text, first)


@pytest.mark.slow
@settings(max_examples=max(300, settings().max_examples), deadline=None)
@given(programs.filter(stratifiable), rows(16))
def test_many_programs(text: str, first: Rows) -> None:
    check_all(text, first)


@settings(max_examples=10, deadline=None)
@given(programs.filter(stratifiable), rows(10), st.data())
def test_several_proofs_differ_and_are_right(text: str, first: Rows, data: st.DataObject) -> None:
    kb, program, given_facts, holds = made(text, first)
    predicate = data.draw(st.sampled_from(sorted({*holds, SAME})))
    explained = kb.explain(pattern(predicate), all=True, limit=4, answers=5)
    check_explanation(explained.to_dict(), program, given_facts, holds)
    for answer in explained:
        assert len({proof.steps for proof in answer.proofs}) == len(answer.proofs)


@settings(max_examples=25, deadline=None)
@given(programs.filter(stratifiable), rows(10), st.data())
def test_why_not(text: str, first: Rows, data: st.DataObject) -> None:
    kb, program, _, holds = made(text, first)
    predicate = data.draw(st.sampled_from([rule.head.predicate for rule in program.rules] or [PREDICATES[1]]))
    row = tuple(data.draw(st.sampled_from(["u", "v", "w", "x"])) for _ in range(predicate.arity))
    answer = kb.explain({predicate: [row]})[0]
    own = tuple(f'"{term}"' for term in row)
    assert answer.holds == (own in holds.get(predicate, ()))
    if answer.holds:
        return
    classes = {term: {b for a, b in holds.get(SAME, ()) if a == term} | {term} for term in own}
    forms: list[tuple[str, ...]] = [()]
    for term in own:
        forms = [(*form, each) for form in forms for each in sorted(classes[term])]
    if predicate == SAME:
        forms += [form[::-1] for form in forms]
    rules = [(n, rule) for n, rule in enumerate(program.rules) if rule.head.predicate == predicate]
    fitting = {n for n, rule in rules if any(applied(rule, (predicate, form)) is not None for form in forms)}
    assert {reason.rule for reason in answer.reasons} == fitting
    for reason in answer.reasons:
        check_reason(reason, program.rules[reason.rule], holds)


def test_a_path_of_equalities_and_facts_with_other_terms() -> None:
    assert str(people().explain("likes(ann, rob)")).splitlines() == [
        "likes(ann, rob)                    rule 1: ?x = ann, ?y = rob",
        "├─ knows(ann, rob)                 equal terms: rob = bob",
        "│  ├─ knows(ann, bob)              given",
        "│  └─ owl:sameAs(rob, bob)         given",
        "└─ kind(rob)                       equal terms: rob = robert",
        "   ├─ kind(robert)                 given",
        "   └─ owl:sameAs(robert, rob)      path of 2 equalities",
        "      ├─ owl:sameAs(bob, robert)   given",
        "      └─ owl:sameAs(rob, bob)      given",
        "",
        "rule 1   likes(?x, ?y) :- knows(?x, ?y), kind(?y) .   line 3",
    ]


def test_the_checker_misses_nothing() -> None:
    """Proofs without one of their equalities, with another one, or with another fact are not accepted."""
    program = parse_program(PEOPLE)
    given_facts = naive.explicit(program)
    predicates = sorted({rule.head.predicate for rule in program.rules} | {p for p, _ in given_facts} - {SAME})
    holds = naive.materialise(Program((*program.rules, *axioms(predicates)), program.facts, program.prefixes))
    steps = people().explain("likes(ann, rob)").to_dict()["answers"][0]["proofs"][0]["steps"]
    check_proof(steps, program, given_facts, holds)
    replaced = next(at for at, step in enumerate(steps) if step["by"] == "equal")
    along = next(at for at, step in enumerate(steps) if step["by"] == "same")
    first, *equalities = steps[replaced]["from"]
    for at, wrong in (
        (replaced, {"from": [first]}),
        (replaced, {"from": [first, *equalities, *equalities]}),
        (replaced, {"fact": "knows(ann, ann)"}),
        (along, {"from": steps[along]["from"][:1]}),
        (along, {"fact": "owl:sameAs(robert, ann)"}),
        (along, {"by": "given"}),
    ):
        with pytest.raises(AssertionError):
            check_proof([*steps[:at], {**steps[at], **wrong}, *steps[at + 1 :]], program, given_facts, holds)


def test_equalities_that_follow_from_equalities() -> None:
    explained = people().explain("kind(una)")
    lines = str(explained).splitlines()
    assert lines[0].split("   ")[0] == "kind(una)"
    assert sum(line.endswith("given") and "sameAs" in line for line in lines) == 1
    assert sum("rule 2: " in line for line in lines) == 2
    steps = explained.to_dict()["answers"][0]["proofs"][0]["steps"]
    assert steps[-1]["by"] == "equal"
    assert steps[-1]["equal"] == [["una", "uma"]]
    assert {step["by"] for step in steps} == {"given", "rule", "equal"}


def test_symmetry_and_reflexivity() -> None:
    kb = people()
    assert str(kb.explain("owl:sameAs(robert, bob)")).splitlines() == [
        "owl:sameAs(robert, bob)      the other way round",
        "└─ owl:sameAs(bob, robert)   given",
    ]
    assert [step.kind for step in kb.explain("owl:sameAs(rob, rob)").proofs[0].steps] == ["given", "same"]
    assert "path of 2 equalities" in str(kb.explain("owl:sameAs(rob, robert)"))


def test_graphs_and_pages_show_equalities() -> None:
    explained = people().explain("likes(ann, rob)")
    assert len(re.findall("->", explained.to_dot())) == 8
    assert "path of 2 equalities" in explained.to_dot()
    assert "equal terms: rob = robert" in explained.to_html()
    assert "path of 2 equalities" in explained.to_html()


def test_why_not_says_what_is_the_same() -> None:
    text = str(people().explain("likes(rob, ann)"))
    assert "  rob is the same as bob, robert" in text
    assert "rule 1   knows(rob, ann) does not hold" in text
    text = str(people().explain("owl:sameAs(una, ann)"))
    assert "mother(?x, una) holds for" in text
    assert "mother(?x, ann) does not hold" in text


def shown(kb: everlog.KnowledgeBase) -> list[Any]:
    return [kb.explain(f"likes(ann, {name})").to_dict()["answers"] for name in ("bob", "rob", "robert")]


def test_stores_and_versions_give_the_same_proofs(tmp_path: Path) -> None:
    kb, path = people(), tmp_path / "kb"
    first = shown(kb)
    kb.save(path)
    assert shown(everlog.open(path)) == first
    kb.update(insert={"owl:sameAs": [("ann", "anne")]}, delete={"owl:sameAs": [("rob", "bob")]})
    kb.save()
    assert not everlog.open(path).explain("likes(ann, rob)").holds
    assert everlog.open(path).explain("likes(anne, robert)").holds
    assert shown(everlog.open(path, version=0)) == first


def test_the_order_of_facts_decides_nothing() -> None:
    text = "owl:sameAs(?y, ?z) :- p(?x, ?y), p(?x, ?z) . r(?x, ?z) :- p(?x, ?y), q(?y, ?z) ."
    pairs = [("u", "v"), ("u", "w"), ("w", "x"), ("v", "y"), ("z", "x")]
    found = []
    for order in (pairs, pairs[::-1]):
        kb, _ = in_both(text)
        kb.insert("p", order)
        kb.insert("q", order)
        found.append(kb.explain("r(?x, ?y)").to_dict())
    assert found[0] == found[1]


@pytest.mark.parametrize("kept", [1, 8])
def test_many_levels(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(merging, "MOST_LEVELS", kept)
    text = "owl:sameAs(?y, ?z) :- p(?x, ?y), p(?x, ?z) ."
    chains: list[tuple[str, ...]] = [(f"{side}{i}", f"{side}{i + 1}") for side in "lr" for i in range(9)]
    first: Rows = {Predicate("p", 2): [("start", "l0"), ("start", "r0"), *chains]}
    kb, program, given_facts, holds = made(text, first)
    check_proofs(kb, program, given_facts, holds)
    assert len(kb.explain("owl:sameAs(l9, r9)").proofs[0]) == 3 + 9 * 4
