"""A split: the part of a source that one task reads."""

from __future__ import annotations

from dataclasses import dataclass

from everlog.ingest.sources import FactSource
from everlog.lang.errors import Place


@dataclass(frozen=True)
class Split:
    """A range of a file. It can be pickled, and read wherever the file can be.

    ``start`` and ``end`` are bytes, or row groups of a Parquet file; without an end the file is read whole. A table
    has ``width`` columns; ``order`` has the number of the column of each argument. A file of a Delta table may have
    its columns in another order: ``columns`` are the names of the table's columns, ``partition`` has the values of
    those that are not in the file. ``deleted`` marks the rows of the file that are deleted, a bit for each row.
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
        """The path in the form that the user gave."""
        return self.source.shown(self.path)


@dataclass(frozen=True)
class BadRow:
    """A row or triple that cannot be a fact."""

    place: Place
    reason: str
