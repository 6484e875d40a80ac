"""Facts that are triples of RDF.

``C(s)`` is ``s rdf:type C`` and ``p(s, o)`` is ``s p o`` if the predicate is an IRI; ``triple(s, p, o)`` is itself. The
subject is an IRI or a blank node, the predicate an IRI. Rules over ``triple`` may also derive *generalised* triples,
with a literal as subject, which RDF does not have. Predicates in the namespace ``urn:everlog:`` belong to the programs
of profiles: auxiliary relations and ``everlog:violation``. They are not part of the user's graph.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.relation import Relation
from everlog.lang.internal import TRIPLE
from everlog.lang.syntax import Predicate
from everlog.lang.terms import RDF_TYPE
from everlog.query.answers import Rows


def may_be_triples(predicate: Predicate) -> bool:
    """Whether facts of a predicate are triples if their terms allow it.

    >>> [may_be_triples(Predicate(name, arity)) for name, arity in (("<p>", 1), ("<p>", 3), ("p", 2), ("triple", 3))]
    [True, False, False, True]
    """
    return predicate == TRIPLE or (predicate.name.startswith("<") and predicate.arity in (1, 2))


def are_triples(predicate: Predicate, columns: list[pa.LargeStringArray]) -> pa.BooleanArray:
    """A mask of the rows, given as canonical texts, that are triples; the predicate passes :func:`may_be_triples`.

    >>> columns = [pa.array(texts, pa.large_string()) for texts in (["<a>", "42"], ["42", "<a>"])]
    >>> are_triples(Predicate("<p>", 2), columns).to_pylist()
    [True, False]
    """
    found = pc.match_substring_regex(columns[0], "^[<_]")
    return pc.and_(found, pc.starts_with(columns[1], "<")) if predicate == TRIPLE else found


def merged(dictionary: Dictionary, facts: FactSet) -> Rows:
    """The facts of predicates of :func:`may_be_triples` as rows of one relation of triples, each once.

    >>> from everlog import KnowledgeBase
    >>> state = KnowledgeBase("<http://e.org/C>(<http://e.org/a>) . <http://e.org/p>(<http://e.org/a>, 1) .").state()
    >>> [str(predicate) for _, predicate, _ in merged(state.dictionary, state.facts)]
    ['http://e.org/p', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type']
    """
    rdf_type, *names = dictionary.encode(pa.array([RDF_TYPE, *(p.name for p in facts)], pa.large_string())).tolist()
    pieces = [[np.empty(0, np.int64)] * 3]
    for name, (predicate, relation) in zip(names, facts.items(), strict=True):
        columns = relation.columns()
        if predicate.arity == 2:
            columns.insert(1, np.full(len(relation), name))
        elif predicate.arity == 1:
            columns += [np.full(len(relation), rdf_type), np.full(len(relation), name)]
        pieces.append(columns)
    triples = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    return Rows(dictionary, Relation.from_columns(triples, len(dictionary)), ("subject", "predicate", "object"))
