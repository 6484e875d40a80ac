"""A reported version survives a power cut; a version that was not yet reported exists completely or not at all.

A preloaded library records the order in which a process writes, names and syncs files. The tests derive what a disk may
have after a power cut at any moment: a file that was not synced is empty, and a name in a directory that was not synced
may or may not exist.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from everlog.lang.errors import EverlogWarning, StoreError
from everlog.store import Store
from everlog.store.repair import repair
from tests.running import SOURCES
from tests.store.small import Fact, fact, read, write
from tests.store.verified import verify

SHIM = Path(__file__).with_name("syncs.c")
COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None or sys.platform != "linux", reason="needs a C compiler and Linux")

CHECKPOINT = 9
"""The first version for which delta-rs writes a checkpoint."""

WIDER = 3
"""The version with a larger arity."""


@dataclass(frozen=True)
class Event:
    """An operation of a process: ``write`` or ``sync`` of a file or directory, ``link`` or ``rename`` to a name."""

    what: str
    inode: int
    path: Path
    to: Path | None


def save(path: str, versions: int) -> None:
    """Write versions with one more fact each, one of them with a larger arity, and record when each is done."""
    for number in range(versions):
        write(Path(path), [new_in(number)])
        with open(f"{path}.done", "ab", buffering=0) as done:
            done.write(b"done\n")


def new_in(number: int) -> Fact:
    return fact("wide", "a", "b", f"x{number}") if number == WIDER else fact("p", f"x{number}")


def facts_until(versions: int) -> set[Fact]:
    return {new_in(number) for number in range(versions)}


def recorded(place: Path, versions: int) -> list[Event]:
    """The operations of a process that saves versions of a store at ``place / "kb"``."""
    assert COMPILER is not None
    library, log = place / "syncs.so", place / "syncs.txt"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, SHIM, "-ldl"], check=True)
    code = f"from tests.store.test_power_cuts import save; save({str(place / 'kb')!r}, {versions})"
    environment = {**os.environ, "PYTHONPATH": SOURCES, "SYNCS": str(log), "LD_PRELOAD": str(library)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    return list(_events(log, place))


def _events(log: Path, place: Path) -> Iterator[Event]:
    for line in log.read_text().splitlines():
        what, inode, path, to = line.split("\t")
        if Path(path).is_relative_to(place) or (what == "sync" and place.is_relative_to(path)):
            yield Event(what, int(inode), Path(path), Path(to) if to else None)


@pytest.mark.long
def test_files_are_synced_before_the_log_names_them_and_the_log_before_it_is_done(tmp_path: Path) -> None:
    events = recorded(tmp_path, 3)
    at = {(event.what, event.to or event.path): position for position, event in enumerate(events)}
    done = [position for position, event in enumerate(events) if event.path.name == "kb.done"]
    kb = tmp_path / "kb"
    assert len(done) == 3
    for table in (kb / "facts", kb / "terms"):
        for version, end in enumerate(done):
            (name,) = {file.name for file in files(kb, table, version)} - {
                file.name for file in files(kb, table, version - 1)
            }
            data, entry = table / name, table / "_delta_log" / f"{version:020}.json"
            linked = at["link", entry]
            assert at["rename", data] < at["sync", data] < linked
            assert between(events, table, at["rename", data], linked)
            assert linked < at["sync", entry] or between(events, entry, linked, end)
            assert between(events, entry.parent, linked, end)
            if table.name == "terms":
                assert between(events, entry.parent, linked, at["link", kb / "facts" / "_delta_log" / entry.name])
    assert between(events, tmp_path, 0, done[0])
    assert between(events, kb, at["link", kb / "terms" / "_delta_log" / f"{0:020}.json"] - 5, done[0])


def between(events: list[Event], path: Path, start: int, end: int) -> bool:
    """Whether a file or directory is synced after one event and before another."""
    return any(event.what == "sync" and event.path == path for event in events[start:end])


def files(kb: Path, table: Path, version: int) -> list[Path]:
    if version < 0:
        return []
    store = Store.open(kb)
    found = store.files(version) if table.name == "facts" else store.term_files(version)
    return [table / file.name for file in found]


@dataclass
class Disk:
    """The contents and names that a disk certainly has, and the names that it may have."""

    names: dict[Path, int] = field(default_factory=dict)
    certain: dict[Path, int] = field(default_factory=dict)
    dirty: set[int] = field(default_factory=set)
    done: int = 0

    def follow(self, event: Event) -> None:
        if event.path.name == "kb.done":
            self.done += 1
        elif event.what == "write":
            self.dirty.add(event.inode)
            self.names[event.path] = event.inode
        elif event.to is not None:
            self.names[event.to] = event.inode
            if event.what == "rename":
                self.names.pop(event.path, None)
        else:
            self.dirty.discard(event.inode)
            here = {path: inode for path, inode in self.names.items() if path.parent == event.path}
            self.certain = {path: inode for path, inode in self.certain.items() if path.parent != event.path} | here

    def left(self, *, only_certain: bool) -> frozenset[tuple[Path, bool]]:
        """The names that a power cut leaves, and whether the files have their contents."""
        names = self.certain if only_certain else self.names
        return frozenset((path, inode not in self.dirty) for path, inode in names.items())


@pytest.mark.slow
def test_no_power_cut_loses_a_version_that_was_reported(tmp_path: Path) -> None:
    events = recorded(tmp_path, CHECKPOINT + 3)
    disk, seen = Disk(), set()
    for event in events:
        disk.follow(event)
        for only_certain in (False, True):
            state = (disk.left(only_certain=only_certain), disk.done)
            if state not in seen:
                seen.add(state)
                _check(_rebuilt(tmp_path, state[0]), disk.done)
    assert disk.done == CHECKPOINT + 3
    assert len(seen) > 20 * disk.done


def _rebuilt(place: Path, left: frozenset[tuple[Path, bool]]) -> Path:
    """The store that a power cut leaves."""
    kb = place / "after"
    shutil.rmtree(kb, ignore_errors=True)
    for path, whole in left:
        inside = path.relative_to(place / "kb") if path.is_relative_to(place / "kb") else Path("work")
        if inside.parts[0] in ("facts", "terms") and path.exists():
            (kb / inside).parent.mkdir(parents=True, exist_ok=True)
            (kb / inside).write_bytes(path.read_bytes() if whole else b"")
    return kb


def _check(kb: Path, done: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EverlogWarning)
        try:
            version = Store.open(kb).version
        except StoreError:
            assert done == 0
            return
        count = version + 1 if version < WIDER else version  # one version only makes room for the larger arity
        assert count >= done
        assert read(kb) == facts_until(count)
    (kb / "work").mkdir()
    (kb / "work" / "guard").touch()
    assert repair(kb).version == version
    write(kb, [fact("p", "more")])
    assert read(kb) == {*facts_until(count), fact("p", "more")}
    assert verify(Store.open(kb)) == []
