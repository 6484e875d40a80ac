"""Assertions are separated from axioms, and are read as columns."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

import everlog
from everlog.lang.syntax import Atom, Rule
from everlog.owl import program_of
from everlog.owl.graph import read_document
from everlog.owl.mapping import ontology_of
from everlog.owl.rules import Translator
from everlog.owl.vocabulary import PREFIXES
from tests.owl.ontologies import EX, graph_of, turtle

MIXED = """
    :A a owl:Class ; rdfs:label "a class" ; :note "of a class" . :T a rdfs:Datatype . :p a owl:ObjectProperty .
    :A :p :x . :x a :A , :T , xsd:int , owl:Thing , [ owl:unionOf ( :A :B ) ] ; rdfs:label "x" ; :p :y ; :q 7 .
    :A a owl:NamedIndividual . :y a owl:NamedIndividual . :B a owl:Class ; :q 8 . :x owl:sameAs :z .
    :n a owl:AnnotationProperty . :n :q 9 . :x :n "annotated" . _:anonymous a :B ; :p _:other .
    :x owl:nonsense :y . :x a owl:Nonsense . [] a owl:Axiom ; :q 10 . :x xsd:pattern "a" . :x :q 7 , 7.0 .
"""


def by_axioms(path: Path) -> tuple[set[Rule], set[Atom]]:
    """The rules and facts of a file whose triples are all read as axioms."""
    document = read_document([str(path)])
    own = {name: iri for name, iri in document.prefixes.items() if name not in PREFIXES}
    translator = Translator("lower", False, {**own, **PREFIXES})
    parts = [translator.translate(axiom) for axiom in ontology_of(graph_of(document)).axioms]
    return set(chain.from_iterable(p.rules for p in parts)), set(chain.from_iterable(p.facts for p in parts))


def test_nothing_is_lost(tmp_path: Path) -> None:
    path = turtle(tmp_path, MIXED)
    translation, (rules, facts) = program_of(path), by_axioms(path)
    assert set(translation.facts) == facts
    assert rules <= set(translation.program.rules)
    assert sum(map(len, translation.program.data)) > len(translation.program.facts)
    assert len(translation.facts) == len(set(translation.facts))


@pytest.mark.parametrize(
    "name",
    [
        "lubm/univ-bench.ttl",
        "skos/skos.rdf",
        pytest.param("skos/UAT-5.1.0.rdf.gz", marks=pytest.mark.long),
        "ontologies/ro.owl.gz",
    ],
)
def test_real_ontologies(shared_data: Path, name: str) -> None:
    translation, (rules, facts) = program_of(shared_data / name), by_axioms(shared_data / name)
    assert set(translation.facts) == facts
    assert rules <= set(translation.program.rules)


def test_facts_about_individuals_come_as_columns(tmp_path: Path) -> None:
    rows = "".join(f":i{i} a :A ; :p :i{i + 1} ; rdfs:label 'number {i}' .\n" for i in range(1_000))
    path = turtle(tmp_path, ":p rdfs:domain :B . :A rdfs:subClassOf :C .\n" + rows)
    program = program_of(path).program
    assert not program.facts
    assert sorted(len(each) for each in program.data) == [1_000] * 3
    kb = everlog.KnowledgeBase(path)
    assert len(kb[":B"]) == len(kb[":C"]) == 1_000
    kb.delete(":p", [(everlog.IRI(f"{EX}i0"), everlog.IRI(f"{EX}i1"))])
    assert len(kb[":B"]) == 999
    assert "number 1" not in kb.rules


def test_data_is_no_part_of_the_text_in_a_store(tmp_path: Path) -> None:
    path = turtle(tmp_path, ":A rdfs:subClassOf :C . :x a :A . :y :p :x .")
    kb = everlog.KnowledgeBase(path)
    kb.save(tmp_path / "kb")
    again = everlog.open(tmp_path / "kb")
    assert again[":C"].rows() == kb[":C"].rows() != []
    assert again[":p"].explicit.rows() == kb[":p"].rows() != []
