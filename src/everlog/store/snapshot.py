"""Snapshots: arrays of one version, mapped into memory when opened. Rebuildable, never the truth.

A snapshot is a directory ``v<version>-<id>/`` with ``data.bin`` (all arrays, each at a multiple of
64 bytes) and ``manifest.json`` (their places, types and shapes, and whatever its writer wants to
keep). It is written beside its place and renamed, so it is there as a whole or not at all. Removing
an old one does not disturb a process that has it mapped.
"""

from __future__ import annotations

import contextlib
import json
import logging
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
FORMAT = 1
STALE_SECONDS = 3600.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The arrays of a snapshot, read-only and mapped, and its writer's manifest."""

    version: int
    manifest: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def read(directory: Path, version: int, identity: str) -> Snapshot | None:
    """The snapshot of a version, None if there is none that is whole.

    ``identity`` is that of the commit the snapshot was made of: a store that was removed and made
    anew at the same path does not inherit old snapshots.
    """
    for path in sorted(directory.glob(f"v{version}-*")):
        with contextlib.suppress(OSError, ValueError, KeyError):
            found = _open(path, version, identity)
            if found is not None:
                return found
    return None


def _open(path: Path, version: int, identity: str) -> Snapshot | None:
    said = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    data = path / "data.bin"
    if (said["format"], said["identity"], said["bytes"]) != (FORMAT, identity, data.stat().st_size):
        return None
    blob = np.memmap(data, np.uint8, "r") if said["bytes"] else np.empty(0, np.uint8)
    arrays = {name: _view(blob, place) for name, place in said["arrays"].items()}
    return Snapshot(version, said["manifest"], arrays)


def _view(blob: NDArray[np.uint8], place: dict[str, Any]) -> NDArray[Any]:
    start, kind = place["offset"], np.dtype(place["dtype"])
    size = kind.itemsize * int(np.prod(place["shape"], dtype=np.int64))
    return blob[start : start + size].view(kind, np.ndarray).reshape(place["shape"])


def write(
    directory: Path, version: int, identity: str, arrays: Mapping[str, NDArray[Any]], manifest: dict[str, Any]
) -> None:
    """Write a snapshot and remove those of other versions. A store that cannot be written to is left alone."""
    making = directory / f".making-{uuid.uuid4().hex}"
    try:
        making.mkdir(parents=True)
        size, places = _write_arrays(making / "data.bin", arrays)
        said = {"format": FORMAT, "identity": identity, "bytes": size, "arrays": places, "manifest": manifest}
        (making / "manifest.json").write_text(json.dumps(said), encoding="utf-8")
        steps.reached(steps.SNAPSHOT_WRITTEN)
        making.rename(directory / f"v{version}-{uuid.uuid4().hex[:8]}")
    except OSError as error:
        log.info("no snapshot of version %d: %s", version, error)
        shutil.rmtree(making, ignore_errors=True)
        return
    remove_old(directory, keep=version)


def _write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> tuple[int, dict[str, Any]]:
    places: dict[str, Any] = {}
    with path.open("wb") as file:
        for name, array in arrays.items():
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            places[name] = {"offset": file.tell(), "dtype": array.dtype.str, "shape": list(array.shape)}
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return file.tell(), places


def remove_old(directory: Path, keep: int) -> list[Path]:
    """Remove all snapshots but the newest of one version, and those nobody finished."""
    wanted = sorted(directory.glob(f"v{keep}-*"), key=lambda path: path.stat().st_mtime_ns)[-1:]
    removed = []
    for path in directory.glob("v*-*"):
        if path not in wanted:
            removed.append(path)
    with contextlib.suppress(FileNotFoundError):
        removed += [path for path in directory.glob(".making-*") if path.stat().st_mtime < time.time() - STALE_SECONDS]
    for path in removed:
        shutil.rmtree(path, ignore_errors=True)
    return removed
