"""The codec between states of the engine and rows of a store: dense ids on one side, hashes of terms on the other.

The dictionary of a state that comes from a store, or was written to one, has exactly the terms of the store, the
texts of predicates among them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary, Texts
from everlog.engine.difference import Difference, state_of_rows
from everlog.engine.factset import FactSet
from everlog.engine.grouped import Group
from everlog.engine.hashing import hash_text, hash_texts, text_buffers
from everlog.engine.kernels import texts as kernels
from everlog.engine.keys import BLOCK_ROWS, Keys, Layout, columns_of, layout_for, pack
from everlog.engine.multiset import Counts, Multiset
from everlog.engine.relation import Relation
from everlog.engine.state import State
from everlog.engine.tables import argument_names
from everlog.lang.codes import Code
from everlog.lang.errors import StoreError
from everlog.lang.syntax import Predicate
from everlog.store.schema import TERMS, WEIGHT_TYPES, WEIGHTS

COUNTED = "dredc"
"""The bookkeeping of a version whose rows have counters."""

Ids = NDArray[np.int64]
Numbering = Callable[[Ids], Ids]
"""Maps ids of a store to dense ids, or the other way round."""

# To a store -------------------------------------------------------------------------------------


def term_batches(dictionary: Dictionary, predicates: Iterable[Predicate]) -> Iterator[pa.RecordBatch]:
    """Yield the terms of a ranked dictionary and the texts of predicates as rows of a store."""
    base, names = dictionary.base, TERMS.names
    texts = base.to_arrow()
    for start in range(0, len(base), BLOCK_ROWS):
        ids = pa.array(base.hashes[start : start + BLOCK_ROWS])
        yield pa.record_batch([ids, texts.slice(start, BLOCK_ROWS).cast(pa.string())], names=names)
    own = [str(p) for p in predicates if dictionary.find(str(p)) < 0]
    ids = pa.array([hash_text(text, salt=dictionary.salt) for text in own], pa.int64())
    yield pa.record_batch([ids, pa.array(own, pa.string())], names=names)


def added_terms(dictionary: Dictionary, start: int) -> pa.RecordBatch:
    """The terms of a dictionary from an id on."""
    ids = np.arange(start, len(dictionary), dtype=np.int64)
    columns = [pa.array(hashes_of(dictionary, ids)), dictionary.decode(ids).cast(pa.string())]
    return pa.record_batch(columns, names=TERMS.names)


def fact_batches(state: State) -> Iterator[pa.RecordBatch]:
    """The facts of a ranked state as rows of a store, sorted by predicate, then arguments."""
    hashes = state.dictionary.base.hashes
    return _batches(_weighted_facts(state), lambda ids: hashes[ids])


def change_batches(change: Difference, dictionary: Dictionary) -> Iterator[pa.RecordBatch]:
    """A change as signed rows of a store, one for each fact, in no order."""
    return changed_rows(change, lambda ids: hashes_of(dictionary, ids), dictionary.salt)


def changed_rows(change: Difference, hashed: Numbering, salt: int) -> Iterator[pa.RecordBatch]:
    """A change as signed rows of a store, where ``hashed`` maps the ids of the change to those of the store."""
    return _batches(_weighted_changes(change, salt), hashed)


@dataclass(frozen=True)
class _Weighted:
    """Facts of one predicate with their weights, by name; ``number`` is the id of the predicate."""

    number: int
    layout: Layout
    keys: Keys
    weights: dict[str, NDArray[Any]]

    def slice(self, start: int, end: int) -> _Weighted:
        weights = {name: column[start:end] for name, column in self.weights.items()}
        return _Weighted(self.number, self.layout, self.keys[start:end], weights)


def _weighted_facts(state: State) -> Iterator[_Weighted]:
    rows = state.rows
    predicates = list(rows)
    numbers = _numbers(predicates, state.dictionary.salt)
    for number, predicate in sorted(zip(numbers, predicates, strict=True)):
        relation = rows[predicate]
        keys = relation.keys()
        for start in range(0, len(keys), BLOCK_ROWS):
            part = keys[start : start + BLOCK_ROWS]
            yield _Weighted(number, relation.layout, part, _weights_in(state, predicate, part, len(keys)))


def _weights_in(state: State, predicate: Predicate, keys: Keys, of: int) -> dict[str, NDArray[Any]]:
    """The weights of some listed facts of a predicate, which has ``of`` facts in all."""
    explicit, size = state.explicit.get(predicate), len(keys)
    if explicit is None or len(explicit) == of:
        is_explicit = np.full(size, explicit is not None, np.int8)
    else:
        is_explicit = explicit.contains(keys).astype(np.int8)
    weights: dict[str, NDArray[Any]] = {"holds": np.ones(size, np.int8), "explicit": is_explicit}
    for name, counts in (("nr", state.nr), ("rec", state.rec)):
        found = None if counts is None else counts.get(predicate)
        weights[name] = np.zeros(size, np.int32) if found is None else found.weights(keys).astype(np.int32)
    return weights


def _weighted_changes(change: Difference, salt: int) -> Iterator[_Weighted]:
    predicates = change.predicates
    for number, predicate in zip(_numbers(predicates, salt), predicates, strict=True):
        keys, weights = change.rows(predicate)
        layout = next(part[predicate].layout for part in change.parts if predicate in part)
        named = zip(WEIGHT_TYPES.items(), weights, strict=True)
        columns = {name: weight.astype(kind.to_pandas_dtype()) for (name, kind), weight in named}
        yield _Weighted(number, layout, keys, columns)


def _numbers(predicates: Sequence[Predicate], salt: int) -> list[int]:
    """The ids of predicates."""
    found: list[int] = hash_texts(pa.array(list(map(str, predicates)), pa.large_string()), salt=salt).tolist()
    return found


def _batches(facts: Iterable[_Weighted], hashed: Numbering) -> Iterator[pa.RecordBatch]:
    """Yield rows of a store in batches that are as full as possible."""
    held: list[_Weighted] = []
    room = BLOCK_ROWS
    for mine in facts:
        start = 0
        while start < len(mine.keys):
            held.append(mine.slice(start, start + room))
            start, room = start + room, room - len(held[-1].keys)
            if not room:
                yield _batch(held, hashed)
                held, room = [], BLOCK_ROWS
    if held:
        yield _batch(held, hashed)


def _batch(held: Sequence[_Weighted], hashed: Numbering) -> pa.RecordBatch:
    """The rows of several predicates, one after the other, with nulls beyond the arity of each."""
    sizes = [len(mine.keys) for mine in held]
    arities = np.repeat([mine.layout.arity for mine in held], sizes)
    arguments = np.zeros((int(arities.max()), len(arities)), np.int64)
    for layout in {mine.layout for mine in held}:
        keys = np.concatenate([mine.keys for mine in held if mine.layout == layout])
        rows = slice(None) if len(keys) == len(arities) else np.flatnonzero(arities == layout.arity)
        for position, column in enumerate(columns_of(layout, keys)):
            arguments[position, rows] = hashed(column)
    columns: dict[str, Any] = {"predicate": np.repeat([mine.number for mine in held], sizes)}
    for position, (name, column) in enumerate(zip(argument_names(len(arguments)), arguments, strict=True)):
        columns[name] = pa.array(column, mask=arities <= position)
    for name in WEIGHTS:
        columns[name] = np.concatenate([mine.weights[name] for mine in held])
    return pa.record_batch(columns)


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


def state_of(
    batches: Iterable[pa.RecordBatch],
    dictionary: Dictionary,
    *,
    counted: bool,
    generated: frozenset[Predicate] = frozenset(),
) -> State:
    """The state made of rows with ``predicate``, ``c0``, ..., ``explicit``, ``nr``, ``rec``; each fact has one row."""
    facts: dict[Predicate, Relation] = {}
    explicit: dict[Predicate, Relation] = {}
    nr: dict[Predicate, Multiset] = {}
    rec: dict[Predicate, Multiset] = {}
    for group, weights in _groups(batches, dictionary):
        if counted:
            nr.update(_multisets(group, weights("nr")))
            rec.update(_multisets(group, weights("rec")))
        explicit.update(group.where(weights("explicit") > 0).relations())
        facts.update(group.relations())
    counts = (Counts(nr), Counts(rec)) if counted else (None, None)
    return state_of_rows(dictionary, FactSet(explicit), FactSet(facts), counts, generated)


def facts_of(batches: Iterable[pa.RecordBatch], dictionary: Dictionary, dense: Numbering | None = None) -> FactSet:
    """The facts in rows of hashes: ``predicate``, ``c0``, ... in any order, repeated or not. ``dense`` maps hashes to
    ids of the dictionary, by default those of its terms.
    """
    return FactSet(found for group, _ in _groups(batches, dictionary, dense) for found in group.relations())


def counts_of(batches: Iterable[pa.RecordBatch], dictionary: Dictionary, name: str) -> Counts:
    """The counts in one column of rows; each fact has one row."""
    groups = _groups(batches, dictionary)
    return Counts(found for group, weights in groups for found in _multisets(group, weights(name)))


def change_of(rows: pa.Table, dictionary: Dictionary) -> Difference:
    """The change described by signed rows; each fact has one row."""
    groups = list(_groups(rows.to_batches(), dictionary))
    return Difference(
        *(Counts(found for group, weights in groups for found in _multisets(group, weights(name))) for name in WEIGHTS)
    )


def _multisets(group: Group, weights: NDArray[Any]) -> Iterator[tuple[Predicate, Multiset]]:
    there = weights != 0
    return group.where(there).multisets(weights[there].astype(np.int32))


_Weights = Callable[[str], NDArray[Any]]
"""The weights of the facts of a group, by the name of their column."""


def _groups(
    batches: Iterable[pa.RecordBatch], dictionary: Dictionary, dense: Numbering | None = None
) -> Iterator[tuple[Group, _Weights]]:
    """Yield rows with dense ids, as one group for each arity, with a function that gives their weights."""
    dense = dense or functools.partial(ids_of, dictionary)
    listed = [batch for batch in batches if batch.num_rows]
    if not listed:
        return
    rows = pa.Table.from_batches(listed)
    numbers = rows.column("predicate").to_numpy()
    order = None
    if not (numbers[:-1] <= numbers[1:]).all():
        order = np.argsort(numbers, kind="stable")
        numbers = numbers[order]
    starts = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
    predicates = _predicates(dictionary, numbers[starts], dense)
    sizes = np.diff(np.append(starts, len(numbers)))
    arities = np.array([predicate.arity for predicate in predicates])

    def values(name: str, chosen: NDArray[np.bool_] | None) -> NDArray[Any]:
        """The chosen values of a column, with nulls as 0."""
        found: NDArray[Any] = rows.column(name).fill_null(0).to_numpy()
        found = found if order is None else found[order]
        return found if chosen is None else found[chosen]

    for arity in np.unique(arities).tolist():
        mine = arities == arity
        chosen = None if mine.all() else np.repeat(mine, sizes)
        layout = layout_for(arity, len(dictionary))
        arguments = (_all_known(dense(values(name, chosen))) for name in argument_names(arity))
        keys = pack(layout, arguments, int(sizes[mine].sum()))
        listed_ = [predicate for predicate in predicates if predicate.arity == arity]
        group = Group(listed_, layout, np.concatenate([[0], np.cumsum(sizes[mine])]), keys)
        yield group, functools.partial(values, chosen=chosen)


def _all_known(ids: Ids) -> Ids:
    """The dense ids of terms; an error if one of them is -1."""
    if len(ids) and ids.min() < 0:
        hint = "check the store with everlog verify"
        raise StoreError.of(Code.UNKNOWN_TERM, "a fact uses a term that the dictionary does not have", None, hint)
    return ids


def ids_of(dictionary: Dictionary, hashes: Ids) -> Ids:
    """The dense ids of hashes, -1 for hashes of no term."""
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


def _predicates(dictionary: Dictionary, numbers: Ids, dense: Numbering) -> list[Predicate]:
    ids = dense(numbers)
    if len(unknown := numbers[ids < 0]):
        message = f"the predicate with id {unknown[0]} is not among the terms"
        raise StoreError.of(Code.UNKNOWN_PREDICATE_ID, message, None, "check the store with everlog verify")
    return [Predicate.parse(text) for text in dictionary.decode(ids).to_pylist()]
