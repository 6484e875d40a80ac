"""Log entries of a Delta table: what each says, and whether it is whole.

A power cut may leave the newest entries empty or cut off, and disks change bits. So each commit carries a checksum of
what its entry says of the commit and of the files it adds and removes; an entry without one was written before there
were checksums, or by another tool. Numbers with a fraction are left out: delta-rs changes their last digits.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import xxhash

from everlog.lang.codes import Code
from everlog.store.errors import store_error
from everlog.store.layout import StoreLayout, writer_of
from everlog.store.schema import FORMAT

METADATA_KEY = "everlog"
"""The field of a commit with Everlog's metadata."""

CHECK_KEY = "everlogCheck"
"""The field of a commit with its contents and checksum."""

REMEMBERED = 64
"""Number of entries that are cached."""

Action = dict[str, Any]


class DamagedEntryError(Exception):
    """A log entry that is not as it was written."""


def actions(table: Path, version: int) -> tuple[Action, ...]:
    """The actions in the log entry of a version; an error if the entry is gone or damaged."""
    entry = StoreLayout.commit_file(table, version)
    try:
        return read_entry(table, version)
    except FileNotFoundError as error:
        hint = "its log entry was removed by another tool; newer versions can still be read"
        raise store_error(Code.VERSION_GONE, f"version {version} has no log entry", entry, hint) from error
    except DamagedEntryError as error:
        hint = "restore the table's _delta_log from a backup, or read a version that needs no damaged entry"
        raise store_error(Code.DAMAGED_LOG, f"the log entry {error}", entry, hint) from error


def read_entry(table: Path, version: int) -> tuple[Action, ...]:
    """The actions in a log entry. Entries never change, so those read last are cached."""
    entry = StoreLayout.commit_file(table, version)
    status = entry.stat()
    return _read(entry.absolute(), (status.st_ino, status.st_mtime_ns, status.st_size))


def damage(table: Path, version: int) -> str | None:
    """What is wrong with the log entry of a version, None if it is whole."""
    try:
        read_entry(table, version)
    except FileNotFoundError:
        return "is gone"
    except DamagedEntryError as error:
        return str(error)
    return None


@lru_cache(maxsize=REMEMBERED)
def _read(entry: Path, _status: tuple[int, ...]) -> tuple[Action, ...]:
    """Read an entry. The status tells the cache of another entry that was at the same path before."""
    content = entry.read_bytes()
    if not content.strip(b"\0 \n"):
        raise DamagedEntryError("is empty")
    try:
        found = tuple(json.loads(line) for line in content.splitlines() if line)
    except (ValueError, RecursionError) as error:
        raise DamagedEntryError("is not JSON") from error
    if not all(isinstance(action, dict) for action in found):
        raise DamagedEntryError("is not JSON")
    _refuse_changed(found)
    return found


def _refuse_changed(found: Iterable[Action]) -> None:
    """Raise an error if the actions differ from those that were committed, as far as a checksum tells."""
    info = next((action["commitInfo"] for action in found if "commitInfo" in action), None)
    adds, removes = ([action[kind] for action in found if kind in action] for kind in ("add", "remove"))
    if info is None:
        if any(writer_of(str(file.get("path"))) is not None for file in (*adds, *removes)):
            raise DamagedEntryError("is not complete")
        return
    said, check = info.get(METADATA_KEY), info.get(CHECK_KEY)
    if check is None or (isinstance(said, dict) and said.get("format", FORMAT) != FORMAT):
        return
    if not isinstance(check, dict) or not isinstance(said, dict) or check != check_of(said, check, adds, removes):
        raise DamagedEntryError("is not as it was written: its checksum differs")


def check_of(
    said: Mapping[str, Any], contents: Mapping[str, str], adds: Iterable[Action], removes: Iterable[Action]
) -> dict[str, str]:
    """The fields of a commit that let readers check it: the contents of the table afterwards, and a checksum of
    everything.

    >>> one, other = (check_of({"seconds": seconds}, {"contents": "a"}, [], []) for seconds in (0.1, 0.2))
    >>> one == other
    True
    """
    after = contents.get("contents", "")
    files = [[add.get(name) for name in ("path", "size", "dataChange", "stats")] for add in adds]
    gone = [[remove.get(name) for name in ("path", "dataChange")] for remove in removes]
    text = json.dumps([_exact(said), after, sorted(files), sorted(gone)], sort_keys=True)
    return {"contents": after, "checksum": xxhash.xxh64_hexdigest(text.encode())}


def _exact(value: Any) -> Any:
    """A value without the numbers that the log does not return exactly."""
    if isinstance(value, Mapping):
        return {name: _exact(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(part) for part in value]
    return "" if isinstance(value, float) or (isinstance(value, int) and abs(value) >= 1 << 63) else value


def newest_listed(table: Path) -> int | None:
    """The version of the newest log entry, whole or not. The search starts at the last checkpoint."""
    version = last_checkpoint(table)
    if version is None or not StoreLayout.commit_file(table, version).exists():
        return max(entries_in(table), default=None)
    while StoreLayout.commit_file(table, version + 1).exists():
        version += 1
    return version


def last_checkpoint(table: Path) -> int | None:
    """The version that ``_last_checkpoint`` names, None if it names none."""
    try:
        return int(json.loads(StoreLayout.last_checkpoint(table).read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def last_checkpoint_damage(table: Path) -> str | None:
    """What is wrong with ``_last_checkpoint``, None if nothing is or there is none."""
    path = StoreLayout.last_checkpoint(table)
    try:
        said = json.loads(path.read_bytes())
        version, parts = int(said["version"]), said.get("parts")
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{path.name} does not name a checkpoint"
    checkpoint = StoreLayout.checkpoint_file(table, version)
    if parts is None and not (checkpoint.exists() and checkpoint.stat().st_size):
        return f"{path.name} names a checkpoint that is {'empty' if checkpoint.exists() else 'not there'}"
    return None


def entries_in(table: Path) -> dict[int, Path]:
    """All log entries, whole or not, by version."""
    try:
        names = os.listdir(StoreLayout.log(table))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    listed = (name for name in names if name.endswith(".json") and name[:-5].isdigit())
    return {int(name[:-5]): StoreLayout.log(table) / name for name in listed}
