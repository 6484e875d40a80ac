"""Numbers in SPARQL are the terms as written, at every position."""

from __future__ import annotations

import logging
from decimal import Decimal

import pyoxigraph as ox
import pytest

from everlog import KnowledgeBase
from everlog.lang.terms import literal_text, text_of
from everlog.query.sparql.results import Solutions

WRITTEN = [
    *(
        "-1",
        "-1.5",
        "-1.50",
        "-.5",
        "-1.5E0",
        "-1.5e0",
        "-1e-3",
        "-2.0E10",
        "+5",
        "+1.5",
        "+1e0",
        "-0",
        "-0.0",
        "-0.0E0",
    ),
    *("1", "007", "1.50", ".5", "1e-3", "1.0E-3", "-12345678901234567890123.25", "-98765432109876543210"),
]
S, P = "<http://e.org/s>", "<http://e.org/p>"
PLACES = {
    "a pattern": f"SELECT ?x {{ ?x {P} NUMBER }}",
    "a list": f"SELECT ?x {{ ?x {P} 0.125, NUMBER }}",
    "VALUES": f"SELECT ?x {{ ?x {P} ?v VALUES ?v {{ NUMBER }} }}",
    "VALUES after the pattern": f"SELECT ?x {{ ?x {P} ?v }} VALUES (?v) {{ (NUMBER) }}",
    "sameTerm": f"SELECT ?x {{ ?x {P} ?v FILTER(sameTerm(?v, NUMBER)) }}",
    "BIND": f"SELECT ?x {{ BIND(NUMBER AS ?v) ?x {P} ?v }}",
    "a path": f"SELECT ?x {{ ?x {P}+ NUMBER }}",
    "EXISTS": f"SELECT ?x {{ ?x {P} 0.125 FILTER EXISTS {{ ?x {P} NUMBER }} }}",
}


def turtle_text(number: str) -> str:
    """The term of a number in Turtle."""
    (triple,) = ox.parse(f"{S} {P} {number} .", ox.RdfFormat.TURTLE)
    literal = triple.object
    assert isinstance(literal, ox.Literal)
    return literal_text(literal.value, literal.datatype.value)


def holding(number: str) -> KnowledgeBase:
    """A knowledge base with a number from Turtle, and others that are close to it."""
    kb = KnowledgeBase()
    literal = turtle_text(number)
    kb.sparql_update(f"INSERT DATA {{ {S} {P} 0.125 , {as_literal(literal)} }}")
    return kb


def as_literal(text: str) -> str:
    """A term as a literal with an explicit datatype."""
    if text.startswith('"'):
        return text
    kind = "double" if "E" in text else "decimal" if "." in text else "integer"
    return f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{kind}>'


@pytest.mark.parametrize("number", WRITTEN)
def test_a_number_matches_the_term_that_turtle_makes_of_it(number: str) -> None:
    kb = holding(number)
    for place, query in PLACES.items():
        assert len(kb.sparql(query.replace("NUMBER", number))) == 1, place


@pytest.mark.parametrize("number", WRITTEN)
def test_updates_insert_and_delete_the_term_that_turtle_makes_of_a_number(number: str) -> None:
    expected = {"0.125", turtle_text(number)}
    kb = KnowledgeBase()
    kb.sparql_update(f"INSERT DATA {{ {S} {P} 0.125 , {number} }}")
    held = {text_of(value) for _, value in kb["<http://e.org/p>"].rows()}
    assert held == expected
    for delete in (
        f"DELETE DATA {{ {S} {P} {number} }}",
        f"DELETE WHERE {{ ?x {P} {number} }}",
        f"DELETE {{ ?x {P} {number} }} INSERT {{ ?x {P} 0.125 }} WHERE {{ ?x {P} {number} }}",
    ):
        copy = holding(number)
        copy.sparql_update(delete)
        assert [text_of(value) for _, value in copy["<http://e.org/p>"].rows()] == ["0.125"], delete


@pytest.mark.parametrize("number", WRITTEN)
def test_results_have_numbers_as_they_are_written(number: str) -> None:
    kb = KnowledgeBase()
    selected = kb.sparql(f"SELECT ({number} AS ?x) {{ }}")
    triples = kb.sparql(f"CONSTRUCT {{ {S} {P} {number} }} {{ }}")
    assert isinstance(selected, Solutions)
    assert isinstance(triples, Solutions)
    assert selected.texts()[0].to_pylist() == [turtle_text(number)]
    assert triples.texts()[2].to_pylist() == [turtle_text(number)]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("?x-5", 5),
        ("?x -5", 5),
        ("?x - 5", 5),
        ("?x--5", 15),
        ("?x +5", 15),
        ("?x+-5", 5),
        ("?x*-5", -50),
        ("?x-5*2", 0),
        ("?x -5 -3", 2),
        ("- 5", -5),
        ("-?x", -10),
        ("-(5)", -5),
        ("2-1.50", Decimal("0.5")),
        ("?x-1.5E0", 8.5),
        ("-1.5-?x", Decimal("-11.5")),
        ("ABS(-1.50)", Decimal("1.5")),
        ("STR(-1.50)", "-1.50"),
        ("IF(-1 < -0.5, 1, 2)", 1),
        ("-1.50 = -1.5", True),
        ("-0.0 = 0", True),
        ("-1 IN (-2, -1.0)", True),
    ],
)
def test_signs_in_expressions(expression: str, value: object) -> None:
    found = KnowledgeBase().sparql(f"SELECT ({expression} AS ?y) {{ VALUES ?x {{ 10 }} }}").rows()
    assert found == [(value,)]
    assert type(found[0][0]) is type(value)


def test_literals_without_a_value_are_read_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        found = KnowledgeBase().sparql('SELECT ("abc"^^xsd:integer AS ?x) { }')
    assert isinstance(found, Solutions)
    assert found.texts()[0].to_pylist() == ['"abc"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert not caplog.records
