"""Between the engine and a store: dense ids on one side, hashes of terms on the other.

The dictionary of a state that comes from a store, or was written to one, has just the terms of the
store, the texts of predicates among them.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary, Texts
from everlog.engine.difference import Difference, applied
from everlog.engine.factset import FactSet
from everlog.engine.hashing import hash_text, text_buffers
from everlog.engine.kernels import texts as kernels
from everlog.engine.keys import columns_of, layout_for, pack
from everlog.engine.multiset import Counts, Multiset
from everlog.engine.relation import Relation
from everlog.engine.state import State
from everlog.lang.errors import StoreError
from everlog.lang.syntax import Predicate
from everlog.snapshots import keep_change, keep_state, state_of

if TYPE_CHECKING:
    from everlog.store import Snapshot
    from everlog.store.store import Store

ROWS = 1 << 20
"""Rows of a batch on its way to a store."""

WEIGHTS = {"holds": np.int8, "explicit": np.int8, "nr": np.int32, "rec": np.int32}
COUNTED = "dredc"
"""The bookkeeping of a version whose rows have counters."""

Ids = NDArray[np.int64]

log = logging.getLogger(__name__)


# To a store -------------------------------------------------------------------------------------


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


def added_terms(dictionary: Dictionary, start: int) -> pa.RecordBatch:
    """The terms from an id on."""
    ids = np.arange(start, len(dictionary), dtype=np.int64)
    columns = [pa.array(hashes_of(dictionary, ids)), dictionary.decode(ids).cast(pa.string())]
    return pa.record_batch(columns, names=["id", "text"])


def fact_batches(state: State) -> Iterator[pa.RecordBatch]:
    """The facts of a ranked state as rows of a store, sorted by predicate, then arguments."""
    hashes, salt = state.dictionary.base.hashes, state.dictionary.salt
    for number, predicate in sorted((hash_text(str(p), salt=salt), p) for p in state.facts):
        relation, explicit = state.facts[predicate], state.explicit.relation(predicate)
        counters = {"nr": state.nr, "rec": state.rec}
        counts = {name: counts[predicate] for name, counts in counters.items() if counts and predicate in counts}
        keys = relation.keys()
        for start in range(0, len(keys), ROWS):
            part = keys[start : start + ROWS]
            columns: dict[str, Any] = {"predicate": np.full(len(part), number)}
            columns.update({f"c{i}": hashes[c] for i, c in enumerate(columns_of(relation.layout, part))})
            columns["holds"] = np.ones(len(part), np.int8)
            columns["explicit"] = explicit.contains(part).astype(np.int8)
            columns["nr"], columns["rec"] = (
                counts[name].weights(part).astype(np.int32) if name in counts else np.zeros(len(part), np.int32)
                for name in counters
            )
            yield pa.record_batch(columns)


def change_batches(change: Difference, dictionary: Dictionary) -> Iterator[pa.RecordBatch]:
    """A change as signed rows of a store, one for each fact, in no order."""
    for predicate in change.predicates:
        keys, weights = change.rows(predicate)
        number = hash_text(str(predicate), salt=dictionary.salt)
        columns: dict[str, Any] = {"predicate": np.full(len(keys), number)}
        layout = next(part[predicate].layout for part in change.parts if predicate in part)
        for i, column in enumerate(columns_of(layout, keys)):
            columns[f"c{i}"] = hashes_of(dictionary, column)
        for (name, kind), weight in zip(WEIGHTS.items(), weights, strict=True):
            columns[name] = weight.astype(kind)
        yield pa.record_batch(columns)


def hashes_of(dictionary: Dictionary, ids: Ids) -> Ids:
    """The ids that a store has for dense ids."""
    base, added = dictionary.base.hashes, dictionary.added.hashes
    if not len(added):
        return base[ids]
    found = np.empty(len(ids), np.int64)
    is_base = ids < len(base)
    found[is_base], found[~is_base] = base[ids[is_base]], added[ids[~is_base] - len(base)]
    return found


# From a store -----------------------------------------------------------------------------------


def dictionary_of(terms: pa.Table, salt: int = 0) -> Dictionary:
    """The dictionary of a table of terms sorted by id."""
    texts = terms.column("text").cast(pa.large_string()).combine_chunks()
    texts = texts if isinstance(texts, pa.Array) else pa.concat_arrays(texts.chunks)
    data, offsets = text_buffers(texts)
    ids = terms.column("id").to_numpy()
    return Dictionary(Texts(data, np.asarray(offsets, np.int64), np.ascontiguousarray(ids)), salt)


def facts_of(batches: Iterable[pa.RecordBatch], dictionary: Dictionary, *, explicit_only: bool = False) -> FactSet:
    """The facts of rows of ids: ``predicate``, ``c0``, ... in any order, repeated or not."""
    rows = _table(batches)
    if explicit_only and rows is not None:
        rows = rows.filter(pa.array(rows.column("explicit").to_numpy() > 0))
    if rows is None or not rows.num_rows:
        return FactSet()
    dense = _Dense(rows, dictionary)
    return FactSet(
        {
            predicate: Relation.from_columns(dense.columns(predicate, start, end), len(dictionary), end - start)
            for predicate, start, end in dense.predicates()
        }
    )


def counts_of(batches: Iterable[pa.RecordBatch], dictionary: Dictionary, name: str) -> Counts:
    """The weights in one column of rows, each fact in one row."""
    rows = _table(batches)
    return Counts() if rows is None else Counts(_multisets(_Dense(rows, dictionary), name))


def change_of(rows: pa.Table, dictionary: Dictionary) -> Difference:
    """The change that signed rows are, one for each fact."""
    if not rows.num_rows:
        return Difference()
    dense = _Dense(rows, dictionary)
    return Difference(*(Counts(_multisets(dense, name)) for name in WEIGHTS))


def _multisets(dense: _Dense, name: str) -> Iterator[tuple[Predicate, Multiset]]:
    for predicate, start, end in dense.predicates():
        weights = dense.values(name, start, end)
        there = weights != 0
        layout = layout_for(predicate.arity, len(dense.dictionary))
        columns = [column[there] for column in dense.columns(predicate, start, end)]
        keys, weights = pack(layout, columns, int(there.sum())), weights[there].astype(np.int32)
        order = np.argsort(keys, kind="stable") if layout.is_packed else np.lexsort(keys.T[::-1])
        yield predicate, Multiset(layout, ((keys[order], weights[order]),))


def _table(batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
    listed = [batch for batch in batches if batch.num_rows]
    return pa.Table.from_batches(listed) if listed else None


class _Dense:
    """Rows with their argument columns as dense ids, grouped by predicate."""

    def __init__(self, rows: pa.Table, dictionary: Dictionary) -> None:
        predicates = rows.column("predicate").to_numpy()
        in_order = bool((predicates[:-1] <= predicates[1:]).all())
        self.dictionary = dictionary
        self._rows = rows
        self._order = None if in_order else np.argsort(predicates, kind="stable")
        self._grouped = predicates if self._order is None else predicates[self._order]
        self._columns: dict[str, NDArray[Any]] = {}

    def predicates(self) -> Iterator[tuple[Predicate, int, int]]:
        """Each predicate with the rows it has, from one to before another."""
        grouped = self._grouped
        starts = [0, *(np.flatnonzero(grouped[1:] != grouped[:-1]) + 1).tolist(), len(grouped)]
        for start, end in itertools.pairwise(starts):
            yield _predicate(self.dictionary, int(grouped[start])), start, end

    def columns(self, predicate: Predicate, start: int, end: int) -> list[Ids]:
        """The arguments of the rows of a predicate."""
        found = [self._column(f"c{i}", dense=True)[start:end] for i in range(predicate.arity)]
        if any(len(column) and column.min() < 0 for column in found):
            hint = "check the store with everlog verify"
            raise StoreError.of("unknown-term", "a fact uses a term that the dictionary does not have", None, hint)
        return found

    def values(self, name: str, start: int, end: int) -> NDArray[Any]:
        """Another column of the rows."""
        return self._column(name)[start:end]

    def _column(self, name: str, dense: bool = False) -> NDArray[Any]:
        if name not in self._columns:
            values = self._rows.column(name).fill_null(0).to_numpy()
            values = ids_of(self.dictionary, values) if dense else values
            self._columns[name] = values if self._order is None else values[self._order]
        return self._columns[name]


def ids_of(dictionary: Dictionary, hashes: Ids) -> Ids:
    """The dense ids of hashes, -1 for those that no term has."""
    ids: Ids = kernels.ranks(_frozen(dictionary.base.hashes), _frozen(hashes))
    added = dictionary.added.hashes
    if len(added) and len(missing := np.flatnonzero(ids < 0)):
        order = np.argsort(added, kind="stable")
        at = np.minimum(np.searchsorted(added[order], hashes[missing]), len(order) - 1)
        found = added[order[at]] == hashes[missing]
        ids[missing] = np.where(found, len(dictionary.base) + order[at], -1)
    return ids


def _frozen(array: Ids) -> Ids:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _predicate(dictionary: Dictionary, number: int) -> Predicate:
    found = ids_of(dictionary, np.array([number]))
    if found[0] < 0:
        raise StoreError.of("unknown-predicate-id", f"the predicate with id {number} is not among the terms")
    return Predicate.parse(dictionary.decode(found)[0].as_py())


# Loading ----------------------------------------------------------------------------------------


def load(store: Store, version: int | None = None) -> State:
    """The state of a version: from its snapshot, from that of another version and the changes between
    the two, or from the tables. If the version is the newest, a snapshot of it is left behind.
    """
    info = store.info(version)
    found = store.nearest_snapshot(info.version)
    if found is not None and found.version == info.version:
        return state_of(found)
    if found is not None and (info.bookkeeping != COUNTED or _always_counted(store, found.version, info.version)):
        return _caught_up(store, found, info.version)
    log.info("no snapshot of version %d: reading the tables", info.version)
    state = state_in_tables(store, info.version)
    if info.version == store.version:
        keep_state(store, info.version, state)
    return state


def _always_counted(store: Store, one: int, other: int) -> bool:
    """Whether counters were kept from one version to another, so that the rows are their exact changes."""
    low, high = sorted((one, other))
    return all(store.info(version).bookkeeping == COUNTED for version in range(low, high + 1))


def state_in_tables(store: Store, version: int | None = None) -> State:
    """The state of a version as the tables have it."""
    info = store.info(version)
    dictionary = dictionary_of(store.terms(info.version), info.salt)
    batches = list(store.facts(info.version))
    facts, explicit = facts_of(batches, dictionary), facts_of(batches, dictionary, explicit_only=True)
    if info.bookkeeping != COUNTED:
        return State(dictionary, explicit, facts)
    nr, rec = (counts_of(batches, dictionary, name) for name in ("nr", "rec"))
    return State(dictionary, explicit, facts, nr, rec)


def _caught_up(store: Store, found: Snapshot, version: int) -> State:
    """The state of a version from the snapshot of another one, at the cost of what changed between them."""
    from everlog.store.store import negated

    old = state_of(found)
    if found.version < version:
        for texts in store.new_terms(found.version, version).column("text").chunks:
            old.dictionary.encode(texts)
        rows = store.changes(found.version, version)
    else:
        rows = negated(store.changes(version, found.version))
    change = change_of(rows, old.dictionary)
    state = applied(old, change)
    if store.info(version).bookkeeping != COUNTED:
        state = State(state.dictionary, state.explicit, state.facts)
    if version == store.version:
        keep_change(store, version, found, change, state)
    return state


def stored_counts(store: Store, dictionary: Dictionary) -> tuple[Counts, Counts]:
    """The sums of the counters that the rows of the newest version have, whether they are right or not."""
    batches = [batch for table in store.sums() for batch in table.combine_chunks().to_batches()]
    return counts_of(batches, dictionary, "nr"), counts_of(batches, dictionary, "rec")
