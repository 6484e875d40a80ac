"""Axioms from RDF graphs: every construct of the mapping, and mistakes of real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from everlog.owl.graph import read_document
from everlog.owl.mapping import ontology_of
from tests.owl.ontologies import graph_of, ontology, shown, turtle

CASES = {
    ":A rdfs:subClassOf :B .": "SubClassOf(:A :B)",
    ":A rdfs:subClassOf [ owl:intersectionOf ( :B :C ) ] .": "SubClassOf(:A IntersectionOf(:B :C))",
    "[ owl:unionOf ( :B :C ) ] rdfs:subClassOf :A .": "SubClassOf(UnionOf(:B :C) :A)",
    ":A rdfs:subClassOf [ owl:complementOf :B ] .": "SubClassOf(:A ComplementOf(:B))",
    ":A owl:equivalentClass [ owl:oneOf ( :a :b ) ] .": "EquivalentClasses(:A OneOf(:a :b))",
    ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ] .": (
        "SubClassOf(:A SomeValuesFrom(:p :B))"
    ),
    ":A rdfs:subClassOf [ owl:onProperty [ owl:inverseOf :p ] ; owl:allValuesFrom :B ] .": (
        "SubClassOf(:A AllValuesFrom(InverseOf(:p) :B))"
    ),
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue 42 ] .": "SubClassOf(:A HasValue(:p 42))",
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasSelf true ] .": "SubClassOf(:A HasSelf(:p))",
    ':A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality "1"^^xsd:nonNegativeInteger ] .': (
        "SubClassOf(:A MaxCardinality(1 :p owl:Thing))"
    ),
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:qualifiedCardinality 2 ; owl:onClass :B ] .": (
        "SubClassOf(:A ExactCardinality(2 :p :B))"
    ),
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:minQualifiedCardinality 2 ; owl:onDataRange xsd:int ] .": (
        "SubClassOf(:A MinCardinality(2 :p xsd:int))"
    ),
    ":p rdfs:range [ owl:onDatatype xsd:int ; owl:withRestrictions ( [ xsd:minInclusive 5 ] ) ] .": (
        "PropertyRange(:p DatatypeRestriction(xsd:int xsd:minInclusive 5))"
    ),
    ":A owl:intersectionOf ( :B :C ) .": "EquivalentClasses(:A IntersectionOf(:B :C))",
    ":A owl:disjointWith :B .": "DisjointClasses(:A :B)",
    ":A owl:disjointUnionOf ( :B :C ) .": "DisjointUnion(:A :B :C)",
    "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) .": "DisjointClasses(:A :B :C)",
    ":p rdfs:subPropertyOf [ owl:inverseOf :q ] .": "SubPropertyOf(:p InverseOf(:q))",
    ":p owl:propertyChainAxiom ( :q [ owl:inverseOf :r ] ) .": "SubPropertyOf(PropertyChain(:q InverseOf(:r)) :p)",
    ":p owl:equivalentProperty :q .": "EquivalentProperties(:p :q)",
    ":p owl:propertyDisjointWith :q .": "DisjointProperties(:p :q)",
    "[] a owl:AllDisjointProperties ; owl:members ( :p :q ) .": "DisjointProperties(:p :q)",
    ":p owl:inverseOf :q .": "InverseProperties(:p :q)",
    ":p rdfs:domain :A .": "PropertyDomain(:p :A)",
    ":p a owl:AsymmetricProperty .": "AsymmetricProperty(:p)",
    ":A owl:hasKey ( :p :q ) .": "HasKey(:A :p :q)",
    ":a owl:sameAs :b .": "SameIndividual(:a :b)",
    "[] a owl:AllDifferent ; owl:distinctMembers ( :a :b ) .": "DifferentIndividuals(:a :b)",
    "[] a owl:AllDifferent ; owl:members ( :a :b ) .": "DifferentIndividuals(:a :b)",
    ":a a :A .": "ClassAssertion(:A :a)",
    ":a a [ owl:complementOf :A ] .": "ClassAssertion(ComplementOf(:A) :a)",
    ":a :p 42 .": "PropertyAssertion(:p :a 42)",
    "[] owl:sourceIndividual :a ; owl:assertionProperty :p ; owl:targetValue 1 ; a owl:NegativePropertyAssertion .": (
        "NegativePropertyAssertion(:p :a 1)"
    ),
    ":D a rdfs:Datatype ; owl:equivalentClass [ a rdfs:Datatype ; owl:oneOf ( 1 2 ) ] .": (
        "DatatypeDefinition(:D OneOf(1 2))"
    ),
    ":l a owl:AnnotationProperty ; rdfs:subPropertyOf :m .": "SubAnnotationPropertyOf(:l :m)",
}


@pytest.mark.parametrize("text", CASES)
def test_constructs(tmp_path: Path, text: str) -> None:
    found = ontology(tmp_path, text)
    assert shown(found.axioms) == [CASES[text]]
    assert not found.unread


BROKEN = {
    ":A rdfs:subClassOf [ owl:unionOf [ rdf:first :B ] ] .": "a list is broken",
    ":A rdfs:subClassOf [ owl:onProperty :p ] .": "a restriction needs exactly one condition",
    ':A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality "many" ] .': "owl:maxCardinality is not a number",
    ":A rdfs:subClassOf [ a owl:Class ] .": "nothing says what a class is",
    ":A rdfs:subClassOf _:b . _:b owl:complementOf _:b .": "an expression contains itself",
    ":A rdfs:subClassOf 42 .": "a literal stands where a class is expected",
    ":a owl:friendOf :b .": "this is not vocabulary of OWL 2",
    "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :a .": "there must be one owl:assertionProperty, not 0",
    ":p owl:inverseOf 1 .": "a property is a name or the inverse of one",
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_cannot_be_understood_is_kept_with_the_reason(tmp_path: Path, text: str) -> None:
    found = ontology(tmp_path, text)
    assert not found.axioms
    assert [BROKEN[text] in each.reason for each in found.unread] == [True]


def test_annotations_are_counted_and_individuals_keep_theirs(tmp_path: Path) -> None:
    text = """
        <http://e.org/> a owl:Ontology ; rdfs:comment "about" .
        :A a owl:Class ; rdfs:label "A" ; :note "undeclared" . :p a rdf:Property ; rdfs:label "p" .
        :a a :A ; rdfs:label "an individual" .
        [] a owl:Axiom ; owl:annotatedSource :a ; owl:annotatedProperty rdf:type ; owl:annotatedTarget :A ;
            rdfs:comment "says who" .
    """
    found = ontology(tmp_path, text)
    assert found.annotations == 5
    assert shown(found.axioms) == ["ClassAssertion(:A :a)", 'PropertyAssertion(rdfs:label :a "an individual")']


def test_declarations_say_nothing(tmp_path: Path) -> None:
    text = ":A a owl:Class . :p a owl:ObjectProperty . :d a owl:DatatypeProperty . :a a owl:NamedIndividual ."
    assert ontology(tmp_path, text).axioms == ()


def test_imports_are_satisfied_by_given_files_only(tmp_path: Path) -> None:
    one = turtle(tmp_path, "<http://e.org/one> a owl:Ontology ; owl:imports <http://e.org/two> , <http://e.org/v3> .")
    two = turtle(tmp_path, "<http://e.org/two> a owl:Ontology .", "two.ttl")
    three = turtle(tmp_path, "<http://e.org/three> a owl:Ontology ; owl:versionIRI <http://e.org/v3> .", "three.ttl")
    alone, pair, all_three = (
        ontology_of(graph_of(read_document([str(path) for path in paths]))).missing_imports
        for paths in ([one], [one, two], [one, two, three])
    )
    assert alone == ("<http://e.org/two>", "<http://e.org/v3>")
    assert pair == ("<http://e.org/v3>",)
    assert all_three == ()


def test_rules_of_swrl(tmp_path: Path) -> None:
    text = """
        :x a swrl:Variable . :y a swrl:Variable .
        [] a swrl:Imp ;
            swrl:body ( [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :p ;
                          swrl:argument1 :x ; swrl:argument2 :y ] ) ;
            swrl:head ( [ a swrl:ClassAtom ; swrl:classPredicate :A ; swrl:argument1 :x ] ) .
        [] a swrl:Imp ; swrl:body ( [ a swrl:BuiltinAtom ] ) ; swrl:head () .
    """
    found = ontology(tmp_path, text)
    assert shown(found.axioms) == ["DLSafeRule(Body(:p(:x :y)) Head(:A(:x)))"]
    assert ["atoms of SWRL" in each.reason for each in found.unread] == [True]


def test_the_same_axioms_from_every_serialisation(tmp_path: Path) -> None:
    import pyoxigraph as ox

    text = ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom [ owl:unionOf ( :B :C ) ] ] . :a :p :b ."
    source = turtle(tmp_path, text)
    expected = shown(ontology_of(graph_of(read_document([str(source)]))).axioms)
    triples = list(ox.parse(path=str(source), format=ox.RdfFormat.TURTLE))
    formats = {
        "nt": ox.RdfFormat.N_TRIPLES,
        "nq": ox.RdfFormat.N_QUADS,
        "trig": ox.RdfFormat.TRIG,
        "owl": ox.RdfFormat.RDF_XML,
    }
    for extension, kind in formats.items():
        path = tmp_path / f"copy.{extension}"
        ox.serialize(triples, str(path), kind)
        assert sorted(shown(ontology_of(graph_of(read_document([str(path)]))).axioms)) == sorted(expected)
