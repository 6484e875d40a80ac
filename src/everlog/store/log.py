"""Reading the log of a Delta table: versions, active files, what a commit said.

A commit's own metadata is read from its log entry: delta-rs' ``history`` numbers the entries
wrongly for a table loaded at an older version (measured with 1.6).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from everlog.store.errors import first_line, store_error
from everlog.store.layout import Layout

METADATA_KEY = "everlog"

REMEMBERED = 16
"""Of so many versions of tables it is remembered what they have."""


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
    """Has the table at least one commit?"""
    return newest_version(table) is not None


def open_table(table: Path, version: int | None = None) -> DeltaTable:
    """A Delta table at a version, the newest if None."""
    try:
        if version is not None and version < 0:
            raise DeltaError("versions count from 0")
        return DeltaTable(str(table.absolute()), version=version)
    except TableNotFoundError as error:
        raise store_error("not-a-store", f"there is no Delta table {table.name}/", table) from error
    except DeltaError as error:
        newest = newest_version(table)
        if version is not None and newest is not None and not 0 <= version <= newest:
            hint = f"the versions are 0 to {newest}"
            raise store_error("no-such-version", f"there is no version {version}", table, hint) from error
        hint = "restore the table's _delta_log from a backup"
        raise store_error("damaged-log", f"the log cannot be read: {first_line(error)}", table, hint) from error


def newest_version(table: Path) -> int | None:
    """The version of the newest commit, None if there is none; looked for from the last checkpoint on."""
    version = _last_checkpoint(table)
    if version is None or not Layout.commit_file(table, version).exists():
        return _newest_listed(table)
    while Layout.commit_file(table, version + 1).exists():
        version += 1
    return version


def _last_checkpoint(table: Path) -> int | None:
    try:
        return int(json.loads((Layout.log(table) / "_last_checkpoint").read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _newest_listed(table: Path) -> int | None:
    try:
        names = os.listdir(Layout.log(table))
    except (FileNotFoundError, NotADirectoryError):
        return None
    return max((int(name[:-5]) for name in names if name.endswith(".json") and name[:-5].isdigit()), default=None)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a version of a table has: its data files, by name, and the names of its columns."""

    files: tuple[ActiveFile, ...]
    columns: tuple[str, ...]


def contents(table: Path, version: int) -> Contents:
    """What a version has. Versions never change, so those read last are remembered."""
    try:
        entry = Layout.commit_file(table, version).stat()
    except OSError:
        return _read_contents(table, version)
    return _remembered(table.absolute(), version, (entry.st_ino, entry.st_mtime_ns, entry.st_size))


@lru_cache(maxsize=REMEMBERED)
def _remembered(table: Path, version: int, _entry: tuple[int, ...]) -> Contents:
    """The entry tells the log from that of another table that was at the same place before."""
    return _read_contents(table, version)


def _read_contents(table: Path, version: int) -> Contents:
    delta = open_table(table, version)
    return Contents(tuple(active_files(delta)), tuple(field.name for field in delta.schema().fields))


def file_names(table: Path, version: int) -> list[str]:
    """The names of the files of a version."""
    return [file.name for file in contents(table, version).files]


def active_files(delta: DeltaTable) -> list[ActiveFile]:
    """The files of a version, by name."""
    files = [_active_file(row) for row in pa.table(delta.get_add_actions(flatten=True)).to_pylist()]
    return sorted(files, key=lambda file: file.name)


def _active_file(row: dict[str, Any]) -> ActiveFile:
    def part(prefix: str) -> dict[str, Any]:
        size = len(prefix)
        return {name[size:]: value for name, value in row.items() if name.startswith(prefix) and value is not None}

    return ActiveFile(
        row["path"], row["size_bytes"], row["num_records"], part("min."), part("max."), part("null_count.")
    )


def actions(table: Path, version: int, kind: str = "") -> list[dict[str, Any]]:
    """What the log entry of a version says, or of that all that may be of a kind."""
    entry, named = Layout.commit_file(table, version), kind.encode()
    try:
        return [json.loads(line) for line in entry.read_bytes().splitlines() if line and named in line]
    except FileNotFoundError as error:
        hint = "its log entry was removed by another tool; newer versions can still be read"
        raise store_error("version-gone", f"version {version} has no log entry", entry, hint) from error
    except json.JSONDecodeError as error:
        hint = "restore the table's _delta_log from a backup"
        raise store_error("damaged-log", f"the log entry is not JSON: {error}", entry, hint) from error


def commit_info(table: Path, version: int) -> dict[str, Any]:
    """What the log entry of a version says about its commit."""
    said = actions(table, version, "commitInfo")
    return next((action["commitInfo"] for action in said if "commitInfo" in action), {})


def changed_files(table: Path, version: int) -> tuple[list[str], list[str]]:
    """The files by which a version added and removed data; rewriting the same data is not counted."""
    added, removed = (
        [action[kind]["path"] for action in actions(table, version) if action.get(kind, {}).get("dataChange")]
        for kind in ("add", "remove")
    )
    return added, removed


def named_files(table: Path) -> set[str]:
    """Every data file that any log entry ever named."""
    return {
        action[kind]["path"]
        for entry in Layout.log(table).glob("*.json")
        if entry.stem.isdigit()
        for action in actions(table, int(entry.stem))
        for kind in ("add", "remove")
        if kind in action
    }
