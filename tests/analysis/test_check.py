"""Arity and safety of programs and queries."""

from __future__ import annotations

import pytest

from everlog.analysis.check import CheckedQuery, check, check_query
from everlog.lang.errors import EverlogError, RuleError, UnknownPredicateError
from everlog.lang.parser import parse_program, parse_query
from everlog.lang.syntax import Atom, Predicate, Program, Variable, Wildcard

KNOWN = {Predicate("edge", 2), Predicate("node", 1), Predicate("rainy", 0), Predicate("<http://e.org/knows>", 2)}


def codes(error: pytest.ExceptionInfo[EverlogError]) -> list[str]:
    return [diagnostic.code for diagnostic in error.value.diagnostics]


def ask(text: str) -> CheckedQuery:
    return check_query(parse_query(text, {"ex": "http://e.org/"}), KNOWN)


def test_what_is_right_passes() -> None:
    program = check(
        parse_program(
            """<http://e.org/p>(?x) :- <http://e.org/p>(?x, ?x), q(?x), ~r(?x, _) .
            q(?x) :- ~rainy(), <http://e.org/p>(?x) . rainy() . dry() :- ~rainy() . constant(a) :- q(b) ."""
        )
    )
    assert list(map(str, program.predicates)) == [
        "<http://e.org/p>/1",
        "<http://e.org/p>/2",
        "q/1",
        "r/2",
        "rainy/0",
        "dry/0",
        "constant/1",
    ]
    assert program.derived == {Predicate("<http://e.org/p>", 1), *map(Predicate.parse, ("q/1", "dry/0", "constant/1"))}
    assert program.arities == {"q": 1, "r": 2, "rainy": 0, "dry": 0, "constant": 1}


def test_positive_wildcards_become_fresh_variables_and_negative_ones_stay() -> None:
    (rule,) = check(parse_program("p(?_1) :- q(_, ?_1, _), r(_), ~s(_, ?_1) .")).rules
    names = [term.name for atom in rule.positive for term in atom.terms if isinstance(term, Variable)]
    assert names == ["_2", "_1", "_3", "_4"]
    assert rule.negative[0].terms == (Wildcard(), Variable("_1"))
    assert rule.span is not None


def test_all_mistakes_at_once_in_the_order_of_the_text() -> None:
    with pytest.raises(RuleError) as caught:
        check(parse_program("q(a) . p(?x) :- q(?x, ?y) . p(?x, _) :- ~q(?z) . r(?x) ."))
    assert codes(caught) == [
        "arity",
        "arity",
        "unsafe-variable",
        "wildcard-in-head",
        "unsafe-variable",
        "unsafe-variable",
    ]


def test_a_fact_with_a_variable_that_no_text_said() -> None:
    with pytest.raises(RuleError, match=r"`\?x` stands in a fact"):
        check(Program((), (Atom(Predicate("p", 1), (Variable("x"),)),)))


def test_queries() -> None:
    query = ask("~node(?y), edge(?x, ?y), edge(_, ?x), ~edge(?x, _), rainy()")
    assert query.variables == (Variable("y"), Variable("x"))
    assert query.positive[1].terms == (Variable("_1"), Variable("x"))
    assert query.negative[1].terms == (Variable("x"), Wildcard())
    assert ask("~rainy()").variables == ()


@pytest.mark.parametrize(
    ("text", "error", "expected"),
    [
        ("edge(?x)", RuleError, ["arity"]),
        ("node(?x), ~edge(?x, ?y)", RuleError, ["unsafe-variable"]),
        ("edgs(?x, ?y)", UnknownPredicateError, ["unknown-predicate"]),
        ("ex:knows(?x)", UnknownPredicateError, ["unknown-predicate"]),
        ("edgs(?x), edge(?x)", RuleError, ["unknown-predicate", "arity"]),
    ],
)
def test_wrong_queries(text: str, error: type[EverlogError], expected: list[str]) -> None:
    with pytest.raises(error) as caught:
        ask(text)
    assert codes(caught) == expected


def test_an_unknown_predicate_comes_with_the_closest_ones() -> None:
    with pytest.raises(KeyError, match="did you mean `edge`"):
        ask("edgs(?x, ?y)")
    with pytest.raises(KeyError, match=r"did you mean `<http://e\.org/knows>`"):
        ask("ex:know(?x, ?y)")
    with pytest.raises(KeyError, match="known with 2 arguments"):
        ask("ex:knows(?x)")


def test_warnings() -> None:
    program = check(
        parse_program(
            """parent(alice, bob) . ancestor(?x, ?y) :- parnet(?x, ?y) . ancestor(?a, ?b) :- parnet(?a, ?b) .
            child(?y) :- parent(?x, ?y) . p1(?x) :- p2(?x) . a(?x), b(?y) :- c(?x, ?y) ."""
        )
    )
    assert [warning.code for warning in program.warnings] == ["possible-typo", "duplicate-rule", "single-use"]
    assert {warning.severity for warning in program.warnings} == {"warning"}
