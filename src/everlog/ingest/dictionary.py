"""Finding the new terms of staged facts, and texts that share an id.

Term files are sorted by id, and ids are hashes, so a range of ids is an equal share of every file. Each task takes
one range from all files, old and new, and merges them: equal ids become neighbours, whose texts must agree. That is
a sort-merge join of inputs that are partitioned already, so nothing is shuffled.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from everlog.ingest.spill import Rows, rows_in, write_parquet
from everlog.ingest.tasks import Runner, work_directory
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Diagnostic
from everlog.store.files import damage_named, open_file
from everlog.store.parquet import terms_among
from everlog.store.schema import TERMS

LARGEST_RANGE_ROWS = 4_000_000
"""Maximum number of terms of a range, in all files together."""

LARGEST_RANGE_BYTES = 512 << 20
"""Maximum number of bytes of a range, in all files together."""

SMALLEST_RANGE_ROWS = 500_000
"""Minimum number of terms of a range that is made so that more tasks can work in parallel."""

MOST_SHOWN = 10
"""Maximum number of pairs of texts with one id that an error names."""

FEW_TERMS = 1 << 14
"""Maximum number of terms that are looked up in the row groups that can have them; for more, all row groups are
read."""


Collision = tuple[int, str, str]
"""An id and two texts that have it."""


@dataclass(frozen=True)
class NewTerms:
    """Terms to add to a dictionary: files of ``id`` and ``text``, sorted by id, their ranges disjoint."""

    files: tuple[str, ...] = ()
    count: int = 0
    collisions: tuple[Collision, ...] = ()
    """Texts that share an id; none where files are written."""


def new_terms(
    runner: Runner, staged: Sequence[Rows], existing: Sequence[str], work: Path | str, *, salt: int = 0
) -> NewTerms:
    """The terms that are ``staged`` and that no ``existing`` file has, written into ``work`` by the workers.

    Staged files are as :class:`~everlog.ingest.spill.Spill` writes them; existing ones need columns ``id`` and
    ``text`` in any order. Two texts with one id, staged or existing, are an error with the code ``hash-collision``
    that names both. Each range of ids is held in memory by one task; the number of ranges grows with the data.
    """
    directory = work_directory(work)
    ranges = id_ranges(_range_count(runner.parallelism, staged, runner.room)) if staged else []
    new = tuple(os.path.abspath(rows) if isinstance(rows, str) else rows for rows in staged)
    tasks = [_Range(low, high, new, tuple(map(os.path.abspath, existing)), directory) for low, high in ranges]
    merged = runner.run(_Range.merge, tasks)
    collisions = [collision for part in merged for collision in part.collisions]
    if collisions:
        raise collision_error(collisions, salt)
    return NewTerms(tuple(file for part in merged for file in part.files), sum(part.count for part in merged))


def id_ranges(count: int) -> list[tuple[int, int]]:
    """All 64-bit ids as ``count`` ranges of the same size, both ends included.

    >>> id_ranges(2)
    [(-9223372036854775808, -1), (0, 9223372036854775807)]
    """
    bounds = [(i << 64) // count - (1 << 63) for i in range(count + 1)]
    return [(low, high - 1) for low, high in pairwise(bounds)]


def collision_error(collisions: Sequence[Collision], salt: int = 0) -> DataError:
    """An error that names the texts that share an id."""
    shown = [
        Diagnostic(Code.HASH_COLLISION, f"the terms {a} and {b} have the same id {id}")
        for id, a, b in sorted(collisions)[:MOST_SHOWN]
    ]
    hint = f"materialise with `--salt {salt + 1}` (or any other number): every term then gets another id"
    return DataError([*shown[:-1], Diagnostic(shown[-1].code, shown[-1].message, hint=hint)])


@dataclass(frozen=True)
class _Range:
    """One range of ids of all files."""

    low: int
    high: int
    staged: tuple[Rows, ...]
    existing: tuple[str, ...]
    work: Path

    def merge(self) -> NewTerms:
        """Write the new terms of the range."""
        terms, collisions = distinct_terms(pa.concat_tables(self._read(file, TERMS.names) for file in self.staged))
        known = np.zeros(terms.num_rows, np.bool_)
        for file in self.existing:
            positions, texts = self._known(file, terms)
            known[positions] = True
            collisions += _differences(terms.take(pa.array(positions)), texts)
        if collisions:
            return NewTerms(collisions=tuple(collisions[:MOST_SHOWN]))
        fresh = terms.filter(pa.array(~known)) if known.any() else terms
        files = (write_parquet(fresh, self.work, "new-terms"),) if fresh.num_rows else ()
        return NewTerms(files, fresh.num_rows)

    def _known(self, file: str, terms: pa.Table) -> tuple[NDArray[np.int64], pa.ChunkedArray]:
        """The positions in ``terms`` of the ids of an existing file, and the file's texts for them. Texts are read
        only if there are such ids.
        """
        wanted = terms.column("id").to_numpy()
        if len(wanted) <= FEW_TERMS:
            found = list(terms_among(open_file(Path(file)), wanted))
            there = np.concatenate([wanted[:0], *(rows.column("id").to_numpy() for rows in found)])
            chunks = [chunk.cast(pa.string()) for rows in found for chunk in rows.column("text").chunks]
            return np.searchsorted(wanted, there), pa.chunked_array(chunks, pa.string())
        ids = self._read(file, ["id"]).column("id").to_numpy()
        places = np.searchsorted(wanted, ids) if len(wanted) else np.zeros(len(ids), np.int64)
        hits = np.flatnonzero(wanted[np.minimum(places, len(wanted) - 1)] == ids) if len(wanted) else places[:0]
        texts = self._read(file, TERMS.names).column("text") if len(hits) else pa.chunked_array([], pa.string())
        return places[hits], texts.take(pa.array(hits)).cast(pa.string())

    def _read(self, file: Rows, columns: list[str]) -> pa.Table:
        """The rows with ids in the range; row groups of files outside it are not read."""
        inside = (pc.field("id") >= pa.scalar(self.low)) & (pc.field("id") <= pa.scalar(self.high))
        if not isinstance(file, str):
            return rows_in(file, columns, inside)
        options: dict[str, Any] = {"memory_map": True, "use_threads": False, "page_checksum_verification": True}
        open_file(Path(file))
        with damage_named(Path(file)):
            return pq.read_table(file, columns=columns, filters=inside, **options).replace_schema_metadata(None)


def distinct_terms(terms: pa.Table) -> tuple[pa.Table, list[Collision]]:
    """Terms sorted by id, each id once, and the pairs of different texts that share one.

    >>> terms, collisions = distinct_terms(pa.table({"id": [3, 1, 3, 1], "text": ["c", "a", "c", "b"]}))
    >>> terms.column("id").to_pylist(), [sorted(texts) for _, *texts in collisions]
    ([1, 3], [['a', 'b']])
    """
    ids = terms.column("id").to_numpy()
    order = np.argsort(ids)
    first = np.ones(len(order), np.bool_)
    first[1:] = ids[order[1:]] != ids[order[:-1]]
    again = np.flatnonzero(~first)
    texts = terms.column("text")
    collisions = _differences(terms.take(pa.array(order[again - 1])), texts.take(pa.array(order[again])))
    return terms.take(pa.array(order[first])), collisions


def _differences(terms: pa.Table, texts: pa.ChunkedArray) -> list[Collision]:
    """The terms whose text differs from the one at the same position of ``texts``."""
    differ = pc.not_equal(terms.column("text"), texts)
    columns = [*terms.columns, texts]
    return list(zip(*(pc.filter(column, differ).slice(0, MOST_SHOWN).to_pylist() for column in columns), strict=True))


def _range_count(wanted: int, files: Sequence[Rows], share: float) -> int:
    """Number of ranges: as many as memory requires, and enough for parallel work if there is much data."""
    rows = size = 0
    for file in files:
        if not isinstance(file, str):
            rows, size = rows + file.num_rows, size + file.nbytes
            continue
        metadata = pq.read_metadata(file)
        rows += metadata.num_rows
        size += sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    useful = min(wanted, rows // SMALLEST_RANGE_ROWS)
    return max(1, useful, math.ceil(rows / LARGEST_RANGE_ROWS / share), math.ceil(size / LARGEST_RANGE_BYTES / share))
