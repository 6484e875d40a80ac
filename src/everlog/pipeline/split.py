"""A piece of a source: what one task reads."""

from __future__ import annotations

from dataclasses import dataclass

from everlog.lang.errors import Place
from everlog.pipeline.sources import Source


@dataclass(frozen=True)
class Split:
    """A range of a file. It can be pickled and read anywhere the file can be.

    ``start`` and ``end`` are bytes, or row groups of a Parquet file; without an end the file is read
    whole. ``partition`` holds the columns of a Delta table that are not in its files, ``columns`` the
    names of all its columns in order.
    """

    source: Source
    path: str
    start: int
    end: int | None
    arity: int | None
    columns: tuple[str, ...] = ()
    partition: tuple[tuple[str, object], ...] = ()

    @property
    def shown(self) -> str:
        """The path as users know it."""
        return self.source.shown(self.path)


@dataclass(frozen=True)
class BadRow:
    """A row or triple that cannot be a fact."""

    place: Place
    reason: str
