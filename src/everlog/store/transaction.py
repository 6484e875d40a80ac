"""Writing the next version of a store.

The steps, in order (their names are in :mod:`everlog.store.steps`):

1. register: a lock that lasts as long as the process, and a private directory ``work/<writer>/``;
   what dead writers left is removed on the way;
2. data files are written into the private directory;
3. term files move into ``terms/`` and are committed;
4. fact files move into ``facts/`` and are committed: *this* commit makes the version;
5. private directory and lock go.

A process that dies before step 4's commit leaves the last version as it was. Terms it may have
committed belong to no version of the facts: each version names the version of the terms it was
written with, and the next terms commit starts from those files only. A process that dies after it
leaves nothing but its private directory.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.engine.tables import fact_columns
from everlog.lang.codes import Code
from everlog.lang.errors import StoreError
from everlog.store import locking, parquet, schema, steps
from everlog.store.cleaning import (
    clean_dead,
    refuse_strangers,
    remove_if_unfinished,
    remove_unfinished,
    remove_unnamed,
)
from everlog.store.commit import NewFile, commit, conflict, file_stats
from everlog.store.durable import sync_directories
from everlog.store.errors import after_commit, file_errors, os_error, store_error
from everlog.store.files import checks_of, open_file, paths_of
from everlog.store.layout import StoreLayout
from everlog.store.log import contents, file_names, newest_version
from everlog.store.references import refuse_unknown_ids
from everlog.store.repair import refuse_damage
from everlog.store.versions import VersionInfo, metadata_for, read_version


def begin(path: Path | str, *, overwrite: bool = False, wait: float | None = None) -> Transaction:
    """Begin the first version of a store, or the next one of an existing store.

    With ``overwrite`` the new version starts from nothing: it replaces all facts and all terms.
    Older versions stay readable. A directory that holds anything but a store is refused. ``wait`` is how
    many seconds to wait for other writers to finish, after which it is an error; with None several begin, and
    the first to commit wins.
    """
    layout = StoreLayout.at(path)
    refuse_strangers(layout)
    made = next((p for p in reversed([layout.root, *layout.root.parents]) if not p.exists()), None)
    try:
        with file_errors("beginning a write", layout.root):
            return Transaction(layout, overwrite=overwrite, made=made, wait=wait)
    except BaseException:
        remove_if_unfinished(layout, made)
        raise


class Transaction:
    """One write to a store: a context manager that undoes everything unless it is committed.

    ``base_version`` is the version it builds on, None in a new store. ``work`` is a directory of its own inside the
    store, for files before they are committed.
    """

    def __init__(self, layout: StoreLayout, *, overwrite: bool, made: Path | None, wait: float | None = None) -> None:
        self.layout = layout
        self.writer = uuid.uuid4().hex
        self.work = layout.staging(self.writer)
        self._made = made
        self._overwrite = overwrite
        self._removed: list[str] = []
        self._data_change = True
        self._facts: list[Path] = []
        self._terms: list[Path] = []
        self._prefixes: Mapping[str, str] = {}
        self._width = schema.MIN_WIDTH
        self._moved: list[Path] = []
        self._terms_committed = False
        self._open = True
        with locking.in_turn(layout, wait):
            refuse_damage(layout)
            self._lock = locking.register(layout, self.writer)
            try:
                self._read_base()
                clean_dead(layout)
            except BaseException:
                self._leave()
                raise
        steps.reached(steps.BEGUN)

    def _read_base(self) -> None:
        self.base: VersionInfo | None = None
        self._base_facts: list[str] = []
        self._base_terms: list[str] = []
        self._rewritten_terms: list[str] = []
        self._terms_version = newest_version(self.layout.terms)
        newest = newest_version(self.layout.facts)
        if newest is None:
            return
        self.base = read_version(self.layout.facts, newest)
        self._base_facts = file_names(self.layout.facts, newest)
        self._width = schema.width_of(contents(self.layout.facts, newest).columns)
        self._base_terms = file_names(self.layout.terms, self.base.terms_version)
        if not self._overwrite:
            paths_of(self.layout.facts, contents(self.layout.facts, newest).files)
            paths_of(self.layout.terms, contents(self.layout.terms, self.base.terms_version).files)

    @property
    def base_version(self) -> int | None:
        """The version this write builds on, None in a new store."""
        return None if self.base is None else self.base.version

    def rewrite_facts(self, names: Sequence[str] | None = None) -> None:
        """Replace files of the base, by default all, by those that are added, which have the same facts."""
        self._data_change = False
        self._removed = self._base_facts if names is None else list(names)

    def rewrite_terms(self, names: Sequence[str] | None = None) -> None:
        """Replace files of the base's terms, by default all, by those that are added, which have the same terms."""
        self._data_change = False
        self._rewritten_terms = [name for name in self._base_terms if names is None or name in names]
        self._base_terms = [name for name in self._base_terms if name not in self._rewritten_terms]

    def declare(self, prefixes: Mapping[str, str]) -> None:
        """Add prefixes to the version, except those whose names the base has."""
        self._prefixes = {**prefixes, **self._prefixes}

    def add_terms(self, batches: Iterable[pa.RecordBatch | pa.Table]) -> None:
        """Add terms (``id``, ``text``) that the base does not have, in any order."""
        with self._writing():
            for rows in parquet.chunks(batches, parquet.FILE_ROWS):
                parquet.refuse_nulls(rows, schema.TERMS, self.work)
                path = self.work / f"terms-{len(self._terms):05}.parquet"
                parquet.write_terms(rows.select(schema.TERMS.names), path)
                self._terms.append(path)
        steps.reached(steps.TERMS_WRITTEN)

    def add_term_files(self, paths: Iterable[Path | str]) -> None:
        """Add Parquet files of terms, each sorted by id, from inside ``work``; they are moved."""
        with self._writing():
            for path in map(Path, paths):
                self._refuse_outside(path)
                stats = file_stats(path, schema.TERMS)
                parquet.check_file_order(path, ["id"])
                self._terms += [path] if stats["numRecords"] else []

    def add_facts(self, batches: Iterable[pa.RecordBatch | pa.Table]) -> None:
        """Add rows of facts: ``predicate``, ``c0``, ... and the signed weights.

        A file takes up to ``parquet.FILE_ROWS`` rows and is sorted if they are not; rows that come
        sorted are written as they stand. ``explicit``, ``nr`` and ``rec`` may be left out for 0,
        ``holds`` for 1.
        """
        with self._writing():
            for rows in parquet.chunks(batches, parquet.FILE_ROWS):
                parquet.refuse_nulls(rows, schema.facts(self._width), self.work)
                width = schema.width_of(rows.schema.names)
                self._width = max(self._width, width)
                path = self.work / f"facts-{len(self._facts):05}.parquet"
                parquet.write_facts(schema.conform(rows, self._width), path)
                self._facts.append(path)
                steps.reached(steps.FACTS_HALFWAY)
        steps.reached(steps.FACTS_WRITTEN)

    def add_fact_files(self, paths: Iterable[Path | str]) -> None:
        """Add Parquet files of facts, each sorted, from inside ``work``; they are moved."""
        with self._writing():
            for path in map(Path, paths):
                self._refuse_outside(path)
                width = schema.width_of(open_file(path).schema_arrow.names)
                stats = file_stats(path, schema.facts(width))
                parquet.check_file_order(path, fact_columns(width))
                self._width = max(self._width, width)
                self._facts += [path] if stats["numRecords"] else []

    def commit(
        self,
        *,
        rules: str,
        statistics: dict[str, Any],
        bookkeeping: str,
        operation: str,
        salt: int | None = None,
        positions: dict[str, Any] | None = None,
        closures: Sequence[dict[str, Any]] | None = None,
        modules: bool | None = None,
    ) -> int:
        """Commit the added files as the next version, all or nothing, and return its number.

        ``salt`` is that of the ids: the base's if not given, 0 where the base's terms are replaced. ``positions``
        are those of streams that advanced; others stay, unless everything is replaced. ``closures`` are the
        predicates whose facts are not all listed: those of the base if not given. ``modules`` is whether modules are
        to take rules: as in the base if not given.
        """
        self._require_open()
        try:
            with file_errors("committing", self.layout.root):
                self._widen_files()
                parquet.refuse_repeated_ids(self._terms)
                self._refuse_unknown_ids()
                self._sync_new_directories()
                terms_version = self._commit_terms()
                kept = None if self._overwrite else self.base
                said: dict[str, Any] = {
                    "operation": operation,
                    "statistics": statistics,
                    "bookkeeping": bookkeeping,
                    "terms_version": terms_version,
                    "salt": (kept.salt if kept else 0) if salt is None else salt,
                    "writer": self.writer,
                    "positions": {**(kept.positions if kept else {}), **(positions or {})},
                    "closures": list((kept.closures if kept else ()) if closures is None else closures),
                    "modules": (kept.modules if kept else None) if modules is None else modules,
                    "prefixes": {**self._prefixes, **(kept.prefixes if kept else {})},
                }
                metadata = metadata_for(self.base, rules, said)
                version = self._commit_facts(metadata)
        except BaseException:
            self.abort()
            raise
        steps.reached(steps.FACTS_COMMITTED)
        with after_commit(version, "removing what is not needed any more", self.layout.root):
            self._finish()
        self._let_go()
        return version

    def _refuse_unknown_ids(self) -> None:
        """Raise an error if facts have ids of no term, or new terms lack some of those they replace."""
        base = [] if self._overwrite else [self.layout.terms / name for name in self._base_terms]
        replaced = [] if self._overwrite else [self.layout.terms / name for name in self._rewritten_terms]
        refuse_unknown_ids([*self._facts, *replaced], [*self._terms, *base], self.layout.root)

    def _sync_new_directories(self) -> None:
        """Sync the names of the directories that were made for the store to the disk."""
        if self._made is not None:
            above = [self.layout.root.absolute(), *self.layout.root.absolute().parents]
            sync_directories(above[1 : above.index(self._made.absolute()) + 2])

    def _commit_terms(self) -> int:
        """Commit the terms of the base and the new ones; no commit is made if there are no new ones."""
        table = self.layout.terms
        kept = [] if self._overwrite else self._base_terms
        at = newest_version(table)
        if newest_version(self.layout.facts) != self.base_version:
            raise conflict(self.layout.facts)
        if at != self._terms_version:
            hint = "nothing was changed; run again"
            raise store_error(Code.ANOTHER_WRITER, "another writer is about to commit a version", table, hint)
        has = [] if at is None else file_names(table, at)
        new = self._move(self._terms, table)
        steps.reached(steps.TERMS_MOVED)
        if at is not None and not new and set(has) == set(kept):
            return at
        return self._set_terms(at, has, kept, new)

    def _set_terms(self, at: int | None, has: Sequence[str], kept: Sequence[str], new: list[NewFile]) -> int:
        table = self.layout.terms
        again = [_known(table / name) for name in kept if name not in has]
        version = commit(
            table,
            at,
            schema.TERMS,
            adds=[*again, *new],
            removes=[name for name in has if name not in kept],
            metadata={"operation": "terms", "writer": self.writer},
            data_change=self._data_change,
        )
        self._terms_committed = True
        steps.reached(steps.TERMS_COMMITTED)
        return version

    def _commit_facts(self, metadata: dict[str, Any]) -> int:
        table = self.layout.facts
        adds = self._move(self._facts, table)
        steps.reached(steps.FACTS_MOVED)
        return commit(
            table,
            self.base_version,
            schema.facts(self._width),
            adds=adds,
            removes=self._base_facts if self._overwrite else self._removed,
            metadata=metadata,
            data_change=self._data_change,
        )

    def _widen_files(self) -> None:
        """Rewrite the files that have too few columns for the largest arity."""
        for path in self._facts:
            if schema.width_of(open_file(path).schema_arrow.names) < self._width:
                parquet.write_facts(schema.conform(open_file(path).read(), self._width), path)

    def _move(self, paths: list[Path], table: Path) -> list[NewFile]:
        table.mkdir(exist_ok=True)
        files = []
        for number, path in enumerate(paths):
            target = table / StoreLayout.file_name(number, self.writer, checks_of(path))
            self._moved.append(target)
            path.rename(target)
            files.append(_known(target))
        return files

    @contextlib.contextmanager
    def _writing(self) -> Any:
        self._require_open()
        try:
            with file_errors("writing data files", self.work):
                yield
        except BaseException:
            self.abort()
            raise

    def _require_open(self) -> None:
        if not self._open:
            raise store_error(Code.TRANSACTION_OVER, "this transaction is over", self.layout.root, "begin another one")

    def _refuse_outside(self, path: Path) -> None:
        if not path.resolve().is_relative_to(self.work.resolve()):
            raise store_error(Code.BAD_FILE, f"{path} is outside the transaction's directory", self.work)

    def abort(self) -> None:
        """Undo everything; the store is as it was at the beginning."""
        if not self._open:
            return
        with contextlib.suppress(FileNotFoundError), locking.guarded(self.layout):
            try:
                for table in (self.layout.facts, self.layout.terms):
                    remove_unnamed([path for path in self._moved if path.parent == table], table)
                if self._terms_committed:
                    self._restore_terms()
            finally:
                self._leave()

    def _restore_terms(self) -> None:
        """Restore the newest version of the terms to that of the newest facts, for readers of the terms alone."""
        facts, terms = newest_version(self.layout.facts), newest_version(self.layout.terms)
        if facts is None or terms is None:
            return
        wanted = read_version(self.layout.facts, facts).terms_version
        if wanted == terms:
            return
        has, kept = file_names(self.layout.terms, terms), file_names(self.layout.terms, wanted)
        if set(has) != set(kept):
            with contextlib.suppress(StoreError):  # the next write does it
                self._set_terms(terms, has, kept, [])

    def _finish(self) -> None:
        with locking.guarded(self.layout):
            self._restore_terms()
            self._leave()
        steps.reached(steps.STAGING_REMOVED)

    def _let_go(self) -> None:
        """Release the lock if it is held; the next writer removes what is left."""
        if self._open:
            self._open = False
            os.close(self._lock)

    def _leave(self) -> None:
        """Release the lock and remove the private directory, and the directories of a store that has no version."""
        self._open = False
        locking.leave(self.layout, self.writer, self._lock)
        remove_unfinished(self.layout, self._made)

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._open:
            self.abort()


def _known(path: Path) -> NewFile:
    """The size and the number of rows of a file that was just written or was committed before."""
    try:
        return NewFile(path.name, path.stat().st_size, pq.read_metadata(path).num_rows)
    except FileNotFoundError:
        return NewFile(path.name, 0, 0)
    except OSError as error:
        raise os_error(error, "reading a data file", path) from error
