"""Explanations by the rules of an ontology, in memory and from a store."""

from __future__ import annotations

from pathlib import Path

import everlog
from tests.oracle import naive
from tests.query.explain.checker import check_explanation

ONTOLOGY = """
@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Professor rdfs:subClassOf :Person .
:partOf a owl:TransitiveProperty , owl:ObjectProperty ; owl:inverseOf :hasPart .
:memberOf a owl:ObjectProperty ; rdfs:domain :Person ; owl:propertyChainAxiom ( :memberOf :partOf ) .
:ann a :Professor ; :memberOf :lab .
:lab :partOf :department . :university :hasPart :department .
"""


def test_rules_of_an_ontology(tmp_path: Path) -> None:
    source = tmp_path / "university.ttl"
    source.write_text(ONTOLOGY)
    kb = everlog.KnowledgeBase(source)
    program = kb.program.program.written
    assert program is not None
    kb.save(tmp_path / "kb")
    given = {(c.predicate, row) for c in program.data for row in zip(*(a.to_pylist() for a in c.arrays), strict=True)}
    given |= naive.explicit(program)
    holds = naive.materialise(program, given)
    asked = {
        "<http://example.org/Person>(?x)": 1,
        "<http://example.org/partOf>(?x, ?y)": 3,
        "<http://example.org/memberOf>(?x, ?y)": 3,
        "<http://example.org/hasPart>(?x, ?y)": 3,
    }
    for query, answers in asked.items():
        for each in (kb, everlog.open(tmp_path / "kb")):
            assert check_explanation(each.explain(query).to_dict(), program, given, holds) == answers
