"""Saving knowledge bases: whole ones, and the changes since they were saved."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
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
        new = whole_version(kb, "save", expand_below=expand_below)
        version = new.commit(transaction)
    keep_whole_version(kb, place, version, new, transaction.writer)
    return version


@dataclass(frozen=True)
class NewVersion:
    """A version that is computed and not committed yet: what it states of itself, and the rows and terms that it adds.

    Rows and terms are batches, which the commit writes, or files in the directory of the transaction. ``state`` has all
    facts of the version, where they are in this process.
    """

    operation: str
    rules: str
    statistics: Mapping[str, Any]
    bookkeeping: str
    closures: Sequence[dict[str, Any]]
    modules: bool | None
    salt: int
    is_same: bool = False
    """Whether the version before has the same facts and rules."""
    facts: Iterable[pa.RecordBatch] = ()
    terms: Iterable[pa.RecordBatch] = ()
    fact_files: Sequence[Path] = ()
    term_files: Sequence[str] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)
    state: State | None = None

    def commit(
        self,
        transaction: Transaction,
        figures: Mapping[str, Any] = MappingProxyType({}),
        positions: Mapping[str, Any] | None = None,
    ) -> int:
        """Commit the version, and return its number; if nothing changed, return the number of the version before.

        ``figures`` are kept with the statistics. ``positions`` of streams, if there are any, make a version in any
        case.
        """
        if self.is_same and positions is None:
            assert transaction.base_version is not None
            return transaction.base_version
        transaction.declare(self.prefixes)
        transaction.add_term_files(self.term_files)
        transaction.add_terms(self.terms)
        transaction.add_fact_files(self.fact_files)
        transaction.add_facts(self.facts)
        return transaction.commit(
            rules=self.rules,
            statistics={**self.statistics, **figures},
            bookkeeping=self.bookkeeping,
            operation=self.operation,
            salt=self.salt,
            positions=None if positions is None else dict(positions),
            closures=self.closures,
            modules=self.modules,
        )


def whole_version(
    kb: Saveable,
    operation: str,
    *,
    expand_below: int = EXPAND_BELOW,
    maintain: Maintain | None = None,
    term_files: Sequence[str] = (),
    progress: AmountProgress | None = None,
) -> NewVersion:
    """A whole knowledge base as a version that is independent of earlier ones.

    Closures with more than ``expand_below`` facts are not listed. A version without counters has them computed once
    they are needed, for the algorithm ``maintain``, by default that of the knowledge base. ``term_files`` are in the
    transaction's directory and have the terms that the dictionary began with, sorted. ``progress`` is called with the
    number of rows written so far.
    """
    name_predicates(kb.dictionary, kb.predicates)
    is_written = bool(term_files) and not len(kb.dictionary.added)
    state = kb.stored(above(kb.program, kb.state().facts, expand_below)).ranked()
    _refuse_repeated_hashes(state.dictionary)
    statistics = kb.statistics.as_dict()
    return NewVersion(
        operation,
        kb.rules,
        {**statistics, "listed": state.rows.count, KINDS: kb.given.stored(kb.program.program)},
        bookkeeping_of(maintain or kb.maintain, is_counted=state.nr is not None),
        closures_of(kb.program, state.generated),
        wants_modules(kb),
        state.dictionary.salt,
        facts=counted(fact_batches(state), state.rows.count, progress),
        terms=() if is_written else term_batches(state.dictionary, ()),
        term_files=term_files if is_written else (),
        prefixes=kb.data_prefixes,
        state=state,
    )


def keep_whole_version(
    kb: Saveable,
    path: str | Path,
    version: int,
    new: NewVersion,
    writer: str,
    warning: Callable[[Diagnostic], None] = warn,
) -> None:
    """Write a snapshot of a version that was just committed, and let the knowledge base use it.

    A failure is a warning.
    """
    assert new.state is not None
    snapshot = without_snapshot(new.state)
    with after_commit(version, KEEPING, path, warning):
        store = Store.open(path)
        snapshot = write_whole(store, version, new.state) if store.version == version else snapshot
    kb.adopt(snapshot.state, StoreHandle.at(Path(path), version, writer, snapshot, kb.program))


def append(
    kb: Saveable,
    transaction: Transaction,
    figures: Mapping[str, Any] = MappingProxyType({}),
    positions: Mapping[str, Any] | None = None,
    expand_below: int = EXPAND_BELOW,
    store: Store | None = None,
) -> int:
    """Commit the changes of a knowledge base since it was opened or saved as the next version.

    The other arguments are those of :meth:`NewVersion.commit` and :func:`next_version`. ``store`` is the store, if it
    was opened since the transaction began.
    """
    saved = kb.saved
    assert saved is not None
    store = Store.open(saved.path) if store is None else store
    _refuse_newer(store, transaction.base_version, saved)
    new = next_version(kb, store, expand_below)
    version = new.commit(transaction, figures, positions)
    if version != transaction.base_version:
        assert new.state is not None
        snapshot = without_snapshot(new.state)
        with after_commit(version, KEEPING, saved.path):
            snapshot = _keep_update(saved, version, new.state, kb.program)
        kb.adopt(snapshot.state, StoreHandle.at(saved.path, version, transaction.writer, snapshot, kb.program))
    return version


def next_version(kb: Saveable, store: Store, expand_below: int = EXPAND_BELOW) -> NewVersion:
    """The newest version of a store with the changes of a knowledge base since it was opened or saved.

    The pairs of a closure that had no more than ``expand_below`` and has more by other rules are no longer listed.
    """
    saved = kb.saved
    assert saved is not None
    old = saved.snapshot.state
    same_rules = saved.has_rules_of(kb.program)
    state = kb.stored(old.generated if same_rules else old.generated | _outgrown(kb, old, expand_below))
    dictionary, rows = state.dictionary, changed_rows(kb, store, old, state)
    # Executors derive what has a name, so other rules bring the names of all their predicates.
    name_predicates(dictionary, {*rows.predicates, *(() if same_rules else kb.predicates)})
    _refuse_collisions(dictionary, saved.terms)
    statistics = dataclasses.replace(kb.statistics, instances=kb.work).as_dict()
    return NewVersion(
        "update" if same_rules else "rules",
        kb.rules,
        {**statistics, "listed": state.rows.count, KINDS: kb.given.stored(kb.program.program)},
        bookkeeping_of(kb.maintain, is_counted=state.nr is not None),
        closures_of(kb.program, state.generated),
        wants_modules(kb),
        dictionary.salt,
        is_same=same_rules and not rows.holds and not rows.explicit,
        facts=change_batches(rows, dictionary),
        terms=[added_terms(dictionary, saved.terms)] if len(dictionary) > saved.terms else (),
        prefixes=kb.data_prefixes,
        state=state,
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


def bookkeeping_of(maintain: str, *, is_counted: bool) -> str:
    """The bookkeeping that a version states: counters if its rows have them, otherwise what ``maintain`` asks for.

    A trace is not stored, but computed again when needed.
    """
    return COUNTED if is_counted else "counting" if maintain == "counting" else "none"


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
