"""A store as readers see it: cheap to open, and fixed at the version that was the newest then."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.lang.codes import Code
from everlog.store import consolidate, schema, snapshot
from everlog.store.entries import damage, last_checkpoint_damage, newest_listed
from everlog.store.errors import store_error
from everlog.store.files import open_file, paths_of
from everlog.store.layout import StoreLayout, writer_of
from everlog.store.log import ActiveFile, Contents, changed_files, contents, is_table, warn_of_damage
from everlog.store.parquet import terms_among
from everlog.store.rows import changing, plain, summed
from everlog.store.snapshot import Snapshot
from everlog.store.versions import Version, VersionInfo, newest_usable, no_terms, read_version

UPDATES = frozenset({"update", "rules"})
"""Operations that change facts or rules of the version before."""

SMALL_OPERATIONS = frozenset({*UPDATES, "compact", "widen"})
"""Operations that leave most facts as they are."""

FEW = 4
"""Versions without changes that are expected besides one for each update."""

LARGE_TERMS = pa.schema([schema.TERMS.field("id"), pa.field("text", pa.large_string(), nullable=False)])
"""The schema of the terms that :meth:`Store.terms` yields."""


class Store:
    """A store at one path; ``version`` is the newest one when the store was opened.

    Methods read the version that they are given, by default ``version``. Readers take no locks and never hinder a
    writer: files of a version stay until ``vacuum``.
    """

    def __init__(self, layout: StoreLayout, version: int) -> None:
        self.layout = layout
        self.path = layout.root
        self.version = version
        self._infos: dict[int, VersionInfo] = {}

    @classmethod
    def open(cls, path: Path | str) -> Store:
        """Open a store; an error if there is none or it is damaged.

        >>> Store.open("no/such/place")
        Traceback (most recent call last):
        ...
        everlog.lang.errors.StoreError: error[not-a-store]: there is no store here
          --> no/such/place
          = help: make one with everlog materialise RULES --facts ... --store no/such/place
        """
        layout = StoreLayout.at(path)
        listed = newest_listed(layout.facts)
        if listed is None:
            what = "a write was begun here but none was finished" if layout.guard.exists() else "there is no store here"
            hint = f"make one with everlog materialise RULES --facts ... --store {path}"
            raise store_error(Code.NOT_A_STORE, what, layout.root, hint)
        if not is_table(layout.terms):
            raise no_terms(layout)
        newest = newest_usable(layout)
        if newest is None:
            hint = f"restore it from a backup, or run everlog repair {path} and materialise again"
            entry = f"the log entry of version {listed} {damage(layout.facts, listed)}"
            raise store_error(Code.DAMAGED_LOG, f"no version of the store is whole: {entry}", layout.root, hint)
        if newest < listed:
            message = f"version {listed} is not whole; the last one that is, version {newest}, is read instead"
            warn_of_damage(message, layout.facts)
        for table in (layout.facts, layout.terms):
            if (reason := last_checkpoint_damage(table)) is not None:
                warn_of_damage(f"{reason}; it is ignored", table)
        store = cls(layout, newest)
        store.info()
        return store

    def info(self, version: Version | None = None) -> VersionInfo:
        """The description of a version: rules, statistics, time, operation."""
        number = self._existing(version)
        if number not in self._infos:
            self._infos[number] = read_version(self.layout.facts, number)
        return self._infos[number]

    def versions(self) -> list[VersionInfo]:
        """All versions up to the one that was newest on opening, oldest first."""
        return [self.info(version) for version in range(self.version + 1)]

    def files(self, version: int | None = None) -> list[ActiveFile]:
        """The data files of the facts of a version."""
        return list(self._facts_table(version).files)

    def term_files(self, version: int | None = None) -> list[ActiveFile]:
        """The data files of the terms of a version."""
        return list(contents(self.layout.terms, self.info(version).terms_version).files)

    def fact_paths(self, version: int | None = None) -> list[Path]:
        """The paths of the data files of the facts of a version that have rows; an error if one is missing."""
        return paths_of(self.layout.facts, (file for file in self.files(version) if file.rows != 0))

    def term_paths(self, version: int | None = None) -> list[Path]:
        """The paths of the data files of the terms of a version that have rows; an error if one is missing."""
        return paths_of(self.layout.terms, (file for file in self.term_files(version) if file.rows != 0))

    def width(self, version: int | None = None) -> int:
        """Number of argument columns of the facts of a version."""
        return schema.width_of(self._facts_table(version).columns)

    def facts(self, version: int | None = None, predicates: Collection[int] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the facts that hold: ``predicate``, ``c0``, ..., ``explicit``, ``nr``, ``rec``, sorted, one row
        each.

        With ``predicates`` the facts of these alone; row groups without any are not read. At most a few row groups,
        and all changes since the last compaction, are in memory.
        """
        return consolidate.holding(self.sums(version, predicates))

    def sums(self, version: int | None = None, predicates: Collection[int] | None = None) -> Iterator[pa.Table]:
        """Yield every fact that ever held since the last compaction, sorted, with the sums of its weights."""
        table = self._facts_table(version)
        chosen = None if predicates is None else sorted(predicates)
        paths = paths_of(self.layout.facts, (file for file in table.files if _may_have(file, chosen)))
        return consolidate.sums(paths, schema.width_of(table.columns), chosen)

    def sums_of(self, names: Collection[str], version: int | None = None) -> Iterator[pa.Table]:
        """Yield the facts in some files of a version, sorted, with the sums of their weights in these files."""
        files = [file for file in self.files(version) if file.name in names]
        return consolidate.sums(paths_of(self.layout.facts, files), self.width(version))

    def changes(self, from_version: int, to_version: int) -> pa.Table:
        """The changes after ``from_version`` (-1 for all) up to ``to_version``: weights summed for each fact.

        ``holds`` is 1 for a fact that was inserted, -1 for one that was deleted. Only files that those versions
        added or removed are read; a compaction changes nothing and is not read.
        """
        first = 0 if from_version == -1 else self._existing(from_version) + 1
        steps = [changed_files(self.layout.facts, v) for v in range(first, self._existing(to_version) + 1)]
        added, removed = ({name for step in steps for name in step[side]} for side in (0, 1))
        parts = [self._read_facts(name) for name in sorted(added - removed)]
        parts += [negated(self._read_facts(name)) for name in sorted(removed - added)]
        width = max((schema.width_of(rows.schema.names) for rows in parts), default=schema.MIN_WIDTH)
        rows = pa.concat_tables([schema.facts(width).empty_table(), *(schema.conform(part, width) for part in parts)])
        return changing(summed(rows, width))

    def _read_facts(self, name: str) -> pa.Table:
        return open_file(self.layout.facts / name).read()

    def terms(self, version: int | None = None) -> pa.Table:
        """The terms: ``id`` and ``text`` (large_string), sorted by id, each once."""
        parts = [_read_terms(path) for path in self.term_paths(version)]
        if not parts:
            return LARGE_TERMS.empty_table()
        rows = pa.concat_tables(parts)
        ids = plain(rows.column("id"))
        if (ids[:-1] < ids[1:]).all():
            return rows
        return rows.take(np.argsort(ids, kind="stable"))

    def terms_in(self, names: Collection[str]) -> pa.Table:
        """The terms in some files, in any order."""
        return pa.concat_tables([LARGE_TERMS.empty_table(), *(_read_terms(self.layout.terms / name) for name in names)])

    def terms_of(self, ids: NDArray[np.int64], version: int | None = None) -> pa.Table:
        """The terms with given ids, ascending. Only row groups that may have some of them are read."""
        parts = [LARGE_TERMS.empty_table()]
        for path in self.term_paths(version):
            for rows in terms_among(open_file(path), ids):
                parts.append(rows.select(LARGE_TERMS.names).cast(LARGE_TERMS))
        return pa.concat_tables(parts)

    def new_terms(self, since: int, version: int | None = None) -> pa.Table:
        """The terms in the files that an earlier version does not have, in any order; some may be known there."""
        old = {file.name for file in self.term_files(since)}
        new = [file.name for file in self.term_files(version) if file.rows != 0 and file.name not in old]
        return self.terms_in(new)

    def snapshot(self, version: int | None = None) -> Snapshot | None:
        """The memory-mapped snapshot of a version, or of one that has the same facts; None if there is none."""
        return self.nearest_snapshot(version, within=0)

    def nearest_snapshot(self, version: int | None = None, within: int | None = None) -> Snapshot | None:
        """A snapshot of a version that is connected with the one wanted by updates and compactions alone.

        The nearest one is returned; :meth:`changes` leads from it to the version wanted. There are at most
        ``within`` updates between the two, if that is given.
        """
        wanted = self._existing(version)
        most = self.version if within is None else 2 * within + FEW
        there = [v for v in snapshot.versions(self.layout.snapshots) if v <= self.version and abs(v - wanted) <= most]
        for other in sorted(there, key=lambda v: abs(v - wanted)):
            updates = self.updates_between(wanted, other)
            if updates is None or (within is not None and updates > within):
                continue
            if (found := snapshot.read(self.layout.snapshots, other, self._identity(other))) is not None:
                return found
        return None

    def updates_between(self, one: int, other: int) -> int | None:
        """Number of updates between two versions; None if another operation lies between them."""
        low, high = sorted((one, other))
        operations = [self.info(version).operation for version in range(low + 1, high + 1)]
        if not SMALL_OPERATIONS.issuperset(operations):
            return None
        return sum(operation in UPDATES for operation in operations)

    def write_snapshot(
        self,
        version: int,
        arrays: Mapping[str, NDArray[Any]],
        manifest: dict[str, Any],
        under: Snapshot | None = None,
    ) -> Snapshot | None:
        """Write arrays as the snapshot of a version, and remove others; ``manifest`` must be JSON.

        ``under`` is the snapshot whose difference the arrays are, if they are not complete in themselves. None if
        the snapshot could not be written.
        """
        return snapshot.write(self.layout.snapshots, version, self._identity(version), arrays, manifest, under)

    def _identity(self, version: int) -> str:
        info = self.info(version)
        return f"{info.writer}-{info.timestamp.timestamp()}"

    def _existing(self, version: Version | None) -> int:
        if version is None:
            return self.version
        if isinstance(version, datetime.datetime):
            return self._newest_by(version)
        if not 0 <= version <= self.version:
            hint = f"the versions are 0 to {self.version}"
            raise store_error(Code.NO_SUCH_VERSION, f"there is no version {version}", self.path, hint)
        return version

    def _newest_by(self, moment: datetime.datetime) -> int:
        """The newest version that was committed by a time."""
        moment = moment.astimezone(datetime.UTC)
        for version in range(self.version, -1, -1):
            if self.info(version).timestamp <= moment:
                return version
        hint = f"version 0 is of {self.info(0).timestamp.isoformat()}"
        raise store_error(Code.NO_SUCH_VERSION, f"there was no version at {moment.isoformat()}", self.path, hint)

    def _facts_table(self, version: int | None) -> Contents:
        """The contents of the facts at a version; an error if another tool wrote files, perhaps not in order."""
        found = contents(self.layout.facts, self._existing(version))
        if any(writer_of(file.name) is None for file in found.files):
            message = "data files were written by another tool, and their rows may not be in order"
            hint = "restore the version before with that tool, or materialise again with --overwrite"
            raise store_error(Code.OTHER_TOOL, message, self.layout.facts, hint)
        return found


def _may_have(file: ActiveFile, predicates: list[int] | None) -> bool:
    """Whether the file may have rows of one of the predicates, by the log's statistics."""
    if file.rows == 0 or predicates is None or "predicate" not in file.low:
        return file.rows != 0
    return any(file.low["predicate"] <= predicate <= file.high["predicate"] for predicate in predicates)


def _read_terms(path: Path) -> pa.Table:
    return open_file(path).read(columns=LARGE_TERMS.names).cast(LARGE_TERMS)


def negated(rows: pa.Table) -> pa.Table:
    """The rows with the opposite weights."""
    for position, name in enumerate(rows.schema.names):
        if name in schema.WEIGHTS:
            rows = rows.set_column(position, rows.schema.field(name), pa.array(-plain(rows.column(name))))
    return rows
