"""Syncing files and directories to the disk, so that they survive a power cut.

The contents of a file are on the disk once the file is synced, its name once its directory is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path


def sync_files(paths: Iterable[Path]) -> None:
    """Sync the contents of files to the disk."""
    for path in paths:
        _sync(path, os.O_RDONLY)


def sync_directories(paths: Iterable[Path]) -> None:
    """Sync the names in directories to the disk, if the file system can do that."""
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
