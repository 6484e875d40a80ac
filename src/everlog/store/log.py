"""Reading the log of a Delta table: versions, active files, what a commit said.

A commit's own metadata is read from its log entry: delta-rs' ``history`` numbers the entries
wrongly for a table loaded at an older version (measured with 1.6).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from everlog.store.errors import store_error
from everlog.store.layout import Layout

METADATA_KEY = "everlog"


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
    log = Layout.log(table)
    return log.is_dir() and any(log.glob("*.json"))


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
        raise store_error("damaged-log", f"the log cannot be read: {error}", table, hint) from error


def newest_version(table: Path) -> int | None:
    """The newest version by the names of the log entries, None without any."""
    numbers = [int(entry.stem) for entry in Layout.log(table).glob("*.json") if entry.stem.isdigit()]
    return max(numbers, default=None)


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


def commit_info(table: Path, version: int) -> dict[str, Any]:
    """What the log entry of a version says about its commit."""
    entry = Layout.commit_file(table, version)
    try:
        with entry.open(encoding="utf-8") as lines:
            for line in lines:
                action = json.loads(line)
                if "commitInfo" in action:
                    found: dict[str, Any] = action["commitInfo"]
                    return found
    except FileNotFoundError as error:
        hint = "its log entry was removed by another tool; newer versions can still be read"
        raise store_error("version-gone", f"version {version} has no log entry", entry, hint) from error
    except json.JSONDecodeError as error:
        raise store_error("damaged-log", f"the log entry is not JSON: {error}", entry) from error
    return {}


def named_files(table: Path) -> set[str]:
    """Every data file that any log entry ever named."""
    found: set[str] = set()
    for entry in sorted(Layout.log(table).glob("*.json")):
        with entry.open(encoding="utf-8") as lines:
            for line in lines:
                action = json.loads(line)
                found.update(action[kind]["path"] for kind in ("add", "remove") if kind in action)
    return found
