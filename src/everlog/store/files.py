"""Opening data files: whatever was not written by Everlog as it is read raises an error that names the file.

Parquet's checksums cover the data in pages. The footer, which has the places and the values of pages, and the Bloom
filters before it have a checksum each in the name of the file, which is in the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from everlog.lang.codes import Code
from everlog.lang.errors import StoreError
from everlog.store.errors import store_error
from everlog.store.layout import check_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from everlog.store.log import ActiveFile

END = 8
"""Bytes after the footer: its length, and the name of the format."""

UNREADABLE = (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError)
"""The errors that Arrow raises for damaged files."""


class DataFile(pq.ParquetFile):  # type: ignore[misc]
    """A Parquet file whose errors while reading name the file."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.path = path
        super().__init__(path, page_checksum_verification=True, **options)

    def read(self, *arguments: Any, **options: Any) -> pa.Table:
        with damage_named(self.path):
            return super().read(*arguments, **options)

    def read_row_group(self, *arguments: Any, **options: Any) -> pa.Table:
        with damage_named(self.path):
            return super().read_row_group(*arguments, **options)

    def read_row_groups(self, *arguments: Any, **options: Any) -> pa.Table:
        with damage_named(self.path):
            return super().read_row_groups(*arguments, **options)


def open_file(path: Path, metadata: pq.FileMetaData | None = None, *, filters: bool = False) -> DataFile:
    """Open a data file; an error if it is gone or damaged. ``metadata`` is its footer if that was read before. With
    ``filters`` its Bloom filters are checked, too.
    """
    with damage_named(path):
        if metadata is None:
            _check_footer(path)
        file = DataFile(path, metadata=metadata, memory_map=True)
        if filters and (check := check_in(path.name)) is not None and _before_footer(path, file.metadata) != check[8:]:
            raise damaged(path, "has Bloom filters that are not as they were written")
        return file


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn errors of reading a file that is gone or damaged into one that names it."""
    try:
        yield
    except FileNotFoundError as error:
        hint = "if this version was vacuumed, read a newer one; otherwise restore the file from a backup"
        raise store_error(Code.VERSION_GONE, f"data file {path.name} is gone", path, hint) from error
    except PermissionError:
        raise
    except UNREADABLE as error:
        raise damaged(path, f"cannot be read: {error}") from error


def damaged(path: Path, what: str) -> StoreError:
    """The error for a data file that is not as it was written."""
    hint = "restore the file from a backup, or read an older version"
    return store_error(Code.DAMAGED_FILE, f"data file {path.name} {what}", path, hint)


def checks_of(path: Path) -> str:
    """The checksums of a file's footer and of the bytes between its pages and its footer."""
    return _of_footer(path) + _before_footer(path, pq.read_metadata(path))


def _check_footer(path: Path) -> None:
    check = check_in(path.name)
    if check is not None and _of_footer(path) != check[:8]:
        raise damaged(path, "has a footer that is not as it was written")


def _of_footer(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - END, 0))
        end = file.read()
        file.seek(max(size - END - int.from_bytes(end[:4], "little"), 0))
        return xxhash.xxh32_hexdigest(file.read())


def _before_footer(path: Path, footer: pq.FileMetaData) -> str:
    """The checksum of the bytes between the pages of a file and its footer."""
    start = max((_end_of(footer.row_group(group)) for group in range(footer.num_row_groups)), default=0)
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(size - END)
        length = size - END - int.from_bytes(file.read()[:4], "little") - start
        file.seek(start)
        return xxhash.xxh32_hexdigest(file.read(max(length, 0)))


def _end_of(group: Any) -> int:
    """Where the pages of a row group end."""
    columns = (group.column(position) for position in range(group.num_columns))
    return max(
        min(column.data_page_offset, column.dictionary_page_offset or column.data_page_offset)
        + column.total_compressed_size
        for column in columns
    )


def paths_of(table: Path, files: Iterable[ActiveFile]) -> list[Path]:
    """The paths of data files of a version; an error if one is gone or has another size than the log says."""
    paths = []
    for file in files:
        path = table / file.name
        with damage_named(path):
            size = path.stat().st_size
        if size != file.size:
            raise damaged(path, f"has {size} bytes, the log says {file.size}")
        paths.append(path)
    return paths
