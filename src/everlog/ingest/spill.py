"""Writes encoded facts and their terms as Parquet files, in bounded memory."""

from __future__ import annotations

import functools
import uuid
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from everlog.engine.hashing import MULTIPLIER, hash_text
from everlog.engine.kinds import ByPredicate, add_kinds
from everlog.engine.literals import are_literals
from everlog.ingest.encode import Encoder
from everlog.ingest.room import own_share
from everlog.lang.internal import LITERAL
from everlog.store.schema import TERMS, fact_ids

FLUSH_ROWS = 2_000_000
"""Rows that are held before files are written."""

FLUSH_TEXT_BYTES = 128 << 20
"""Bytes of terms that are held before files are written."""


Rows: TypeAlias = "str | pa.Table"
"""Rows in a Parquet file, given by its path, or in memory."""


def rows_in(rows: Rows, columns: list[str] | None = None, having: pc.Expression | None = None) -> pa.Table:
    """Columns of rows that fulfil a condition.

    >>> rows_in(pa.table({"id": [1, 2], "text": ["a", "b"]}), ["text"], pc.field("id") > 1).to_pylist()
    [{'text': 'b'}]
    """
    if isinstance(rows, str):
        return pq.read_table(rows, columns=columns, filters=having, memory_map=True)
    found = rows if having is None else rows.filter(having)
    return found if columns is None else found.select(columns)


class Spill:
    """Takes batches of texts and writes files of facts and of terms into a directory; without one it holds them.

    Facts and terms are distinct within a file, terms also sorted by id. A file's name is used once and
    never again: when Spark runs a task a second time, the files of the first attempt are not in the result. With
    ``literals`` there is a fact for each literal, too (see :mod:`everlog.engine.literals`).
    """

    def __init__(self, work: Path | None, width: int, salt: int = 0, *, literals: bool = False) -> None:
        self.fact_files: list[str] = []
        self.term_files: list[str] = []
        self.held_facts: list[pa.Table] = []
        self.held_terms: list[pa.Table] = []
        self.rows = 0
        self.kinds: ByPredicate = {}
        """The kinds of terms in the columns of each predicate."""
        self._work = work
        self._schema = fact_ids(width)
        self._encoder = Encoder(salt)
        self._literal = hash_text(str(LITERAL), salt) if literals else None
        self._facts: list[pa.RecordBatch] = []
        self._terms: list[pa.RecordBatch] = []
        self._held_rows = self._held_bytes = 0
        self._share = own_share()

    def add(self, batch: pa.RecordBatch) -> None:
        """Encode a batch of texts; write files once enough rows are held."""
        facts, terms = self._encoder.encode(batch)
        add_kinds(self.kinds, batch, facts.column("predicate").to_numpy())
        self._facts.append(widen(facts, self._schema))
        self._terms.append(terms)
        if self._literal is not None:
            self._facts.append(widen(_literal_facts(terms, self._literal), self._schema))
        self.rows += facts.num_rows
        self._held_rows += facts.num_rows
        self._held_bytes += terms.nbytes
        if self._held_rows >= FLUSH_ROWS * self._share or self._held_bytes >= FLUSH_TEXT_BYTES * self._share:
            self.flush()

    def flush(self) -> None:
        """Write the facts and terms that are held."""
        if self._held_rows:
            facts = distinct(pa.Table.from_batches(self._facts, self._schema))
            self._keep(facts, "facts", self.held_facts, self.fact_files)
        if self._held_bytes:
            terms = pa.Table.from_batches(self._terms, TERMS)
            order = np.argsort(terms.column("id").to_numpy())
            self._keep(terms.take(pa.array(order)), "terms", self.held_terms, self.term_files)
        self._facts, self._terms = [], []
        self._held_rows = self._held_bytes = 0

    def _keep(self, table: pa.Table, kind: str, held: list[pa.Table], files: list[str]) -> None:
        if self._work is None:
            held.append(table)
        else:
            files.append(write_parquet(table, self._work, kind))


def _literal_facts(terms: pa.RecordBatch, predicate: int) -> pa.RecordBatch:
    ids = terms.column("id").filter(are_literals(terms.column("text")))
    names = pa.array(np.full(len(ids), predicate, np.int64))
    return pa.RecordBatch.from_arrays([names, ids], names=["predicate", "c0"])


def widen(facts: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The facts with null columns up to the schema's width."""
    if facts.num_columns > len(schema):
        raise ValueError(f"facts with {facts.num_columns - 1} arguments where at most {len(schema) - 1} were announced")
    missing = [pa.nulls(facts.num_rows, pa.int64())] * (len(schema) - facts.num_columns)
    return pa.RecordBatch.from_arrays([*facts.columns, *missing], schema=schema)


def distinct(facts: pa.Table) -> pa.Table:
    """The distinct facts, in the order of their first occurrences.

    Rows are sorted by a mix of their columns, so that equal rows become neighbours, and compared exactly. Nulls
    follow from the predicate, so 0 can stand for them.

    >>> distinct(pa.table({"predicate": [2, 1, 2], "c0": [5, 7, 5]})).num_rows
    2
    """
    if facts.num_rows < 2:
        return facts
    columns = [column.fill_null(0).to_numpy() for column in facts.columns if column.null_count < len(column)]
    mix = functools.reduce(lambda mixed, column: mixed * MULTIPLIER.view(np.int64) + column, columns)
    order = np.argsort(mix)
    same = np.ones(len(order) - 1, np.bool_)
    for column in (mix, *columns):
        ordered = column[order]
        same &= ordered[1:] == ordered[:-1]
        if not same.any():
            return facts
    keep = np.ones(len(order), np.bool_)
    keep[order[1:][same]] = False
    return facts.filter(pa.array(keep))


def write_parquet(table: pa.Table, directory: Path, kind: str) -> str:
    """Write a file under a name that no other attempt has; returns its path."""
    path = directory / f"{kind}-{uuid.uuid4().hex}.parquet"
    strings = [field.name for field in table.schema if pa.types.is_string(field.type)]
    pq.write_table(
        table, path, compression={name: "zstd" if name in strings else "none" for name in table.schema.names},
        use_dictionary=["predicate"] if "predicate" in table.schema.names else False, row_group_size=1 << 16,
        write_page_checksum=True,
    )  # fmt: skip
    return str(path)
