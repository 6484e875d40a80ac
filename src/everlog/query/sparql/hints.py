"""Warnings about patterns that cannot match, where a user probably expects solutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic, warn
from everlog.lang.internal import is_internal
from everlog.lang.syntax import Constant, Predicate
from everlog.lang.terms import RDF_TYPE
from everlog.query.sparql.algebra import Basic, Call, Exists, Expression, InGraph, Pattern, Triple
from everlog.query.sparql.evaluation import Graphs
from everlog.query.sparql.graphs import TripleGraph

ONE_GRAPH = "leave GRAPH out; to keep the names of graphs, load with --graphs and ask with `everlog query`"


def warn_of(pattern: Pattern, graphs: Graphs) -> None:
    """Warn of GRAPH with an unknown graph, and of internal relations, whose facts are not triples."""
    for found in dict.fromkeys(_diagnostics(pattern, graphs)):
        warn(found)


def missing_graph(name: str, known: Iterable[str]) -> Diagnostic:
    """The warning that there is no graph with a name."""
    names = ", ".join(known)
    return _warning(Code.UNKNOWN_GRAPH, f"there is no graph {name}", f"known: {names}" if names else ONE_GRAPH)


def _diagnostics(pattern: Pattern, graphs: Graphs) -> Iterator[Diagnostic]:
    for each in _patterns(pattern):
        if isinstance(each, InGraph):
            yield from _of_graph(each, graphs)
        elif isinstance(each, Basic):
            for triple in each.triples:
                yield from _of_triple(triple, graphs.default)


def _of_graph(pattern: InGraph, graphs: Graphs) -> Iterator[Diagnostic]:
    if isinstance(pattern.graph, Constant):
        if pattern.graph.text not in graphs.named:
            yield missing_graph(pattern.graph.text, graphs.named)
    elif not graphs.named:
        message = f"GRAPH ?{pattern.graph.name} matches nothing: all facts are in the default graph"
        yield _warning(Code.NO_NAMED_GRAPHS, message, ONE_GRAPH)


def _of_triple(triple: Triple, graph: TripleGraph) -> Iterator[Diagnostic]:
    _, predicate, value = triple
    if not isinstance(predicate, Constant):
        return
    of_class = predicate.text == RDF_TYPE and isinstance(value, Constant)
    name = value.text if of_class and isinstance(value, Constant) else predicate.text
    relation = Predicate(name, 1 if of_class else 2)
    if is_internal(relation) and relation in graph.facts and not graph.options(triple):
        message = f"{name} is a relation of Everlog's own rules, and its facts are no triples"
        yield _warning(Code.INTERNAL_RELATION, message, "ask for it with `everlog query`, or with `query` in Python")


def _patterns(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern and all patterns in it, also those of EXISTS."""
    yield pattern
    for part in pattern.parts:
        yield from _patterns(part)
    for expression in pattern.expressions:
        for each in _exists(expression):
            yield from _patterns(each.pattern)


def _exists(expression: Expression) -> Iterator[Exists]:
    if isinstance(expression, Exists):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _exists(argument)


def _warning(code: Code, message: str, hint: str) -> Diagnostic:
    return Diagnostic(code, message, None, hint, severity=Severity.WARNING)
