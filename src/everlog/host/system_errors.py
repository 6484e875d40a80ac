"""How errors of the operating system are shown to the person who has to fix them."""

from __future__ import annotations

import errno
from pathlib import Path

from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, Place

NO_SPACE = "No space left"
"""Begins the message for a full disk, which some libraries pass on without the number of the error."""


def system_error(error: OSError, doing: str = "", where: Path | None = None) -> Diagnostic:
    """The diagnostic of an error of the operating system while ``doing`` something.

    >>> print(system_error(OSError(errno.EIO, "Input/output error", "kb/facts"), "writing the facts"))
    error[input-output]: Input/output error while writing the facts
      --> kb/facts
      = help: check the disk
    """
    path = error.filename or where
    place = Place(str(path)) if path else None
    during = f" while {doing}" if doing else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or NO_SPACE in str(error):
        hint = "free some space (everlog vacuum removes what old versions need) and run again"
        return Diagnostic(Code.DISK_FULL, f"no space left on the disk{during}", place, hint)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        message = f"not allowed{during}: {error.strerror}"
        return Diagnostic(Code.NOT_PERMITTED, message, place, "check who may read and write it")
    hint = "check the path" if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR) else "check the disk"
    return Diagnostic(Code.INPUT_OUTPUT, f"{error.strerror or error}{during}", place, hint)
