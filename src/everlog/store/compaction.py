"""Compaction: rewrite a version so that each fact is one row, the terms one sorted table.

One commit that says it changes no data. Readers of older versions keep their files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from everlog.store import parquet
from everlog.store.rows import plain
from everlog.store.store import Store
from everlog.store.transaction import begin


def compact(path: Path) -> int:
    """Compact the newest version of a store; returns its number, the old one if there was nothing to do."""
    with begin(path) as transaction:
        store = Store.open(path)
        base = transaction.base
        assert base is not None
        if is_compact(store):
            return base.version
        transaction.rewrite_all()
        transaction.add_facts(_facts(store, base.version))
        if len(store.term_files(base.version)) > 1:
            transaction.rewrite_terms()
            transaction.add_terms(store.terms(base.version).to_batches())
        return transaction.commit(
            rules=base.rules,
            statistics=base.statistics,
            bookkeeping=base.bookkeeping,
            operation="compact",
            salt=base.salt,
        )


def is_compact(store: Store) -> bool:
    """Is each row a fact that holds, in as few files as it takes?"""
    facts, terms = store.files(), store.term_files()
    ones = all(file.low.get("holds") == 1 == file.high.get("holds") for file in facts)
    rows = sum(file.rows or 0 for file in facts)
    few = len(facts) <= -(-rows // parquet.FILE_ROWS)
    return ones and few and len(terms) <= 1


def _facts(store: Store, version: int) -> Iterator[pa.Table]:
    for rows in store.sums(version):
        yield rows.filter(pa.array(plain(rows.column("holds")) > 0))
