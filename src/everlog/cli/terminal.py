"""Output of commands: exact in files and pipes; on a terminal without characters that control it."""

from __future__ import annotations

import codecs
import sys
from typing import IO, Any

import click

from everlog.lang.visible import visible_lines


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text to stdout or stderr."""
    stream = sys.stderr if err else sys.stdout
    click.echo(visible_lines(text) if stream.isatty() else text, err=err, nl=nl)


class VisibleBytes:
    """A binary file that passes UTF-8 text on to a terminal."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def write(self, data: Any) -> int:
        """Write bytes, control characters in them as escapes."""
        self._file.write(visible_lines(self._decoder.decode(bytes(data))).encode())
        return len(data)

    def flush(self) -> None:
        self._file.flush()
