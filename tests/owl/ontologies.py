"""Small ontologies in Turtle, and knowledge bases with their programs."""

from __future__ import annotations

from pathlib import Path

import everlog
from everlog.engine.factset import NONE
from everlog.ingest.facts import facts_in
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.splits import splits
from everlog.ingest.stage import stage
from everlog.ingest.tasks import IN_PROCESS
from everlog.lang.syntax import Program
from everlog.owl.axioms import Axiom, Ontology
from everlog.owl.functional import functional
from everlog.owl.graph import Document, OntologyGraph, read_document, triples_in
from everlog.owl.mapping import ontology_of

EX = "http://e.org/"
PREFIXES = f"""
@prefix : <{EX}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix swrl: <http://www.w3.org/2003/11/swrl#> .
"""
SHORT = {
    "": EX,
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def turtle(directory: Path, text: str, name: str = "ontology.ttl") -> Path:
    """Write a Turtle file with the usual prefixes and the text."""
    path = directory / name
    path.write_text(PREFIXES + text, encoding="utf-8")
    return path


def graph_of(document: Document) -> OntologyGraph:
    """The graph of all triples of a document."""
    return OntologyGraph.of((triple for batch in document.batches for triple in triples_in(batch)), document.prefixes)


def ontology(directory: Path, text: str) -> Ontology:
    return ontology_of(graph_of(read_document([str(turtle(directory, text))])))


def shown(axioms: tuple[Axiom, ...]) -> list[str]:
    return [functional(axiom, SHORT) for axiom in axioms]


def loaded(program: Program, work: Path, *paths: Path, base: str | None = None) -> everlog.KnowledgeBase:
    """A knowledge base with a program and the facts of files, read as by the command line."""
    kb = everlog.KnowledgeBase(program, maintain="none")
    arities = {p.name: p.arity for p in kb.predicates if not p.name.startswith("<")}
    options = ReadOptions(base=base, arities=arities)
    staged = stage(IN_PROCESS, splits(resolve([str(path) for path in paths], options), options), options, work, width=3)
    facts, _ = facts_in(staged, kb.state().dictionary, add=True)
    kb.update_facts(facts, NONE)
    return kb
