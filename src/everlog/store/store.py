"""A store as a reader sees it: cheap to open, fixed at the version that was newest then."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable
from numpy.typing import NDArray

from everlog.store import consolidate, schema, snapshot
from everlog.store.errors import store_error
from everlog.store.layout import Layout
from everlog.store.log import ActiveFile, active_files, changed_files, is_table, newest_version, open_table
from everlog.store.parquet import open_file, terms_among
from everlog.store.rows import plain, summed
from everlog.store.snapshot import Snapshot
from everlog.store.versions import VersionInfo, read_version

SMALL_OPERATIONS = frozenset({"update", "compact", "widen"})
"""Operations that leave most facts as they are."""

LARGE_TERMS = pa.schema([schema.TERMS.field("id"), pa.field("text", pa.large_string(), nullable=False)])
"""Terms as readers get them."""


class Store:
    """A store at one path. ``version`` is the newest one when it was opened.

    Everything that takes a version reads that one, and ``version`` without. Readers take no locks
    and are never in a writer's way: files of a version stay until ``vacuum``.
    """

    def __init__(self, layout: Layout, version: int) -> None:
        self.layout = layout
        self.path = layout.root
        self.version = version

    @classmethod
    def open(cls, path: Path | str) -> Store:
        """Open a store, or say what is wrong with it.

        >>> Store.open("no/such/place")
        Traceback (most recent call last):
        ...
        everlog.lang.errors.StoreError: error[not-a-store]: there is no store here
          --> no/such/place
          = help: make one with everlog materialise RULES --facts ... --store no/such/place
        """
        layout = Layout(Path(path))
        newest = newest_version(layout.facts) if is_table(layout.facts) else None
        if newest is None:
            what = "a write was begun here but none was finished" if layout.guard.exists() else "there is no store here"
            hint = f"make one with everlog materialise RULES --facts ... --store {path}"
            raise store_error("not-a-store", what, layout.root, hint)
        if not is_table(layout.terms):
            hint = "restore terms/ from a backup, or materialise again with --overwrite"
            raise store_error("no-terms", "the store has no terms table", layout.terms, hint)
        store = cls(layout, newest)
        store.info()
        return store

    def info(self, version: int | None = None) -> VersionInfo:
        """What a version says about itself: rules, statistics, when, by which operation."""
        return read_version(self.layout.facts, self._existing(version))

    def versions(self) -> list[VersionInfo]:
        """All versions up to the one that was newest on opening, oldest first."""
        return [self.info(version) for version in range(self.version + 1)]

    def files(self, version: int | None = None) -> list[ActiveFile]:
        """The data files of the facts of a version."""
        return active_files(self._facts_table(version))

    def term_files(self, version: int | None = None) -> list[ActiveFile]:
        """The data files of the terms of a version."""
        return active_files(self._terms_table(version))

    def width(self, version: int | None = None) -> int:
        """How many argument columns the facts of a version have."""
        return _width(self._facts_table(version))

    def facts(self, version: int | None = None, predicates: Collection[int] | None = None) -> Iterator[pa.RecordBatch]:
        """The facts that hold: ``predicate``, ``c0``, ..., ``explicit``, ``nr``, ``rec``, sorted, one row each.

        With ``predicates`` only those; row groups that have none of them are not read. Streams; holds
        a few row groups, and all changes since the last compaction.
        """
        return consolidate.holding(self.sums(version, predicates))

    def sums(self, version: int | None = None, predicates: Collection[int] | None = None) -> Iterator[pa.Table]:
        """Every fact that ever held since the last compaction, sorted, with the sums of its weights."""
        table = self._facts_table(version)
        chosen = None if predicates is None else sorted(predicates)
        paths = [self.layout.facts / file.name for file in active_files(table) if _may_have(file, chosen)]
        return consolidate.sums(paths, _width(table), chosen)

    def sums_of(self, names: Collection[str], version: int | None = None) -> Iterator[pa.Table]:
        """The same for some of the files of a version only."""
        return consolidate.sums([self.layout.facts / name for name in names], self.width(version))

    def changes(self, from_version: int, to_version: int) -> pa.Table:
        """What changed after ``from_version`` (-1 for all) up to ``to_version``: weights summed per fact.

        ``holds`` 1 is a fact that appeared, -1 one that went. Reads only the files those versions
        added or removed; a compaction changes nothing and is not read.
        """
        width = self.width(to_version)
        first = 0 if from_version == -1 else self._existing(from_version) + 1
        parts = [
            part
            for version in range(first, self._existing(to_version) + 1)
            for part in self._signed_rows(version, width)
        ]
        total = summed(pa.concat_tables(parts), width) if parts else schema.facts(width).empty_table()
        changed = np.zeros(total.num_rows, np.bool_)
        for name in schema.WEIGHTS:
            changed |= plain(total.column(name)) != 0
        return total.filter(pa.array(changed))

    def _signed_rows(self, version: int, width: int) -> Iterator[pa.Table]:
        added, removed = changed_files(self.layout.facts, version)
        yield from consolidate.sums([self.layout.facts / name for name in added], width)
        for rows in consolidate.sums([self.layout.facts / name for name in removed], width):
            yield negated(rows)

    def terms(self, version: int | None = None) -> pa.Table:
        """The terms: ``id`` and ``text`` (large_string), sorted by id, each once."""
        parts = [self._read_terms(file.name) for file in self.term_files(version) if file.rows != 0]
        if not parts:
            return LARGE_TERMS.empty_table()
        rows = pa.concat_tables(parts)
        ids = plain(rows.column("id"))
        if (ids[:-1] < ids[1:]).all():
            return rows
        return rows.take(np.argsort(ids, kind="stable"))

    def terms_in(self, names: Collection[str]) -> pa.Table:
        """The terms in some files, in any order."""
        return pa.concat_tables([LARGE_TERMS.empty_table(), *map(self._read_terms, names)])

    def terms_of(self, ids: NDArray[np.int64], version: int | None = None) -> pa.Table:
        """The terms with given ids (ascending), as far as there are; reads only row groups that may have some."""
        parts = [LARGE_TERMS.empty_table()]
        for file in self.term_files(version):
            for rows in terms_among(open_file(self.layout.terms / file.name), ids):
                parts.append(rows.select(LARGE_TERMS.names).cast(LARGE_TERMS))
        return pa.concat_tables(parts)

    def new_terms(self, since: int, version: int | None = None) -> pa.Table:
        """The terms in files that an earlier version does not have, in any order; some of them may be old."""
        old = {file.name for file in self.term_files(since)}
        new = [file.name for file in self.term_files(version) if file.rows != 0 and file.name not in old]
        return self.terms_in(new)

    def _read_terms(self, name: str) -> pa.Table:
        return open_file(self.layout.terms / name).read(columns=LARGE_TERMS.names).cast(LARGE_TERMS)

    def snapshot(self, version: int | None = None) -> Snapshot | None:
        """The memory-mapped snapshot of a version, None if there is none."""
        version = self._existing(version)
        return snapshot.read(self.layout.snapshots, version, self._identity(version))

    def nearest_snapshot(self, version: int | None = None) -> Snapshot | None:
        """A snapshot of a version from which only updates and compactions lead to the one wanted, or back.

        Of several the nearest; applying :meth:`changes` makes it that of the version wanted.
        """
        wanted = self._existing(version)
        there = [v for v in snapshot.versions(self.layout.snapshots) if v <= self.version]
        for other in sorted(there, key=lambda v: abs(v - wanted)):
            low, high = sorted((wanted, other))
            if self._only_updates(low, high) and (found := self.snapshot(other)) is not None:
                return found
        return None

    def _only_updates(self, low: int, high: int) -> bool:
        return all(self.info(v).operation in SMALL_OPERATIONS for v in range(low + 1, high + 1))

    def write_snapshot(
        self, version: int, arrays: Mapping[str, NDArray[Any]], manifest: dict[str, Any], under: str | None = None
    ) -> None:
        """Keep arrays as the snapshot of a version, in place of others; ``manifest`` must be JSON.

        ``under`` names the snapshot that the arrays are a change of, if they do not stand by themselves.
        """
        snapshot.write(self.layout.snapshots, version, self._identity(version), arrays, manifest, under)

    def verify(self) -> list[str]:
        """Check everything there is to check about the version; an empty list is a clean store."""
        from everlog.store.verify import verify

        return verify(self)

    def compact(self) -> int:
        """Rewrite the newest version so that each fact is one row; returns the new version."""
        from everlog.store.compaction import compact

        version = compact(self.path)
        self.version = version
        return version

    def vacuum(
        self, keep_versions: int | None = None, keep_hours: float | None = None, *, dry_run: bool = False
    ) -> list[Path]:
        """Delete files that only older versions need; see :func:`everlog.store.vacuum.vacuum`."""
        from everlog.store.vacuum import vacuum

        return vacuum(self, keep_versions, keep_hours, dry_run=dry_run)

    def _identity(self, version: int) -> str:
        info = self.info(version)
        return f"{info.writer}-{info.timestamp.timestamp()}"

    def _existing(self, version: int | None) -> int:
        if version is None:
            return self.version
        if not 0 <= version <= self.version:
            hint = f"the versions are 0 to {self.version}"
            raise store_error("no-such-version", f"there is no version {version}", self.path, hint)
        return version

    def _facts_table(self, version: int | None) -> DeltaTable:
        return open_table(self.layout.facts, self._existing(version))

    def _terms_table(self, version: int | None) -> DeltaTable:
        return open_table(self.layout.terms, self.info(version).terms_version)


def _width(table: DeltaTable) -> int:
    return schema.width_of(field.name for field in table.schema().fields)


def _may_have(file: ActiveFile, predicates: list[int] | None) -> bool:
    """May the file have rows of one of the predicates, by the log's statistics?"""
    if file.rows == 0 or predicates is None or "predicate" not in file.low:
        return file.rows != 0
    return any(file.low["predicate"] <= predicate <= file.high["predicate"] for predicate in predicates)


def negated(rows: pa.Table) -> pa.Table:
    """The same rows with the opposite weights."""
    for position, name in enumerate(rows.schema.names):
        if name in schema.WEIGHTS:
            rows = rows.set_column(position, rows.schema.field(name), pa.array(-plain(rows.column(name))))
    return rows
