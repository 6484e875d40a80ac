"""A piece of a source: what one task reads."""

from __future__ import annotations

from dataclasses import dataclass

from everlog.ingest.sources import FactSource
from everlog.lang.errors import Place


@dataclass(frozen=True)
class Split:
    """A range of a file. It can be pickled and read anywhere the file can be.

    ``start`` and ``end`` are bytes, or row groups of a Parquet file; without an end the file is read
    whole. A table has ``width`` columns; ``order`` has the number of the column of each argument. A file of a Delta
    table may have its columns in an order of its own: ``columns`` are the names of those of the table, ``partition``
    holds the ones that are not in the file. ``deleted`` are the file's rows that are none any more, a bit for each row.
    """

    source: FactSource
    path: str
    start: int
    end: int | None
    arity: int | None
    width: int | None = None
    order: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    partition: tuple[tuple[str, object], ...] = ()
    deleted: bytes = b""

    @property
    def shown(self) -> str:
        """The path as users know it."""
        return self.source.shown(self.path)


@dataclass(frozen=True)
class BadRow:
    """A row or triple that cannot be a fact."""

    place: Place
    reason: str
