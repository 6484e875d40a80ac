"""Warnings about queries with graphs that a knowledge base cannot have, or with relations that are not triples."""

from __future__ import annotations

import warnings

import pytest

import everlog
from everlog import IRI, KnowledgeBase
from everlog.kb.dataset import Dataset
from everlog.lang.errors import EverlogWarning

DATA = """
@prefix ex: <http://e.org/> . @prefix everlog: <urn:everlog:> .
ex:p(ex:a, 1) . everlog:internal(ex:a, 1) . everlog:Hidden(ex:a) . bare(ex:a, 1) .
"""


@pytest.fixture
def kb() -> KnowledgeBase:
    return KnowledgeBase(DATA)


def said(kb: KnowledgeBase | Dataset, query: str) -> list[str]:
    """The codes of the warnings about a query."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        kb.sparql(query)
    return [each.message.diagnostic.code for each in seen if isinstance(each.message, EverlogWarning)]


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("SELECT ?g { GRAPH ?g { ?x ex:p ?y } }", ["no-named-graphs"]),
        ("SELECT ?x { ?x ex:p ?y OPTIONAL { GRAPH ?g { ?x ex:p ?y } } }", ["no-named-graphs"]),
        ("SELECT ?x { ?x ex:p ?y FILTER(1 = 2 || NOT EXISTS { GRAPH ?g { ?x ex:p ?y } }) }", ["no-named-graphs"]),
        ("SELECT ?x { { SELECT ?x { GRAPH ?g { ?x ex:p ?y } } } UNION { GRAPH ?g { } } }", ["no-named-graphs"]),
        ("ASK { GRAPH ex:g { ?x ex:p ?y } }", ["unknown-graph"]),
        ("SELECT ?x { ?x ex:p ?y }", []),
        ("SELECT ?x { ?x everlog:internal ?y }", ["internal-relation"]),
        ("SELECT ?x { ?x a everlog:Hidden }", ["internal-relation"]),
        ("SELECT ?x { ?x everlog:bare ?y }", []),
        ("SELECT ?x { ?x everlog:nothing ?y }", []),
        ("SELECT ?x { ?x ?p ?y }", []),
    ],
)
def test_what_matches_nothing_is_warned_of(kb: KnowledgeBase, query: str, codes: list[str]) -> None:
    assert said(kb, query) == codes


def test_graphs_that_are_there_are_not_warned_of(kb: KnowledgeBase) -> None:
    data = Dataset(kb, {"http://e.org/g": KnowledgeBase(DATA)})
    assert said(data, "SELECT ?g { GRAPH ?g { ?x ex:p ?y } GRAPH ex:g { ?x ex:p ?z } }") == []
    assert said(data, "SELECT ?g { GRAPH ex:h { ?x ex:p ?y } }") == ["unknown-graph"]


@pytest.mark.parametrize(
    "request_",
    [
        "INSERT DATA { GRAPH ex:g { ex:b ex:p 2 } }",
        "DELETE DATA { GRAPH ex:g { ex:a ex:p 1 } }",
        "INSERT { GRAPH ?x { ?x ex:p 2 } } WHERE { ?x ex:p 1 }",
        "WITH ex:g INSERT { ex:b ex:p 2 } WHERE { }",
        "INSERT DATA { ex:b ex:p 2 } ; INSERT DATA { GRAPH ex:g { ex:b ex:p 2 } }",
    ],
)
def test_a_knowledge_base_keeps_no_named_graph(kb: KnowledgeBase, request_: str) -> None:
    with pytest.raises(everlog.RuleError, match="one-graph"):
        kb.sparql_update(request_)
    assert kb["ex:p"].rows() == [(IRI("http://e.org/a"), 1)]


def test_updates_warn_of_graphs_too(kb: KnowledgeBase) -> None:
    with pytest.warns(EverlogWarning, match="no-named-graphs"):
        kb.sparql_update("INSERT { ?x ex:q ?y } WHERE { GRAPH ?g { ?x ex:p ?y } }")
    with pytest.warns(EverlogWarning, match="unknown-graph"):
        kb.sparql_update("CLEAR GRAPH ex:g")


def test_relative_iris_are_resolved_with_a_base(kb: KnowledgeBase) -> None:
    assert kb.sparql("SELECT ?v { <a> <p> ?v }", base="http://e.org/").rows() == [(1,)]
    assert kb.sparql("BASE <http://e.org/> SELECT ?v { <a> <p> ?v }", base="http://other.org/").rows() == [(1,)]
    assert kb.sparql("SELECT (IRI('a') AS ?x) { }", base="http://e.org/").rows() == [(IRI("http://e.org/a"),)]
    kb.sparql_update("INSERT DATA { <b> <p> 2 } ; DELETE DATA { <a> <p> 1 }", base="http://e.org/")
    assert kb["ex:p"].rows() == [(IRI("http://e.org/b"), 2)]


@pytest.mark.parametrize("base", ["example", "http://e.org/<", "/a", "e.org/a b"])
def test_a_base_is_an_absolute_iri(kb: KnowledgeBase, base: str) -> None:
    with pytest.raises(everlog.RuleError, match="bad-base"):
        kb.sparql("ASK { }", base=base)
    with pytest.raises(everlog.RuleError, match="bad-base"):
        kb.sparql_update("INSERT DATA { }", base=base)
