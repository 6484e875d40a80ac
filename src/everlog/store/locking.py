"""Which writers are alive, and how those that died are cleaned up after.

Every writer holds an exclusive ``flock`` on ``work/<writer>.lock`` for its whole life. The kernel
drops it when the process ends, however it ends, so a lock that can be taken belongs to a dead
writer: no process ids to be reused, no ages to be guessed. Nobody waits for such a lock, since the
Delta commit decides who wins; it only says whose files must be left alone.

``work/guard`` is held for the moments in which a writer registers, leaves or cleans up, so that
none of these see another halfway through.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from everlog.store.layout import Layout


@contextmanager
def guarded(layout: Layout) -> Iterator[None]:
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


def _is_same_file(handle: int, layout: Layout) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), layout.guard.stat())
    except FileNotFoundError:
        return False


def register(layout: Layout, writer: str) -> int:
    """Take the lock of a new writer and make its staging directory. Call under the guard."""
    handle = os.open(layout.lock(writer), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    who = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    os.write(handle, json.dumps(who).encode())
    layout.staging(writer).mkdir()
    return handle


def leave(layout: Layout, writer: str, handle: int) -> None:
    """Remove a writer's staging directory and lock. Call under the guard."""
    shutil.rmtree(layout.staging(writer), ignore_errors=True)
    layout.lock(writer).unlink(missing_ok=True)
    os.close(handle)


def writers(layout: Layout) -> list[str]:
    """All writers that registered and did not leave, dead or alive."""
    return sorted(path.stem for path in layout.work.glob("*.lock"))


def is_alive(layout: Layout, writer: str) -> bool:
    """Is somebody holding the lock of this writer?"""
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


def living(layout: Layout) -> set[str]:
    """The writers at work."""
    return {writer for writer in writers(layout) if is_alive(layout, writer)}


def remove_dead(layout: Layout, writer: str) -> None:
    """Remove the staging directory and lock of a writer that died. Call under the guard."""
    shutil.rmtree(layout.staging(writer), ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        layout.lock(writer).unlink()
