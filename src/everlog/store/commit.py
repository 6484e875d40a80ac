"""The one function through which every Delta commit goes.

delta-rs writes whatever actions it is given: missing files, wrong sizes and statistics, nulls in
NOT NULL columns, other types. So actions are built here, from the files as they lie on the disk,
and anything that does not fit is refused before the log is touched.

The commit is optimistic: it succeeds only if the table still is at the version it was prepared
for, and is never retried.

What it names is on the disk before it is made, and it is on the disk before its version is returned. The entry of the
version before is synced, too: its own writer may not have come so far yet, and a version must not survive without it.
"""

from __future__ import annotations

import errno
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, Schema
from deltalake.exceptions import DeltaError
from deltalake.transaction import (
    AddAction,
    CommitProperties,
    PostCommitHookProperties,
    RemoveAction,
    create_table_with_add_actions,
)

from everlog.host.system_errors import NO_SPACE
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic, Place, StoreError, warn
from everlog.store import steps
from everlog.store.durable import sync_directories, sync_files
from everlog.store.entries import CHECK_KEY, METADATA_KEY, check_of
from everlog.store.errors import first_line, os_error, store_error
from everlog.store.layout import StoreLayout
from everlog.store.log import Contents, commit_info, contents, file_with, newest_version, open_table
from everlog.store.versions import read_version

CONFIGURATION = {
    "delta.logRetentionDuration": "interval 3650 days",
    "delta.deletedFileRetentionDuration": "interval 3650 days",
    "delta.enableExpiredLogCleanup": "false",
    "delta.checkpointInterval": "10",
}
"""The configuration of the tables: versions stay readable until ``vacuum``, and a checkpoint every ten commits keeps
opening quick."""

BOUND, LAST = 32, "\U0010ffff"
"""The number of characters of a bound of texts in the log, and the largest character."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A data file in the table's directory that a commit adds, with what its writer knows of it.

    ``stats``, if given, must be what the file's footer says.
    """

    name: str
    size: int
    rows: int
    stats: str | None = None


def commit(
    table: Path,
    base: int | None,
    schema: pa.Schema,
    *,
    adds: Sequence[NewFile],
    removes: Sequence[str] = (),
    metadata: dict[str, Any],
    data_change: bool = True,
) -> int:
    """Commit the next version of a Delta table and return its number.

    ``base`` is the version the change was prepared for, None for a new table. ``schema`` is what
    the table has afterwards: columns it does not have yet are added by a commit of their own, just
    before, that changes no row. ``metadata`` travels in the commit and must name its ``writer``.
    """
    delta = None if base is None else open_table(table, base)
    if delta is not None and newest_version(table) != base:
        raise conflict(table)
    before = Contents((), ()) if base is None else contents(table, base)
    _check_names(table, {file.name for file in before.files}, [file.name for file in adds], removes)
    added = [_add_action(table, file, schema, data_change) for file in adds]
    now = int(time.time() * 1000)
    removed = [RemoveAction(name, data_change=data_change, deletion_timestamp=now) for name in removes]
    sync_files([*_entries(table, base), *(table / file.name for file in adds)])
    sync_directories([table, *([table.parent] if base is None else [])])
    if delta is not None and (missing := _missing_fields(table, delta, schema)):
        delta = _widen(table, delta, missing, _TableChange(before, schema.names, [], []), metadata["writer"])
    change = _TableChange(before, schema.names, added, removed)
    said: dict[str, Any] = {"commit_properties": change.properties(metadata), "post_commithook_properties": HOOKS}
    if delta is None:
        said |= {"mode": "error", "name": table.name, "configuration": CONFIGURATION}
        new = str(table.absolute()), Schema.from_arrow(schema), added
        return _made(table, None, metadata, lambda: create_table_with_add_actions(*new, **said))
    write = delta.create_write_transaction
    return _made(table, delta.version(), metadata, lambda: write([*added, *removed], "append", schema, **said))


@dataclass(frozen=True)
class _TableChange:
    """The contents of a table before a commit, with the changes of the commit."""

    before: Contents
    columns: Sequence[str]
    added: Sequence[AddAction]
    removed: Sequence[RemoveAction]

    def properties(self, metadata: dict[str, Any]) -> CommitProperties:
        """The properties of the commit: the metadata, the contents of the table afterwards, and a checksum of both."""
        gone = {action.path for action in self.removed}
        files = [file for file in self.before.files if file.name not in gone]
        files += [file_with(action.path, action.size, json.loads(action.stats)) for action in self.added]
        after = Contents(tuple(files), tuple(self.columns)).fingerprint
        said = json.loads(json.dumps({**metadata, "time": int(time.time() * 1000)}))
        adds = [{"path": a.path, "size": a.size, "dataChange": a.data_change, "stats": a.stats} for a in self.added]
        removes = [{"path": action.path, "dataChange": action.data_change} for action in self.removed]
        own = {METADATA_KEY: said, CHECK_KEY: check_of(said, {"contents": after}, adds, removes)}
        return CommitProperties(custom_metadata=own, max_commit_retries=0)


def _entries(table: Path, version: int | None) -> list[Path]:
    """Paths of the log entry of a version and of a checkpoint that delta-rs may have written after it."""
    if version is None:
        return []
    after = [StoreLayout.checkpoint_file(table, version), StoreLayout.last_checkpoint(table)]
    return [StoreLayout.commit_file(table, version), *(path for path in after if after[0].exists() and path.exists())]


def _confirm(table: Path, version: int) -> None:
    """Sync a commit to the disk, so that it survives a power cut.

    Until then a power cut may leave its log entry empty, which readers ignore. If the disk does not confirm it, the
    version exists nevertheless.
    """
    try:
        sync_files(_entries(table, version))
        sync_directories([StoreLayout.log(table), *([table] if version == 0 else [])])
    except OSError as error:
        message = f"version {version} is committed, but a power cut may take it back: {error.strerror}"
        warn(Diagnostic(Code.NOT_DURABLE, message, Place(str(table)), "check the disk", severity=Severity.WARNING))


def _check_names(table: Path, active: set[str], adds: Sequence[str], removes: Sequence[str]) -> None:
    for name in adds:
        if Path(name).name != name or not name.endswith(".parquet") or name[0] in "._":
            raise refused(table / name, "it is not a plain name of a Parquet file")
        if name in active:
            raise refused(table / name, "the table already has it")
    kinds = ((adds, "added twice"), (removes, "removed twice"), ([*adds, *removes], "both added and removed"))
    for names, what in kinds:
        repeated = next((name for position, name in enumerate(names) if name in names[:position]), None)
        if repeated is not None:
            raise refused(table / repeated, f"it is {what}")
    for name in removes:
        if name not in active:
            raise refused(table / name, "it is to be removed but the table does not have it")


def _add_action(table: Path, file: NewFile, schema: pa.Schema, data_change: bool) -> AddAction:
    path = table / file.name
    stats = file_stats(path, schema)
    status = path.stat()
    if status.st_size != file.size:
        raise refused(path, f"it has {status.st_size} bytes, not {file.size}")
    if stats["numRecords"] != file.rows:
        raise refused(path, f"it has {stats['numRecords']} rows, not {file.rows}")
    if file.stats is not None and json.loads(file.stats) != stats:
        raise refused(path, f"its statistics are {json.dumps(stats)}, not {file.stats}")
    # delta-rs reads escaped characters beyond U+FFFF wrongly, so none is escaped.
    said = json.dumps(stats, ensure_ascii=False)
    return AddAction(file.name, file.size, {}, int(status.st_mtime * 1000), data_change, said)


def file_stats(path: Path, schema: pa.Schema) -> dict[str, Any]:
    """Delta's statistics of a data file from its footer; refuses a file that does not fit the schema."""
    try:
        footer = pq.read_metadata(path)
    except FileNotFoundError as error:
        raise refused(path, "it is missing") from error
    except (OSError, pa.ArrowInvalid) as error:
        raise refused(path, f"it is not a Parquet file: {error}") from error
    _check_schema(path, footer.schema.to_arrow_schema(), schema)
    stats: dict[str, Any] = {"numRecords": footer.num_rows, "minValues": {}, "maxValues": {}, "nullCount": {}}
    for position in range(footer.num_columns):
        _gather(path, footer, position, schema.field(footer.schema.column(position).name), stats)
    return stats


def _check_schema(path: Path, found: pa.Schema, wanted: pa.Schema) -> None:
    if len(set(found.names)) != len(found.names) or set(found.names) != set(wanted.names):
        raise refused(path, f"its columns are {', '.join(found.names)}, not {', '.join(wanted.names)}")
    for field in wanted:
        kind = found.field(field.name).type
        if kind != field.type and not (pa.types.is_string(field.type) and pa.types.is_large_string(kind)):
            raise refused(path, f"column {field.name} is {kind}, not {field.type}")


def _gather(path: Path, footer: Any, position: int, field: Any, into: dict[str, Any]) -> None:
    """Add one column's statistics, over all row groups."""
    low, high, nulls = into["minValues"], into["maxValues"], into["nullCount"]
    nulls[field.name] = 0
    for group in range(footer.num_row_groups):
        column = footer.row_group(group).column(position)
        stats = column.statistics
        if stats is None or not stats.has_null_count:
            raise refused(path, f"column {field.name} has no statistics")
        if stats.null_count and not field.nullable:
            raise refused(path, f"column {field.name} has {stats.null_count} nulls and must have none")
        nulls[field.name] += stats.null_count
        if stats.null_count == column.num_values:
            continue
        if not stats.has_min_max and not pa.types.is_integer(field.type):
            continue
        if not stats.has_min_max:
            raise refused(path, f"column {field.name} has no smallest and largest value")
        least, most = _bounds(stats.min, stats.max)
        low[field.name] = min(low.get(field.name, least), least)
        high[field.name] = max(high.get(field.name, most), most)


def _bounds(least: Any, most: Any) -> tuple[Any, Any]:
    """The smallest and the largest value; long texts are cut so that the bounds stay bounds. A reader that finds no
    bounds for a column in a log that has them for others may take the file to be empty.

    >>> _bounds(1, 2), _bounds("a" * 40, "b" * 40) == ("a" * 32, "b" * 32 + LAST)
    ((1, 2), True)
    """
    if not isinstance(least, str):
        return least, most
    return least[:BOUND], most if len(most) <= BOUND else most[:BOUND] + LAST


def _missing_fields(table: Path, delta: DeltaTable, schema: pa.Schema) -> list[Any]:
    has = {field.name: field for field in pa.schema(delta.schema().to_arrow())}
    for field in schema:
        if field.name in has and not _same_type(has[field.name].type, field.type):
            raise refused(table, f"column {field.name} of the table is {has[field.name].type}, not {field.type}")
    extra = [name for name in has if name not in schema.names]
    if extra:
        raise refused(table, f"the new files lack the table's columns {', '.join(extra)}")
    return [field for field in schema if field.name not in has]


def _same_type(left: pa.DataType, right: pa.DataType) -> bool:
    texts = (pa.string(), pa.large_string(), pa.string_view())
    return left == right or (left in texts and right in texts)


HOOKS = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)


def _widen(table: Path, delta: DeltaTable, fields: list[Any], change: _TableChange, writer: str) -> DeltaTable:
    base = delta.version()
    metadata = {**read_version(table, base).carried(), "operation": "widen", "writer": writer}
    columns = list(Schema.from_arrow(pa.schema(fields)).fields)
    said: dict[str, Any] = {"commit_properties": change.properties(metadata), "post_commithook_properties": HOOKS}
    _made(table, base, metadata, lambda: delta.alter.add_columns(columns, **said))
    steps.reached(steps.WIDENED)
    return open_table(table, base + 1)


def _made(table: Path, base: int | None, metadata: dict[str, Any], write: Callable[[], object]) -> int:
    """Make a commit on top of a version; returns the new version, once it is on the disk."""
    try:
        write()
    except (DeltaError, OSError) as error:
        _failed(table, base, metadata, error)
    version = 0 if base is None else base + 1
    _confirm(table, version)
    return version


def _failed(table: Path, base: int | None, metadata: dict[str, Any], error: Exception) -> None:
    """Raise the error that says why a commit failed; return if only a checkpoint after the commit failed."""
    newest = newest_version(table)
    expected = 0 if base is None else base + 1
    if newest is None or newest < expected:
        if NO_SPACE in str(error):
            raise os_error(OSError(errno.ENOSPC, str(error)), "committing", table) from error
        message = f"the commit failed: {first_line(error)}"
        raise store_error(Code.COMMIT_FAILED, message, table, "the store is as before") from error
    done = commit_info(table, expected).get(METADATA_KEY, {})
    if (done.get("writer"), done.get("operation")) != (metadata["writer"], metadata["operation"]):
        raise conflict(table) from error


def conflict(table: Path) -> StoreError:
    """The error for a table that is no longer at the version a change was prepared for."""
    message = f"another writer committed version {newest_version(table)} in the meantime"
    return store_error(Code.ANOTHER_WRITER, message, table, "nothing was changed; run again")


def refused(path: Path, reason: str) -> StoreError:
    """The error for a file or action that must not be committed."""
    return store_error(Code.BAD_FILE, f"{path.name} cannot be committed: {reason}", path)
