"""From solutions to triples: the templates of CONSTRUCT and of updates, and descriptions of terms."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

import numpy as np

from everlog.engine.keys import Column
from everlog.lang.syntax import Constant, Variable
from everlog.query.sparql.algebra import Basic, Names, Term, Triple
from everlog.query.sparql.graphs import TripleGraph
from everlog.query.sparql.matching import Matcher, RequiredColumns
from everlog.query.sparql.pool import TermPool, with_beginning
from everlog.query.sparql.table import SolutionTable, union

SUBJECT, PREDICATE, OBJECT = COLUMNS = ("subject", "predicate", "object")
GRAPH = "graph"


def template_names(triples: Iterable[Triple]) -> Names:
    """The variables of a template, without its blank nodes."""
    return frozenset(name for triple in triples for name in triple.names if not name.startswith("_:"))


def has_blanks(triples: Iterable[Triple]) -> bool:
    return any(name.startswith("_:") for triple in triples for name in triple.names)


class TemplateInstantiation:
    """Instantiates templates with solutions. A blank node of a template is a new one for each solution."""

    def __init__(self, terms: TermPool, solutions: SolutionTable) -> None:
        self._terms = terms
        self._solutions = solutions
        self._token = uuid.uuid4().hex[:12]
        self._blanks: dict[str, Column] = {}

    def column(self, term: Term) -> Column:
        """The values of a term of a template for all solutions."""
        size = self._solutions.size
        if isinstance(term, Constant):
            return np.full(size, self._terms.add(term.text), np.int64)
        if not term.name.startswith("_:"):
            return self._solutions.column(term.name)
        if term.name not in self._blanks:
            label = f"_:t{self._token}-{len(self._blanks)}-"
            self._blanks[term.name] = self._terms.add_all([f"{label}{row}" for row in range(size)])
        return self._blanks[term.name]

    def triple(self, triple: Triple, graph: Term | None = None, *, literal_subjects: bool = False) -> SolutionTable:
        """The instances of one triple of the template that are triples of RDF. With a graph there is a column for it,
        too.

        With a graph there is a column for it, too.
        """
        columns = {name: self.column(term) for name, term in zip(COLUMNS, triple, strict=True)}
        if graph is not None:
            columns[GRAPH] = self.column(graph)
        kept = np.logical_and.reduce([column >= 0 for column in columns.values()])
        for name in columns.keys() & {PREDICATE, GRAPH}:
            kept[kept] &= with_beginning(self._terms, columns[name][kept], "<")
        if not literal_subjects:
            kept[kept] &= with_beginning(self._terms, columns[SUBJECT][kept], "<", "_")
        return SolutionTable(columns, len(kept)).where(kept)


def construct(terms: TermPool, template: Sequence[Triple], solutions: SolutionTable) -> SolutionTable:
    """The distinct instances of the triples of a template."""
    filling = TemplateInstantiation(terms, solutions)
    return union([SolutionTable.empty(COLUMNS), *(filling.triple(triple) for triple in template)]).distinct()


def describe(matcher: Matcher, graph: TripleGraph, ids: Column) -> SolutionTable:
    """The triples about terms, and about the blank nodes in these, and so on (a concise bounded description)."""
    pattern = Basic((Triple(Variable(SUBJECT), Variable(PREDICATE), Variable(OBJECT)),))
    found, described = SolutionTable.empty(COLUMNS), np.unique(ids[ids >= 0])
    waiting = described
    while len(waiting):
        given = SolutionTable({SUBJECT: waiting}, len(waiting))
        new = matcher.basic(graph, pattern, RequiredColumns(frozenset(COLUMNS), True), given, None)
        found = union([found, new])
        objects = np.unique(new.columns[OBJECT])
        waiting = np.setdiff1d(objects[with_beginning(matcher.terms, objects, "_")], described)
        described = np.concatenate([described, waiting])
    subjects = with_beginning(matcher.terms, found.columns[SUBJECT], "<", "_")
    return found.where(subjects).distinct()
