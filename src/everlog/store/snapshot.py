"""Snapshots: arrays of one version, mapped into memory when opened. A snapshot can be made again from the tables,
which alone are the truth.

A snapshot is a directory ``v<version>-<id>/`` with ``data.bin`` (all arrays, each at a multiple of 64 bytes) and
``manifest.json`` (their places, types, shapes and checksums, and data of its writer). It is written under another
name and renamed, so readers find it whole or not at all. Removing an old snapshot does not disturb a process that
has it mapped.

Damaged arrays are never returned: the manifest has a checksum of itself, and a process compares all arrays with
their checksums when it first opens them, which takes a second for several gigabytes.

A snapshot may be small and have only the difference to another one, which it names: the snapshot *under* it. It is
whole if all snapshots under it exist, and they are not removed before it is.
"""

from __future__ import annotations

import io
import json
import logging
import math
import mmap
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from everlog.store import locking, steps

ALIGNMENT = 64
"""Alignment of arrays in the file, in bytes."""

FORMAT = 5
"""Version of the format of snapshots; those of another version are not read."""

BLOCK = 1 << 20
"""Bytes read at a time to compute a checksum."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The arrays of a snapshot, read-only and mapped, with its writer's manifest.

    ``under`` is the snapshot whose difference this one has, None if it is complete in itself.
    """

    name: str
    version: int
    manifest: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    under: Snapshot | None = None

    @property
    def layers(self) -> list[Snapshot]:
        """This snapshot and all under it, the lowest first."""
        return [self] if self.under is None else [*self.under.layers, self]


class DamagedError(Exception):
    """A snapshot is not as it was written."""


class OtherFormatError(Exception):
    """A snapshot was written by another version of Everlog."""


def read(directory: Path, version: int, identity: str) -> Snapshot | None:
    """The snapshot of a version, None if there is none that is whole; a damaged one is skipped with a line in the
    log.

    ``identity`` is that of the commit from which the snapshot was made: a store that was removed and made anew at
    the same path does not inherit old snapshots.
    """
    for path in sorted(directory.glob(f"v{version}-*")):
        try:
            said = _manifest(path)
            if said["identity"] == identity:
                return _open(path, said)
        except FileNotFoundError:
            continue  # it was just removed, or a layer under it was
        except OtherFormatError as error:
            log.info("the snapshot %s is not used: %s", path, error)
        except (DamagedError, OSError) as error:
            log.warning("the snapshot %s is damaged and not used: %s", path, error)
    return None


def damage(directory: Path) -> Iterator[tuple[Path, str]]:
    """The damaged snapshots, each with a description of the damage."""
    for path in sorted(directory.glob("v*-*")):
        try:
            _open(path, _manifest(path))
        except (FileNotFoundError, OtherFormatError):
            continue
        except (DamagedError, OSError) as error:
            yield path, str(error)


def versions(directory: Path) -> list[int]:
    """The versions that may have a snapshot, ascending."""
    names = (path.name[1:].partition("-")[0] for path in directory.glob("v*-*"))
    return sorted({int(name) for name in names if name.isdigit()})


def _open(path: Path, said: dict[str, Any]) -> Snapshot:
    under = said["under"]
    _check_data(path / "data.bin", said)
    return _layer(path, said, None if under is None else _open(path.parent / under, _manifest(path.parent / under)))


def _layer(path: Path, said: dict[str, Any], under: Snapshot | None) -> Snapshot:
    blob = _mapped(path / "data.bin")
    arrays = {name: _view(blob, place) for name, place in said["arrays"].items()}
    return Snapshot(path.name, said["version"], said["manifest"], arrays, under)


def _manifest(path: Path) -> dict[str, Any]:
    """The manifest of a snapshot, compared with its checksum."""
    try:
        said = json.loads((path / "manifest.json").read_bytes())
        format, checksum = said["format"], said.pop("checksum", None)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(f"manifest.json cannot be read: {error!r}") from error
    if format != FORMAT:
        raise OtherFormatError(f"it has format {format}, not {FORMAT}")
    if checksum != _checksum_of(said):
        raise DamagedError("manifest.json does not have the checksum that it says")
    found: dict[str, Any] = said
    return found


def _checksum_of(said: dict[str, Any]) -> str:
    return xxhash.xxh3_64_hexdigest(json.dumps(said).encode())


def _check_data(path: Path, said: dict[str, Any]) -> None:
    """Compare the arrays with their checksums, unless this process has compared them since they were written."""
    status = path.stat()
    if status.st_size != said["bytes"]:
        raise DamagedError(f"data.bin has {status.st_size} bytes, not {said['bytes']}")
    places = tuple((name, place["offset"], place["bytes"], place["checksum"]) for name, place in said["arrays"].items())
    _check_arrays(path, (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns), places)


@lru_cache(maxsize=256)
def _check_arrays(path: Path, state: tuple[int, ...], places: tuple[tuple[str, int, int, str], ...]) -> None:
    """Compare arrays in a file with their checksums; ``state`` of the file changes whenever the file is written."""
    with path.open("rb", buffering=0) as file:
        for name, offset, size, checksum in places:
            file.seek(offset)
            if _checksum_in(file, size) != checksum:
                raise DamagedError(f"the array {name!r} in data.bin does not have the checksum that the manifest says")


def _checksum_in(file: io.FileIO, size: int) -> str:
    """The checksum of the next bytes. They are read, not mapped: a bad disk is an error and not a signal."""
    found, room = xxhash.xxh3_64(), memoryview(bytearray(min(size, BLOCK)))
    while size > 0:
        count = file.readinto(room[: min(size, BLOCK)])
        if not count:
            break
        found.update(room[:count])
        size -= count
    return found.hexdigest()


def _mapped(path: Path) -> mmap.mmap | bytes:
    """The bytes of a file, which are read when they are used."""
    handle = os.open(path, os.O_RDONLY)
    try:
        return mmap.mmap(handle, 0, access=mmap.ACCESS_READ) if os.fstat(handle).st_size else b""
    finally:
        os.close(handle)


def _view(blob: mmap.mmap | bytes, place: dict[str, Any]) -> NDArray[Any]:
    shape = place["shape"]
    return np.frombuffer(blob, place["dtype"], math.prod(shape), place["offset"]).reshape(shape)


def write(
    directory: Path,
    version: int,
    identity: str,
    arrays: Mapping[str, NDArray[Any]],
    manifest: dict[str, Any],
    under: Snapshot | None = None,
) -> Snapshot | None:
    """Write a snapshot and remove those that it does not need. None if that is not possible: the store may not be
    written to, or a snapshot under this one was removed.
    """
    making, place = directory / f".making-{uuid.uuid4().hex}", directory / f"v{version}-{uuid.uuid4().hex[:8]}"
    try:
        making.mkdir(parents=True)
        with locking.owned(making):
            size, places = _write_arrays(making / "data.bin", arrays)
            said = {
                "format": FORMAT,
                "version": version,
                "identity": identity,
                "under": None if under is None else under.name,
                "bytes": size,
                "arrays": places,
                "manifest": manifest,
            }
            whole = json.dumps({**said, "checksum": _checksum_of(said)})
            (making / "manifest.json").write_text(whole, encoding="utf-8")
            steps.reached(steps.SNAPSHOT_WRITTEN)
            for layer in () if under is None else under.layers:
                (directory / layer.name / "manifest.json").stat()
            making.rename(place)
        found = _layer(place, said, under)
    except OSError as error:
        log.info("no snapshot of version %d: %s", version, error)
        shutil.rmtree(making, ignore_errors=True)
        return None
    remove_others(directory, found)
    return found


def _write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> tuple[int, dict[str, Any]]:
    places: dict[str, Any] = {}
    with path.open("wb") as file:
        for name, array in arrays.items():
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
            places[name] = {
                "offset": file.tell(),
                "bytes": len(data),
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "checksum": xxhash.xxh3_64_hexdigest(data),
            }
            file.write(data)
        return file.tell(), places


def remove_others(directory: Path, keep: Snapshot | None) -> list[Path]:
    """Remove all snapshots except one and those under it, and unfinished ones whose processes ended."""
    needed = set() if keep is None else {layer.name for layer in keep.layers}
    removed = [path for path in directory.glob("v*-*") if path.name not in needed]
    for path in removed:
        shutil.rmtree(path, ignore_errors=True)
    return [*removed, *remove_unfinished(directory)]


def remove_unfinished(directory: Path) -> list[Path]:
    """Remove unfinished snapshots whose processes ended."""
    removed = [path for path in directory.glob(".making-*") if locking.is_abandoned(path)]
    for path in removed:
        shutil.rmtree(path, ignore_errors=True)
    return removed
