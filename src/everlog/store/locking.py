"""Locks of writers: they show which writers are alive, so that the files of dead ones are removed.

Every writer holds an exclusive ``flock`` on ``work/<writer>.lock`` for its whole life. The kernel
drops it when the process ends, however it ends, so a lock that can be taken belongs to a dead
writer: no process ids to be reused, no ages to be guessed. The Delta commit decides which writer wins; the lock
protects a living writer's files, and lets others wait.

A process that makes a snapshot, reader or writer, holds such a lock on the snapshot's directory.

``work/guard`` is held for the moments in which a writer registers, leaves or cleans up, so that
none of these see another halfway through.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everlog.lang.codes import Code
from everlog.store.errors import store_error
from everlog.store.layout import WRITER, StoreLayout

PAUSE = 0.05
"""Seconds between two checks whether other writers are done."""

STALE_SECONDS = 3600.0
"""Seconds since its last change from which a directory counts as abandoned, where the file system has no locks on
directories."""


log = logging.getLogger(__name__)


@contextmanager
def guarded(layout: StoreLayout) -> Iterator[None]:
    """Hold the guard of a store; makes ``work/`` if there is none."""
    while True:
        layout.work.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(layout.guard, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            continue  # the store was removed between the two calls
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_same_file(handle, layout):
                yield
                return
        finally:
            os.close(handle)


def _is_same_file(handle: int, layout: StoreLayout) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), layout.guard.stat())
    except FileNotFoundError:
        return False


@contextmanager
def in_turn(layout: StoreLayout, wait: float | None) -> Iterator[None]:
    """Hold the guard of a store once no writer is at work; an error if one still is after ``wait`` seconds. With
    None other writers are not waited for.
    """
    until, waiting = time.monotonic() + (wait or 0), False
    while True:
        with guarded(layout):
            others = [] if wait is None else sorted(living(layout))
            if not others:
                yield
                return
            who = _described(layout, others[0])
        if not time.monotonic() < until:  # also where `wait` is not a number
            hint = "nothing was changed; run again, or give --wait (wait= in Python) more seconds"
            raise store_error(Code.ANOTHER_WRITER, f"another writer is at work: {who}", layout.root, hint)
        if not waiting:
            log.warning("waiting up to %g s for another writer: %s", wait, who)
            waiting = True
        time.sleep(PAUSE)


def _described(layout: StoreLayout, writer: str) -> str:
    """The process of a writer, as its lock file names it."""
    try:
        holder = json.loads(layout.lock(writer).read_bytes())
        return f"process {holder['pid']} on {holder['host']}, since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "a process that does not say which it is"


def register(layout: StoreLayout, writer: str) -> int:
    """Take the lock of a new writer and make its staging directory. Call under the guard."""
    handle = os.open(layout.lock(writer), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        who = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
        os.write(handle, json.dumps(who).encode())
        layout.staging(writer).mkdir()
    except BaseException:
        leave(layout, writer, handle)
        raise
    return handle


def leave(layout: StoreLayout, writer: str, handle: int) -> None:
    """Remove a writer's staging directory and lock. Call under the guard."""
    try:
        remove_dead(layout, writer)
    finally:
        os.close(handle)


def writers(layout: StoreLayout) -> list[str]:
    """All writers that registered and did not leave, dead or alive."""
    return sorted(path.stem for path in layout.work.glob("*.lock"))


def is_alive(layout: StoreLayout, writer: str) -> bool:
    """Whether a process holds the lock of this writer."""
    try:
        handle = os.open(layout.lock(writer), os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(handle)


def living(layout: StoreLayout) -> set[str]:
    """The writers at work."""
    return {writer for writer in writers(layout) if is_alive(layout, writer)}


def unregistered(layout: StoreLayout) -> list[Path]:
    """Staging directories of no writer: one that died, and whose files came back or could not be removed.

    Call under the guard.
    """
    found = (path for path in layout.work.iterdir() if WRITER.fullmatch(path.name) and path.is_dir())
    return [path for path in found if not layout.lock(path.name).exists()]


def remove_dead(layout: StoreLayout, writer: str) -> None:
    """Remove the staging directory and lock of a writer that died. Call under the guard."""
    shutil.rmtree(layout.staging(writer), ignore_errors=True)
    layout.lock(writer).unlink(missing_ok=True)


@contextmanager
def owned(directory: Path) -> Iterator[None]:
    """Hold a lock on a directory that this process has made, whatever its name; see :func:`is_abandoned`."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        _lock_directory(handle)
        yield
    finally:
        os.close(handle)


def is_abandoned(directory: Path) -> bool:
    """Whether the process that made and owned a directory has ended."""
    try:
        handle = os.open(directory, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        locked = _lock_directory(handle)
        return locked or os.fstat(handle).st_mtime < time.time() - STALE_SECONDS
    except BlockingIOError:
        return False
    finally:
        os.close(handle)


def _lock_directory(handle: int) -> bool:
    """Lock a directory; False where the file system cannot do that."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True
