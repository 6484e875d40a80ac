"""Small stores for tests: facts as tuples of texts, written and read back through the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from everlog.engine.hashing import hash_text, hash_texts
from everlog.store import Store, begin, steps
from everlog.store.transaction import Transaction

Fact = tuple[str, ...]
"""(name of the predicate, arguments)."""


def fact(name: str, *arguments: str) -> Fact:
    return (f"{name}/{len(arguments)}", *arguments)


EDGES = [fact("edge", "a", "b"), fact("edge", "b", "c"), fact("node", "a"), fact("empty")]
MORE = [fact("edge", "c", "d"), fact("edge", "a", "d")]
WIDE = [*MORE, fact("wide", "a", "b", "new")]


def id_of(text: str) -> int:
    return hash_text(text)


def terms_of(facts: Iterable[Fact]) -> pa.Table:
    texts = pa.array(sorted({text for fact in facts for text in fact}), pa.large_string())
    return pa.table({"id": hash_texts(texts), "text": texts})


def rows_of(facts: Iterable[Fact], holds: int = 1, explicit: int | None = None, width: int = 2) -> pa.Table:
    """Unsorted rows of facts, all with equal weights."""
    listed = list(facts)
    width = max([width, *(len(fact) - 1 for fact in listed)])
    columns: dict[str, Any] = {"predicate": pa.array([id_of(fact[0]) for fact in listed], pa.int64())}
    for position in range(1, width + 1):
        values = [id_of(fact[position]) if position < len(fact) else None for fact in listed]
        columns[f"c{position - 1}"] = pa.array(values, pa.int64())
    columns["holds"] = pa.array([holds] * len(listed), pa.int8())
    columns["explicit"] = pa.array([holds if explicit is None else explicit] * len(listed), pa.int8())
    return pa.table(columns)


def fill(transaction: Transaction, add: Iterable[Fact] = (), remove: Iterable[Fact] = ()) -> None:
    """Add facts and their terms to a transaction, and remove others."""
    add, remove = list(add), list(remove)
    terms = terms_of(add)
    if transaction.base_version is not None:
        known = set(Store.open(transaction.layout.root).terms(transaction.base_version)["id"].to_pylist())
        terms = terms.filter(pa.array([i not in known for i in terms["id"].to_pylist()], pa.bool_()))
    transaction.add_terms([terms])
    transaction.add_facts([rows_of(add)])
    transaction.add_facts([rows_of(remove, -1)])


def finish(transaction: Transaction, operation: str = "update", rules: str = "p(?x) :- q(?x) .") -> int:
    return transaction.commit(rules=rules, statistics={"facts": 1}, bookkeeping="none", operation=operation)


def write(path: Path, add: Iterable[Fact] = (), remove: Iterable[Fact] = (), operation: str = "update") -> int:
    """Write one version that adds and removes facts."""
    with begin(path) as transaction:
        fill(transaction, add, remove)
        return finish(transaction, operation)


def job(path: str) -> None:
    """Write a version with new terms and a larger arity, then a snapshot."""
    version = write(Path(path), WIDE, EDGES[:1])
    Store.open(path).write_snapshot(version, {"a": np.arange(3)}, {})


def at_step(monkeypatch: Any, step: str, act: Callable[[], None]) -> None:
    """Call ``act`` when a write first reaches a step."""
    waiting = [act]

    def reached(name: str) -> None:
        if name == step and waiting:
            waiting.pop()()

    monkeypatch.setattr(steps, "reached", reached)


def read(path: Path, version: int | None = None) -> set[Fact]:
    """The facts of a version, as tuples of texts."""
    store = Store.open(path)
    terms = store.terms(version)
    text = dict(zip(terms["id"].to_pylist(), terms["text"].to_pylist(), strict=True))
    found = []
    for batch in store.facts(version):
        names = [name for name in batch.schema.names if name not in ("explicit", "nr", "rec")]
        for row in zip(*(batch.column(name).to_pylist() for name in names), strict=True):
            found.append(tuple(text[value] for value in row if value is not None))
    assert len(set(found)) == len(found)
    return set(found)


def tree(path: Path) -> set[str]:
    """Every file and directory below a path."""
    return {str(entry.relative_to(path)) for entry in path.rglob("*")}
