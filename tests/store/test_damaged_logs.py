"""Logs damaged by a power cut: readers get the last complete version and a warning, writers an error."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from everlog.lang.errors import EverlogWarning, StoreError
from everlog.store import Store, begin
from everlog.store.layout import StoreLayout
from everlog.store.repair import repair
from tests.store.small import Fact, fact, read, tree, write
from tests.store.verified import verify

NEWEST = 12
TABLES = ("facts", "terms")


def facts_of(version: int) -> set[Fact]:
    return {fact("p", f"x{number}") for number in range(version + 1)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "kb"
    for number in range(NEWEST + 1):
        write(path, [fact("p", f"x{number}")])
    return path


@pytest.fixture
def kb(made: Path, tmp_path: Path) -> Path:
    """A store with one more fact in each version, and a checkpoint of version 9 in each table."""
    shutil.copytree(made, tmp_path / "kb")
    return tmp_path / "kb"


def entry(kb: Path, table: str, version: int) -> Path:
    return StoreLayout.commit_file(kb / table, version)


def emptied(*versions: int) -> Callable[[Path, str], None]:
    def empty(kb: Path, table: str) -> None:
        for version in versions:
            entry(kb, table, version).write_bytes(b"")

    return empty


def zeroed(kb: Path, table: str) -> None:
    path = entry(kb, table, NEWEST)
    path.write_bytes(bytes(path.stat().st_size))


def cut(kb: Path, table: str) -> None:
    path = entry(kb, table, NEWEST)
    path.write_bytes(path.read_bytes()[:-40])


def cut_after_a_line(kb: Path, table: str) -> None:
    path = entry(kb, table, NEWEST)
    path.write_bytes(path.read_bytes().splitlines()[0])


def without_commit_info(kb: Path, table: str) -> None:
    path = entry(kb, table, NEWEST)
    path.write_bytes(b"\n".join(line for line in path.read_bytes().splitlines() if b"commitInfo" not in line))


def bits_flipped(kb: Path, table: str) -> None:
    path = entry(kb, table, NEWEST)
    path.write_bytes(path.read_bytes().replace(b"numRecords", b"numRecordt"))


def not_text(kb: Path, table: str) -> None:
    path = entry(kb, table, NEWEST)
    path.write_bytes(path.read_bytes().replace(b"writer", b"wri\xffer"))


ENTRIES: dict[str, tuple[Callable[[Path, str], None], int]] = {
    "the newest entry is empty": (emptied(12), 11),
    "many entries are empty": (emptied(12, 11, 10), 9),
    "all entries after a checkpoint are empty, and that of the checkpoint": (emptied(12, 11, 10, 9, 8), 7),
    "the newest entry is of zeros": (zeroed, 11),
    "the newest entry is cut off": (cut, 11),
    "the newest entry is cut off after a line": (cut_after_a_line, 11),
    "the newest entry has lost what the commit says": (without_commit_info, 11),
    "the newest entry has other bits": (bits_flipped, 11),
    "the newest entry is no text": (not_text, 11),
}


@pytest.mark.long
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("state", ENTRIES)
def test_the_newest_entries_are_damaged(kb: Path, state: str, table: str) -> None:
    damage, last = ENTRIES[state]
    damage(kb, table)
    with pytest.warns(EverlogWarning, match=f"version 12 is not whole; the last one that is, version {last}"):
        store = Store.open(kb)
    assert store.version == last
    assert read_quietly(kb) == facts_of(last)
    refuses_writers(kb)

    done = repair(kb)
    assert done.version == last
    assert {moved.path.name for moved in done.moved} >= {entry(kb, table, NEWEST).name}
    assert all(moved.to.exists() and not moved.path.exists() for moved in done.moved)
    is_sound(kb, last)


def empty_checkpoint(kb: Path, table: str) -> None:
    StoreLayout.checkpoint_file(kb / table, 9).write_bytes(b"")


def no_checkpoint(kb: Path, table: str) -> None:
    StoreLayout.checkpoint_file(kb / table, 9).unlink()


def foreign_checkpoint(kb: Path, table: str) -> None:
    other = "facts" if table == "terms" else "terms"
    shutil.copy(StoreLayout.checkpoint_file(kb / other, 9), StoreLayout.checkpoint_file(kb / table, 9))


def cut_checkpoint(kb: Path, table: str) -> None:
    path = StoreLayout.checkpoint_file(kb / table, 9)
    path.write_bytes(path.read_bytes()[:-100])


def last_checkpoint(text: str) -> Callable[[Path, str], None]:
    def written(kb: Path, table: str) -> None:
        StoreLayout.last_checkpoint(kb / table).write_text(text)

    return written


CHECKPOINTS: dict[str, Callable[[Path, str], None]] = {
    "the checkpoint is empty": empty_checkpoint,
    "the checkpoint is not there": no_checkpoint,
    "the checkpoint is of another table": foreign_checkpoint,
    "the checkpoint is cut off": cut_checkpoint,
    "_last_checkpoint is empty": last_checkpoint(""),
    "_last_checkpoint is cut off": last_checkpoint('{"version":9,'),
    "_last_checkpoint names one that is not there": last_checkpoint(json.dumps({"version": 99, "size": 3})),
}


@pytest.mark.long
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("state", CHECKPOINTS)
def test_checkpoints_are_damaged(kb: Path, state: str, table: str) -> None:
    """Checkpoints only save time, so nothing is lost."""
    CHECKPOINTS[state](kb, table)
    with pytest.warns(EverlogWarning, match="checkpoint|the log"):
        assert read(kb) == facts_of(NEWEST)
    refuses_writers(kb)
    assert repair(kb).moved
    is_sound(kb, NEWEST)


@pytest.mark.parametrize("table", TABLES)
def test_entries_and_the_checkpoint_after_them_are_damaged(kb: Path, table: str) -> None:
    emptied(9, 10, 11, 12)(kb, table)
    empty_checkpoint(kb, table)
    assert read_quietly(kb) == facts_of(8)
    refuses_writers(kb)
    repair(kb)
    is_sound(kb, 8)


def test_no_version_is_whole(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    write(kb, [fact("p", "x0")])
    emptied(0)(kb, "facts")
    with pytest.raises(StoreError, match="no version of the store is whole"):
        Store.open(kb)
    refuses_writers(kb)
    files = {path.name for path in (kb / "facts").glob("*.parquet")}
    assert repair(kb).version is None
    assert {path.name for path in (kb / "facts").glob("*.parquet")} == files
    write(kb, [fact("p", "x0")])
    is_sound(kb, 0)


def test_a_damaged_entry_in_the_middle_is_no_other_content(kb: Path) -> None:
    """A version that needs the entry cannot be read, and no other version is read instead."""
    emptied(11)(kb, "facts")
    for version in (11, 12):
        with pytest.raises(StoreError, match="damaged-log"):
            read(kb, version)
    assert read(kb, 10) == facts_of(10)


def test_an_entry_before_a_checkpoint_is_damaged(kb: Path) -> None:
    emptied(3)(kb, "facts")
    assert read(kb) == facts_of(NEWEST)
    assert write(kb, [fact("p", "more")]) == NEWEST + 1


def test_repair_leaves_a_sound_store_alone(kb: Path) -> None:
    before = tree(kb)
    assert repair(kb).moved == ()
    assert tree(kb) == before


def test_repair_waits_for_no_writer(kb: Path) -> None:
    emptied(NEWEST)(kb, "terms")
    entry(kb, "terms", NEWEST).rename(kb / "aside")
    entry(kb, "facts", NEWEST).rename(kb / "aside.facts")
    with begin(kb):
        (kb / "aside").rename(entry(kb, "terms", NEWEST))
        with pytest.raises(StoreError, match="a writer is at work"):
            repair(kb)
    assert [moved.path for moved in repair(kb).moved] == [entry(kb, "terms", NEWEST)]


def read_quietly(kb: Path) -> set[Fact]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EverlogWarning)
        return read(kb)


def refuses_writers(kb: Path) -> None:
    before = tree(kb) - {"work/guard", "work"}
    for overwrite in (False, True):
        with pytest.raises(StoreError, match="everlog repair"):
            begin(kb, overwrite=overwrite)
    assert tree(kb) - {"work/guard", "work"} == before


def is_sound(kb: Path, version: int) -> None:
    """Check that the store is at a version, without a warning, and can be written."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", EverlogWarning)
        assert Store.open(kb).version == version
        assert read(kb) == facts_of(version)
        assert verify(Store.open(kb)) == []
        assert repair(kb).moved == ()
        assert write(kb, [fact("p", "more")]) == version + 1
        assert read(kb) == {*facts_of(version), fact("p", "more")}
