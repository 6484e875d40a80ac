"""Snapshots: arrays of one version, mapped into memory when opened. Rebuildable, never the truth.

A snapshot is a directory ``v<version>-<id>/`` with ``data.bin`` (all arrays, each at a multiple of
64 bytes) and ``manifest.json`` (their places, types and shapes, and whatever its writer wants to
keep). It is written beside its place and renamed, so it is there as a whole or not at all. Removing
an old one does not disturb a process that has it mapped.

A snapshot may be small and say only how it differs from another one, which it names: what is *under*
it. It is whole if all those are there, and they are kept as long as it is.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import mmap
import os
import shutil
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everlog.store import steps

ALIGNMENT = 64
FORMAT = 4
STALE_SECONDS = 3600.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The arrays of a snapshot, read-only and mapped, and its writer's manifest.

    ``under`` is the snapshot that this one is a change of, None if it stands by itself.
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


def read(directory: Path, version: int, identity: str) -> Snapshot | None:
    """The snapshot of a version, None if there is none that is whole.

    ``identity`` is that of the commit the snapshot was made of: a store that was removed and made
    anew at the same path does not inherit old snapshots.
    """
    for path in sorted(directory.glob(f"v{version}-*")):
        with contextlib.suppress(OSError, ValueError, KeyError):
            said = _manifest(path)
            if said["identity"] == identity:
                return _open(path, said)
    return None


def versions(directory: Path) -> list[int]:
    """The versions of which there may be a snapshot, ascending."""
    names = (path.name[1:].partition("-")[0] for path in directory.glob("v*-*"))
    return sorted({int(name) for name in names if name.isdigit()})


def _open(path: Path, said: dict[str, Any]) -> Snapshot:
    under = said["under"]
    return _layer(path, said, None if under is None else _open(path.parent / under, _manifest(path.parent / under)))


def _layer(path: Path, said: dict[str, Any], under: Snapshot | None) -> Snapshot:
    blob = _mapped(path / "data.bin")
    if (said["format"], said["bytes"]) != (FORMAT, len(blob)):
        raise ValueError(f"{path} is not a snapshot as this version writes them")
    arrays = {name: _view(blob, place) for name, place in said["arrays"].items()}
    return Snapshot(path.name, said["version"], said["manifest"], arrays, under)


def _manifest(path: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((path / "manifest.json").read_bytes())
    return said


def _mapped(path: Path) -> mmap.mmap | bytes:
    """The bytes of a file, to be read when they are needed."""
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
    """Write a snapshot and remove those it does not need.

    None if that cannot be done: a store that may not be written to is left alone, and what is under
    the snapshot may have gone.
    """
    making, place = directory / f".making-{uuid.uuid4().hex}", directory / f"v{version}-{uuid.uuid4().hex[:8]}"
    try:
        making.mkdir(parents=True)
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
        (making / "manifest.json").write_text(json.dumps(said), encoding="utf-8")
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
            places[name] = {"offset": file.tell(), "dtype": array.dtype.str, "shape": list(array.shape)}
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return file.tell(), places


def remove_others(directory: Path, keep: Snapshot | None) -> list[Path]:
    """Remove all snapshots but one and those under it, and those nobody finished."""
    needed = set() if keep is None else {layer.name for layer in keep.layers}
    removed = [path for path in directory.glob("v*-*") if path.name not in needed]
    with contextlib.suppress(FileNotFoundError):
        removed += [path for path in directory.glob(".making-*") if path.stat().st_mtime < time.time() - STALE_SECONDS]
    for path in removed:
        shutil.rmtree(path, ignore_errors=True)
    return removed
