"""Asking the operating system to put what was written on the disk, so that a power cut does not take it back.

A file is on the disk once it is synced, its name once its directory is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path


def sync_files(paths: Iterable[Path]) -> None:
    """Put the contents of files on the disk."""
    for path in paths:
        _sync(path, os.O_RDONLY)


def sync_directories(paths: Iterable[Path]) -> None:
    """Put the names in directories on the disk, as far as the file system can be asked to."""
    for path in paths:
        try:
            _sync(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
