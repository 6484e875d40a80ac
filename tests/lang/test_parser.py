"""The parser reads each construct of the language."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from everlog.lang.errors import RuleError
from everlog.lang.parser import parse_file, parse_program, parse_query, resolve_predicate_name
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Variable, Wildcard
from everlog.lang.terms import RDF_TYPE, XSD
from tests.facts import parse_fact

EX = {"ex": "http://example.org/", "": "http://empty.org/", "xsd": XSD}
X, Y = Variable("x"), Variable("y")


def atom(name: str, *terms: Variable | Wildcard | Constant) -> Atom:
    return Atom(Predicate(name, len(terms)), terms)


def constant(written: str) -> str:
    (term,) = parse_fact(f"p({written})", EX).terms
    assert isinstance(term, Constant)
    return term.text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("alice", '"alice"'),
        ('"alice"', '"alice"'),
        ("'alice'", '"alice"'),
        ('""', '""'),
        ('"""a\n"b" ""c"""', '"a\n"b" ""c"'),
        ("'''it's'''", '"it\'s"'),
        (r'"a\"b\\c\n\t\u00e9\U0001F600"', '"a"b\\c\n\té😀"'),
        ('"% no comment"', '"% no comment"'),
        ('"A"@en', '"A"@en'),
        ('"A"@EN-gb', '"A"@en-gb'),
        ('"A"@prefix', '"A"@prefix'),
        ('"2026-01-01"^^xsd:date', f'"2026-01-01"^^<{XSD}date>'),
        (f'"42"^^<{XSD}integer>', "42"),
        ('"007"^^xsd:integer', f'"007"^^<{XSD}integer>'),
        ('"a"^^xsd:string', '"a"'),
        ("42", "42"),
        ("+5", "5"),
        ("007", "7"),
        ("-0", "0"),
        ("-12345678901234567890", "-12345678901234567890"),
        ("1.00", "1.0"),
        ("-.50", "-0.5"),
        ("1e5", "1.0E5"),
        ("-1.250E-03", "-1.25E-3"),
        ("0e0", "0.0E0"),
        ("true", "true"),
        ("trueish", '"trueish"'),
        ("true-x", '"true-x"'),
        ("_a", '"_a"'),
        ("_:b.c", "_:b.c"),
        ("ex:a", "<http://example.org/a>"),
        ("ex:a.b", "<http://example.org/a.b>"),
        ("ex:", "<http://example.org/>"),
        (":a", "<http://empty.org/a>"),
        ("ex:0001", "<http://example.org/0001>"),
        ("ex:a%20b", "<http://example.org/a%20b>"),
        (r"ex:a\,b\~", "<http://example.org/a,b~>"),
        ("ex:naïve", "<http://example.org/naïve>"),
        ("<http://e.org/x?y=1#z>", "<http://e.org/x?y=1#z>"),
        (r"<http://e.org/\u00e9>", "<http://e.org/é>"),
    ],
)
def test_constants(written: str, text: str) -> None:
    assert constant(written) == text


def test_an_integer_of_any_length_keeps_its_digits() -> None:
    assert constant("1" + "0" * 5000) == "1" + "0" * 5000


def test_program_with_everything() -> None:
    program = parse_program(
        """\ufeff% comment
        @prefix ex: <http://example.org/> .
        orphan(?x) :- person(?x), ~ex:parent(_, ?x) .  % comment
        a(?x), b(?x) :- c(?x) .
        rainy() :- cloudy(today), ~dry() .
        [?x, ex:knows, ?y] :- [?y, ex:knows, ?x], [?x, a, ex:P], [?y, likes, ?x] .
        person(alice).age(alice,42).<http://example.org/p>(ex:a.b).
        """
    )
    assert program.rules == (
        Rule(atom("orphan", X), (atom("person", X),), (atom("<http://example.org/parent>", Wildcard(), X),)),
        Rule(atom("a", X), (atom("c", X),)),
        Rule(atom("b", X), (atom("c", X),)),
        Rule(atom("rainy"), (atom("cloudy", Constant('"today"')),), (atom("dry"),)),
        Rule(
            atom("<http://example.org/knows>", X, Y),
            (atom("<http://example.org/knows>", Y, X), atom("<http://example.org/P>", X), atom("likes", Y, X)),
        ),
    )
    assert program.facts == (
        atom("person", Constant('"alice"')),
        atom("age", Constant('"alice"'), Constant("42")),
        atom("<http://example.org/p>", Constant("<http://example.org/a.b>")),
    )
    assert dict(program.prefixes) == {"ex": "http://example.org/"}
    assert program.rules[1].span is program.rules[2].span


def test_rdf_type_in_a_triple_is_a_unary_predicate() -> None:
    assert parse_fact(f"[alice, {RDF_TYPE}, ex:P]", EX) == parse_fact("ex:P(alice)", EX)


@pytest.mark.parametrize("text", ["", "% only a comment", "\n\n"])
def test_a_program_may_be_empty(text: str) -> None:
    assert parse_program(text).rules == ()


def test_spans_are_where_things_stand() -> None:
    rule = parse_program("q(a) .\n  p(?x) :-\n    q(?x),\n    ~r(?x) .").rules[0]
    assert rule.span is not None
    assert (rule.span.line, rule.span.column, rule.span.end_line, rule.span.end_column) == (2, 3, 4, 11)
    span = rule.negative[0].span
    assert span is not None
    assert (span.line, span.column, span.end_column) == (4, 6, 11)
    assert str(span.place) == "<program>:4:6"


def test_query_variables_come_in_order_of_first_appearance() -> None:
    query = parse_query("~r(?z), p(?y, ?x), q(?x, _, ?z) .")
    assert query.variables == (Variable("z"), Variable("y"), Variable("x"))
    assert (len(query.positive), len(query.negative)) == (2, 1)
    assert parse_query("p(?x)") == parse_query("p(?x) .")


@pytest.mark.parametrize(
    "text", ["", "p(?x), ", "p(?x) :- q(?x)", "p(?x) . q(?x) .", "?x", "foo:p(?x)", "[?x, ?p, ?y]"]
)
def test_what_is_no_query(text: str) -> None:
    with pytest.raises(RuleError):
        parse_query(text, EX)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("go-2023-is_a", "go-2023-is_a"),
        ("ex:p", "<http://example.org/p>"),
        ("<http://e.org/p>", "<http://e.org/p>"),
    ],
)
def test_predicate_names(text: str, name: str) -> None:
    assert resolve_predicate_name(text, EX) == name


@pytest.mark.parametrize("text", ["", "a b", "foo:p", "1", "?x", '"p"', "p()", "true", "_", " p"])
def test_what_is_no_predicate_name(text: str) -> None:
    with pytest.raises(RuleError):
        resolve_predicate_name(text, EX)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "rules.rls"
    path.write_text("p(a) .", encoding="utf-8")
    assert len(parse_file(path).facts) == 1
    path.write_bytes(b"p(a) .\np(\xff) .")
    with pytest.raises(RuleError, match=r"rules\.rls:2:3"):
        parse_file(path)
    with pytest.raises(RuleError, match="No such file"):
        parse_file(tmp_path / "missing.rls")
    with pytest.raises(RuleError, match="directory"):
        parse_file(tmp_path)


def test_every_mistake_is_reported_at_once() -> None:
    with pytest.raises(RuleError) as caught:
        parse_program("p(?x :- q(?x) .\nfoo:p(a), bar:p(b) .\np(a)\np(b) .\n[?x, ?p, ?y] :- p(?x) .\nq(a) . q(")
    found = [(each.code, each.place.line if each.place else None) for each in caught.value.diagnostics]
    assert found == [
        ("unclosed-parenthesis", 1),
        ("undeclared-prefix", 2),
        ("undeclared-prefix", 2),
        ("missing-dot", 3),
        ("variable-predicate", 5),
        ("unclosed-parenthesis", 6),
    ]


@pytest.mark.long
def test_ten_thousand_rules_are_read_in_seconds() -> None:
    text = "".join(f"p{i}(?x, ?z) :- q{i}(?x, ?y), ~r(?z, _), <http://e.org/{i}>(?y, a) .\n" for i in range(10_000))
    start = time.process_time()
    assert len(parse_program(text).rules) == 10_000
    seconds = time.process_time() - start
    print(f"10,000 rules in {seconds:.2f} s")
    assert seconds < 20
