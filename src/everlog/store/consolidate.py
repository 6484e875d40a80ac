"""From signed rows to facts: sorted sums, in bounded memory if the store is compacted.

The files of a version are chained into *runs*: files sorted in themselves that follow each other without overlap.
The largest run is the base, usually nearly everything, and is streamed row group by row group. All other rows (the
changes since the last compaction) are summed in memory and merged into the stream. Cost: the base is read once; the
changes are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from everlog.engine.tables import fact_columns
from everlog.store import schema
from everlog.store.files import open_file
from everlog.store.parquet import wanted_groups
from everlog.store.rows import equal_at, key_of, lower_bound, plain, row_key, summed

FEW_ROWS = 1 << 14
"""Maximum number of rows of a file that is read once and held in memory."""


@dataclass(frozen=True, slots=True)
class FileBounds:
    """A file with the keys of its first and last row, and with all its rows if they are few."""

    path: Path
    rows: int
    first: tuple[int, ...]
    last: tuple[int, ...]
    held: pa.Table | None = None


def sums(paths: Sequence[Path], width: int, predicates: Sequence[int] | None = None) -> Iterator[pa.Table]:
    """Yield every fact with its summed weights, sorted, one row each; facts whose sums are 0 are among them."""
    runs = _runs([bounds for path in paths if (bounds := _bounds(path, width)) is not None])
    if not runs:
        return
    base = max(runs, key=lambda run: sum(file.rows for file in run))
    rest = [rows for run in runs if run is not base for rows in _stream(run, width, predicates)]
    stream = _stream(base, width, predicates)
    if rest:
        yield from _merge(stream, summed(pa.concat_tables(rest), width), width)
    else:
        yield from stream


def holding(tables: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
    """The facts that hold, without the column ``holds``."""
    for table in tables:
        rows = table
        holds = plain(table.column("holds"))
        if len(holds) and (holds.min() != 1 or holds.max() != 1):
            rows = table.filter(pa.array(holds > 0))
        yield from rows.drop_columns(["holds"]).combine_chunks().to_batches()


def _bounds(path: Path, width: int) -> FileBounds | None:
    """The bounds of a file, None if it has no rows."""
    file = open_file(path)
    if not file.metadata.num_rows:
        return None
    head = _read(file, 0, width)
    tail = _read(file, file.num_row_groups - 1, width) if file.num_row_groups > 1 else head
    first, last = (key_of(rows, fact_columns(width)) for rows in (head, tail))
    held = head if file.metadata.num_rows == head.num_rows <= FEW_ROWS else None
    return FileBounds(path, file.metadata.num_rows, row_key(first, 0), row_key(last, -1), held)


def _runs(files: Sequence[FileBounds]) -> list[list[FileBounds]]:
    """Chain files into as few runs as a first-fit by first key gives."""
    runs: list[list[FileBounds]] = []
    for file in sorted(files, key=lambda file: (file.first, file.last)):
        run = next((run for run in runs if run[-1].last < file.first), None)
        if run is None:
            runs.append([file])
        else:
            run.append(file)
    return runs


def _read(file: pq.ParquetFile, group: int, width: int) -> pa.Table:
    return schema.conform(file.read_row_group(group), width)


def _stream(run: Sequence[FileBounds], width: int, predicates: Sequence[int] | None) -> Iterator[pa.Table]:
    wanted = None if predicates is None else sorted(predicates)
    chosen = None if wanted is None else pa.array(wanted, pa.int64())
    for bounds in run:
        for group in _row_groups(bounds, width, wanted):
            rows = group if chosen is None else group.filter(pc.is_in(group.column("predicate"), chosen))
            if rows.num_rows:
                yield rows


def _row_groups(bounds: FileBounds, width: int, wanted: list[int] | None) -> Iterator[pa.Table]:
    if bounds.held is not None:
        yield bounds.held
        return
    file = open_file(bounds.path)
    for group in wanted_groups(file, wanted):
        yield _read(file, group, width)


def _merge(stream: Iterator[pa.Table], changes: pa.Table, width: int) -> Iterator[pa.Table]:
    """Merge sorted changes into a sorted stream, adding the weights of the same fact."""
    names = fact_columns(width)
    key = key_of(changes, names)
    done = 0
    for rows in stream:
        base = key_of(rows, names)
        last = [column[-1:] for column in base]
        end = int(lower_bound(key, last)[0])
        end += int(equal_at(key, np.array([end]), last)[0])
        yield _merge_block(rows, changes.slice(done, end - done), width) if end > done else rows
        done = end
    if done < changes.num_rows:
        yield changes.slice(done)


def _merge_block(rows: pa.Table, changes: pa.Table, width: int) -> pa.Table:
    names = fact_columns(width)
    base, key = key_of(rows, names), key_of(changes, names)
    at = lower_bound(base, key)
    same = equal_at(base, at, key)
    fresh = np.flatnonzero(~same)
    joined = pa.concat_tables([rows, changes.take(fresh)])
    for position, name in enumerate(joined.schema.names):
        if name in schema.WEIGHTS:
            weights = plain(joined.column(name)).copy()
            weights[at[same]] += plain(changes.column(name))[same]
            joined = joined.set_column(position, joined.schema.field(name), pa.array(weights))
    if not len(fresh):
        return joined
    return joined.take(np.insert(np.arange(rows.num_rows), at[fresh], rows.num_rows + np.arange(len(fresh))))
