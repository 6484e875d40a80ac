"""Queries that the grammar of SPARQL allows and the standard does not, and values by the standard."""

from __future__ import annotations

from typing import Any

import pytest

import everlog
from everlog import KnowledgeBase, Literal
from everlog.lang.terms import XSD

DATA = """
@prefix ex: <http://e.org/> .
ex:p(ex:a, 1) . ex:p(ex:a, 2) . ex:p(ex:b, 5) . ex:q(ex:a, ex:b) . ex:q(ex:b, ex:c) .
"""


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    return KnowledgeBase(DATA)


def refused(kb: KnowledgeBase, query: str) -> everlog.lang.errors.Diagnostic:
    with pytest.raises(everlog.RuleError) as caught:
        kb.sparql(query)
    (found,) = caught.value.diagnostics
    return found


def value(kb: KnowledgeBase, expression: str) -> Any:
    """The value of an expression, None if it is an error."""
    (row,) = kb.sparql(f"SELECT ({expression} AS ?value) {{ }}").rows()
    return next(iter(row))


# groups -----------------------------------------------------------------------------------------

UNGROUPED = [
    "SELECT ?x ?v { ?x ex:p ?v } GROUP BY ?x",
    "SELECT ?x (COUNT(*) AS ?n) { ?x ex:p ?v }",
    "SELECT (?v AS ?w) { ?x ex:p ?v } GROUP BY ?x",
    "SELECT (?v + SUM(?v) AS ?w) { ?x ex:p ?v } GROUP BY ?x",
    "SELECT (STR(?x) AS ?s) { ?x ex:p ?v } GROUP BY (STR(?x))",
    "SELECT (COUNT(*) AS ?n) { ?x ex:p ?v } GROUP BY STR(?x) HAVING(?v > 1)",
    "SELECT ?x { ?x ex:p ?v } GROUP BY ?x ORDER BY ?v",
    "SELECT ?x { ?x ex:p ?v } GROUP BY ?x ORDER BY DESC(?v + 1)",
    "SELECT (SUM(?v) AS ?n) { ?x ex:p ?v } ORDER BY ?x",
    "SELECT * { { SELECT ?x ?v { ?x ex:p ?v } GROUP BY ?x } }",
    "ASK { { SELECT ?x ?v { ?x ex:p ?v } GROUP BY ?x } }",
    "SELECT * { ?x ex:q ?y FILTER NOT EXISTS { SELECT ?x ?v { ?x ex:p ?v } GROUP BY ?x } }",
    "CONSTRUCT { ?x ex:r ?v } WHERE { ?x ex:p ?v } GROUP BY ?x",
    "DESCRIBE ?x ?v { ?x ex:p ?v } GROUP BY ?x",
]


@pytest.mark.parametrize("query", UNGROUPED)
def test_variables_that_are_not_grouped_are_refused(kb: KnowledgeBase, query: str) -> None:
    found = refused(kb, query)
    assert found.code == "ungrouped-variable"
    assert found.place is not None
    assert found.place.line == 1


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT ?x (SUM(?v) AS ?n) { ?x ex:p ?v } GROUP BY ?x ORDER BY ?x", [("a", 3), ("b", 5)]),
        ("SELECT (SUM(?v) AS ?n) (?n * 2 AS ?m) { ?x ex:p ?v } GROUP BY ?x ORDER BY ?n", [(3, 6), (5, 10)]),
        ("SELECT (COUNT(*) AS ?n) (?n + 1 AS ?m) { ?x ex:p ?v }", [(3, 4)]),
        ("SELECT ?s (MAX(?v) AS ?n) { ?x ex:p ?v } GROUP BY (STR(?x) AS ?s) ORDER BY ?s", [("a", 2), ("b", 5)]),
        ("SELECT (STR(?x) AS ?s) { ?x ex:p ?v } GROUP BY ?x ORDER BY ?s", [("a",), ("b",)]),
        ("SELECT (CONCAT(STR(?x), STR(SUM(?v))) AS ?s) { ?x ex:p ?v } GROUP BY ?x ORDER BY ?s", [("a3",), ("b5",)]),
        ("SELECT (?x AS ?y) { ?x ex:p ?v } GROUP BY ?x HAVING(STRENDS(STR(?x), 'b') && COUNT(*) = 1)", [("b",)]),
        ("SELECT (STR(1) AS ?s) ?y { ?x ex:p ?v } GROUP BY (?x AS ?y) HAVING(?y = ex:b)", [("1", "b")]),
        ("SELECT ?x { ?x ex:p ?v } GROUP BY ?x HAVING(SUM(?v) > 1) ORDER BY DESC(COUNT(?v)) ?x", [("a",), ("b",)]),
        ("SELECT ?x (1 AS ?one) { ?x ex:p ?v } GROUP BY ?x ORDER BY ?one ?x", [("a", 1), ("b", 1)]),
        ("SELECT (SAMPLE(?x) AS ?s) { ?x ex:p 5 } GROUP BY ?x", [("b",)]),
    ],
)
def test_groups_have_their_keys_their_aggregates_and_what_is_computed_of_both(
    kb: KnowledgeBase, query: str, rows: list[tuple[Any, ...]]
) -> None:
    found = [
        tuple(v if isinstance(v, int) else str(v).removeprefix("http://e.org/") for v in row)
        for row in kb.sparql(query).rows()
    ]
    assert found == rows


def test_constructed_triples_have_the_names_of_group_by(kb: KnowledgeBase) -> None:
    found = kb.sparql("CONSTRUCT { ex:x ex:named ?s } WHERE { ?x ex:p ?v } GROUP BY (STRLEN(STR(?x)) AS ?s)")
    assert [value for _, _, value in found.rows()] == [14]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT * { ?x ex:p ?v } GROUP BY ?x", "select-all-of-groups"),
        ("SELECT * { ?x ex:p ?v } HAVING(COUNT(*) > 1)", "select-all-of-groups"),
        ("SELECT ?x (SUM(?v) AS ?s) { ?x ex:p ?v } GROUP BY ?x HAVING(?s > 0)", "result-in-having"),
        ("SELECT ?x { { SELECT ?x (SUM(?v) AS ?s) { ?x ex:p ?v } GROUP BY ?x HAVING(1 < ?s) } }", "result-in-having"),
        ("SELECT (COUNT(SUM(?v)) AS ?n) { ?x ex:p ?v }", "aggregate-in-aggregate"),
        ("SELECT (COUNT(1 + SUM(?v)) AS ?n) { ?x ex:p ?v }", "aggregate-in-aggregate"),
        ("SELECT ?x { ?x ex:p ?v FILTER(COUNT(?v) > 1) }", "misplaced-aggregate"),
        ("SELECT ?x { ?x ex:p ?v BIND(SUM(?v) AS ?w) }", "misplaced-aggregate"),
        ("SELECT ?x { ?x ex:p ?v } GROUP BY ?x (COUNT(?v) AS ?n)", "misplaced-aggregate"),
        (
            "SELECT ?x { ?x ex:p ?v } GROUP BY ?x HAVING(EXISTS { ?x ex:p ?w FILTER(SUM(?w) > 1) })",
            "misplaced-aggregate",
        ),
        ("SELECT (1 AS ?x) (2 AS ?x) { }", "variable-in-use"),
        ("SELECT ?x (2 AS ?x) { }", "variable-in-use"),
        ("SELECT (COUNT(*) AS ?n) (SUM(?v) AS ?n) { ?x ex:p ?v }", "variable-in-use"),
        ("SELECT ?x (COUNT(*) AS ?x) { ?x ex:p ?v } GROUP BY ?x", "variable-in-use"),
        ("SELECT ?x { ?x ex:p ?v BIND(1 AS ?v) }", "variable-in-use"),
        ("SELECT ?x { ?x ex:p ?v } GROUP BY ?x (1 AS ?v)", "variable-in-use"),
        ("SELECT ?v (1 AS ?x) { { SELECT ?x ?v { ?x ex:p ?v } } }", "variable-in-use"),
    ],
)
def test_what_the_grammar_allows_and_the_standard_does_not(kb: KnowledgeBase, query: str, code: str) -> None:
    assert refused(kb, query).code == code


# VALUES -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { VALUES (?x ?y) { (1) } }",
        "SELECT * { VALUES (?x ?y) { (1 2) (1 2 3) } }",
        "SELECT * { VALUES (?x) { () } }",
        "SELECT * { VALUES () { (1) } }",
        "SELECT * { ?x ex:p ?v } VALUES (?x ?v) { (ex:a 1) (ex:a) }",
        "SELECT * { ?x ex:p ?v FILTER EXISTS { VALUES (?x ?v) { (1) } } }",
    ],
)
def test_rows_of_values_have_a_value_for_each_variable(kb: KnowledgeBase, query: str) -> None:
    assert refused(kb, query).code == "values-width"


def test_values_name_a_variable_once(kb: KnowledgeBase) -> None:
    assert refused(kb, "SELECT * { VALUES (?x ?x) { (1 2) } }").message == "VALUES has the variable ?x twice"


@pytest.mark.parametrize(
    ("block", "count"),
    [("() { }", 0), ("() { () }", 1), ("() { () () }", 2), ("(?x) { }", 0), ("?x { UNDEF }", 1)],
)
def test_values_without_variables_or_rows(kb: KnowledgeBase, block: str, count: int) -> None:
    assert kb.sparql(f"SELECT (COUNT(*) AS ?n) {{ VALUES {block} }}").rows() == [(count,)]
    assert len(kb.sparql(f"SELECT * {{ ?a ex:q ?b VALUES {block} }}")) == 2 * count
    assert set(kb.sparql(f"SELECT * {{ ?a ex:q ?b VALUES {block} }}").columns) <= {"a", "b", "x"}


# blank nodes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { _:n ex:p ?v { _:n ex:q ?w } }",
        "SELECT * { { _:n ex:p ?v } UNION { _:n ex:q ?v } }",
        "SELECT * { _:n ex:p ?v OPTIONAL { _:n ex:q ?w } }",
        "SELECT * { _:n ex:p ?v OPTIONAL { ?x ex:q ?w } _:n ex:q ?y }",
        "SELECT * { _:n ex:p ?v BIND(1 AS ?b) _:n ex:q ?y }",
        "SELECT * { _:n ex:p ?v GRAPH ?g { _:n ex:q ?w } }",
        "SELECT * { _:n ex:p ?v MINUS { _:n ex:q ?w } }",
        "SELECT * { _:n ex:p ?v FILTER NOT EXISTS { _:n ex:q ?w } }",
        "SELECT * { _:n ex:p ?v { SELECT ?w { _:n ex:q ?w } } }",
    ],
)
def test_a_label_of_a_blank_node_stands_in_one_pattern(kb: KnowledgeBase, query: str) -> None:
    found = refused(kb, query)
    assert found.code == "blank-node-scope"
    assert found.place is not None
    assert found.place.column == query.rindex("_:n") + 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { _:n ex:p ?v . _:n ex:q ?w }",
        "SELECT * { _:n ex:p ?v FILTER(?v > 0) _:n ex:q ?w }",
        "SELECT * { _:n ex:p ?v ; ex:q [ ex:p ?w ] }",
        "CONSTRUCT { _:n ex:r ?v } WHERE { _:n ex:p ?v }",
        "CONSTRUCT WHERE { _:n ex:p ?v . _:n ex:q ?w }",
        "SELECT * { [] ex:p ?v OPTIONAL { [] ex:q ?w } }",
    ],
)
def test_labels_that_are_allowed(kb: KnowledgeBase, query: str) -> None:
    assert len(kb.sparql(query)) > 0


def test_a_label_stands_in_one_insert_data_of_a_request() -> None:
    kb = KnowledgeBase(DATA)
    with pytest.raises(everlog.RuleError, match="blank-node-scope"):
        kb.sparql_update("INSERT DATA { _:n ex:p 1 } ; INSERT DATA { _:n ex:p 2 }")
    with pytest.raises(everlog.RuleError, match="blank-node-scope"):
        kb.sparql_update("INSERT { ?v ex:r 1 } WHERE { _:n ex:p ?v OPTIONAL { _:n ex:q ?w } }")
    kb.sparql_update("INSERT DATA { _:n ex:p 7 } ; INSERT { _:n ex:r 1 } WHERE { _:n ex:p 7 }")
    assert len(kb["<http://e.org/r>"]) == 1


# values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # W3C, open world: a string with a language is different from every literal of a datatype, known or not
        ('"x"@en != "x"^^ex:unknown', True),
        ('"x"^^ex:unknown = "x"@en', False),
        ('"x"@en != "x"^^xsd:integer', True),
        ('"x"@en = "x"@EN', True),
        ('"x"@en != "x"@fr', True),
        ('"x"@en != "x"', True),
        ('"x" != "x"^^ex:unknown', None),
        ('"x" = "x"^^xsd:integer', None),
        ('"x"^^ex:unknown = "x"^^ex:unknown', True),
        ('"x"^^ex:unknown != "y"^^ex:unknown', None),
        ('"x"^^ex:unknown = "x"^^ex:other', None),
        ('"x"^^xsd:integer = "x"^^xsd:integer', True),
        ('"x"@en IN ("x"^^ex:unknown, "x"@en)', True),
        ('"x"@en NOT IN ("x"^^ex:unknown)', True),
        # W3C, open world, date-1: a zone makes a difference
        ('"2006-08-23"^^xsd:date = "2006-08-23Z"^^xsd:date', False),
        ('"2006-08-23"^^xsd:date != "2006-08-23Z"^^xsd:date', True),
        ('"2006-08-23Z"^^xsd:date = "2006-08-23+00:00"^^xsd:date', True),
        ('"2006-08-23"^^xsd:date = "2006-08-23"^^xsd:date', True),
        ('"2006-08-23T00:00:00"^^xsd:dateTime = "2006-08-23T00:00:00Z"^^xsd:dateTime', False),
        ('"12:00:00"^^xsd:time = "12:00:00Z"^^xsd:time', False),
        ('"24:00:00"^^xsd:time = "00:00:00"^^xsd:time', True),
        ('"24:00:00Z"^^xsd:time < "00:00:01Z"^^xsd:time', True),
        ('"2006-08-23T10:00:00+01:00"^^xsd:dateTime = "2006-08-23T09:00:00Z"^^xsd:dateTime', True),
        ('"2006-08-22"^^xsd:date < "2006-08-23Z"^^xsd:date', True),
        ('"2006-08-23T10:00:00"^^xsd:dateTime < "2006-08-23T12:00:00Z"^^xsd:dateTime', None),
        ('"2006-08-23"^^xsd:date <= "2006-08-23Z"^^xsd:date', None),
        ('"2006-08-23T10:00:00Z"^^xsd:dateTime < "2006-08-23T12:00:00Z"^^xsd:dateTime', True),
    ],
)
def test_equality_and_order(kb: KnowledgeBase, expression: str, expected: bool | None) -> None:
    assert value(kb, expression) is expected


@pytest.mark.parametrize(
    ("values", "least", "greatest"),
    [
        (
            '"soon"^^xsd:dateTime "2020-01-01T00:00:00Z"^^xsd:dateTime "2021-01-01T00:00:00Z"^^xsd:dateTime',
            "2020",
            "2021",
        ),
        ('"2020-13-01"^^xsd:date "2020-01-01"^^xsd:date', "2020-01-01", "2020-01-01"),
        ('"many"^^xsd:integer 3 5 4', "3", "5"),
        ('"many"^^xsd:decimal "few"^^xsd:double 3.5', "3.5", "3.5"),
        ('"maybe"^^xsd:boolean true', "true", "true"),
        ('"soon"^^xsd:dateTime', "soon", "soon"),
    ],
)
def test_literals_without_a_value_are_no_least_or_greatest(
    kb: KnowledgeBase, values: str, least: str, greatest: str
) -> None:
    query = f"SELECT (STR(MIN(?v)) AS ?least) (STR(MAX(?v)) AS ?greatest) {{ VALUES ?v {{ {values} }} }}"
    ((low, high),) = ([str(each) for each in row] for row in kb.sparql(query).rows())
    assert (low.startswith(least), high.startswith(greatest)) == (True, True), (low, high)


# escapes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r'"\u0041"', "A"),
        (r'"\U00000041"', "A"),
        (r'"\\u0041"', r"\u0041"),
        (r'"\u005Cu0041"', r"\u0041"),
        (r'"\u005Cn"', r"\n"),
        (r'"\\\u0041"', r"\A"),
        (r'"a\u0022b"', 'a"b'),
        (r"'''a\u0027\u0027\u0027b'''", "a'''b"),
        (r"'a\"b\'c'", "a\"b'c"),
        (r'"""a\'b\\u0041"""', r"a'b\u0041"),
        (r'"\u00410042"', "A0042"),
        (r'"\t\n\r\b\f\\"', "\t\n\r\b\f\\"),
    ],
)
def test_escapes_are_decoded_once(kb: KnowledgeBase, written: str, expected: str) -> None:
    assert value(kb, written) == expected


def test_escapes_of_codepoints_stand_everywhere() -> None:
    kb = KnowledgeBase(DATA)
    assert (
        len(kb.sparql(r"SELECT ?\u0078 { ?\u0078 ex:\u0070 ?v . # don\u0027t" "\n" r" ?x <http://e.org/\u0071> ?w }"))
        == 3
    )


@pytest.mark.parametrize("escape", [r"\uD800", r"\uDFFF", r"\U00110000", r"\UFFFFFFFF"])
@pytest.mark.parametrize("text", ['SELECT ("{}" AS ?x) {{ }}', "SELECT ?x{} {{ }}"])
def test_escapes_of_no_character_are_refused(kb: KnowledgeBase, escape: str, text: str) -> None:
    found = refused(kb, text.format(escape))
    assert found.message == f"`{escape}` is not the number of a character"
    assert found.place is not None
    assert found.place.column == text.format(escape).index("\\") + 1


# SERVICE ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { SERVICE <a:s> { ?x ?p ?y } }",
        "SELECT * { SERVICE SILENT ?s { ?x ?p ?y } }",
        "SELECT * { OPTIONAL { SERVICE <a:s> { ?x ?p ?y } } }",
        "SELECT * { FILTER NOT EXISTS { SERVICE <a:s> { ?x ?p ?y } } }",
        "SELECT * { FILTER EXISTS { { SERVICE <a:s> { ?x ?p ?y } } UNION { ?x ?p ?y } } }",
        "SELECT * { SERVICE <a:s> { ?x ?p ?y SERVICE <a:t> { ?x ?p ?z } } }",
        "SELECT * { ?x ?p ?y MINUS { SERVICE <a:s> { ?x ?p ?y } } }",
        "SELECT * { { SELECT ?x { SERVICE <a:s> { ?x ?p ?y } } } }",
        "CONSTRUCT { ?x ?p ?y } WHERE { SERVICE <a:s> { ?x ?p ?y } }",
    ],
)
def test_service_is_refused_by_name(kb: KnowledgeBase, query: str) -> None:
    found = refused(kb, query)
    assert (found.code, found.message) == ("unsupported-sparql", "SERVICE is not supported")
    with pytest.raises(everlog.RuleError, match="SERVICE is not supported"):
        KnowledgeBase(DATA).sparql_update("INSERT { ?x ex:r 1 } WHERE { SERVICE <a:s> { ?x ?p ?y } }")


def test_ill_typed_literals_keep_their_texts(kb: KnowledgeBase) -> None:
    assert value(kb, '"soon"^^xsd:dateTime') == Literal("soon", XSD + "dateTime")
