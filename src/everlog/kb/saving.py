"""Saving knowledge bases: whole ones, and the changes since they were saved."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from everlog.analysis.given import KINDS, GivenFacts
from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.dictionary import Dictionary
from everlog.engine.difference import Difference, counts_changed, difference
from everlog.engine.multiset import NO_COUNTS
from everlog.engine.state import State
from everlog.ingest.amounts import AmountProgress, counted
from everlog.ingest.dictionary import collision_error
from everlog.kb.since import ChangesSince
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, StoreError, warn
from everlog.lang.syntax import Predicate
from everlog.reasoning.materialisation import Maintain
from everlog.reasoning.modules.boundary import above
from everlog.reasoning.modules.description import closures_of
from everlog.reasoning.modules.graphs import forms
from everlog.reasoning.statistics import Statistics
from everlog.settings import EXPAND_BELOW, WAIT
from everlog.store import Store, Transaction, begin, exists
from everlog.store.codec import COUNTED, added_terms, change_batches, fact_batches, term_batches
from everlog.store.commit import conflict
from everlog.store.compaction import compact_if_worth
from everlog.store.errors import after_commit
from everlog.store.loading import stored_counts
from everlog.store.states import SnapshotState, without_snapshot, write_change, write_whole

KEEPING = "making a snapshot"
"""The step after a commit, as messages name it."""


@dataclass(frozen=True)
class StoreHandle:
    """A version of a store, its state, its number of terms, and its program, if rules may have changed since.

    ``writer`` is the transaction that committed it. It distinguishes the version from one of the same number in another
    history, as of a store that was repaired, restored or made anew.
    """

    path: Path
    version: int
    writer: str | None
    snapshot: SnapshotState
    terms: int
    program: StratifiedProgram | None = None

    @classmethod
    def at(
        cls,
        path: Path,
        version: int,
        writer: str | None,
        snapshot: SnapshotState,
        program: StratifiedProgram | None = None,
    ) -> StoreHandle:
        return cls(path.resolve(), version, writer, snapshot, len(snapshot.state.dictionary), program)

    def has_rules_of(self, program: StratifiedProgram) -> bool:
        """Whether the version has the rules of a program, too."""
        return self.program is None or self.program is program

    def has_closures_of(self, program: StratifiedProgram) -> bool:
        """Whether closures are kept as a program says, so that a snapshot may lie on top of that of the version."""
        return self.has_rules_of(program) or (self.program is not None and forms(self.program) == forms(program))


class Saveable(Protocol):
    """The attributes of a knowledge base that saving uses; see :class:`everlog.KnowledgeBase`."""

    saved: StoreHandle | None
    since: ChangesSince | None
    data_prefixes: Mapping[str, str]
    modules_open: bool
    given: GivenFacts

    @property
    def program(self) -> StratifiedProgram: ...

    @property
    def dictionary(self) -> Dictionary: ...

    @property
    def predicates(self) -> list[Predicate]: ...

    @property
    def rules(self) -> str: ...

    @property
    def modules(self) -> bool: ...

    @property
    def maintain(self) -> Maintain: ...

    @property
    def statistics(self) -> Statistics: ...

    @property
    def work(self) -> int: ...

    def state(self) -> State: ...

    def stored(self, generated: frozenset[Predicate]) -> State: ...

    def adopt(self, state: State, saved: StoreHandle | None) -> None: ...


def save(
    kb: Saveable,
    path: str | Path | None = None,
    *,
    overwrite: bool = False,
    expand_below: int = EXPAND_BELOW,
    wait: float = WAIT,
) -> int:
    """Write a knowledge base to a store; see :meth:`KnowledgeBase.save`."""
    saved = kb.saved
    if path is None and saved is None:
        raise StoreError.of(Code.NO_STORE, "the knowledge base comes from no store", None, "say where to save it")
    place = Path(path) if path is not None else saved.path  # type: ignore[union-attr]
    if saved is not None and not overwrite and place.resolve() == saved.path and exists(place):
        store = Store.open(place)
        _refuse_newer(store, store.version, saved)
        with begin(place, wait=wait) as transaction:
            version = append(kb, transaction, expand_below=expand_below)
        if version != transaction.base_version:
            compact_if_worth(place, version)
        return version
    refuse_existing(place, overwrite)
    kb.state()  # everything is derived before other writers have to wait
    with begin(place, overwrite=overwrite, wait=wait) as transaction:
        refuse_existing(place, overwrite)  # another writer may have made one while this waited
        version, state = commit_whole(kb, transaction, "save", expand_below=expand_below)
    keep_whole_version(kb, place, version, state, transaction.writer)
    return version


def commit_whole(
    kb: Saveable,
    transaction: Transaction,
    operation: str,
    *,
    expand_below: int = EXPAND_BELOW,
    maintain: Maintain | None = None,
    term_files: Sequence[str] = (),
    progress: AmountProgress | None = None,
) -> tuple[int, State]:
    """Commit a whole knowledge base as a version that is independent of earlier ones; returns the version and its
    state.

    Closures with more than ``expand_below`` facts are not listed. A version without counters has them computed once
    they are needed, for the algorithm ``maintain``, by default that of the knowledge base. ``term_files`` are in the
    transaction's directory and have the terms that the dictionary began with, sorted. ``progress`` is called with the
    number of rows written so far.
    """
    name_predicates(kb.dictionary, kb.predicates)
    is_written = bool(term_files) and not len(kb.dictionary.added)
    state = kb.stored(above(kb.program, kb.state().facts, expand_below)).ranked()
    _refuse_repeated_hashes(state.dictionary)
    transaction.declare(kb.data_prefixes)
    if is_written:
        transaction.add_term_files(term_files)
    else:
        transaction.add_terms(term_batches(state.dictionary, ()))
    transaction.add_facts(counted(fact_batches(state), state.rows.count, progress))
    version = transaction.commit(
        rules=kb.rules,
        statistics={
            **kb.statistics.as_dict(),
            "listed": state.rows.count,
            KINDS: kb.given.stored(kb.program.program),
        },
        bookkeeping=bookkeeping_of(state, maintain or kb.maintain),
        operation=operation,
        salt=state.dictionary.salt,
        closures=closures_of(kb.program, state.generated),
        modules=wants_modules(kb),
    )
    return version, state


def keep_whole_version(
    kb: Saveable,
    path: str | Path,
    version: int,
    state: State,
    writer: str,
    warning: Callable[[Diagnostic], None] = warn,
) -> None:
    """Write a snapshot of a version that was just committed, and let the knowledge base use it.

    A failure is a warning.
    """
    snapshot = without_snapshot(state)
    with after_commit(version, KEEPING, path, warning):
        store = Store.open(path)
        snapshot = write_whole(store, version, state) if store.version == version else snapshot
    kb.adopt(snapshot.state, StoreHandle.at(Path(path), version, writer, snapshot, kb.program))


def append(
    kb: Saveable,
    transaction: Transaction,
    figures: dict[str, Any] | None = None,
    positions: dict[str, Any] | None = None,
    expand_below: int = EXPAND_BELOW,
) -> int:
    """Commit the changes of a knowledge base since it was opened or saved as the next version.

    If nothing did, there is no new version, and the newest one is returned. ``figures`` are kept with
    the statistics of the version. ``positions`` of streams, if there are any, make a version in any case.
    The pairs of a closure that had no more than ``expand_below`` and has more by other rules are no longer listed.
    """
    saved = kb.saved
    assert saved is not None
    _refuse_newer(Store.open(saved.path), transaction.base_version, saved)
    made = next_version(kb, expand_below)
    if made.is_same and positions is None:
        assert transaction.base_version is not None
        return transaction.base_version
    transaction.declare(kb.data_prefixes)
    transaction.add_terms([] if made.terms is None else [made.terms])
    transaction.add_facts(change_batches(made.rows, kb.dictionary))
    version = transaction.commit(
        rules=made.rules_text,
        statistics={**made.statistics, **(figures or {})},
        bookkeeping=made.bookkeeping,
        operation="update" if made.same_rules else "rules",
        salt=kb.dictionary.salt,
        positions=positions,
        closures=made.closures,
        modules=made.modules,
    )
    snapshot = without_snapshot(made.new)
    with after_commit(version, KEEPING, saved.path):
        snapshot = _keep_update(saved, version, made.new, kb.program)
    kb.adopt(snapshot.state, StoreHandle.at(saved.path, version, transaction.writer, snapshot, kb.program))
    return version


@dataclass(frozen=True)
class NextVersion:
    """The additions of a knowledge base to the version that it comes from: rows, and terms that the store does not
    have.
    """

    new: State
    rows: Difference
    terms: pa.RecordBatch | None
    same_rules: bool
    rules_text: str
    statistics: dict[str, Any]
    bookkeeping: str
    closures: Sequence[dict[str, Any]]
    modules: bool

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        return self.same_rules and not self.rows.holds and not self.rows.explicit


def next_version(kb: Saveable, expand_below: int = EXPAND_BELOW) -> NextVersion:
    """The changes of a knowledge base since it was opened or saved; see :func:`append`."""
    saved = kb.saved
    assert saved is not None
    old = saved.snapshot.state
    same_rules = saved.has_rules_of(kb.program)
    new = kb.stored(old.generated if same_rules else old.generated | _outgrown(kb, old, expand_below))
    dictionary, rows = new.dictionary, changed_rows(kb, Store.open(saved.path), old, new)
    # Executors derive what has a name, so other rules bring the names of all their predicates.
    name_predicates(dictionary, {*rows.predicates, *(() if same_rules else kb.predicates)})
    _refuse_collisions(dictionary, saved.terms)
    statistics = dataclasses.replace(kb.statistics, instances=kb.work).as_dict()
    return NextVersion(
        new,
        rows,
        added_terms(dictionary, saved.terms) if len(dictionary) > saved.terms else None,
        same_rules,
        kb.rules,
        {**statistics, "listed": new.rows.count, KINDS: kb.given.stored(kb.program.program)},
        bookkeeping_of(new, kb.maintain),
        closures_of(kb.program, new.generated),
        wants_modules(kb),
    )


def _outgrown(kb: Saveable, old: State, most: int) -> frozenset[Predicate]:
    """The predicates of modules that have more than ``most`` facts, and had no more in the old state."""
    now = above(kb.program, kb.state().facts, most)
    return frozenset(predicate for predicate in now if len(old.facts.relation(predicate)) <= most)


def _refuse_newer(store: Store, version: int | None, saved: StoreHandle) -> None:
    """Refuse to build on another state than the one saved."""
    if not is_saved_in(saved, store, version):
        raise conflict(store.layout.facts)


def is_saved_in(saved: StoreHandle, store: Store, version: int | None) -> bool:
    """Whether a version has the facts that were saved; compactions in between change nothing."""
    if version is None or version < saved.version or store.info(saved.version).writer != saved.writer:
        return False
    return all(store.info(v).operation in ("compact", "widen") for v in range(saved.version + 1, version + 1))


def changed_rows(kb: Saveable, store: Store, old: State, new: State) -> Difference:
    """The changes to the rows of the newest version, which has the old state, so that it has the new one.

    These are the changes since. States are compared only where the changes are not known: where all facts were derived
    again, where a predicate is listed in another way, and where counters are kept that were not kept before.
    Counters that are not kept stay as they are in the rows.
    """
    since = kb.since
    change = difference(old, new) if since is None else since.rows(old, new)
    if new.nr is None or new.rec is None:
        return dataclasses.replace(change, nr=NO_COUNTS, rec=NO_COUNTS)
    if old.nr is None:
        nr, rec = stored_counts(store, new.dictionary)
        return dataclasses.replace(change, nr=counts_changed(nr, new.nr), rec=counts_changed(rec, new.rec))
    if since is not None and not since.counters_known():
        nr, rec = counts_changed(old.nr, new.nr), counts_changed(old.rec, new.rec)
        return dataclasses.replace(change, nr=nr, rec=rec)
    return change


def _keep_update(saved: StoreHandle, version: int, new: State, program: StratifiedProgram) -> SnapshotState:
    store = Store.open(saved.path)
    if store.version != version:
        return without_snapshot(new)
    if not saved.has_closures_of(program):
        return write_whole(store, version, new)
    return write_change(store, version, saved.snapshot, new)


def wants_modules(kb: Saveable) -> bool:
    """Whether modules are to take the rules of a knowledge base that they fit, even if there are none now."""
    return kb.modules or kb.modules_open


def refuse_existing(path: str | Path, overwrite: bool) -> None:
    """Raise an error if there is a store already and it may not be replaced."""
    if exists(path) and not overwrite:
        hint = "pass --overwrite (overwrite=True in Python) to make a new version; old ones stay readable"
        raise StoreError.of(Code.STORE_EXISTS, f"there is a store at {path} already", None, hint)


def name_predicates(dictionary: Dictionary, predicates: Iterable[Predicate]) -> None:
    """Add the texts of predicates to the terms, as stores have them."""
    dictionary.encode(pa.array(sorted(map(str, predicates)), pa.large_string()))


def bookkeeping_of(state: State, maintain: str) -> str:
    """The bookkeeping that a version states for its counters; a trace is not stored, but computed again when needed."""
    return COUNTED if state.nr is not None else "counting" if maintain == "counting" else "none"


def _refuse_collisions(dictionary: Dictionary, start: int) -> None:
    """Refuse new terms that have the id of another one."""
    new = dictionary.added.hashes[start - len(dictionary.base) :]
    known = dictionary.base.hashes
    at = np.minimum(np.searchsorted(known, new), max(len(known) - 1, 0))
    same = known[at] == new if len(known) else np.zeros(len(new), np.bool_)
    added, counts = np.unique(dictionary.added.hashes, return_counts=True)
    twice = np.isin(new, added[counts > 1])
    if not (same | twice).any():
        return
    wrong = int(np.flatnonzero(same | twice)[0])
    others = np.flatnonzero(dictionary.hashes() == new[wrong])[:2]
    one, other = dictionary.decode(others).to_pylist()
    raise collision_error([(int(new[wrong]), one, other)], dictionary.salt)


def _refuse_repeated_hashes(dictionary: Dictionary) -> None:
    """Refuse a ranked dictionary in which two terms have one id."""
    hashes = dictionary.base.hashes
    at = np.flatnonzero(hashes[1:] == hashes[:-1])
    if len(at):
        ones, others = (dictionary.decode(ids).to_pylist() for ids in (at, at + 1))
        raise collision_error(list(zip(hashes[at].tolist(), ones, others, strict=True)), dictionary.salt)
