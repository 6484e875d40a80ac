"""The 14 queries of LUBM over the lower bound of its ontology give the reference answers."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import everlog
from everlog.lang.terms import literal_text, value_of
from everlog.owl import program_of

COUNTS = (4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916)
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@pytest.fixture(scope="module")
def lubm(shared_data: Path) -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(program_of(shared_data / "lubm" / "univ-bench.ttl").program, maintain="none")
    facts: dict[tuple[str, int], set[tuple[Any, ...]]] = {}
    for path in sorted((shared_data / "lubm" / "data").glob("*.rdf.gz")):
        for quad in ox.parse(gzip.decompress(path.read_bytes()), ox.RdfFormat.RDF_XML, base_iri="http://lubm.org/"):
            subject, value = (value_of(_text(term)) for term in (quad.subject, quad.object))
            if quad.predicate.value == TYPE:
                facts.setdefault((f"<{quad.object.value}>", 1), set()).add((subject,))
            else:
                facts.setdefault((f"<{quad.predicate.value}>", 2), set()).add((subject, value))
    for predicate, rows in facts.items():
        kb.insert(predicate, list(rows))
    return kb


def _text(term: Any) -> str:
    if isinstance(term, ox.NamedNode):
        return f"<{term.value}>"
    return literal_text(term.value, term.datatype.value, term.language)


def reference(shared_data: Path, number: int) -> Counter[tuple[str, ...]]:
    path = shared_data / "lubm" / "answers" / f"answers_query{number}.csv"
    text = path.read_text() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes()).decode()
    return Counter(map(tuple, list(csv.reader(text.splitlines()))[1:]))


def test_the_materialisation_is_that_of_the_reference(lubm: everlog.KnowledgeBase) -> None:
    assert lubm.materialise().facts == 137_933
    assert lubm.sparql("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").rows() == [(137_933,)]


@pytest.mark.parametrize("number", range(1, 15))
def test_query(lubm: everlog.KnowledgeBase, shared_data: Path, number: int) -> None:
    query = (shared_data / "lubm" / "queries" / f"q{number}.rq").read_text()
    result = lubm.sparql(query)
    assert len(result) == COUNTS[number - 1]
    assert Counter(tuple(map(str, row)) for row in result.rows()) == reference(shared_data, number)
