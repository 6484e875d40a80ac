"""Addresses of files and directories: paths of a file system, or addresses with a scheme."""

from __future__ import annotations

import re
from pathlib import Path

from everlog.lang.codes import Code
from everlog.lang.errors import Place, StoreError

SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/")


def scheme_of(place: Path | str) -> str | None:
    """The scheme of an address; None for a path.

    >>> scheme_of("s3://bucket/kb"), scheme_of(Path("s3://bucket/kb")), scheme_of("kb"), scheme_of("C:/kb")
    ('s3', 's3', None, None)
    """
    found = SCHEME.match(str(place))
    return found["scheme"].lower() if found else None


def local_path(place: Path | str) -> Path:
    """The local path of a path or ``file://`` address; an error for any other address.

    >>> local_path("file:///data/kb").as_posix(), local_path("kb").as_posix()
    ('/data/kb', 'kb')
    >>> local_path("s3://bucket/kb")
    Traceback (most recent call last):
    ...
    everlog.lang.errors.StoreError: error[not-posix]: a store cannot be kept in an object store (s3)
      --> s3://bucket/kb
      = help: use a directory of a file system: writers need its locks and renames, readers map its files
    """
    scheme = scheme_of(place)
    if scheme is None:
        return Path(place)
    if scheme == "file":
        return Path("/" + str(place)[len("file:") :].lstrip("/"))
    hint = "use a directory of a file system: writers need its locks and renames, readers map its files"
    message = f"a store cannot be kept in an object store ({scheme})"
    raise StoreError.of(Code.NOT_POSIX, message, Place(str(place)), hint)
