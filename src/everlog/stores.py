"""Knowledge bases in stores: saving one, and opening one that was saved or materialised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from everlog.engine.state import State, to_arrays
from everlog.knowledge_base import KnowledgeBase
from everlog.lake import fact_batches, load, term_batches
from everlog.lang.errors import StoreError
from everlog.lang.parser import parse_program
from everlog.reasoning.statistics import Statistics, StratumStatistics
from everlog.store import Store, Transaction, begin, exists


def save(kb: KnowledgeBase, path: str | Path, *, overwrite: bool = False) -> int:
    """Write a knowledge base to a store; see :meth:`KnowledgeBase.save`."""
    refuse_existing(path, overwrite)
    state = kb.state().ranked()
    with begin(path, overwrite=overwrite) as transaction:
        transaction.add_terms(term_batches(state.dictionary, kb.predicates))
        version = commit_state(transaction, state, kb.rules, kb.statistics, "save")
    keep_snapshot(path, version, state)
    return version


def open(path: str | Path, version: int | None = None, **options: Any) -> KnowledgeBase:
    """The knowledge base in a store, in its newest or another version, ready to be queried.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/kb"
    >>> KnowledgeBase("p(?x) :- q(?x) . q(a) .").save(place)
    0
    >>> open(place)["p"].rows()
    [('a',)]
    """
    store = Store.open(path)
    info = store.info(version)
    program = parse_program(info.rules, f"{path} (rules of version {info.version})")
    state = load(store, info.version)
    return KnowledgeBase.restored(program, state, statistics_of(info.statistics), **options)


def refuse_existing(path: str | Path, overwrite: bool) -> None:
    """An error if there is a store already and it may not be replaced."""
    if exists(path) and not overwrite:
        hint = "pass --overwrite to replace its facts by a new version (old versions stay readable)"
        raise StoreError.of("store-exists", f"there is a store at {path} already", None, hint)


def commit_state(
    transaction: Transaction,
    state: State,
    rules: str,
    statistics: Statistics,
    operation: str,
    bookkeeping: str = "none",
) -> int:
    """Write the facts of a ranked state, whose terms are added already, and commit."""
    transaction.add_facts(fact_batches(state))
    return transaction.commit(
        rules=rules,
        statistics=statistics.as_dict(),
        bookkeeping=bookkeeping,
        operation=operation,
        salt=state.dictionary.salt,
    )


def keep_snapshot(path: str | Path, version: int, state: State) -> None:
    """Leave a snapshot, so that opening the version is quick."""
    store = Store.open(path)
    if store.version == version:
        store.write_snapshot(version, *to_arrays(state))


def statistics_of(data: dict[str, Any]) -> Statistics:
    """The inverse of ``Statistics.as_dict``."""
    fields = {name: data[name] for name in ("facts", "explicit", "instances", "rounds", "seconds")}
    return Statistics(**fields, strata=tuple(StratumStatistics(**stratum) for stratum in data["strata"]))
