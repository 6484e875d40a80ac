"""Between the engine and a store: dense ids on one side, hashes of terms on the other."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary, Texts
from everlog.engine.factset import FactSet
from everlog.engine.hashing import hash_text, text_buffers
from everlog.engine.kernels import texts as kernels
from everlog.engine.keys import columns_of
from everlog.engine.relation import Relation
from everlog.engine.state import State, from_arrays, to_arrays
from everlog.lang.errors import StoreError
from everlog.lang.syntax import Predicate

if TYPE_CHECKING:
    from everlog.store.store import Store

ROWS = 1 << 20
"""Rows of a batch on its way to a store."""

log = logging.getLogger(__name__)


def term_batches(dictionary: Dictionary, predicates: Iterable[Predicate]) -> Iterator[pa.RecordBatch]:
    """The terms of a ranked dictionary and the texts of predicates, as a store keeps them."""
    base, names = dictionary.base, ["id", "text"]
    texts = base.to_arrow()
    for start in range(0, len(base), ROWS):
        ids = pa.array(base.hashes[start : start + ROWS])
        yield pa.record_batch([ids, texts.slice(start, ROWS).cast(pa.string())], names=names)
    own = [str(p) for p in predicates if dictionary.find(str(p)) < 0]
    ids = pa.array([hash_text(text, salt=dictionary.salt) for text in own], pa.int64())
    yield pa.record_batch([ids, pa.array(own, pa.string())], names=names)


def fact_batches(state: State) -> Iterator[pa.RecordBatch]:
    """The facts of a ranked state as rows of a store, sorted by predicate, then arguments."""
    hashes, salt = state.dictionary.base.hashes, state.dictionary.salt
    for number, predicate in sorted((hash_text(str(p), salt=salt), p) for p in state.facts):
        relation, explicit = state.facts[predicate], state.explicit.relation(predicate)
        keys = relation.keys()
        for start in range(0, len(keys), ROWS):
            part = keys[start : start + ROWS]
            columns = {"predicate": np.full(len(part), number)}
            columns.update({f"c{i}": hashes[c] for i, c in enumerate(columns_of(relation.layout, part))})
            columns["holds"] = np.ones(len(part), np.int8)
            columns["explicit"] = explicit.contains(part).astype(np.int8)
            yield pa.record_batch(columns)


def dictionary_of(terms: pa.Table, salt: int = 0) -> Dictionary:
    """The dictionary of a table of terms sorted by id."""
    texts = terms.column("text").cast(pa.large_string()).combine_chunks()
    texts = texts if isinstance(texts, pa.Array) else pa.concat_arrays(texts.chunks)
    data, offsets = text_buffers(texts)
    ids = terms.column("id").to_numpy()
    return Dictionary(Texts(data, np.asarray(offsets, np.int64), np.ascontiguousarray(ids)), salt)


def facts_of(batches: Iterable[pa.RecordBatch], dictionary: Dictionary, *, explicit_only: bool = False) -> FactSet:
    """The facts of rows of ids: ``predicate``, ``c0``, ... in any order, repeated or not."""
    if not (batches := list(batches)):
        return FactSet()
    rows = pa.Table.from_batches(batches)
    if explicit_only:
        rows = rows.filter(pa.array(rows.column("explicit").to_numpy() > 0))
    if not rows.num_rows:
        return FactSet()
    predicates = rows.column("predicate").to_numpy()
    order = None if (predicates[:-1] <= predicates[1:]).all() else np.argsort(predicates, kind="stable")
    grouped = predicates if order is None else predicates[order]
    starts = [0, *(np.flatnonzero(grouped[1:] != grouped[:-1]) + 1).tolist(), len(grouped)]
    dense = _Dense(rows, dictionary, order)
    found: dict[Predicate, Relation] = {}
    for start, end in itertools.pairwise(starts):
        predicate = _predicate(dictionary, int(grouped[start]))
        columns = [dense.column(i, start, end) for i in range(predicate.arity)]
        found[predicate] = Relation.from_columns(columns, len(dictionary), end - start)
    return FactSet(found)


class _Dense:
    """The argument columns of rows as dense ids, in a given order of the rows."""

    def __init__(self, rows: pa.Table, dictionary: Dictionary, order: NDArray[np.int64] | None) -> None:
        self._rows = rows
        self._hashes = dictionary.base.hashes
        self._order = order
        self._columns: dict[int, NDArray[np.int64]] = {}

    def column(self, position: int, start: int, end: int) -> NDArray[np.int64]:
        if position not in self._columns:
            values = self._rows.column(f"c{position}").fill_null(0).to_numpy()
            ids: NDArray[np.int64] = kernels.ranks(_frozen(self._hashes), _frozen(values))
            self._columns[position] = ids if self._order is None else ids[self._order]
        found = self._columns[position][start:end]
        if len(found) and found.min() < 0:
            hint = "check the store with everlog verify"
            raise StoreError.of("unknown-term", "a fact uses a term that the dictionary does not have", None, hint)
        return found


def _frozen(array: NDArray[np.int64]) -> NDArray[np.int64]:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _predicate(dictionary: Dictionary, number: int) -> Predicate:
    at = int(np.searchsorted(dictionary.base.hashes, number))
    if at == len(dictionary.base) or dictionary.base.hashes[at] != number:
        raise StoreError.of("unknown-predicate-id", f"the predicate with id {number} is not among the terms")
    return Predicate.parse(dictionary.decode(np.array([at]))[0].as_py())


def load(store: Store, version: int | None = None) -> State:
    """The state of a version: from its snapshot, or from the tables, leaving a snapshot behind."""
    snapshot = store.snapshot(version)
    if snapshot is not None:
        return from_arrays(snapshot.arrays, snapshot.manifest)
    info = store.info(version)
    log.info("no snapshot of version %d: reading the tables", info.version)
    dictionary = dictionary_of(store.terms(version), info.salt)
    batches = list(store.facts(version))
    facts = facts_of(batches, dictionary)
    explicit = facts_of(batches, dictionary, explicit_only=True)
    state = State(dictionary, explicit, facts)
    if info.version == store.version:
        store.write_snapshot(info.version, *to_arrays(state))
    return state
