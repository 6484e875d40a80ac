"""Reading the log of a Delta table: versions, active files, metadata of commits.

A commit's own metadata is read from its log entry: delta-rs' ``history`` numbers the entries
wrongly for a table loaded at an older version (measured with 1.6).

delta-rs reads checkpoints and skips over entries that are empty, so a commit says which files its version has. What
is read is compared with that. If it differs, or a checkpoint cannot be read, the entries are read one by one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import xxhash
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from everlog.lang.codes import Code, Severity
from everlog.lang.errors import DamagedLogError, Diagnostic, Place, warn
from everlog.store.entries import CHECK_KEY, actions, damage, newest_listed
from everlog.store.errors import first_line, store_error
from everlog.store.layout import StoreLayout

REMEMBERED = 16
"""Number of versions of tables whose contents are cached."""

BOUNDED = ("predicate", "holds")
"""The columns whose smallest and largest values in the log decide which files are read."""


@dataclass(frozen=True, slots=True)
class ActiveFile:
    """A data file of one version: its name in the table's directory, and what the log says of it."""

    name: str
    size: int
    rows: int | None
    low: dict[str, int]
    high: dict[str, int]
    nulls: dict[str, int]


def is_table(table: Path) -> bool:
    """Whether the table has at least one log entry, whole or not."""
    return newest_listed(table) is not None


def open_table(table: Path, version: int | None = None) -> DeltaTable:
    """A Delta table at a version, the newest if None."""
    try:
        if version is not None and version < 0:
            raise DeltaError("versions count from 0")
        return DeltaTable(str(table.absolute()), version=version)
    except TableNotFoundError as error:
        raise store_error(Code.NOT_A_STORE, f"there is no Delta table {table.name}/", table) from error
    except DeltaError as error:
        newest = newest_version(table)
        if version is not None and newest is not None and not 0 <= version <= newest:
            hint = f"the versions are 0 to {newest}"
            raise store_error(Code.NO_SUCH_VERSION, f"there is no version {version}", table, hint) from error
        hint = "restore the table's _delta_log from a backup"
        raise store_error(Code.DAMAGED_LOG, f"the log cannot be read: {first_line(error)}", table, hint) from error


def newest_version(table: Path) -> int | None:
    """The newest version whose log entry is whole, None if there is none."""
    version = newest_listed(table)
    while version is not None and damage(table, version) is not None:
        version = version - 1 if version else None
    return version


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a version of a table: its data files, by name, and the names of its columns.

    ``checkpoint`` describes the damage of the checkpoint that should be read, if it has any.
    """

    files: tuple[ActiveFile, ...]
    columns: tuple[str, ...]
    checkpoint: str | None = None

    @property
    def fingerprint(self) -> str:
        """A checksum of everything in the contents that decides which rows are read."""
        bounds = ([[file.low.get(name), file.high.get(name)] for name in BOUNDED] for file in self.files)
        files = [[file.name, file.size, file.rows, *of] for file, of in zip(self.files, bounds, strict=True)]
        return xxhash.xxh64_hexdigest(json.dumps([sorted(files), sorted(self.columns)]).encode())


def contents(table: Path, version: int) -> Contents:
    """The contents of a version. Versions never change, so those read last are cached."""
    try:
        entry = StoreLayout.commit_file(table, version).stat()
    except OSError:
        return _read_contents(table, version)
    found = _remembered(table.absolute(), version, (entry.st_ino, entry.st_mtime_ns, entry.st_size))
    if found.checkpoint is not None:
        forget_contents()  # the checkpoint may be repaired
    return found


def forget_contents() -> None:
    """Clear the cache of contents, since a repair has changed the logs."""
    _remembered.cache_clear()


@lru_cache(maxsize=REMEMBERED)
def _remembered(table: Path, version: int, _entry: tuple[int, ...]) -> Contents:
    """Read the contents of a version. The status of its entry tells the cache of another table at the path."""
    return _read_contents(table, version)


def _read_contents(table: Path, version: int) -> Contents:
    found = by_delta(table, version)
    if isinstance(found, Contents):
        return found
    replayed, said = _replayed(table, version), _said(table, version)
    if said not in (None, replayed.fingerprint):
        hint = "restore the table's _delta_log from a backup"
        message = f"the log does not have the files that version {version} was committed with"
        raise store_error(Code.DAMAGED_LOG, message, StoreLayout.log(table), hint)
    warn_of_damage(f"{found}; the log entries are read instead, which takes longer", table)
    return Contents(replayed.files, replayed.columns, found)


def by_delta(table: Path, version: int) -> Contents | str:
    """The contents of a version by the newest checkpoint and the entries since, or what is wrong with them."""
    said = _said(table, version)
    try:
        delta = open_table(table, version)
        found = Contents(tuple(active_files(delta)), tuple(field.name for field in delta.schema().fields))
    except DamagedLogError as error:
        return error.diagnostics[0].message
    if said in (None, found.fingerprint):
        return found
    return f"the log does not have the files that version {version} was committed with"


def _said(table: Path, version: int) -> str | None:
    """The fingerprint of the contents that a version was committed with, None if that is not known."""
    if not StoreLayout.commit_file(table, version).exists():
        return None
    said: str | None = commit_info(table, version).get(CHECK_KEY, {}).get("contents")
    return said


def _replayed(table: Path, version: int) -> Contents:
    """The contents of a version by the log entries alone; reads all of them."""
    files: dict[str, ActiveFile] = {}
    columns: tuple[str, ...] = ()
    for number in range(version + 1):
        for action in actions(table, number):
            try:
                columns = _columns_in(action) or columns
                _follow(action, files)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                hint = "restore the table's _delta_log from a backup, or read a version that needs no damaged entry"
                message = "the log entry has an action that makes no sense"
                raise store_error(Code.DAMAGED_LOG, message, StoreLayout.commit_file(table, number), hint) from error
    return Contents(tuple(files[name] for name in sorted(files)), columns)


def _columns_in(action: dict[str, Any]) -> tuple[str, ...]:
    """The columns that an action gives the table; none if it changes no columns."""
    if "metaData" not in action:
        return ()
    return tuple(field["name"] for field in json.loads(action["metaData"]["schemaString"])["fields"])


def _follow(action: dict[str, Any], files: dict[str, ActiveFile]) -> None:
    """Apply an action to the files of a version."""
    if "remove" in action:
        files.pop(unquote(action["remove"]["path"]), None)
    if "add" in action:
        name = unquote(action["add"]["path"])
        files[name] = file_with(name, action["add"]["size"], json.loads(action["add"]["stats"]))


def warn_of_damage(message: str, table: Path) -> None:
    """Warn of damage in a store that can be read nevertheless, once for each process."""
    hint = f"everlog repair {table.parent} moves aside what is damaged"
    found = Diagnostic(Code.DAMAGED_LOG, message, Place(str(table)), hint, severity=Severity.WARNING)
    _warn_once(found, table.absolute())


@lru_cache(maxsize=REMEMBERED)
def _warn_once(found: Diagnostic, _table: Path) -> None:
    warn(found)


def file_with(name: str, size: int, stats: dict[str, Any]) -> ActiveFile:
    """A data file with Delta's statistics."""
    return ActiveFile(name, size, stats["numRecords"], stats["minValues"], stats["maxValues"], stats["nullCount"])


def file_names(table: Path, version: int) -> list[str]:
    """The names of the files of a version."""
    return [file.name for file in contents(table, version).files]


def active_files(delta: DeltaTable) -> list[ActiveFile]:
    """The files of a version, by name."""
    files = [_active_file(row) for row in pa.table(delta.get_add_actions(flatten=True)).to_pylist()]
    return sorted(files, key=lambda file: file.name)


def _active_file(row: dict[str, Any]) -> ActiveFile:
    prefixes = ("min.", "max.", "null_count.")
    low, high, nulls = (
        {name.removeprefix(start): value for name, value in row.items() if name.startswith(start) and value is not None}
        for start in prefixes
    )
    return ActiveFile(row["path"], row["size_bytes"], row["num_records"], low, high, nulls)


def commit_info(table: Path, version: int) -> dict[str, Any]:
    """The commit information in the log entry of a version."""
    return next((action["commitInfo"] for action in actions(table, version) if "commitInfo" in action), {})


def changed_files(table: Path, version: int) -> tuple[list[str], list[str]]:
    """The files by which a version added and removed data; rewriting the same data is not counted."""
    added, removed = (
        [action[kind]["path"] for action in actions(table, version) if action.get(kind, {}).get("dataChange")]
        for kind in ("add", "remove")
    )
    return added, removed


def named_files(table: Path) -> set[str]:
    """The names of all data files in all log entries."""
    return {
        action[kind]["path"]
        for entry in StoreLayout.log(table).glob("*.json")
        if entry.stem.isdigit()
        for action in actions(table, int(entry.stem))
        for kind in ("add", "remove")
        if kind in action
    }
