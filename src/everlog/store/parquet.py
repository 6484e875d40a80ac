"""Data files: written sorted and in bounded row groups, read by row group.

Ids are hashes, so argument columns are plain (a dictionary doubled the time of writing and of
reading and saved 4%); ``predicate`` and the weights repeat, so they are dictionary encoded. Row
groups are small enough for their statistics to prune by predicate and first argument, and, in larger
files, for Bloom filters to prune by the other arguments.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.engine.tables import argument_name, argument_names, fact_columns
from everlog.lang.codes import Code
from everlog.store import schema
from everlog.store.errors import store_error
from everlog.store.files import open_file
from everlog.store.rows import Ints, Key, first_disorder, key_of, plain, row_key, sort_order

FILE_ROWS = 1 << 23
"""Maximum number of rows of a file of facts or terms."""

FACT_GROUP_ROWS = 1 << 15
"""Rows of a row group of facts."""

TERM_GROUP_ROWS = 1 << 17
"""Rows of a row group of terms."""

GROUPS_WITHOUT_FILTERS = 4
"""Maximum number of row groups of a file without Bloom filters."""

LEAST_SHARE = 0.1
"""Minimum share of the rows with a value in a column of arguments for the column to get a Bloom filter."""

FALSE_HITS = 0.0013
"""Share of missing values that a filter of two bytes for each row does not exclude."""

LARGEST = np.iinfo(np.int64).max
WRITING = {"compression": "zstd", "compression_level": 1, "store_schema": False, "write_page_checksum": True}
"""Options of files of facts and of terms."""


def chunks(batches: Iterable[pa.RecordBatch | pa.Table], rows: int) -> Iterator[pa.Table]:
    """The rows in tables of ``rows`` rows, the last one smaller.

    >>> batch = pa.record_batch({"x": list(range(5))})
    >>> [table.num_rows for table in chunks([batch, batch], 4)]
    [4, 4, 2]
    """
    held: list[pa.Table] = []
    count = 0
    for batch in batches:
        table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        while table.num_rows:
            piece = table.slice(0, rows - count)
            table = table.slice(piece.num_rows)
            held.append(piece)
            count += piece.num_rows
            if count == rows:
                yield pa.concat_tables(held, promote_options="default")
                held, count = [], 0
    if held:
        yield pa.concat_tables(held, promote_options="default")


def write_facts(rows: pa.Table, path: Path) -> None:
    """Write the rows of one file, sorted; a fact that occurs twice is an error."""
    width = schema.width_of(rows.schema.names)
    rows = _sorted(rows, fact_columns(width), path)
    having = [rows.num_rows - rows.column(name).null_count for name in argument_names(width)]
    with facts_writer(path, rows.schema, filtered(rows.num_rows, having)) as writer:
        writer.write_table(rows, row_group_size=FACT_GROUP_ROWS)


def facts_writer(path: Path | str, columns: pa.Schema, filters: Collection[str]) -> pq.ParquetWriter:
    """Open a file for sorted facts; ``filters`` are the columns that get Bloom filters.

    Rows have to be written in row groups of ``FACT_GROUP_ROWS``. A filter has a byte for each value; the writer
    makes it smaller if there are few different values.
    """
    blooms = {name: {"ndv": FACT_GROUP_ROWS, "fpp": FALSE_HITS} for name in filters}
    repeated = ["predicate", *schema.WEIGHTS]
    return pq.ParquetWriter(path, columns, use_dictionary=repeated, bloom_filter_options=blooms, **WRITING)


def filtered(rows: int, having: Sequence[int], files: int = 1) -> list[str]:
    """The columns that get Bloom filters if rows are spread over files, given how many rows have each argument. Rows
    are sorted by the first argument, so it needs none.

    >>> many = 10 * FACT_GROUP_ROWS
    >>> filtered(many, [many, many, many // 20]), filtered(many, [many, many], files=4)
    (['c1'], [])
    """
    if rows <= GROUPS_WITHOUT_FILTERS * FACT_GROUP_ROWS * files:
        return []
    return [argument_name(place) for place, count in enumerate(having) if place and count >= LEAST_SHARE * rows]


def write_terms(rows: pa.Table, path: Path) -> None:
    """Write the terms of one file, sorted; an id that occurs twice is an error."""
    rows = _sorted(rows, ["id"], path)
    pq.write_table(rows, path, row_group_size=TERM_GROUP_ROWS, use_dictionary=False, **WRITING)


def _sorted(rows: pa.Table, names: list[str], path: Path) -> pa.Table:
    key = key_of(rows, names)
    if first_disorder(key) is None:
        return rows
    order = sort_order(key)
    rows = rows.take(order)
    key = [column[order] for column in key]
    check_order(key, path)
    return rows


def check_order(key: Key, path: Path) -> None:
    """Raise an error unless rows strictly increase."""
    wrong = first_disorder(key)
    if wrong is None:
        return
    here, before = row_key(key, wrong), row_key(key, wrong - 1)
    what = "comes twice" if here == before else f"is below {before} before it"
    raise store_error(Code.BAD_ROWS, f"row {wrong + 1} with key {here} {what}; rows must be sorted and distinct", path)


def check_file_order(path: Path, names: list[str]) -> None:
    """Raise an error unless the rows of a file strictly increase by the given columns."""
    file = open_file(path)
    last: pa.Table | None = None
    for group in range(file.num_row_groups):
        rows = file.read_row_group(group, columns=names)
        joined = rows if last is None else pa.concat_tables([last, rows])
        check_order(key_of(joined, names), path)
        last = rows.slice(rows.num_rows - 1)


def refuse_nulls(rows: pa.Table, wanted: pa.Schema, where: Path) -> None:
    """Raise an error if rows have a null in a column that must have none."""
    for field in wanted:
        if not field.nullable and field.name in rows.schema.names and rows.column(field.name).null_count:
            raise store_error(Code.BAD_ROWS, f"column {field.name} has nulls and must have none", where)


def refuse_repeated_ids(paths: Sequence[Path]) -> None:
    """Raise an error if two files of terms share an id; within a file each id occurs once."""
    if len(paths) < 2:
        return
    ids = np.sort(np.concatenate([open_file(path).read(columns=["id"]).column("id").to_numpy() for path in paths]))
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if len(twice):
        raise store_error(Code.BAD_ROWS, f"term {ids[twice[0]]} comes twice", paths[0].parent)


def wanted_groups(file: pq.ParquetFile, predicates: list[int] | None) -> list[int]:
    """The row groups that may hold one of the (sorted) predicates, by their statistics."""
    if predicates is None:
        return list(range(file.num_row_groups))
    found = []
    for group, stats in enumerate(group_statistics(file, "predicate")):
        known = stats is not None and stats.has_min_max
        if not known or bisect_left(predicates, stats.min) < bisect_right(predicates, stats.max):
            found.append(group)
    return found


def group_statistics(file: pq.ParquetFile, name: str) -> Iterator[Any]:
    """The statistics of a column in each row group of a file."""
    position = file.schema_arrow.get_field_index(name)
    return (file.metadata.row_group(group).column(position).statistics for group in range(file.num_row_groups))


def terms_among(file: pq.ParquetFile, ids: Ints) -> Iterator[pa.Table]:
    """The terms of a file whose ids are among the given ones, ascending, by row group."""
    for group, stats in enumerate(group_statistics(file, "id")):
        start, end = np.searchsorted(ids, [stats.min, stats.max + 1 if stats.max < LARGEST else stats.max])
        if start == len(ids) or (start == end and ids[start] != stats.max):
            continue
        rows = file.read_row_group(group)
        at = np.minimum(np.searchsorted(ids, here := plain(rows.column("id"))), len(ids) - 1)
        yield rows.filter(pa.array(ids[at] == here))
