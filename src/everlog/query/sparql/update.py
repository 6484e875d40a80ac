"""SPARQL Update: operations as changes of explicit facts.

The pattern of an operation is matched in all facts; the instances of its templates are deleted from the explicit facts
and inserted into them, in one update of each knowledge base. If an operation of a request fails, those before it are
undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Column
from everlog.engine.relation import Relation
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError, RuleError, warn
from everlog.lang.internal import TRIPLE
from everlog.lang.syntax import Constant, Predicate, Variable
from everlog.lang.terms import RDF_TYPE
from everlog.query.sparql.algebra import Basic, Clear, Modify, Operation, Quad
from everlog.query.sparql.dataset import GraphBase, GraphSet
from everlog.query.sparql.evaluation import Evaluation
from everlog.query.sparql.graphs import BARE, is_seen
from everlog.query.sparql.hints import missing_graph, warn_of
from everlog.query.sparql.parsing import parse_update, refusing_deep_queries
from everlog.query.sparql.pool import TermPool, distinct_ids, with_beginning
from everlog.query.sparql.table import SolutionTable, union
from everlog.query.sparql.templates import (
    COLUMNS,
    GRAPH,
    OBJECT,
    PREDICATE,
    SUBJECT,
    TemplateInstantiation,
    has_blanks,
    template_names,
)

ByGraph = dict[str | None, SolutionTable]
"""Triples by the graph they are in, None for the default graph."""


@refusing_deep_queries()
def update(dataset: GraphSet[Any], text: str, *, base: str = "") -> tuple[Any, ...]:
    """Carry out a request; returns the changes, one for each knowledge base that an operation is about."""
    operations = parse_update(text, dataset.prefixes, base, dataset.limits())
    changes: list[Any] = []
    before: list[tuple[GraphBase, FactSet]] = []
    try:
        for operation in operations:
            for kb, insert, delete, unknown in _facts(dataset, operation):
                before.append((kb, kb.state().explicit))
                changes.append(kb.update_facts(insert, delete, unknown=unknown))
    except (EverlogError, RecursionError, MemoryError):
        for kb, explicit in reversed(before):
            _restore(kb, explicit)
        raise
    return tuple(changes)


def _restore(kb: GraphBase, explicit: FactSet) -> None:
    state = kb.state()
    old = explicit.fitted(len(state.dictionary))
    kb.update_facts(old - state.explicit, state.explicit - old, kinds={})


Facts = tuple[GraphBase, FactSet, FactSet, int]
"""A knowledge base, facts to insert, facts to delete, and the number of facts to delete that have unknown terms."""


def _facts(dataset: GraphSet[Any], operation: Operation) -> list[Facts]:
    if isinstance(operation, Clear):
        return [(kb, NONE, _visible(kb), 0) for kb in _cleared(dataset, operation)]
    evaluation = dataset.evaluation(dataset.limits(), operation.using, operation.base, operation.graph)
    warn_of(operation.pattern, evaluation.graphs)
    delete, insert = _triples(evaluation, operation)
    found: list[Facts] = []
    for name in dict.fromkeys((*delete, *insert)):
        kb = dataset.graph(name)
        if operation.pattern == Basic() and TRIPLE in kb.predicates:
            _refuse_literal_subjects(operation.insert)
        dropped, unknown = _encoded(kb, evaluation.terms, delete.get(name), add=False)
        added, _ = _encoded(kb, evaluation.terms, insert.get(name), add=True)
        found.append((kb, added, dropped, unknown))
    return found


def _refuse_literal_subjects(quads: Sequence[Quad]) -> None:
    for _, triple in quads:
        subject = triple.subject
        if isinstance(subject, Constant) and not subject.text.startswith("<"):
            message = f"the literal {subject.text} cannot be the subject of a triple"
            hint = "put an IRI or a blank node in its place"
            raise RuleError.of(Code.LITERAL_SUBJECT, message, None, hint)


def _cleared(dataset: GraphSet[Any], operation: Clear) -> list[GraphBase]:
    if operation.graph is not None:
        if operation.graph not in dataset.named:
            warn(missing_graph(operation.graph, dataset.named))
            return []
        return [dataset.named[operation.graph]]
    return [*([dataset.default] if operation.default else ()), *(dataset.named.values() if operation.named else ())]


def _visible(kb: GraphBase) -> FactSet:
    """The explicit facts of predicates whose facts are triples."""
    explicit = kb.state().explicit
    return explicit.restricted(predicate for predicate in explicit if is_seen(predicate))


def _triples(evaluation: Evaluation, operation: Modify) -> tuple[ByGraph, ByGraph]:
    """The instances of the templates for the solutions: triples to delete, and triples to insert."""
    templates = [triple for _, triple in (*operation.delete, *operation.insert)]
    graphs = {graph.name for graph, _ in (*operation.delete, *operation.insert) if isinstance(graph, Variable)}
    names = template_names(templates) | graphs
    found = evaluation.unweighted(evaluation.solutions(operation.pattern, names, distinct=not has_blanks(templates)))
    filling = TemplateInstantiation(evaluation.terms, found)
    return _filled(evaluation.terms, filling, operation.delete), _filled(evaluation.terms, filling, operation.insert)


def _filled(terms: TermPool, filling: TemplateInstantiation, quads: Sequence[Quad]) -> ByGraph:
    pieces: dict[str | None, list[SolutionTable]] = {}
    for graph, triple in quads:
        made = filling.triple(triple, graph, literal_subjects=True)
        if graph is None:
            pieces.setdefault(None, []).append(made)
            continue
        names = made.columns[GRAPH]
        for own in np.unique(names):
            text = terms.texts(np.array([own])).to_pylist()[0]
            pieces.setdefault(text, []).append(made.where(names == own).only(COLUMNS))
    return {name: union(tables).distinct() for name, tables in pieces.items()}


def _encoded(kb: GraphBase, terms: TermPool, triples: SolutionTable | None, *, add: bool) -> tuple[FactSet, int]:
    """Triples as facts over the dictionary of a knowledge base, and the number of triples with terms that it lacks."""
    if triples is None or not triples.size:
        return NONE, 0
    dictionary = kb.state().dictionary
    columns = {name: triples.columns[name] for name in COLUMNS}
    relations: dict[Predicate, list[list[Column]]] = {}
    if TRIPLE in kb.predicates:
        if add:  # a template makes no triple that RDF does not allow (SPARQL 1.1 Update, section 4.3.2)
            allowed = with_beginning(terms, columns[SUBJECT], "<", "_")
            columns = {name: column[allowed] for name, column in columns.items()}
        relations[TRIPLE] = [list(columns.values())]
    else:
        for predicate, parts in _by_predicate(terms, columns):
            relations.setdefault(predicate, []).append(parts)
    found, unknown = {}, 0
    for predicate, pieces in relations.items():
        ids = [_looked_up(dictionary, terms, np.concatenate(parts), add) for parts in zip(*pieces, strict=True)]
        known = np.logical_and.reduce([column >= 0 for column in ids])
        unknown += int(np.count_nonzero(~known))
        found[predicate] = [column[known] for column in ids]
    universe = len(dictionary)
    return FactSet({p: Relation.from_columns(ids, universe) for p, ids in found.items()}), unknown


def _by_predicate(terms: TermPool, columns: dict[str, Column]) -> list[tuple[Predicate, list[Column]]]:
    """The columns of the facts of each predicate."""
    found: list[tuple[Predicate, list[Column]]] = []
    subjects, predicates, objects = columns[SUBJECT], columns[PREDICATE], columns[OBJECT]
    typing = (predicates == terms[RDF_TYPE]) & with_beginning(terms, objects, "<")
    for mask, names, arity in ((typing, objects, 1), (~typing, predicates, 2)):
        rows = np.flatnonzero(mask)
        different, places = distinct_ids(names[rows])
        for place, text in enumerate(terms.texts(different).to_pylist()):
            own = rows[places == place]
            predicate = _predicate(text, arity)
            found.append((predicate, [subjects[own]] if arity == 1 else [subjects[own], objects[own]]))
    return found


def _predicate(text: str, arity: int) -> Predicate:
    """The predicate of an IRI."""
    return Predicate(text[len(BARE) + 1 : -1] if text.startswith(f"<{BARE}") else text, arity)


def _looked_up(dictionary: Dictionary, terms: TermPool, ids: Column, add: bool) -> Column:
    """The ids of terms in another dictionary, -1 for those it does not have."""
    different, places = distinct_ids(ids)
    texts: pa.LargeStringArray = terms.texts(different)
    found = dictionary.encode(texts) if add else dictionary.lookup(texts)
    return found[places]
