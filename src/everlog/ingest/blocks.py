"""The bytes of a split, in blocks of whole rows.

A range of a file begins after the first newline at or after the byte before its start, and extends to the end of the
line that has its last byte. So adjacent ranges contain every line once, wherever they are cut. A compressed file is
one stream, and never in memory as a whole.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Place

BLOCK = 8 << 20
"""Bytes that are read at a time."""

MAX_ROW = 256 << 20
"""Maximum number of bytes of a row."""

SHOWN = 200
"""Maximum number of characters of a row in a message."""

NEWLINE = 10
"""The byte of a newline."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Blocks:
    """A window over the rows of a file or of a range of it, which starts at a row and moves forward.

    ``data`` are the bytes in the window; ``final`` is True if no bytes follow them.
    """

    def __init__(self, path: str, compressed: bool, start: int = 0, end: int | None = None, block: int = BLOCK) -> None:
        self.path = path
        self.block = block
        self.data = np.empty(0, np.uint8)
        self.final = False
        self._lines = 0
        self._lines_before: int | None = None if start else 0
        self._file: BinaryIO = open_bytes(path, compressed)
        self._begin = _after_newline(self._file, start) if start else 0
        self._left = _after_newline(self._file, end) - self._begin if end is not None else None
        if start or end is not None:
            self._file.seek(self._begin)
        if start == 0:
            head = np.zeros(len(BYTE_ORDER_MARK), np.uint8)
            head = head[: self._fill(head.data)]
            self.data = head if head.tobytes() != BYTE_ORDER_MARK else head[:0]

    def __enter__(self) -> Blocks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def read(self) -> bool:
        """Add more bytes to the window; False if there are none."""
        if self.final:
            return len(self.data) > 0
        if len(self.data) > MAX_ROW:
            message, hint = f"a row is longer than {MAX_ROW >> 20} MB", "is a quote never closed?"
            raise DataError.of(Code.ROW_TOO_LONG, message, self.places([0])[0], hint)
        kept = len(self.data)
        size = max(self.block, kept)
        window = np.empty(kept + size, np.uint8)
        window[:kept] = self.data
        filled = kept + self._fill(window.data[kept:])
        self.data = window[:filled]
        return filled > 0

    def drop(self, count: int, lines: int | None = None) -> None:
        """Move the window forward past ``count`` bytes; their newlines are counted if ``lines`` is not given."""
        self._lines += int(np.count_nonzero(self.data[:count] == NEWLINE)) if lines is None else lines
        self.data = self.data[count:]

    def places(self, offsets: Iterable[int]) -> list[Place]:
        """The places in the file of the lines that start at these offsets of the window."""
        if self._lines_before is None:
            self._lines_before = _count_lines(self.path, self._begin)
        newlines = np.flatnonzero(self.data == NEWLINE)
        starts = list(offsets)
        numbers = np.searchsorted(newlines, starts) + self._lines_before + self._lines + 1
        found = zip(starts, numbers.tolist(), strict=True)
        return [Place(self.path, number, None, self._line(start, newlines)) for start, number in found]

    def _line(self, start: int, newlines: np.ndarray[Any, Any]) -> str:
        after = int(np.searchsorted(newlines, start))
        end = int(newlines[after]) if after < len(newlines) else len(self.data)
        line = self.data[start : min(end, start + 4 * SHOWN)].tobytes().decode(errors="replace")
        return line.rstrip("\r")[:SHOWN]

    def _fill(self, view: memoryview) -> int:
        """Read until the view is full or the input ends, which sets ``final``."""
        if self._left is not None and self._left <= len(view):
            view, self.final = view[: self._left], True
        filled = 0
        try:
            while filled < len(view):
                count = self._file.readinto(view[filled:])  # type: ignore[attr-defined]
                if not count:
                    self.final = True
                    break
                filled += count
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(self.path, error) from error
        if self._left is not None:
            self._left -= filled
        return filled


def open_bytes(path: str, compressed: bool) -> BinaryIO:
    """The bytes of a file, uncompressed."""
    try:
        return gzip.open(path, "rb") if compressed else open(path, "rb", buffering=0)  # type: ignore[return-value]
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: str, error: BaseException) -> DataError:
    """The error for a file that the system or a decoder cannot read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return DataError.of(Code.UNREADABLE_FILE, f"the file cannot be read: {reason}", Place(path), _remedy(error))


def _remedy(error: BaseException) -> str:
    if isinstance(error, gzip.BadGzipFile):
        return "if the file is not compressed, take .gz from its name; if it is, it is damaged: copy it again"
    if isinstance(error, OSError) and error.strerror:
        return "check the path and that you may read the file"
    return "the file is incomplete or damaged: copy or write it again"


def is_utf8(data: np.ndarray[Any, Any]) -> bool:
    """Whether bytes are valid UTF-8."""
    offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
    try:
        pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _after_newline(file: BinaryIO, position: int) -> int:
    """The first position at or after the given one where a line begins, or the end of the file."""
    at = file.seek(position - 1)
    while chunk := file.read(1 << 16):
        found = chunk.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(chunk)
    return at


def _count_lines(path: str, end: int) -> int:
    count = 0
    with open(path, "rb", buffering=0) as file:
        while end > 0 and (chunk := file.read(min(BLOCK, end))):
            count += chunk.count(b"\n")
            end -= len(chunk)
    return count
