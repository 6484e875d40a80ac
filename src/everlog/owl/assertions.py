"""Separate the assertions of an ontology about individuals, kept as columns, from its axioms.

Axioms are few and become objects; assertions may be many and are facts already. Whether a triple is follows from its
predicate, or its class, and for a few predicates from whether the subject is declared to be something other than an
individual.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.ingest.values import TEXT
from everlog.lang.syntax import Columns, Predicate
from everlog.owl.entities import DECLARATIONS, DeclaredEntities, entities
from everlog.owl.graph import Document, OntologyGraph, triples_in
from everlog.owl.mapping import AXIOM_PREDICATES, CHARACTERISTICS
from everlog.owl.vocabulary import DIFFERENT, NOTHING, OWL, SAME, SWRL, THING, XSD, is_datatype_name, owl

_NAMED_INDIVIDUAL = Predicate(owl("NamedIndividual"), 1)


class _Kind(Enum):
    AXIOM = auto()
    CLASS = auto()
    """The predicate of a class that is not part of OWL's vocabulary."""
    PROPERTY = auto()
    """The predicate of a property that is not part of OWL's vocabulary."""
    INDIVIDUAL = auto()
    """``owl:NamedIndividual``, which matters only for names that are classes or properties as well."""


@dataclass(frozen=True)
class Separated:
    """The triples of axioms, and the facts about individuals."""

    graph: OntologyGraph
    data: tuple[Columns, ...]
    schema: tuple[Columns, ...] = ()
    """The triples of axioms as facts, C(s) and p(s, o). Triples with a blank node, which are parts of expressions, and
    triples that are facts in any case are left out.
    """


def separated(document: Document) -> Separated:
    """Separate the axioms of a document from its assertions about individuals."""
    first = [_by_kind(batch) for batch in document.batches]
    axioms = [triple for kinds in first for triple in triples_in(kinds[_Kind.AXIOM])]
    known = entities(OntologyGraph.of(axioms))
    schema = pa.array(sorted(known.schema), TEXT)
    facts, others = [], [kinds[_Kind.AXIOM] for kinds in first]
    for kinds in first:
        individual = kinds[_Kind.INDIVIDUAL]
        axioms += triples_in(individual.filter(pc.is_in(individual.column("c0"), schema)))
        for kind in (_Kind.CLASS, _Kind.PROPERTY):
            mask = _are_assertions(kind, kinds[kind], known, schema)
            facts.append(kinds[kind].filter(mask))
            others.append(kinds[kind].filter(pc.invert(mask)))
            axioms += triples_in(others[-1])
    named = grouped([_without_blanks(batch) for batch in others])
    schema_facts = tuple(each for each in named if each.predicate.name not in (SAME, DIFFERENT))
    return Separated(OntologyGraph.of(axioms, document.prefixes), tuple(grouped(facts)), schema_facts)


def _without_blanks(batch: pa.RecordBatch) -> pa.RecordBatch:
    blank = (pc.starts_with(batch.column(name), "_:").fill_null(False) for name in ("c0", "c1"))
    return batch.filter(pc.invert(pc.or_(*blank)))


def grouped(batches: Sequence[pa.RecordBatch]) -> Iterator[Columns]:
    """The facts of batches by predicate, in order of first appearance.

    >>> batch = pa.record_batch({"predicate": ["<p>/2", "<C>/1"], "c0": ["1", "2"], "c1": ["3", None]})
    >>> [(str(each.predicate), [a.to_pylist() for a in each.arrays]) for each in grouped([batch])]
    [('<p>/2', [['1'], ['3']]), ('<C>/1', [['2']])]
    """
    if not any(batch.num_rows for batch in batches):
        return
    encoded = (
        pa.chunked_array([batch.column("predicate") for batch in batches]).dictionary_encode().unify_dictionaries()
    )
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])
    names = encoded.chunk(0).dictionary.to_pylist()
    ends = np.cumsum(np.bincount(codes, minlength=len(names))).tolist()
    columns = [
        pa.concat_arrays([batch.column(name).cast(TEXT) for batch in batches]) for name in batches[0].schema.names[1:]
    ]
    if len(names) > 1:
        order = pa.array(np.argsort(codes, kind="stable"))
        columns = [column.take(order) for column in columns]
    for name, start, end in zip(names, [0, *ends], ends, strict=False):
        predicate = Predicate.parse(name)
        yield Columns(predicate, tuple(column.slice(start, end - start) for column in columns[: predicate.arity]))


def _by_kind(batch: pa.RecordBatch) -> dict[_Kind, pa.RecordBatch]:
    encoded = batch.column("predicate").dictionary_encode()
    kinds = [_kind(Predicate.parse(name)) for name in encoded.dictionary.to_pylist()]
    present = {kind: batch.filter(_chosen(encoded, (each is kind for each in kinds))) for kind in set(kinds)}
    return {kind: present.get(kind, batch.slice(0, 0)) for kind in _Kind}


def _chosen(encoded: pa.DictionaryArray, which: Iterable[bool]) -> pa.BooleanArray:
    """The rows with some of the predicates."""
    return pa.array(np.fromiter(which, np.bool_)[encoded.indices.to_numpy()])


@cache
def _kind(predicate: Predicate) -> _Kind:
    name = predicate.name
    if predicate == _NAMED_INDIVIDUAL:
        return _Kind.INDIVIDUAL
    if predicate.arity == 1:
        meant = name in DECLARATIONS or name in CHARACTERISTICS or is_datatype_name(name)
        of_owl = name.startswith((f"<{OWL}", f"<{SWRL}")) and name not in (THING, NOTHING)
        return _Kind.AXIOM if meant or of_owl else _Kind.CLASS
    of_owl = name in AXIOM_PREDICATES or name.startswith((f"<{OWL}", f"<{SWRL}", f"<{XSD}"))
    return _Kind.AXIOM if of_owl else _Kind.PROPERTY


def _are_assertions(kind: _Kind, batch: pa.RecordBatch, known: DeclaredEntities, schema: pa.Array) -> pa.BooleanArray:
    """A mask of the assertions: types that are not datatypes; triples with a declared property, or about an
    individual."""
    encoded = batch.column("predicate").dictionary_encode()
    names = (Predicate.parse(text).name for text in encoded.dictionary.to_pylist())
    if kind is _Kind.CLASS:
        return _chosen(encoded, (not known.is_datatype(name) for name in names))
    declared = _chosen(encoded, map(known.is_declared, names))
    return pc.or_(declared, pc.invert(pc.is_in(batch.column("c0"), schema)))
