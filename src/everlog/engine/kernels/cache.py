"""The directory in which Numba stores compiled kernels.

Numba stores them beside their source or in the user's cache directory, and refuses to declare a kernel if it can write
to neither, as in containers and in executors of a cluster. Then a directory for temporary files takes their place.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import stat
import tempfile
from pathlib import Path

from numba import config, njit

from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError

log = logging.getLogger(__name__)

VARIABLE = "NUMBA_CACHE_DIR"


def ensure_place() -> None:
    """Let Numba store kernels in a temporary directory if it has no other place; called before the first kernel."""
    if _numba_has_place():
        return
    try:
        place = str(_own_directory())
    except OSError as error:
        hint = f"set {VARIABLE} to a directory that can be written to"
        raise EverlogError.of(
            Code.NO_KERNEL_CACHE, f"compiled kernels can be kept nowhere: {error}", hint=hint
        ) from error
    config.CACHE_DIR = os.environ[VARIABLE] = place  # Numba reads the variable again when it changes
    if not _numba_has_place():
        os.environ["XDG_CACHE_HOME"] = place  # for a package in a zip file Numba looks nowhere else
    log.info("kernels are compiled into %s: neither the package nor the home directory can be written to", place)


def _numba_has_place() -> bool:
    """Whether Numba finds a directory when a kernel is declared, and can write to it when the kernel is compiled."""
    try:
        place = njit(cache=True)(_kernel).stats.cache_path
        os.makedirs(place, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return True
    except (RuntimeError, OSError):
        return False


def _kernel() -> int:
    """A function that is declared as a kernel to find the directory, and never compiled."""
    return 0


def _own_directory() -> Path:
    """The directory of this user for compiled kernels, which all processes of the user share.

    Numba unpickles the files in it, so no other user may write to it. If it belongs to another user, or others may
    enter it, this process gets a directory of its own, which is removed at its end.
    """
    user = os.geteuid() if hasattr(os, "geteuid") else None
    shared = Path(tempfile.gettempdir(), f"everlog-kernels-{user}")
    if user is not None:
        try:
            shared.mkdir(mode=0o700, exist_ok=True)
            found = shared.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not stat.S_IMODE(found.st_mode) & 0o077:
                return shared
        except FileExistsError:
            pass
    own = Path(tempfile.mkdtemp(prefix="everlog-kernels-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own
