"""Copies of facts in object stores, made in a directory that all workers share.

Readers map files and cut them into ranges, and so they read copies. delta-rs makes these, with the settings of
:mod:`everlog.host.locations`: of a directory the files that would be read, of a Delta table its log and the files of
its newest version.
"""

from __future__ import annotations

import glob
import logging
import re
import shutil
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from everlog.host.locations import SETTINGS, delta_uri, kind_of, storage_options
from everlog.host.memory import size_text
from everlog.ingest.extensions import is_hidden, kind_by_name
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Diagnostic, Place
from everlog.lang.visible import masked

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

log = logging.getLogger(__name__)

AT_A_TIME = 8
"""Number of files that are copied at the same time."""
CHUNK = 8 << 20
"""Bytes that are copied at a time."""

LOG = "_delta_log"
"""The directory of a Delta table's log."""

_DELETED = re.compile(r"(?:^|/)deletion_vector_[^/]*\.bin$")
"""The files of a Delta table that say which rows of other files are deleted."""
_COLOUR = re.compile(r"\x1b\[\d+m")


@dataclass(frozen=True)
class FetchedCopy:
    """A copy: ``path`` is the copied file or directory, in the directory ``root``, which stands for ``address``."""

    path: str
    root: str
    address: str

    def shown(self, path: str) -> str:
        """The address of a copied file; paths in a text are replaced, too.

        >>> FetchedCopy("copies/7/e.csv", "copies/7", "s3://bucket/in").shown("see copies/7/e.csv")
        'see s3://bucket/in/e.csv'
        """
        return path.replace(self.root, self.address)

    def as_given(self, error: DataError) -> DataError:
        """An error about copied files, with their addresses."""
        return DataError(map(self._addressed, error.diagnostics))

    def _addressed(self, wrong: Diagnostic) -> Diagnostic:
        place, hint = wrong.place, wrong.hint
        return replace(
            wrong,
            message=self.shown(wrong.message),
            place=place and replace(place, file=self.shown(place.file)),
            hint=hint and self.shown(hint),
        )


def fetch(place: str, work: Path) -> FetchedCopy:
    """Copy the file or directory at an address, or the files of a glob, into a new directory in ``work``."""
    from deltalake.exceptions import DeltaError

    try:
        return _fetched(place, work)
    except (OSError, ValueError, DeltaError) as error:
        raise _unreachable(place, error) from error


def _fetched(place: str, work: Path) -> FetchedCopy:
    store = _Store.of(place)
    key = delta_uri(place).removeprefix(store.root).strip("/")
    base = re.split(r"[*?\[]", key, maxsplit=1)[0].rpartition("/")[0]
    directory = work / f"fetched-{uuid.uuid4().hex}"
    wanted = list(store.wanted(key, base))
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        sizes = list(pool.map(lambda each: store.copy(each, directory / each.removeprefix(base).lstrip("/")), wanted))
    log.info("fetched %d files, %s, from %s", len(sizes), size_text(sum(sizes)), masked(str(place)))
    path = directory / key.removeprefix(base).lstrip("/")
    return FetchedCopy(str(path), str(directory), f"{store.root}/{base}".rstrip("/"))


@dataclass(frozen=True)
class _Store:
    """A bucket, container or host, by its address."""

    root: str
    files: FileSystem

    @classmethod
    def of(cls, place: str) -> _Store:
        from deltalake.fs import DeltaStorageHandler
        from pyarrow.fs import PyFileSystem

        scheme, _, rest = delta_uri(place).partition("://")
        root = f"{scheme}://{rest.partition('/')[0]}"
        return cls(root, PyFileSystem(DeltaStorageHandler(root, storage_options(root))))

    def wanted(self, key: str, base: str) -> Iterator[str]:
        """The keys of all files to copy."""
        from pyarrow.fs import FileType

        kind = self.files.get_file_info(key).type if key else None
        if glob.has_magic(key) and kind == FileType.NotFound:
            pattern = _pattern(key)
            yield from (each for each in self._under(base) if pattern.fullmatch(each))
        elif kind == FileType.File:
            yield key
        else:
            yield from self._under(key)

    def copy(self, key: str, path: Path) -> int:
        """Copy a file, and return its number of bytes."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with self.files.open_input_stream(key) as source, path.open("wb") as target:
            shutil.copyfileobj(source, target, CHUNK)
            return target.tell()

    def _under(self, base: str) -> Iterator[str]:
        """The keys of the files in a directory that are read if the directory is."""
        from pyarrow.fs import FileSelector, FileType

        found = self.files.get_file_info(FileSelector(base, recursive=True, allow_not_found=True))
        keys = sorted(info.path for info in found if info.type == FileType.File)
        tables = {key.partition(f"{LOG}/")[0].rstrip("/") for key in keys if f"/{LOG}/" in f"/{key}"}
        current = {file for table in tables for file in self._current(table)}
        for key in keys:
            if any(above in tables for above in _above(key)):
                if key in current or f"/{LOG}/" in f"/{key}" or _DELETED.search(key):
                    yield key
            elif not is_hidden(key.removeprefix(base)) and kind_by_name(key) is not None:
                yield key

    def _current(self, table: str) -> Iterator[str]:
        """The keys of the files of a Delta table's newest version; names in its log may be quoted."""
        from deltalake import DeltaTable

        address = f"{self.root}/{table}".rstrip("/")
        for uri in DeltaTable(address, storage_options=storage_options(address)).file_uris():
            key = uri.removeprefix(f"{self.root}/")
            yield from {key, unquote(key)}


def _above(key: str) -> Iterator[str]:
    """The directories that a file is in.

    >>> list(_above("a/b/c.csv"))
    ['', 'a', 'a/b']
    """
    parts = key.split("/")
    return ("/".join(parts[:number]) for number in range(len(parts)))


def _pattern(key: str) -> re.Pattern[str]:
    """The pattern of the keys that a glob matches, and of the keys in directories that it matches.

    >>> [bool(_pattern("in/*.csv").fullmatch(key)) for key in ("in/a.csv", "in/b/a.csv", "in/a.csv/part-0.csv")]
    [True, False, True]
    >>> [bool(_pattern("in/**/[ab].nt").fullmatch(key)) for key in ("in/a.nt", "in/x/y/b.nt", "in/c.nt")]
    [True, True, False]
    """
    signs = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*|\?|\[[^\]]*\])", key)
    text = "".join(
        signs.get(part) or (part.replace("[!", "[^") if part[:1] == "[" else re.escape(part)) for part in parts
    )
    return re.compile(f"{text}(?:/.*)?", re.DOTALL)


def _unreachable(place: str, error: BaseException) -> DataError:
    """The error for a place that delta-rs cannot read. The last part of its message is the cause; the parts before it
    name the operation.
    """
    parts = [part.strip() for part in _COLOUR.sub("", str(error)).split("↳") if part.strip()]
    reason = parts[-1] if parts else repr(error)
    names = ", ".join(name for setting in SETTINGS[kind_of(place) or "hdfs"] for name in setting.variables)
    hint = f"check the address and the network{f'; credentials come from {names}' if names else ''}"
    return DataError.of(Code.UNREACHABLE_STORE, f"the object store cannot be read: {reason}", Place(place), hint)
