"""RDF as one relation of triples or quads, for rules that speak about predicates."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from everlog.ingest.sources import ReadOptions
from everlog.ingest.values import TEXT, fact_batch
from everlog.lang.codes import Code
from everlog.lang.errors import DataError
from everlog.lang.internal import TRIPLE
from everlog.lang.syntax import Predicate
from everlog.lang.terms import RDF_TYPE

QUAD = Predicate("triple", 4)
"""The predicate of triples with the graph as last argument."""


def wants_triples(options: ReadOptions) -> bool:
    """Whether RDF is read as triples: if the rules have a predicate ``triple`` of three arguments, or four with graphs.

    >>> wants_triples(ReadOptions(arities={"triple": 3})), wants_triples(ReadOptions(arities={"triple": 2}))
    (True, False)
    """
    wanted = QUAD if options.graphs else TRIPLE
    return options.arities.get(wanted.name) == wanted.arity


def rdf_width(options: ReadOptions) -> int:
    """Maximum number of arguments of a fact of RDF.

    >>> rdf_width(ReadOptions()), rdf_width(ReadOptions(graphs=True, arities={"triple": 4}))
    (2, 4)
    """
    return 2 + options.graphs + wants_triples(options)


def refuse_graphs(options: ReadOptions, ontology: bool = False) -> None:
    """Raise an error if graphs are wanted and the rules have no place for them."""
    if not options.graphs:
        return
    if ontology:
        message = "the rules of ontologies and profiles speak of C(s) and p(s, o), and graphs are one argument more"
        hint = "leave out --graphs, which merges the graphs, or write rules with the graph as last argument"
        raise DataError.of(Code.GRAPHS, message, None, hint)
    if options.arities.get(TRIPLE.name) == TRIPLE.arity:
        message = "the rules have `triple` with three arguments; with graphs it has four: triple(s, p, o, g)"
        hint = "leave out --graphs, or write `triple(?s, ?p, ?o, ?g)` in the rules"
        raise DataError.of(Code.GRAPHS, message, None, hint)


def as_triples(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Facts of RDF, ``C(s)`` and ``p(s, o)``, as ``triple(s, rdf:type, C)`` and ``triple(s, p, o)``.

    Facts that have a graph as last argument keep it.

    >>> facts = pa.record_batch({"predicate": ["<C>/1", "<p>/2"], "c0": ["<a>", "<a>"], "c1": [None, "1"]})
    >>> as_triples(facts).to_pylist()[1]
    {'predicate': 'triple/3', 'c0': '<a>', 'c1': '<p>', 'c2': '1'}
    """
    names = pc.utf8_slice_codeunits(batch.column("predicate"), 0, -2).cast(TEXT)
    subjects, *values = (column.cast(TEXT) for column in batch.columns[1:])
    verbs = names
    if values[-1].null_count:
        types = values[-1].is_null()
        verbs = pc.if_else(types, pa.scalar(RDF_TYPE, TEXT), names)
        moved = [names, *values]
        values = [pc.if_else(types, before, value) for before, value in zip(moved, values, strict=False)]
    found = TRIPLE if len(values) == 1 else QUAD
    return fact_batch(found, [subjects, verbs, *values], batch.num_rows)
