"""Snapshots are complete or absent, belong to the right version, and do not change while they are mapped."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from everlog.store import Store
from everlog.store import snapshot as snapshots
from tests.store.small import EDGES, MORE, write

ARRAYS: dict[str, NDArray[Any]] = {
    "keys": np.arange(1000, dtype=np.int64),
    "small": np.array([1, 2, 3], np.int8),
    "table": np.arange(6, dtype=np.int32).reshape(2, 3),
    "none": np.empty((0, 2), np.uint32),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    write(tmp_path, EDGES)
    return Store.open(tmp_path)


def test_what_is_written_is_read(store: Store) -> None:
    assert store.snapshot() is None
    store.write_snapshot(0, ARRAYS, {"runs": ["keys"]})
    found = store.snapshot()
    assert found is not None
    assert (found.version, found.manifest) == (0, {"runs": ["keys"]})
    assert list(found.arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)
        assert not found.arrays[name].flags.writeable
        assert found.arrays[name].ctypes.data % 64 == 0 or array.size == 0


def test_a_new_one_replaces_the_old_without_disturbing_who_has_it(store: Store, tmp_path: Path) -> None:
    store.write_snapshot(0, ARRAYS, {"n": 0})
    old = store.snapshot()
    assert old is not None
    write(tmp_path, MORE)
    newer = Store.open(tmp_path)
    assert newer.snapshot() is None
    newer.write_snapshot(1, {"keys": np.zeros(5, np.int64)}, {"n": 1})
    newer.write_snapshot(1, {"keys": np.ones(5, np.int64)}, {"n": 2})
    found = newer.snapshot()
    assert found is not None
    assert found.manifest == {"n": 2}
    assert newer.snapshot(0) is None
    assert len(list((tmp_path / "snapshot").iterdir())) == 1
    np.testing.assert_array_equal(old.arrays["keys"], ARRAYS["keys"])


def test_a_damaged_one_is_not_used(store: Store, tmp_path: Path) -> None:
    store.write_snapshot(0, ARRAYS, {})
    (place,) = (tmp_path / "snapshot").iterdir()
    data = place / "data.bin"
    data.write_bytes(data.read_bytes()[:-8])
    assert store.snapshot() is None
    (place / "manifest.json").write_text("{")
    assert store.snapshot() is None
    shutil.rmtree(place)
    place.mkdir()
    assert store.snapshot() is None


def test_one_of_another_store_at_the_same_path_is_not_used(store: Store, tmp_path: Path) -> None:
    store.write_snapshot(0, ARRAYS, {})
    shutil.move(tmp_path / "snapshot", tmp_path / "kept")
    for name in ("facts", "terms", "work"):
        shutil.rmtree(tmp_path / name)
    other = tmp_path / "other"
    write(other, MORE)
    shutil.move(tmp_path / "kept", other / "snapshot")
    assert Store.open(other).snapshot() is None


def test_a_store_that_cannot_be_written_to_is_left_alone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(snapshots, "_write_arrays", denied)
    store.write_snapshot(0, ARRAYS, {})
    assert store.snapshot() is None
    assert list((tmp_path / "snapshot").iterdir()) == []
