"""Representatives derive the facts that the axioms of equality derive as rules, under every sequence of updates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everlog
from everlog import RuleError
from everlog.analysis.predicates import Key
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Program
from everlog.owl import program_of
from everlog.owl.equality import equality_rules
from everlog.owl.vocabulary import DIFFERENT, SAME, VIOLATION
from everlog.reasoning import merging
from everlog.reasoning.names import Algorithm
from tests.owl.ontologies import EX, turtle

OWL = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
PREDICATES = [Predicate(SAME, 2), *(Predicate(name, arity) for name, arity in (("p", 2), ("q", 2), ("a", 1), ("t", 3)))]
DERIVED = [Predicate(name, arity) for name, arity in (("b", 1), ("c", 1), ("r", 2), ("n", 1), ("m", 2))]
TERMS = ["u", "v", "w", "x", "y", "z"]

EQUATING = (
    "owl:sameAs(?y, ?z) :- p(?x, ?y), p(?x, ?z) .",
    "owl:sameAs(?x, ?y) :- q(?x, ?y), a(?x), b(?y) .",
    "owl:sameAs(?x, ?z) :- t(?x, ?y, ?z), r(?y, ?y) .",
    "owl:sameAs(?x, u) :- b(?x), a(v) .",
    "owl:sameAs(v, ?x) :- q(w, ?x) .",
    "owl:sameAs(?x, ?y) :- r(?x, ?y), r(?y, ?x) .",
)
OTHERS = (
    "b(?x) :- p(?x, _), a(?x) .",
    "b(u) :- a(w) .",
    "r(?x, ?z) :- p(?x, ?y), q(?y, ?z) .",
    "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .",
    "q(?y, ?x) :- p(?x, ?y), a(?y) .",
    "c(?x) :- t(?x, ?x, _) .",
    "c(?x) :- q(?x, v), a(?x) .",
    "p(?x, ?y) :- t(?x, ?y, w) .",
    "m(?x, ?y) :- owl:sameAs(?x, ?y), c(?x) .",
)
NEGATING = ("n(?x) :- p(?x, _), ~c(?x) .", "n(?x) :- q(_, ?x), ~m(?x, u) .", "n(?x) :- t(?x, ?y, _), ~m(_, ?y) .")


def in_both(text: str) -> tuple[everlog.KnowledgeBase, everlog.KnowledgeBase]:
    """A knowledge base with representatives, and one with the axioms of equality as rules."""
    program = parse_program(OWL + text)
    rules = (*program.rules, *equality_rules([*PREDICATES, *DERIVED]))
    merged = everlog.KnowledgeBase(program, equality="representatives")
    return merged, everlog.KnowledgeBase(Program(rules, program.facts, program.prefixes), modules=False)


def facts(kb: everlog.KnowledgeBase) -> dict[str, set[tuple[Any, ...]]]:
    """All facts by predicate, without violations, which only the rules of equality derive here."""
    found = {str(p): set(kb[p].rows()) for p in kb.predicates if p.name not in (VIOLATION, DIFFERENT)}
    return {name: rows for name, rows in found.items() if rows}


def assert_same(merged: everlog.KnowledgeBase, plain: everlog.KnowledgeBase) -> None:
    assert facts(merged) == facts(plain)
    assert merged.materialise().facts == sum(map(len, facts(plain).values()))
    for predicate in PREDICATES:
        if predicate in merged and predicate in plain:
            assert merged[predicate].explicit.rows() == plain[predicate].explicit.rows()
            assert len(merged[predicate]) == len(plain[predicate])


Rows = dict[Key, list[tuple[str, ...]]]


@st.composite
def rows(draw: st.DrawFn, most: int) -> Rows:
    found: Rows = {}
    for _ in range(draw(st.integers(0, most))):
        predicate = draw(st.sampled_from(PREDICATES))
        row = tuple(draw(st.sampled_from(TERMS)) for _ in range(predicate.arity))
        found.setdefault(predicate, []).append(row)
    return found


programs = st.tuples(
    st.lists(st.sampled_from(EQUATING), max_size=3, unique=True),
    st.lists(st.sampled_from(OTHERS), max_size=5, unique=True),
    st.lists(st.sampled_from(NEGATING), max_size=1),
).map(lambda parts: "\n".join([rule for part in parts for rule in part]))
algorithms = st.sampled_from(["auto", "dredc", "bfc", "fbf", "dred", "counting", "rematerialise"])
updates = st.lists(st.tuples(rows(4), rows(4), algorithms), min_size=1, max_size=4)


def stratifiable(text: str) -> bool:
    try:
        in_both(text)
    except RuleError:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(programs.filter(stratifiable), rows(10), updates)
def test_updates_are_those_of_the_rules(text: str, first: Rows, changes: list[tuple[Rows, Rows, Algorithm]]) -> None:
    merged, plain = in_both(text)
    for kb in (merged, plain):
        for predicate, given_rows in first.items():
            kb.insert(predicate, given_rows)
    assert_same(merged, plain)
    for insert, delete, algorithm in changes:
        before = facts(merged)
        change = merged.update(insert=insert, delete=delete, algorithm=algorithm)
        plain.update(insert=insert, delete=delete, algorithm="rematerialise")
        assert_same(merged, plain)
        after = facts(merged)
        inserted = {str(p): set(change.inserted[p].rows()) for p in change.inserted}
        deleted = {str(p): set(change.deleted[p].rows()) for p in change.deleted}
        for name in {*before, *after}:
            assert inserted.get(name, set()) == after.get(name, set()) - before.get(name, set())
            assert deleted.get(name, set()) == before.get(name, set()) - after.get(name, set())


def test_equalities_that_lead_to_equalities_do_not_support_themselves() -> None:
    """a = b implies p(x, c) and p(x, d) for one x, so c = d; from c = d, a = b would follow again."""
    text = """
        owl:sameAs(?y, ?z) :- p(?x, ?y), p(?x, ?z) .
        owl:sameAs(?x, ?y) :- q(?x, ?z), q(?y, ?w), owl:sameAs(?z, ?w), r(?x, ?y) .
        p(a, c) . p(b, d) . q(a, c) . q(b, d) . r(a, b) . owl:sameAs(a, b) .
    """
    merged, plain = in_both(text)
    assert ("c", "d") in merged["owl:sameAs"]
    pair: Rows = {"owl:sameAs": [("a", "b")]}
    algorithms: tuple[Algorithm, ...] = ("dredc", "bfc", "fbf", "dred", "counting", "auto")
    for algorithm in algorithms:
        for kb in (merged, plain):
            kb.update(delete=pair, algorithm=algorithm)
        assert merged["owl:sameAs"].rows() == [("c", "c"), ("d", "d")]
        assert_same(merged, plain)
        for kb in (merged, plain):
            kb.update(insert=pair, algorithm=algorithm)
        assert_same(merged, plain)


@pytest.mark.parametrize("kept", [1, 8])
def test_many_levels(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    """Two chains of functional values are merged link by link."""
    monkeypatch.setattr(merging, "MOST_LEVELS", kept)
    merged, plain = in_both("owl:sameAs(?y, ?z) :- p(?x, ?y), p(?x, ?z) .")
    chains: list[tuple[str, ...]] = [(f"{side}{i}", f"{side}{i + 1}") for side in "lr" for i in range(12)]
    for kb in (merged, plain):
        kb.insert("p", [("start", "l0"), ("start", "r0"), *chains])
    assert len(merged["owl:sameAs"]) == 13 * 4
    assert_same(merged, plain)
    steps: list[tuple[Rows, Rows]] = [
        ({}, {"p": [("l5", "l6")]}),
        ({"p": [("l6", "l0")]}, {}),
        ({}, {"p": chains[:3]}),
    ]
    for insert, delete in steps:
        for kb in (merged, plain):
            kb.update(insert=insert, delete=delete)
        assert_same(merged, plain)


def test_constants_of_rules_that_become_equal() -> None:
    merged, plain = in_both("c(?x) :- p(?x, u), q(?x, v) . b(u) :- c(_) . p(x, v) . q(x, u) . p(y, u) .")
    assert_same(merged, plain)
    for insert in (True, False):
        for kb in (merged, plain):
            change: Rows = {"owl:sameAs": [("v", "u")]}
            kb.update(insert=change if insert else {}, delete={} if insert else change)
        assert len(merged["c"]) == insert
        assert len(merged["b"]) == 2 * insert
        assert_same(merged, plain)


def test_queries_see_all_members() -> None:
    kb = everlog.KnowledgeBase(
        OWL + "@prefix e: <http://e.org/> . owl:sameAs(e:a, e:b) . owl:sameAs(e:b, e:c) . e:p(e:a, e:x) . e:C(e:c) .",
        equality="representatives",
    )
    assert len(kb.query("e:p(?who, e:x), e:C(?who)")) == 3
    assert kb.query("e:p(e:b, e:x)")
    assert kb.sparql("SELECT (COUNT(*) AS ?n) { ?x e:p ?y }").rows() == [(3,)]
    assert kb.sparql("SELECT (COUNT(*) AS ?n) { ?x owl:sameAs ?y }").rows() == [(9,)]
    (change,) = kb.sparql_update("DELETE DATA { e:a owl:sameAs e:b }")
    assert sum(map(len, change.deleted.values())) == 5 + 2 + 1
    assert kb.sparql("SELECT ?x { ?x e:p ?y }").rows() == [(everlog.IRI(f"{EX}a"),)]


def test_an_ontology(tmp_path: Path) -> None:
    path = turtle(
        tmp_path,
        ":mother a owl:FunctionalProperty . :Woman owl:hasKey ( :id ) . :ann :mother :eve , :eva ."
        ":eva a :Woman ; :id 7 . :iva a :Woman ; :id 7 . :eve owl:differentFrom :iva .",
    )
    kb = everlog.KnowledgeBase(path, equality="representatives")
    plain = everlog.KnowledgeBase(program_of(path, equality=True).program)
    assert len(kb[":Woman"]) == 3
    assert facts(kb) == facts(plain)
    assert kb["everlog:violation"].rows() == plain["everlog:violation"].rows() != []
    rules = program_of(path, equality="representatives").program.rules
    assert len(rules) < len(program_of(path, equality=True).program.rules)


def test_an_update_that_fails_changes_nothing() -> None:
    merged, plain = in_both("owl:sameAs(?y, ?z) :- p(?x, ?y), p(?x, ?z) . r(?x, ?z) :- p(?x, ?y), p(?y, ?z) .")
    for kb in (merged, plain):
        kb.insert("p", [("u", "v"), ("u", "w"), ("v", "x"), ("w", "y")])
    assert_same(merged, plain)
    merged.max_facts = 1
    with pytest.raises(everlog.LimitError):
        merged.update(insert={"p": [("u", "z"), ("z", "x")]}, delete={"p": [("u", "v")]}, algorithm="rematerialise")
    merged.max_facts = None
    assert_same(merged, plain)
    for kb in (merged, plain):
        kb.update(insert={"p": [("u", "z")]}, delete={"p": [("u", "v")]})
    assert_same(merged, plain)
    assert merged.nbytes > 0


def test_what_is_refused() -> None:
    with pytest.raises(RuleError) as caught:
        everlog.KnowledgeBase(OWL + "owl:sameAs(?x, ?y) :- p(?x, ?y), ~q(?x, ?y) .", equality="representatives")
    assert caught.value.diagnostics[0].code == "equality-through-negation"
    with pytest.raises(ValueError, match="equality"):
        everlog.KnowledgeBase(equality="magic")  # type: ignore[arg-type]
