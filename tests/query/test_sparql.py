"""SPARQL over knowledge bases: facts as triples, forms of answers, and errors."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyoxigraph as ox
import pytest

import everlog
from everlog import IRI, BlankNode, KnowledgeBase, Literal
from everlog.engine.factset import FactSet
from everlog.engine.keys import layout_for
from everlog.engine.limits import Limits
from everlog.engine.relation import Relation
from everlog.kb.dataset import Dataset
from everlog.lang.syntax import Predicate
from everlog.query.sparql.evaluation import Evaluation, Graphs
from everlog.query.sparql.formats import write
from everlog.query.sparql.graphs import TripleGraph
from everlog.query.sparql.matching import Matcher
from everlog.query.sparql.parsing import parse_query
from everlog.query.sparql.pool import TermPool
from everlog.query.sparql.results import Solutions, Triples, Truth

FAMILY = """
@prefix ex: <http://e.org/> .
ancestor(?x, ?y) :- parent(?x, ?y) .
ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
ex:Person(?x) :- ex:knows(?x, _) .
ex:Person(?x) :- ex:knows(_, ?x) .
parent(ann, bob) . parent(bob, cid) . parent(cid, dan) .
ex:knows(ex:a, ex:b) . ex:knows(ex:b, ex:c) . ex:knows(ex:c, ex:a) .
ex:age(ex:a, 42) . ex:age(ex:b, 7) . ex:age(ex:c, 42.0) . ex:name(ex:a, "Ann"@en) . ex:name(ex:b, "Bob") .
rainy() . road(ex:a, 12, ex:b) .
"""


@pytest.fixture(scope="module")
def family() -> KnowledgeBase:
    return KnowledgeBase(FAMILY)


def rows(kb: KnowledgeBase | Dataset, query: str) -> list[tuple[Any, ...]]:
    return kb.sparql(query).rows()


def e(name: str) -> IRI:
    return IRI(f"http://e.org/{name}")


# facts as triples -------------------------------------------------------------------------------


def test_unary_facts_are_types_and_binary_ones_triples(family: KnowledgeBase) -> None:
    assert rows(family, "SELECT ?x { ?x a ex:Person } ORDER BY ?x") == [(e("a"),), (e("b"),), (e("c"),)]
    assert rows(family, "SELECT ?t { ex:a a ?t }") == [(e("Person"),)]
    found = rows(family, "SELECT ?p ?o { ex:a ?p ?o } ORDER BY ?p ?o")
    rdf_type = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    assert found == [
        (e("age"), 42),
        (e("knows"), e("b")),
        (e("name"), Literal("Ann", language="en")),
        (rdf_type, e("Person")),
    ]


def test_bare_names_are_iris_and_bare_constants_strings(family: KnowledgeBase) -> None:
    assert rows(family, 'SELECT ?x { "ann" everlog:ancestor ?x } ORDER BY ?x') == [("bob",), ("cid",), ("dan",)]
    assert rows(family, "SELECT ?x { ?x <urn:everlog:parent> 'bob' }") == [("ann",)]
    assert rows(family, "SELECT DISTINCT ?p { 'ann' ?p ?x } ORDER BY ?p") == [
        (IRI("urn:everlog:ancestor"),),
        (IRI("urn:everlog:parent"),),
    ]


def test_other_arities_are_not_seen(family: KnowledgeBase) -> None:
    assert not family.sparql("ASK { ?x everlog:road ?y }")
    assert not family.sparql("ASK { ?x a everlog:rainy }")
    triples = sum(len(family[p]) for p in family.predicates if p.arity in (1, 2))
    assert rows(family, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }") == [(triples,)]


def test_a_class_may_be_a_property_too() -> None:
    kb = KnowledgeBase('@prefix ex: <http://e.org/> . ex:p(ex:a) . ex:p(ex:a, ex:b) . ex:p(ex:p, "c") .')
    assert rows(kb, "SELECT ?x { ?x a ex:p }") == [(e("a"),)]
    assert rows(kb, "SELECT ?x { ex:a ex:p ?x }") == [(e("b"),)]
    assert rows(kb, "SELECT ?x { ?p ex:p ?x . ?y a ?p }") == [("c",)]


def test_triple_facts_are_triples() -> None:
    kb = KnowledgeBase("""@prefix ex: <http://e.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        triple(?x, ex:q, ?y) :- triple(?x, ex:p, ?y) .
        triple(ex:a, ex:p, ex:b) . triple(ex:b, ex:p, ex:c) . triple(ex:a, rdf:type, ex:C) .""")
    assert rows(kb, "SELECT ?y { ex:a ex:q+ ?y } ORDER BY ?y") == [(e("b"),), (e("c"),)]
    assert rows(kb, "SELECT ?c { ?x a ?c }") == [(e("C"),)]
    assert rows(kb, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }") == [(5,)]
    assert rows(kb, "SELECT ?o { ex:a !(ex:q|rdf:type) ?o }") == [(e("b"),)]
    assert rows(kb, "SELECT ?o { ex:a (!ex:q)+ ?o } ORDER BY ?o") == [(e("C"),), (e("b"),), (e("c"),)]


def test_a_triple_that_is_there_in_two_ways_is_one() -> None:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . triple(ex:a, ex:p, ex:b) . ex:p(ex:a, ex:b) . ex:p(ex:a, ex:c) .")
    assert rows(kb, "SELECT ?x { ex:a ex:p ?x } ORDER BY ?x") == [(e("b"),), (e("c"),)]
    assert rows(kb, "SELECT (COUNT(*) AS ?n) { ex:a ex:p ?x }") == [(2,)]
    assert rows(kb, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }") == [(2,)]
    assert rows(kb, "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p") == [(e("p"), 2)]


def test_names_of_predicates_are_not_mistaken_for_inner_ones() -> None:
    """Relations that evaluation makes have names that no predicate has."""
    kb = KnowledgeBase("answer(a) . start(a) . end(b) . node(a) . path1(a, b) . path1(b, c) . given0(a, b) .")
    assert rows(kb, "SELECT ?y { 'a' everlog:path1+ ?y } ORDER BY ?y") == [("b",), ("c",)]
    assert rows(kb, "SELECT ?x { ?x a everlog:answer, everlog:start, everlog:node }") == [("a",)]
    assert rows(kb, "SELECT ?y { VALUES ?x { 'a' } ?x everlog:given0 ?y }") == [("b",)]


# evaluation -------------------------------------------------------------------------------------


def test_solutions_are_a_multiset(family: KnowledgeBase) -> None:
    assert rows(family, "SELECT ?x { ?x ex:knows|ex:knows ex:b }") == [(e("a"),)] * 2
    assert len(family.sparql("SELECT ?t { ?x a ?t }")) == 3
    assert len(family.sparql("SELECT DISTINCT ?t { ?x a ?t }")) == 1
    assert len(family.sparql("SELECT ?x { ?x ex:knows/ex:knows/ex:knows ?y }")) == 3


def test_values_order_before_strings_and_by_value() -> None:
    kb = KnowledgeBase(
        'v(1, 10) . v(2, 9.5) . v(3, "a") . v(4, "9") . v(5, 9.0E0) . v(6, <http://e.org/>) . v(7, true) .'
    )
    ordered: list[Any] = [10, Decimal("9.5"), 9.0]
    found = [value for _, value in rows(kb, "SELECT ?n ?v { ?n everlog:v ?v } ORDER BY ?v")]
    assert found == [IRI("http://e.org/"), *sorted(ordered), "9", "a", True]
    found = [value for _, value in rows(kb, "SELECT ?n ?v { ?n everlog:v ?v } ORDER BY DESC(?v)")]
    assert found == [True, "a", "9", *sorted(ordered, reverse=True), IRI("http://e.org/")]


def test_large_integers_are_ordered_and_compared_exactly() -> None:
    kb = KnowledgeBase("v(a, 9007199254740993) . v(b, 9007199254740992) . v(c, 9007199254740994) .")
    assert rows(kb, "SELECT ?n { ?n everlog:v ?v } ORDER BY ?v") == [("b",), ("a",), ("c",)]
    assert rows(kb, "SELECT ?n { ?n everlog:v ?v FILTER(?v > 9007199254740992) } ORDER BY ?n") == [("a",), ("c",)]


def test_strings_are_compared_by_their_characters() -> None:
    kb = KnowledgeBase('s("a") . s("a b") . s("a!") . s("b") . s("ä") .')
    assert rows(kb, 'SELECT ?x { ?x a everlog:s FILTER(?x > "a") } ORDER BY ?x') == [("a b",), ("a!",), ("b",), ("ä",)]


def test_equality_is_by_value_and_joins_are_by_term(family: KnowledgeBase) -> None:
    assert rows(family, "SELECT ?x { ?x ex:age ?n FILTER(?n = 42) } ORDER BY ?x") == [(e("a"),), (e("c"),)]
    assert rows(family, "SELECT ?x { ?x ex:age 42 }") == [(e("a"),)]
    assert rows(family, "SELECT ?x { VALUES ?n { 42.0 } ?x ex:age ?n }") == [(e("c"),)]


def test_lexical_forms_of_constants_are_kept() -> None:
    kb = KnowledgeBase()
    kb.insert("v", [("a", Literal("007", "http://www.w3.org/2001/XMLSchema#integer")), ("b", 7)])
    assert rows(kb, "SELECT ?x { ?x everlog:v 7 }") == [("b",)]
    assert rows(kb, "SELECT ?x { ?x everlog:v 007 }") == [("a",)]
    assert rows(kb, 'SELECT ?x { ?x everlog:v "007"^^xsd:integer }') == [("a",)]
    assert rows(kb, "SELECT ?x { ?x everlog:v ?v FILTER(?v = 7) } ORDER BY ?x") == [("a",), ("b",)]


def test_blank_nodes_that_are_made() -> None:
    kb = KnowledgeBase("p(a) . p(b) .")
    found = rows(kb, "SELECT (BNODE('l') AS ?x) (BNODE('l') AS ?y) (BNODE() AS ?z) { ?s a everlog:p }")
    assert all(isinstance(value, BlankNode) for row in found for value in row)
    assert all(x == y for x, y, _ in found)
    assert len({value for row in found for value in row}) == 4


def test_each_row_has_its_own_random_number() -> None:
    kb = KnowledgeBase()
    kb.insert("edge", [("a", i) for i in range(50)])
    assert len(set(rows(kb, "SELECT (RAND() AS ?r) { ?x everlog:edge ?y }"))) == 50
    assert len(set(rows(kb, "SELECT (NOW() AS ?r) { ?x everlog:edge ?y }"))) == 1


def test_columns_of_a_star_are_in_the_order_of_the_text(family: KnowledgeBase) -> None:
    result = family.sparql(
        "SELECT * { ?who ex:knows ?whom . OPTIONAL { ?who ex:name ?a } FILTER(?who != ?zz || true) }"
    )
    assert result.columns == ("who", "whom", "a")


def test_groups_without_names(family: KnowledgeBase) -> None:
    found = rows(family, "SELECT (COUNT(*) AS ?n) { ?x ex:age ?v } GROUP BY (?v > 10) (isIRI(?x)) ORDER BY ?n")
    assert found == [(1,), (2,)]
    found = rows(family, "SELECT (COUNT(*) AS ?n) { ?x ex:age ?v } GROUP BY isIRI(?x)")
    assert found == [(3,)]


def test_exists_in_projections_and_orders(family: KnowledgeBase) -> None:
    found = rows(family, "SELECT ?x (EXISTS { ?x ex:name ?n } AS ?named) { ?x a ex:Person } ORDER BY ?x")
    assert found == [(e("a"), True), (e("b"), True), (e("c"), False)]


def test_exists_sees_each_row(family: KnowledgeBase) -> None:
    query = """SELECT ?x { ?x ex:age ?v FILTER EXISTS {
        { SELECT ?y (COUNT(*) AS ?n) { ?y ex:knows ?z } GROUP BY ?y } ?x ex:knows ?y FILTER(?v > 10 && ?n = 1) } }"""
    assert rows(family, query + " ORDER BY ?x") == [(e("a"),), (e("c"),)]
    query = (
        "SELECT ?x { ?x a ex:Person FILTER NOT EXISTS { ?x ex:name ?n MINUS { ?x ex:name ?n FILTER(lang(?n) = '') } } }"
    )
    assert rows(family, query + " ORDER BY ?x") == [(e("b"),), (e("c"),)]


def test_named_graphs_and_from(family: KnowledgeBase) -> None:
    one, two = (
        KnowledgeBase("<http://e.org/p>(1, 2) ."),
        KnowledgeBase("<http://e.org/p>(2, 3) . <http://e.org/p>(1, 2) ."),
    )
    data = Dataset(family, {"http://e.org/g1": one, IRI("http://e.org/g2"): two})
    assert rows(data, "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?n") == [
        (e("g1"), 1),
        (e("g2"), 2),
    ]
    assert rows(data, "SELECT ?y FROM ex:g1 FROM ex:g2 { 1 ex:p+ ?y } ORDER BY ?y") == [(2,), (3,)]
    assert rows(data, "SELECT ?g FROM NAMED ex:g1 { GRAPH ?g { ?s ?p ?o } }") == [(e("g1"),)]
    assert rows(data, "SELECT ?x { GRAPH ex:g2 { ?x ex:p 3 } }") == [(2,)]
    with pytest.warns(everlog.EverlogWarning, match="there is no graph"):
        assert not rows(data, "SELECT ?x { GRAPH ex:other { ?x ex:p 3 } }")
    with pytest.raises(everlog.RuleError, match=r"there is no graph <http://e\.org/g3>"):
        data.sparql("SELECT * FROM ex:g3 { ?s ?p ?o }")
    with pytest.raises(everlog.RuleError, match="no named graphs"):
        family.sparql("SELECT * FROM ex:g3 { ?s ?p ?o }")


def test_queued_changes_are_seen() -> None:
    kb = KnowledgeBase("q(?x) :- p(?x) .")
    kb.insert("p", [("a",)])
    assert rows(kb, "SELECT ?x { ?x a everlog:q }") == [("a",)]
    kb.delete("p", [("a",)])
    assert not rows(kb, "SELECT ?x { ?x a everlog:q }")


def test_results_stay_when_the_knowledge_base_goes_on() -> None:
    kb = KnowledgeBase("p(a) .")
    found = kb.sparql("SELECT (CONCAT(?x, '!') AS ?y) ?x { ?x a everlog:p }")
    kb.update(insert={"p": [("something else",), ("another",)]}, delete={"p": [("a",)]})
    assert found.rows() == [("a!", "a")]


# what is not enumerated -------------------------------------------------------------------------


class Closed(Relation):
    """A relation that knows its size and fails if its facts are listed."""

    def __init__(self, arity: int, size: int) -> None:
        super().__init__(layout_for(arity, 0))
        self._length = size

    def __len__(self) -> int:
        return self._length

    def __bool__(self) -> bool:
        return self._length > 0

    def _refuse(self, *_: object, **__: object) -> Any:
        raise AssertionError("the facts are listed")

    columns = keys = run = table = contains = settled = _refuse


def closed_evaluation() -> Evaluation:
    terms = TermPool(KnowledgeBase("p(a) .").state().dictionary)
    facts = {
        Predicate("<http://e.org/p>", 2): Closed(2, 10**11),
        Predicate("<http://e.org/q>", 2): Closed(2, 7),
        Predicate("<http://e.org/C>", 1): Closed(1, 5),
        Predicate("<http://e.org/D>", 1): Closed(1, 6),
    }
    return Evaluation(Graphs(TripleGraph(FactSet(facts), terms), {}), Matcher(terms))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT (COUNT(*) AS ?n) { ?x <http://e.org/p> ?y }", [("100000000000",)]),
        ("SELECT (COUNT(?y) AS ?n) { ?x <http://e.org/p> ?y }", [("100000000000",)]),
        ("SELECT (COUNT(*) AS ?n) { ?x ?p ?y }", [("100000000018",)]),
        ("SELECT (COUNT(*) AS ?n) { ?x a ?c }", [("11",)]),
        (
            "SELECT ?c (COUNT(?x) AS ?n) { ?x a ?c } GROUP BY ?c ORDER BY ?c",
            [("<http://e.org/C>", "5"), ("<http://e.org/D>", "6")],
        ),
        ("SELECT DISTINCT ?p { ?x ?p ?y FILTER(STRENDS(STR(?p), 'q')) }", [("<http://e.org/q>",)]),
        ("SELECT (COUNT(*) AS ?n) { { ?x a <http://e.org/C> } UNION { ?x <http://e.org/q> ?y } }", [("12",)]),
    ],
)
def test_counts_of_single_patterns_list_no_facts(query: str, expected: list[tuple[str, ...]]) -> None:
    evaluation = closed_evaluation()
    form = parse_query(query).form
    table = evaluation.solutions(form.pattern, frozenset(form.columns)).unweighted()  # type: ignore[union-attr]
    texts = Solutions(evaluation.terms, table, form.columns).texts()  # type: ignore[union-attr]
    assert list(zip(*(column.to_pylist() for column in texts), strict=True)) == expected


def test_ask_of_a_single_pattern_lists_no_facts() -> None:
    form = parse_query("ASK { ?x <http://e.org/p> ?y }").form
    assert closed_evaluation().solutions(form.pattern, frozenset(), distinct=True).size == 1


def test_limits_hold_for_queries() -> None:
    kb = KnowledgeBase(max_facts=100_000)
    kb.insert("edge", [("a", i) for i in range(2000)])
    assert len(kb.sparql("SELECT ?y { ?x everlog:edge ?y }")) == 2000
    with pytest.raises(everlog.LimitError):
        kb.sparql("SELECT * { ?x everlog:edge ?y . ?x everlog:edge ?z }")


# results ----------------------------------------------------------------------------------------


def test_solutions_as_tables(family: KnowledgeBase) -> None:
    result = family.sparql("SELECT ?x ?v ?n ?no { ?x ex:age ?v OPTIONAL { ?x ex:name ?n } } ORDER BY ?x")
    assert isinstance(result, Solutions)
    table = result.to_arrow()
    assert table.column_names == ["x", "v", "n", "no"]
    assert table["n"].to_pylist() == ['"Ann"@en', "Bob", None]
    assert table["no"].null_count == 3
    assert list(result.to_pandas().columns) == ["x", "v", "n", "no"]
    assert result.to_polars().shape == (3, 4)
    assert (
        family.sparql("SELECT ?v { ?x ex:age ?v FILTER(isNumeric(?v) && ?v < 10) }").to_arrow()["v"].type == pa.int64()
    )
    assert len(result.first(2)) == 2
    assert result.rows(1) == [(e("a"), 42, Literal("Ann", language="en"), None)]
    assert repr(result).startswith("<Solutions (x, v, n, no): 3 rows [")


def test_truth(family: KnowledgeBase) -> None:
    yes, no = family.sparql("ASK { ex:a ex:knows ex:b }"), family.sparql("ASK { ex:b ex:knows ex:a }")
    assert isinstance(yes, Truth)
    assert (bool(yes), len(yes), yes.rows()) == (True, 1, [()])
    assert (bool(no), len(no), no.rows()) == (False, 0, [])
    assert yes.to_pandas()["answer"].tolist() == [True]


def test_triples(family: KnowledgeBase) -> None:
    made = family.sparql("CONSTRUCT { ?y ex:knownBy ?x . [] ex:says ?x } { ?x ex:knows ?y }")
    assert isinstance(made, Triples)
    assert made.columns == ("subject", "predicate", "object")
    assert len(made) == 6
    assert len({subject for subject, predicate, _ in made if predicate == e("says")}) == 3
    described = family.sparql("DESCRIBE ?x { ?x ex:age 7 }")
    assert set(described.rows()) == set(rows(family, "SELECT ?s ?p ?o { VALUES ?s { ex:b } ?s ?p ?o }"))


def test_descriptions_follow_blank_nodes() -> None:
    kb = KnowledgeBase("""@prefix ex: <http://e.org/> .
        ex:p(ex:a, _:b) . ex:p(_:b, _:c) . ex:p(_:c, _:b) . ex:p(_:c, ex:d) . ex:p(ex:d, ex:a) .""")
    assert len(kb.sparql("DESCRIBE ex:a")) == 4
    assert len(kb.sparql("DESCRIBE *  { ?x ex:p ex:a }")) == 1


def test_literals_are_no_subjects_of_constructed_triples(family: KnowledgeBase) -> None:
    assert not family.sparql("CONSTRUCT { ?x ex:parent ?y } { ?x everlog:parent ?y }")
    assert len(family.sparql("CONSTRUCT { ex:all ex:parent ?y } { ?x everlog:parent ?y }")) == 3


def written(kb: KnowledgeBase, query: str, form: str, **options: Any) -> str:
    file = io.BytesIO()
    write(kb.sparql(query), form, file, **options)
    return file.getvalue().decode()


AWKWARD = ["", "a,b", 'q"q', "l\nl\r", "t\tt", "b\\b", "<&>", "\x01", "ü", "_:x", "42", "true", "😀"]


@pytest.mark.parametrize("form", ["json", "xml", "tsv"])
def test_awkward_strings_are_read_back(form: str) -> None:
    kb = KnowledgeBase()
    kb.insert("s", [(text,) for text in AWKWARD])
    query = "SELECT ?x { ?x a everlog:s }"
    read = ox.parse_query_results(written(kb, query, form).encode(), getattr(ox.QueryResultsFormat, form.upper()))
    expected = {"\ufffd" if text == "\x01" and form == "xml" else text for text in AWKWARD}
    assert {solution["x"].value for solution in read} == expected  # type: ignore[union-attr]


def test_awkward_triples_are_read_back() -> None:
    kb = KnowledgeBase()
    kb.insert((IRI("http://e.org/p"), 2), [(IRI("http://e.org/a"), value) for value in (*AWKWARD, 1, 1.5, True)])
    for form, kind in (("nt", ox.RdfFormat.N_TRIPLES), ("ttl", ox.RdfFormat.TURTLE)):
        text = written(kb, "CONSTRUCT WHERE { ?s ?p ?o }", form, prefixes={"ex": "http://e.org/"})
        read = {quad.object.value for quad in ox.parse(text.encode(), kind)}
        assert read == {*AWKWARD, "1", "1.5E0", "true"}
        assert ("ex:a" in text) == (form == "ttl")


def test_formats_of_truth(family: KnowledgeBase) -> None:
    assert json.loads(written(family, "ASK {}", "json")) == {"head": {}, "boolean": True}
    assert written(family, "ASK { ex:x ex:x ex:x }", "csv") == "false\n"
    assert "<boolean>true</boolean>" in written(family, "ASK {}", "xml")


def test_solutions_are_no_triples(family: KnowledgeBase) -> None:
    with pytest.raises(everlog.DataError, match="nt is for the triples"):
        written(family, "SELECT * { ?s ?p ?o }", "nt")


# errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "code", "line", "column"),
    [
        ("SELEC ?x { ?x a ?y }", "sparql-syntax", 1, 1),
        ("SELECT ?x {\n  ?x a ?y .\n  FITLER(?x)\n}", "sparql-syntax", 3, 3),
        ("SELECT ?x { ?x a ?y", "sparql-syntax", 1, 20),
        ("SELECT ?x {\n ?x nix:p ?y }", "unknown-prefix", 2, 5),
    ],
)
def test_syntax_errors_have_a_place(family: KnowledgeBase, query: str, code: str, line: int, column: int) -> None:
    with pytest.raises(everlog.RuleError) as caught:
        family.sparql(query)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.place is not None
    assert (found.place.line, found.place.column) == (line, column)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * { SERVICE <http://e.org/> { ?s ?p ?o } }", "SERVICE is not supported"),
        ("SELECT (ex:f(?x) AS ?y) { ?x a ex:C }", "the function <http://e.org/f> is not supported"),
        ("SELECT * { ?x a ex:C BIND(1 AS ?x) }", r"\?x has a value already"),
        ("SELECT (xsd:integer(1, 2) AS ?y) {}", "takes one argument"),
    ],
)
def test_what_is_not_supported_is_named(family: KnowledgeBase, query: str, message: str) -> None:
    with pytest.raises(everlog.RuleError, match=message):
        family.sparql(query)


def test_unicode_escapes_of_four_digits_are_not_read_as_eight() -> None:
    kb = KnowledgeBase('p("caféabcd") .')
    assert kb.sparql('ASK { "caf\\u00E9abcd" a everlog:p }')


def test_a_deadline_stops_an_evaluation() -> None:
    kb = KnowledgeBase()
    kb.insert("edge", np.arange(20_000).reshape(-1, 2))
    state = kb.state()
    matcher = Matcher(TermPool(state.dictionary), Limits(deadline=0.0))
    form = parse_query("SELECT * { ?a everlog:edge ?b . ?b everlog:edge ?c }").form
    with pytest.raises(everlog.LimitError, match="time"):
        Evaluation(Graphs(TripleGraph(state.facts, matcher.terms), {}), matcher).solutions(
            form.pattern, frozenset("abc")
        )


# closures ---------------------------------------------------------------------------------------

CLOSURE = """
path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
c(?x) :- edge(?x, _) .
"""


@pytest.fixture(scope="module")
def closures() -> tuple[KnowledgeBase, KnowledgeBase]:
    """Knowledge bases with a closure as a module, and as pairs."""
    edges = np.random.default_rng(1).integers(0, 60, (80, 2))
    found = KnowledgeBase(CLOSURE), KnowledgeBase(CLOSURE, modules=False)
    for kb in found:
        kb.insert("edge", edges)
        kb.update(insert={"edge": [(100, 1)]}, delete={"edge": edges[:5]})
        kb.insert("s", edges[:40, ::-1])
    return found


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (COUNT(*) AS ?n) { ?x everlog:path ?y }",
        "SELECT (COUNT(*) AS ?n) { ?x a everlog:c . ?x everlog:path ?y }",
        "SELECT (COUNT(*) AS ?n) { ?y a everlog:c . ?x everlog:path ?y }",
        "SELECT (COUNT(*) AS ?n) { 5 everlog:path ?y . ?y everlog:path ?z }",
        "SELECT (COUNT(*) AS ?n) { 1000 everlog:path ?y }",
        "SELECT (COUNT(*) AS ?n) { ?x everlog:path ?x }",
        "SELECT ?x { ?x everlog:path ?y . ?z everlog:path ?x }",
        "SELECT ?x { ?x everlog:path ?y . ?x everlog:path ?z }",
        "SELECT DISTINCT ?x { ?x a everlog:c . ?y everlog:path ?x }",
        "SELECT ?x { ?x a everlog:c FILTER NOT EXISTS { ?x everlog:path ?y . ?y everlog:s ?z } }",
        "SELECT ?x { ?x everlog:s ?z FILTER EXISTS { ?x everlog:path ?y } }",
        "SELECT ?a (COUNT(?y) AS ?n) { ?a everlog:s ?x . ?x everlog:path ?y } GROUP BY ?a",
        "SELECT ?x ?z { ?x a everlog:c OPTIONAL { ?z everlog:path ?x } }",
        "SELECT * { ?x ?p ?y }",
    ],
)
def test_closures_of_modules_answer_as_pairs_do(closures: tuple[KnowledgeBase, KnowledgeBase], query: str) -> None:
    compact, plain = closures
    assert sorted(map(repr, rows(compact, query))) == sorted(map(repr, rows(plain, query)))
