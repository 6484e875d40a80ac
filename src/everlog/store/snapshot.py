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
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everlog.store import steps

ALIGNMENT = 64
FORMAT = 2
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


def versions(directory: Path) -> list[int]:
    """The versions of which there may be a snapshot, ascending."""
    names = (path.name[1:].partition("-")[0] for path in directory.glob("v*-*"))
    return sorted({int(name) for name in names if name.isdigit()})


def _open(path: Path, version: int, identity: str | None) -> Snapshot | None:
    said = _manifest(path)
    data = path / "data.bin"
    if (said["format"], said["bytes"]) != (FORMAT, data.stat().st_size) or identity not in (None, said["identity"]):
        return None
    under = None
    if said["under"] is not None:
        under = _open(path.parent / said["under"], said["version"], None)
        if under is None:
            return None
    blob = np.memmap(data, np.uint8, "r") if said["bytes"] else np.empty(0, np.uint8)
    arrays = {name: _view(blob, place) for name, place in said["arrays"].items()}
    return Snapshot(path.name, version, said["manifest"], arrays, under)


def _manifest(path: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    return said


def _view(blob: NDArray[np.uint8], place: dict[str, Any]) -> NDArray[Any]:
    start, kind = place["offset"], np.dtype(place["dtype"])
    size = kind.itemsize * int(np.prod(place["shape"], dtype=np.int64))
    return blob[start : start + size].view(kind, np.ndarray).reshape(place["shape"])


def write(
    directory: Path,
    version: int,
    identity: str,
    arrays: Mapping[str, NDArray[Any]],
    manifest: dict[str, Any],
    under: str | None = None,
) -> None:
    """Write a snapshot and remove those it does not need. A store that cannot be written to is left alone."""
    making = directory / f".making-{uuid.uuid4().hex}"
    try:
        making.mkdir(parents=True)
        size, places = _write_arrays(making / "data.bin", arrays)
        said = {
            "format": FORMAT,
            "version": version,
            "identity": identity,
            "under": under,
            "bytes": size,
            "arrays": places,
            "manifest": manifest,
        }
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
    """Remove all snapshots but the newest of one version and those under it, and those nobody finished."""
    wanted = sorted(directory.glob(f"v{keep}-*"), key=lambda path: path.stat().st_mtime_ns)[-1:]
    needed = {path for newest in wanted for path in _chain(newest)}
    removed = [path for path in directory.glob("v*-*") if path not in needed]
    with contextlib.suppress(FileNotFoundError):
        removed += [path for path in directory.glob(".making-*") if path.stat().st_mtime < time.time() - STALE_SECONDS]
    for path in removed:
        shutil.rmtree(path, ignore_errors=True)
    return removed


def _chain(path: Path) -> Iterator[Path]:
    """A snapshot and all under it."""
    name: str | None = path.name
    while name is not None:
        yield path.parent / name
        try:
            name = _manifest(path.parent / name).get("under")
        except (OSError, ValueError):
            return
