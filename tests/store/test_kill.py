"""A process killed at any step leaves the last version readable, and the next write cleans up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from everlog.store import Store, begin, exists, steps
from everlog.store.vacuum import vacuum
from tests.processes import STEPS, kill_at
from tests.store.small import EDGES, MORE, WIDE, at_step, fact, fill, finish, job, read, tree, write
from tests.store.verified import verify

AFTER = (steps.FACTS_COMMITTED, steps.STAGING_REMOVED, steps.SNAPSHOT_WRITTEN)


@pytest.mark.long
@pytest.mark.parametrize("step", STEPS)
def test_killed_while_updating(tmp_path: Path, step: str) -> None:
    write(tmp_path, EDGES)
    kill_at(step, job, tmp_path)
    done = {*EDGES[1:], *WIDE}
    assert read(tmp_path) == (done if step in AFTER else set(EDGES))
    assert read(tmp_path, 0) == set(EDGES)
    store = Store.open(tmp_path)
    assert verify(store) == []
    assert store.snapshot() is None

    write(tmp_path, [fact("edge", "x", "new")])
    assert read(tmp_path) == {*(done if step in AFTER else EDGES), fact("edge", "x", "new")}
    store = Store.open(tmp_path)
    assert verify(store) == []
    assert tree(tmp_path / "work") == {"guard"}
    assert not list((tmp_path / "snapshot").glob(".making-*"))
    needed = {
        *(f"facts/{file.name}" for version in range(store.version + 1) for file in store.files(version)),
        *(f"terms/{file.name}" for version in range(store.version + 1) for file in store.term_files(version)),
    }
    present = {name for name in tree(tmp_path) if name.endswith(".parquet") and "_delta_log" not in name}
    assert needed <= present
    if step != steps.TERMS_COMMITTED and step not in (steps.WIDENED, steps.FACTS_MOVED):
        assert present == needed
    vacuum(store)
    assert {name for name in tree(tmp_path) if name.endswith(".parquet") and "_delta_log" not in name} == needed
    assert [read(tmp_path, version) for version in (0, store.version)] == [set(EDGES), read(tmp_path)]


@pytest.mark.parametrize("step", [step for step in STEPS if step not in (*AFTER, steps.WIDENED)])
def test_killed_while_creating(tmp_path: Path, step: str) -> None:
    kb = tmp_path / "kb"
    kill_at(step, job, kb)
    assert not exists(kb)
    write(kb, EDGES)
    assert read(kb) == set(EDGES)
    store = Store.open(kb)
    assert verify(store) == []
    assert store.version == 0
    assert {path.name for path in (kb / "facts").glob("*.parquet")} == {file.name for file in store.files()}


def test_a_killed_creation_can_be_given_up(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    kill_at(steps.TERMS_COMMITTED, job, kb)
    with begin(kb):
        pass
    assert tree(kb) == set()


def test_a_living_writer_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other writers start, are killed, give up and vacuum while a writer is between its two commits."""
    write(tmp_path, EDGES)
    living = begin(tmp_path)
    fill(living, MORE)

    def meanwhile() -> None:
        kill_at(steps.TERMS_MOVED, job, tmp_path)
        with begin(tmp_path) as other:
            locks = {path.name for path in (tmp_path / "work").glob("*.lock")}
            assert locks == {f"{living.writer}.lock", f"{other.writer}.lock"}
        vacuum(Store.open(tmp_path), keep_versions=1)

    at_step(monkeypatch, steps.TERMS_COMMITTED, meanwhile)
    assert finish(living) == 1
    assert read(tmp_path) == {*EDGES, *MORE}
    assert verify(Store.open(tmp_path)) == []


def test_a_snapshot_that_somebody_is_making_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, EDGES)

    def meanwhile() -> None:
        write(tmp_path, MORE)

    at_step(monkeypatch, steps.SNAPSHOT_WRITTEN, meanwhile)
    assert Store.open(tmp_path).write_snapshot(0, {"a": np.arange(3)}, {}) is not None
    assert read(tmp_path) == {*EDGES, *MORE}


@pytest.mark.parametrize("clean", ["write", "vacuum"])
def test_staging_directories_of_nobody_go(tmp_path: Path, clean: str) -> None:
    """Staging directories of a killed writer are removed, also those of helpers that wrote after the next clean-up."""
    write(tmp_path, EDGES)
    with begin(tmp_path) as living:
        (tmp_path / "work" / ("ab" * 16) / "facts").mkdir(parents=True)
        (tmp_path / "work" / "notes").mkdir()
        if clean == "write":
            write(tmp_path, MORE)
        else:
            assert vacuum(Store.open(tmp_path)) == [tmp_path / "work" / ("ab" * 16)]
        assert living.work.exists()
    assert tree(tmp_path / "work") == {"guard", "notes"}
