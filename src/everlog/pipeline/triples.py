"""RDF as one relation of triples, for rules that speak about predicates."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from everlog.lang.syntax import Predicate
from everlog.lang.terms import RDF_TYPE
from everlog.pipeline.values import TEXT, constant_column

TRIPLE = Predicate("triple", 3)


def wants_triples(arities: Mapping[str, int]) -> bool:
    """Whether RDF is read as triples: if the rules have a predicate ``triple`` of three arguments.

    >>> wants_triples({"triple": 3}), wants_triples({"triple": 2})
    (True, False)
    """
    return arities.get(TRIPLE.name) == TRIPLE.arity


def as_triples(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Facts of RDF, ``C(s)`` and ``p(s, o)``, as ``triple(s, rdf:type, C)`` and ``triple(s, p, o)``.

    >>> facts = pa.record_batch({"predicate": ["<C>/1", "<p>/2"], "c0": ["<a>", "<a>"], "c1": [None, "1"]})
    >>> as_triples(facts).to_pylist()[1]
    {'predicate': 'triple/3', 'c0': '<a>', 'c1': '<p>', 'c2': '1'}
    """
    names = pc.utf8_slice_codeunits(batch.column("predicate"), 0, -2).cast(TEXT)
    subjects, values = batch.column("c0").cast(TEXT), batch.column("c1").cast(TEXT)
    verbs = names
    if values.null_count:
        types = values.is_null()
        verbs = pc.if_else(types, pa.scalar(RDF_TYPE, TEXT), names)
        values = pc.if_else(types, names, values)
    columns = [constant_column(str(TRIPLE), batch.num_rows), subjects, verbs, values]
    return pa.record_batch(columns, names=["predicate", "c0", "c1", "c2"])
