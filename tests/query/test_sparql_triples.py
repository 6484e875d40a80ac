"""The facts that SPARQL sees where rules have auxiliary relations and derive triples that RDF does not allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from everlog import IRI, KnowledgeBase
from everlog.lang.internal import TRIPLE
from everlog.lang.syntax import Predicate
from everlog.lang.terms import text_of
from everlog.owl import program_of
from everlog.owl.programs import Profile
from everlog.query.sparql.graphs import TripleGraph
from everlog.query.sparql.pool import TermPool
from tests.owl.ontologies import EX, turtle

PEOPLE = """
:age rdfs:range :Years . :Years rdfs:subClassOf :Number . :name rdfs:domain :Person .
:ann :age 30 ; :name "Ann" . :bob :age 12 ; :name "Bob" . :ann owl:sameAs :anna .
"""
EVERYTHING = "SELECT ?s ?p ?o { ?s ?p ?o }"


def base(tmp_path: Path, profile: Profile, text: str = PEOPLE) -> KnowledgeBase:
    return KnowledgeBase(program_of(turtle(tmp_path, text), profile).program)


def legal(kb: KnowledgeBase) -> set[tuple[str, ...]]:
    """The facts of ``triple`` that RDF allows, one by one."""
    texts = [tuple(map(text_of, row)) for row in kb["triple"].rows()]
    return {(s, p, o) for s, p, o in texts if s[0] in "<_" and p[0] == "<"}


def texts(kb: KnowledgeBase, query: str) -> list[tuple[str, ...]]:
    return [tuple(map(text_of, row)) for row in kb.sparql(query).rows()]


@pytest.mark.parametrize("profile", ["rl", "rdfs"])
@pytest.mark.parametrize(
    "query", [EVERYTHING, "CONSTRUCT WHERE { ?s ?p ?o }", "SELECT ?s ?p ?o { ?s ?p ?o . ?s ?p ?o }"]
)
def test_patterns_match_the_triples_that_rdf_allows(tmp_path: Path, profile: Profile, query: str) -> None:
    kb = base(tmp_path, profile)
    found = texts(kb, query)
    assert len(found) == len(set(found))
    assert set(found) == legal(kb)
    assert len(legal(kb)) < len(kb["triple"]), "the rules derive triples with literals as subjects"


def test_sums_counts_and_paths_see_no_internal_relation(tmp_path: Path) -> None:
    kb = base(tmp_path, "rl")
    numbers = [int(o) for _, _, o in legal(kb) if o.isdigit()]
    (total,) = kb.sparql("SELECT (SUM(?v) AS ?n) { ?x ?p ?v FILTER(DATATYPE(?v) = xsd:integer) }").rows()
    assert total == (sum(numbers),)
    assert kb.sparql("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").rows() == [(len(legal(kb)),)]
    assert kb.sparql("SELECT (COUNT(?x) AS ?n) { ?x a <http://e.org/Years> }").rows() == [(0,)]
    assert not kb.sparql("ASK { ?s !(<a:none>) ?o FILTER(STRSTARTS(STR(?s), 'urn:everlog:')) }")
    assert not kb.sparql("ASK { ?s <a:none>* ?s . FILTER(STRSTARTS(STR(?s), 'urn:everlog:')) }")
    assert {p for (p,) in texts(kb, "SELECT DISTINCT ?p { ?s ?p ?o }")} == {p for _, p, _ in legal(kb)}


def test_descriptions_have_no_internal_relation(tmp_path: Path) -> None:
    kb = base(tmp_path, "rl")
    found = set(texts(kb, f"DESCRIBE <{EX}ann>"))
    assert found == {t for t in legal(kb) if t[0] == f"<{EX}ann>"}


def test_violations_are_no_triples(tmp_path: Path) -> None:
    text = ":A owl:disjointWith :B . :x a :A , :B ."
    for profile in ("rl", "lower"):
        kb = base(tmp_path, profile, text)
        assert len(kb["everlog:violation"]) > 0
        assert not any("urn:everlog:" in part for row in texts(kb, EVERYTHING) for part in row)


def test_what_is_a_triple_follows_updates(tmp_path: Path) -> None:
    kb = base(tmp_path, "rl")
    before = len(kb.sparql(EVERYTHING))
    kb.sparql_update(f"INSERT DATA {{ <{EX}cid> <{EX}age> 5 }}")
    assert set(texts(kb, EVERYTHING)) == legal(kb)
    kb.sparql_update(f"DELETE DATA {{ <{EX}cid> <{EX}age> 5 }}")
    assert len(kb.sparql(EVERYTHING)) == before


def test_a_bare_name_is_not_confused_with_an_internal_relation(tmp_path: Path) -> None:
    kb = base(tmp_path, "lower", ":A owl:disjointWith :B . :x a :A .")
    kb.sparql_update(f"INSERT DATA {{ <{EX}x> everlog:violation 'mine' }}")
    assert kb["violation"].rows() == [(IRI(EX + "x"), "mine")]
    assert kb.sparql("SELECT ?w { ?x everlog:violation ?w }").rows() == [("mine",)]


def test_the_triples_of_a_relation_are_found_once() -> None:
    kb = KnowledgeBase('@prefix ex: <http://e.org/> . triple(ex:a, ex:p, 1) . triple("x", ex:p, 1) . triple(1, 2, 3) .')
    first = TripleGraph(kb.state().facts, TermPool(kb.state().dictionary))
    second = TripleGraph(kb.state().facts, TermPool(kb.state().dictionary))
    assert first.facts[TRIPLE] is second.facts[TRIPLE]
    assert len(first.facts[TRIPLE]) == len(first) == 1
    assert list(first.predicates()) == [Predicate("triple", 3)]
