"""The published Lehigh University Benchmark: one university, fourteen queries and their answers."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pyoxigraph as ox

import everlog
from everlog.lang.terms import literal_text, value_of
from everlog.owl import program_of

COUNTS = (4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916)
"""The number of answers of each query."""

FACTS = 137_933
"""The number of facts that the lower program of the ontology derives from the data."""

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
Answers = Counter[tuple[str, ...]]


def university(shared_data: Path, **options: Any) -> everlog.KnowledgeBase:
    """The lower program of the ontology with the facts about one university, in a fixed order."""
    kb = everlog.KnowledgeBase(program_of(shared_data / "lubm" / "univ-bench.ttl").program, **options)
    facts: dict[tuple[str, int], dict[tuple[Any, ...], None]] = {}
    for path in sorted((shared_data / "lubm" / "data").glob("*.rdf.gz")):
        for quad in ox.parse(gzip.decompress(path.read_bytes()), ox.RdfFormat.RDF_XML, base_iri="http://lubm.org/"):
            subject, value = (value_of(_text(term)) for term in (quad.subject, quad.object))
            if quad.predicate.value == TYPE:
                facts.setdefault((f"<{quad.object.value}>", 1), {})[(subject,)] = None
            else:
                facts.setdefault((f"<{quad.predicate.value}>", 2), {})[(subject, value)] = None
    for predicate, rows in facts.items():
        kb.insert(predicate, list(rows))
    return kb


def _text(term: Any) -> str:
    if isinstance(term, ox.NamedNode):
        return f"<{term.value}>"
    return literal_text(term.value, term.datatype.value, term.language)


def query(shared_data: Path, number: int) -> str:
    """The text of a query; numbers begin with 1."""
    return (shared_data / "lubm" / "queries" / f"q{number}.rq").read_text()


def answers(shared_data: Path, kb: everlog.KnowledgeBase, number: int) -> Answers:
    """The answers of a knowledge base to a query."""
    return Counter(tuple(map(str, row)) for row in kb.sparql(query(shared_data, number)).rows())


def reference(shared_data: Path, number: int) -> Answers:
    """The published answers to a query."""
    path = shared_data / "lubm" / "answers" / f"answers_query{number}.csv"
    text = path.read_text() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes()).decode()
    return Counter(map(tuple, list(csv.reader(text.splitlines()))[1:]))
