"""Loading a version of a store: from its snapshot, from another snapshot and the changes since, or from the tables."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from everlog.engine.dictionary import Dictionary
from everlog.engine.difference import applied
from everlog.engine.multiset import Counts
from everlog.engine.state import State
from everlog.engine.tables import ids_among
from everlog.lang.syntax import Predicate
from everlog.store.codec import COUNTED, change_of, counts_of, dictionary_of, ids_of, state_of
from everlog.store.states import SnapshotState, mapped_state, mapped_terms, without_snapshot, write_change, write_whole
from everlog.store.store import negated

if TYPE_CHECKING:
    from everlog.store import Snapshot, VersionInfo
    from everlog.store.store import Store

FACTS_AN_UPDATE = 300
"""Number of facts that are read from the tables in the time that reading the changes of one version takes."""

NEAR = 300
"""Maximum number of updates between a version and a snapshot from which its terms are read, instead of from
the tables.
"""

log = logging.getLogger(__name__)


def load(store: Store, version: int | None = None) -> SnapshotState:
    """The state of a version, loaded in the cheapest way. If the version is the newest, a snapshot of it is written."""
    info = store.info(version)
    rows = sum(file.rows or 0 for file in store.files(info.version))
    found = store.nearest_snapshot(info.version, within=rows // FACTS_AN_UPDATE)
    mapped = None if found is None else _from_snapshot(store, found, info)
    if mapped is not None:
        return mapped
    log.info("no snapshot of version %d: reading the tables", info.version)
    state = state_in_tables(store, info.version)
    return write_whole(store, info.version, state) if info.version == store.version else without_snapshot(state)


def _from_snapshot(store: Store, found: Snapshot, info: VersionInfo) -> SnapshotState | None:
    """The state of a version from a snapshot of it or of another version; None if the snapshot cannot be used."""
    same = store.updates_between(found.version, info.version) == 0
    if not same and info.bookkeeping == COUNTED and not always_counted(store, found.version, info.version):
        return None
    mapped = mapped_state(found)
    return mapped if mapped is None or same else _caught_up(store, found.version, mapped, info)


def always_counted(store: Store, one: int, other: int) -> bool:
    """Whether every version between the two has counters, so that its rows are their exact changes."""
    low, high = sorted((one, other))
    return all(store.info(version).bookkeeping == COUNTED for version in range(low, high + 1))


def _caught_up(store: Store, at: int, old: SnapshotState, info: VersionInfo) -> SnapshotState:
    """The state of a version, made from the state of the version ``at`` and the changes between the two."""
    dictionary, version = old.state.dictionary, info.version
    if at < version:
        for texts in store.new_terms(at, version).column("text").chunks:
            dictionary.encode(texts)
        rows = store.changes(at, version)
    else:
        rows = negated(store.changes(version, at))
    state = applied(old.state, change_of(rows, dictionary), generated=generated_in(info))
    if info.bookkeeping != COUNTED:
        state = state.uncounted()
    if version != store.version:
        return without_snapshot(state)
    if store.info(at).rules != info.rules:
        return write_whole(store, version, state)
    return write_change(store, version, old, state)


def state_in_tables(store: Store, version: int | None = None) -> State:
    """The state of a version, read from the tables."""
    info = store.info(version)
    dictionary = dictionary_of(store.terms(info.version), info.salt)
    counted, generated = info.bookkeeping == COUNTED, generated_in(info)
    return state_of(store.facts(info.version), dictionary, counted=counted, generated=generated)


def generated_in(info: VersionInfo) -> frozenset[Predicate]:
    """The predicates of a version whose facts are not all listed."""
    return frozenset(Predicate.parse(closure["predicate"]) for closure in info.closures)


def stored_counts(store: Store, dictionary: Dictionary) -> tuple[Counts, Counts]:
    """The sums of the counters in the rows of the newest version, whether or not they are right."""
    batches = [batch for table in store.sums() for batch in table.combine_chunks().to_batches()]
    return counts_of(batches, dictionary, "nr"), counts_of(batches, dictionary, "rec")


def terms_of_rows(store: Store, rows: pa.Table, *versions: int) -> Dictionary:
    """A dictionary with the terms that rows use; each term is in one of the versions.

    That of a snapshot costs nothing; otherwise the terms are read from the tables.
    """
    ids = np.unique(np.concatenate([rows.column(name).drop_null().to_numpy() for name in ids_among(rows.column_names)]))
    snapshot = store.nearest_snapshot(versions[-1], within=NEAR)
    known = None if snapshot is None else mapped_terms(snapshot)
    if known is not None and (ids_of(known, ids) >= 0).all():
        return known
    found = Dictionary(salt=store.info(versions[-1]).salt)
    for version in versions:
        for texts in store.terms_of(ids, version).column("text").chunks:
            found.encode(texts)
    return found
