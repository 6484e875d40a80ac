"""The changes from one version to another of facts that a store does not list: pairs of large closures.

Between versions with only updates in between, the graph of the later version is reverted to the earlier one, at the
cost of the changes. Otherwise the pairs of both are compared, block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from everlog.engine.dictionary import Constants, Dictionary
from everlog.engine.difference import applied
from everlog.engine.keys import BLOCK_ROWS, ID_BITS, ID_MASK, Column, Keys
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.stores import open as open_store
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.boundary import fed_by, inputs
from everlog.reasoning.modules.graphs import derived_since
from everlog.store.codec import change_of
from everlog.store.loading import always_counted, generated_in
from everlog.store.store import Store, negated

EMPTY = Relation.empty(2)

Relations = Mapping[Predicate, Relation]


@dataclass(frozen=True)
class Generated:
    """The changes of predicates that are generated in one of two versions, over a dictionary with all terms."""

    dictionary: Dictionary
    inserted: Relations
    deleted: Relations


def generated_changes(store: Store, start: int, end: int, rows: pa.Table) -> Generated | None:
    """The changes of generated predicates; None if there are no such predicates. ``rows`` are the changes of listed
    facts.
    """
    predicates = generated_in(store.info(end)) | (generated_in(store.info(start)) if start >= 0 else frozenset())
    if not predicates:
        return None
    kb = open_store(store.path, end)
    if start < 0:
        facts = kb.state().facts
        inserted = {predicate: facts.relation(predicate) for predicate in predicates}
        return Generated(kb.state().dictionary, inserted, dict.fromkeys(predicates, EMPTY))
    return _brought_back(store, start, end, kb, rows, predicates) or _compared(
        open_store(store.path, start), kb, predicates
    )


def _brought_back(
    store: Store, start: int, end: int, kb: KnowledgeBase, rows: pa.Table, predicates: frozenset[Predicate]
) -> Generated | None:
    """The changes, found from the changed rows; None if the versions have too little in common."""
    if store.updates_between(start, end) is None or store.info(start).rules != store.info(end).rules:
        return None
    program, later = kb.program, kb.stored(generated_in(store.info(end)))
    if not predicates.issubset(program.external):
        return None
    earlier = applied(later, change_of(negated(rows), later.dictionary), generated=generated_in(store.info(start)))
    fed = fed_by(program, earlier if always_counted(store, start, end) else earlier.uncounted())
    if fed is None:
        return None
    engine = Engine(len(later.dictionary), Constants(later.dictionary))
    back = derived_since(engine, program, kb.facts_with_hidden(), inputs(engine, program, earlier.facts, fed))
    inserted, deleted = ({p: part.relation(p) for p in predicates} for part in (back.gone, back.fresh))
    return Generated(later.dictionary, inserted, deleted)


def _compared(old: KnowledgeBase, new: KnowledgeBase, predicates: frozenset[Predicate]) -> Generated:
    """The changes, found by looking up the pairs of each of two versions in the other."""
    before, after = old.state(), new.state()
    dictionary = after.dictionary
    forwards = dictionary.encode(before.dictionary.decode(np.arange(len(before.dictionary))))
    backwards = np.full(len(dictionary), -1, np.int64)
    backwards[forwards] = np.arange(len(forwards))
    inserted, deleted = {}, {}
    for predicate in predicates:
        mine, its = after.facts.relation(predicate), before.facts.relation(predicate)
        inserted[predicate] = Relation.from_keys(EMPTY.layout, _missing(mine, its, backwards))
        deleted[predicate] = Relation.from_keys(EMPTY.layout, _renumbered(_missing(its, mine, forwards), forwards))
    return Generated(dictionary, inserted, deleted)


def _missing(mine: Relation, other: Relation, ids: Column) -> Keys:
    """The pairs that another relation does not have, in which terms have other ids, or -1 for none."""
    found = [np.empty(0, np.int64)]
    for keys in _blocks(mine):
        first, second = ids[keys >> ID_BITS], ids[keys & ID_MASK]
        known = np.flatnonzero((first >= 0) & (second >= 0))
        absent = np.ones(len(keys), np.bool_)
        absent[known] = ~other.contains(first[known] << ID_BITS | second[known])
        found.append(keys[absent])
    return np.concatenate(found)


def _renumbered(keys: Keys, ids: Column) -> Keys:
    return ids[keys >> ID_BITS] << ID_BITS | ids[keys & ID_MASK]


def _blocks(relation: Relation) -> Iterator[Keys]:
    """All pairs of a relation; in several blocks if it has a form of its own."""
    if relation.base is not None and not relation.runs and not relation.tombstones:
        yield from relation.base.blocks(0, BLOCK_ROWS)
        return
    keys = relation.keys()
    for start in range(0, len(keys), BLOCK_ROWS):
        yield keys[start : start + BLOCK_ROWS]
