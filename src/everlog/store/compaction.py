"""Compaction: rewrite a version so that each fact is one row, the terms one sorted table.

One commit that says it changes no data. Readers of older versions keep their files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from everlog.lang.errors import AnotherWriterError, Diagnostic, warn
from everlog.store import parquet
from everlog.store.errors import after_commit
from everlog.store.log import ActiveFile
from everlog.store.rows import changing, plain
from everlog.store.store import Store
from everlog.store.transaction import Transaction, begin
from everlog.store.versions import VersionInfo

MOST_SMALL_FILES = 32
"""Maximum number of small files that a write leaves; more are merged."""

FEWEST_ROWS = 100_000
"""Number of rows below which a store is never rewritten as a whole, and below which a file counts as small."""


def compact(store: Store, *, wait: float | None = 0.0) -> int:
    """Rewrite the newest version of a store so that each fact is one row; returns the new version, or the old one if
    there was nothing to do. The store is at that version afterwards. ``wait`` is as for :func:`everlog.store.begin`.
    """
    store.version = _rewritten(store.path, wait)
    return store.version


def _rewritten(path: Path, wait: float | None) -> int:
    with begin(path, wait=wait) as transaction:
        store = Store.open(path)
        base = transaction.base
        assert base is not None
        if is_compact(store):
            return base.version
        transaction.rewrite_facts()
        holding = (rows.filter(pa.array(plain(rows.column("holds")) > 0)) for rows in store.sums(base.version))
        transaction.add_facts(holding)
        if len(store.term_files(base.version)) > 1:
            transaction.rewrite_terms()
            transaction.add_terms(store.terms(base.version).to_batches())
        return _commit(transaction, base)


def _commit(transaction: Transaction, base: VersionInfo) -> int:
    return transaction.commit(
        rules=base.rules,
        statistics=base.statistics,
        bookkeeping=base.bookkeeping,
        operation="compact",
        salt=base.salt,
    )


def is_compact(store: Store) -> bool:
    """Whether each row is a fact that holds, and the number of files is the least possible."""
    facts, terms = store.files(), store.term_files()
    ones = all(file.low.get("holds") == 1 == file.high.get("holds") for file in facts)
    rows = sum(file.rows or 0 for file in facts)
    few = len(facts) <= -(-rows // parquet.FILE_ROWS)
    return ones and few and len(terms) <= 1


def compact_if_worth(path: Path | str, version: int, warning: Callable[[Diagnostic], None] = warn) -> int | None:
    """Compact a store after a version was written, if that pays; returns the new version, None if there is none.

    Many small files are merged into one, at the cost of their rows, and the large ones stay, so that each row is
    rewritten a logarithmic number of times. When there are many more rows than facts, everything is rewritten. If
    another writer commits first, the compaction is left to the next write. Failures are warnings, since the version
    is written.
    """
    with after_commit(version, "compacting", path, warning):
        try:
            return _compacted(Path(path))
        except AnotherWriterError:
            return None


def _compacted(path: Path) -> int | None:
    store = Store.open(path)
    if _is_bloated(store):
        return compact(store)
    if len(_small(store.files())) > MOST_SMALL_FILES or len(_small(store.term_files())) > MOST_SMALL_FILES:
        return merge_small(path)
    return None


def _is_bloated(store: Store) -> bool:
    said = store.info().statistics
    rows = sum(file.rows or 0 for file in store.files())
    return rows > FEWEST_ROWS and rows * 2 > said.get("listed", said.get("facts", 0)) * 3


def _small(files: list[ActiveFile]) -> list[ActiveFile]:
    """The smallest files, before the first one that has more rows than all smaller ones together."""
    found: list[ActiveFile] = []
    rows = 0
    for file in sorted(files, key=lambda file: (file.rows or 0, file.name)):
        if (file.rows or 0) > max(rows, FEWEST_ROWS):
            break
        found.append(file)
        rows += file.rows or 0
    return found


def merge_small(path: Path) -> int:
    """Merge the small files of a store's newest version into one; returns the new version."""
    with begin(path, wait=0.0) as transaction:
        store, base = Store.open(path), transaction.base
        assert base is not None
        facts, terms = _small(store.files(base.version)), _small(store.term_files(base.version))
        if len(facts) > 1:
            names = [file.name for file in facts]
            transaction.rewrite_facts(names)
            transaction.add_facts(map(changing, store.sums_of(names, base.version)))
        if len(terms) > 1:
            names = [file.name for file in terms]
            transaction.rewrite_terms(names)
            transaction.add_terms(store.terms_in(names).to_batches())
        return _commit(transaction, base)
