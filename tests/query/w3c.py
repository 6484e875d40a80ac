"""The W3C tests of SPARQL 1.1 in the shared data: reading them, and comparing answers with the expected ones.

Manifests and expected results are read with pyoxigraph. Answers are compared as RDF graphs up to the names of blank
nodes (a row is a node with a property for each variable); literals of numeric datatypes by their value, because
the lexical form of a computed number is left open, and language tags in lower case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import rdflib
from rdflib.compare import isomorphic

import everlog
from everlog.kb.dataset import Dataset
from everlog.lang.terms import literal_text, text_of, value_of
from everlog.query.sparql.results import Result, Solutions, Triples, Truth
from everlog.query.sparql.terms import Number, node_of, number_of, text_of_node

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"
RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
RDF_FORMATS = {".ttl": ox.RdfFormat.TURTLE, ".rdf": ox.RdfFormat.RDF_XML, ".nt": ox.RdfFormat.N_TRIPLES}
RESULT_FORMATS = {
    ".srx": ox.QueryResultsFormat.XML,
    ".srj": ox.QueryResultsFormat.JSON,
    ".tsv": ox.QueryResultsFormat.TSV,
}
KINDS = ("QueryEvaluationTest", "UpdateEvaluationTest", "CSVResultFormatTest", "NegativeSyntaxTest11")
Row = dict[str, str]
"""A solution: canonical texts by variable."""


@dataclass(frozen=True)
class Case:
    """One test of a manifest: its folder and name, its kind, and the nodes of its action and result."""

    folder: Path
    name: str
    kind: str
    action: Any
    result: Any

    @property
    def id(self) -> str:
        return f"{self.folder.name}/{self.name}"


class Manifest:
    """The triples of a manifest, by subject and predicate."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = folder.resolve().as_uri() + "/manifest.ttl"
        self._objects: dict[tuple[Any, str], list[Any]] = {}
        self._subjects: list[tuple[Any, str, Any]] = []
        for quad in parsed(folder / "manifest.ttl", self.base):
            self._objects.setdefault((quad.subject, quad.predicate.value), []).append(quad.object)
            self._subjects.append((quad.subject, quad.predicate.value, quad.object))

    def values(self, subject: Any, predicate: str) -> list[Any]:
        return self._objects.get((subject, predicate), [])

    def value(self, subject: Any, predicate: str) -> Any:
        return next(iter(self.values(subject, predicate)), None)

    def cases(self) -> Iterator[Case]:
        kinds = {MF + kind for kind in KINDS}
        for subject, predicate, kind in self._subjects:
            if predicate == RDF + "type" and isinstance(kind, ox.NamedNode) and kind.value in kinds:
                name = subject.value.rpartition("#")[2]
                action, result = self.value(subject, MF + "action"), self.value(subject, MF + "result")
                yield Case(self.folder, name, kind.value[len(MF) :], action, result)


@cache
def manifest(folder: Path) -> Manifest:
    return Manifest(folder)


def cases(data: Path, *kinds: str) -> list[Case]:
    """All tests of some kinds."""
    folders = sorted(path.parent for path in data.glob("sparql11/*/manifest.ttl"))
    return [case for folder in folders for case in manifest(folder).cases() if case.kind in kinds]


def parsed(path: Path, base: str | None = None) -> Iterable[Any]:
    return ox.parse(path.read_bytes(), RDF_FORMATS[path.suffix], base_iri=base or path.resolve().as_uri())


def path_of(node: Any) -> Path:
    return Path(node.value.removeprefix("file://"))


# asking -----------------------------------------------------------------------------------------


def knowledge_base(paths: Sequence[Path], **options: Any) -> everlog.KnowledgeBase:
    """The triples of files as facts."""
    facts: dict[tuple[str, int], list[tuple[Any, ...]]] = {}
    for number, path in enumerate(paths):
        for quad in parsed(path):
            subject, value = (value_of(_text(term, f"f{number}")) for term in (quad.subject, quad.object))
            if quad.predicate.value == RDF + "type" and isinstance(quad.object, ox.NamedNode):
                facts.setdefault((f"<{quad.object.value}>", 1), []).append((subject,))
            else:
                facts.setdefault((f"<{quad.predicate.value}>", 2), []).append((subject, value))
    kb = everlog.KnowledgeBase(**options)
    for predicate, rows in facts.items():
        kb.insert(predicate, rows)
    return kb


def query_dataset(case: Case) -> Dataset:
    """The graphs that a query test is about."""
    known = manifest(case.folder)
    default = [path_of(node) for node in known.values(case.action, QT + "data")]
    named = [path_of(node) for node in known.values(case.action, QT + "graphData")]
    return Dataset(knowledge_base(default), {path.resolve().as_uri(): knowledge_base([path]) for path in named})


def query_file(case: Case) -> Path:
    return path_of(manifest(case.folder).value(case.action, QT + "query"))


@cache
def answered(case: Case) -> Result:
    """The answer to a query test; several tests compare it."""
    path = query_file(case)
    return query_dataset(case).sparql(path.read_text(), base=path.resolve().as_uri())


def update_dataset(case: Case, node: Any) -> Dataset:
    """The graphs before or after an update."""
    known = manifest(case.folder)
    default = [path_of(each) for each in known.values(node, UT + "data")]
    named = {}
    for each in known.values(node, UT + "graphData"):
        path = path_of(known.value(each, UT + "graph") or known.value(each, UT + "data"))
        named[known.value(each, LABEL).value] = knowledge_base([path])
    return Dataset(knowledge_base(default), named)


def updated(case: Case) -> tuple[Dataset, Dataset]:
    """The graphs after an update, and the expected ones."""
    path = path_of(manifest(case.folder).value(case.action, UT + "request"))
    data = update_dataset(case, case.action)
    data.update(path.read_text(), base=path.resolve().as_uri())
    return data, update_dataset(case, case.result)


def touches_one_graph(case: Case) -> bool:
    """Whether an update is about the default graph only."""
    known = manifest(case.folder)
    text = path_of(known.value(case.action, UT + "request")).read_text().lower()
    return not any(word in text for word in ("graph", "with", "using")) and not any(
        known.values(node, UT + "graphData") for node in (case.action, case.result)
    )


# comparing --------------------------------------------------------------------------------------


def same_answer(case: Case, result: Result) -> bool:
    """Whether an answer is the one that the test expects."""
    path = path_of(case.result)
    expected = expected_answer(path)
    if isinstance(expected, bool):
        return isinstance(result, Truth) and bool(result) == expected
    if isinstance(result, Triples):
        rows = [tuple(column) for column in zip(*(t.to_pylist() for t in result.texts()), strict=True)]
        return isinstance(expected, list) and isomorphic(_graph(rows), _graph(expected))
    assert not isinstance(result, Truth)
    assert isinstance(expected, tuple)
    names, solutions = expected
    return set(names) == set(result.columns) and same_solutions(solutions_of(result), solutions)


def solutions_of(result: Solutions) -> list[Row]:
    columns = [column.to_pylist() for column in result.texts()]
    rows = zip(*columns, strict=True) if columns else [()] * len(result)
    return [{n: text for n, text in zip(result.columns, row, strict=True) if text is not None} for row in rows]


def same_solutions(found: Sequence[Row], expected: Sequence[Row]) -> bool:
    return len(found) == len(expected) and isomorphic(_solution_graph(found), _solution_graph(expected))


def expected_answer(path: Path) -> bool | tuple[list[str], list[Row]] | list[tuple[str, ...]]:
    """The contents of a result file: truth, solutions, or triples."""
    if path.suffix in RESULT_FORMATS:
        return read_results(path.read_bytes(), RESULT_FORMATS[path.suffix])
    triples = list(parsed(path))
    if any(quad.object == ox.NamedNode(RS + "ResultSet") for quad in triples):
        return _result_set(triples)
    return [(_text(q.subject, "e"), f"<{q.predicate.value}>", _text(q.object, "e")) for q in triples]


def read_results(data: bytes, form: Any) -> bool | tuple[list[str], list[Row]]:
    """Results in a standard format, as pyoxigraph reads them."""
    read = ox.parse_query_results(data, form)
    if isinstance(read, ox.QueryBoolean):
        return bool(read)
    names = [variable.value for variable in read.variables]
    rows = [{name: _text(term, "e") for name in names if (term := solution[name]) is not None} for solution in read]
    return names, rows


def _result_set(triples: Sequence[Any]) -> tuple[list[str], list[Row]]:
    """A result in the vocabulary of the test suite."""
    objects: dict[tuple[Any, str], list[Any]] = {}
    for quad in triples:
        objects.setdefault((quad.subject, quad.predicate.value), []).append(quad.object)
    root = next(q.subject for q in triples if q.object == ox.NamedNode(RS + "ResultSet"))
    names = [term.value for term in objects.get((root, RS + "resultVariable"), [])]
    rows = []
    for solution in objects.get((root, RS + "solution"), []):
        row = {}
        for binding in objects.get((solution, RS + "binding"), []):
            row[objects[binding, RS + "variable"][0].value] = _text(objects[binding, RS + "value"][0], "e")
        rows.append(row)
    return names, rows


def same_graphs(found: Dataset, expected: Dataset) -> bool:
    """Whether two datasets have the same triples in each graph; empty graphs do not count."""
    names = {name for data in (found, expected) for name, kb in data.named.items() if len(_triples(kb))}
    bases = [(found.default, expected.default), *((found.graph(n), expected.graph(n)) for n in sorted(names))]
    return all(isomorphic(_graph(_triples(one)), _graph(_triples(other))) for one, other in bases)


def _triples(kb: everlog.KnowledgeBase) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for predicate in kb.predicates:
        for row in kb[predicate]:
            texts = tuple(map(text_of, row))
            if predicate.arity == 1:
                rows.append((texts[0], f"<{RDF}type>", predicate.name))
            else:
                rows.append((texts[0], predicate.name, texts[1]))
    return rows


def _graph(rows: Iterable[Sequence[str]]) -> rdflib.Graph:
    graph = rdflib.Graph()
    for row in rows:
        graph.add(tuple(_rdflib(text) for text in row))
    return graph


def _solution_graph(rows: Iterable[Row]) -> rdflib.Graph:
    graph = rdflib.Graph()
    for row in rows:
        node = rdflib.BNode()
        graph.add((node, rdflib.URIRef("urn:row"), rdflib.Literal("row")))
        for name, text in row.items():
            graph.add((node, rdflib.URIRef(f"urn:{name}"), _rdflib(text)))
    return graph


def _rdflib(text: str) -> Any:
    """A term of rdflib; numbers have one form for each value and datatype."""
    if text.startswith("<"):
        return rdflib.URIRef(text[1:-1])
    if text.startswith("_:"):
        return rdflib.BNode(text[2:])
    node = node_of(text)
    number = number_of(node)
    if number is not None:
        node = node_of(text_of_node(Number(number.value, number.rank).node))
    return rdflib.Literal(repr(node), normalize=False)


def _text(term: Any, source: str) -> str:
    """The canonical text of a term of pyoxigraph."""
    if isinstance(term, ox.NamedNode):
        return f"<{term.value}>"
    if isinstance(term, ox.BlankNode):
        return f"_:{source}{term.value}"
    return literal_text(term.value, term.datatype.value, term.language)
