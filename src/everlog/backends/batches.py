"""Reading a DataFrame of operations into files of ids and terms: facts to insert and facts to delete.

A small one is read in this process, a large one by Spark's workers, by the same functions. Spark first partitions the
rows by fact, so that one task has all operations on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from everlog.backends.asked import FactsToChange
from everlog.backends.executors import RESULT, gather, packed, parallelism
from everlog.engine.dictionary import Dictionary
from everlog.engine.kinds import merged_kinds
from everlog.ingest.facts import facts_of_batches
from everlog.ingest.operations import OperationReader, Resolved, batches_of, conflict_error, resolved
from everlog.ingest.spill import Spill
from everlog.ingest.split import BadRow
from everlog.ingest.stage import MOST_LISTED, MOST_SHOWN, Staged
from everlog.ingest.tasks import attempt, opened, work_directory
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Diagnostic, Place
from everlog.lang.internal import LITERAL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

IN_PROCESS_ROWS = 200_000
"""Maximum number of rows of a batch that this process reads; Spark reads larger batches."""


@dataclass(frozen=True)
class ChangeSet:
    """The facts that a batch of operations inserts and deletes; ``rows`` is the number of operations."""

    insert: Staged
    delete: Staged
    rows: int
    bad: tuple[BadRow, ...]
    bad_count: int


def read_batch(
    frame: DataFrame,
    reader: OperationReader,
    work: Path,
    *,
    where: str,
    width: int,
    salt: int = 0,
    on_error: str = "stop",
) -> ChangeSet:
    """Read the operations in a DataFrame into files in ``work``, a directory that all workers share.

    ``where`` is the name of the batch in messages. With ``on_error="stop"`` bad rows are an error that lists the
    first of them; contradicting operations are always an error.
    """
    rows = frame.select(*reader.columns)
    task = _WriteOperations(work_directory(work), width, salt, where, reader.names.knows(LITERAL))
    if (small := small_batch(frame, reader)) is not None:
        parts = opened([attempt(lambda: task.write(_numbered(reader, small)))])
    else:
        read = rows.mapInArrow(_Read(reader), f"{SCHEMA}, seq {dict(rows.dtypes).get('seq', 'tinyint')}")
        together = read.repartition(parallelism(frame.sparkSession), "predicate", "arguments")
        parts = gather(together.mapInArrow(task, RESULT))
    return _joined_parts(parts, reader, where, width, on_error)


def small_batch(frame: DataFrame, reader: OperationReader) -> pa.Table | None:
    """The operations in a DataFrame, collected; None if they are too many."""
    rows = frame.select(*reader.columns).limit(IN_PROCESS_ROWS + 1).toArrow()
    return rows if rows.num_rows <= IN_PROCESS_ROWS else None


def read_small_batch(
    rows: pa.Table, reader: OperationReader, dictionary: Dictionary, *, where: str, on_error: str = "stop"
) -> FactsToChange:
    """Collected operations as facts to delete and facts to insert over a dictionary; nothing is written.

    The numbers of rows of the facts to insert are those of the whole batch.
    """
    read = _Operations.of(_numbered(reader, rows), where)
    _refuse_batch(sorted(read.bad, key=_by_row), read.bad_count, read.found.conflicts, reader, where, on_error)
    delete = facts_of_batches(read.found.delete, dictionary, add=False)
    insert = facts_of_batches(read.found.insert, dictionary)
    bad = tuple(sorted(read.bad, key=_by_row))
    insert = replace(insert, rows=read.rows, bad=bad, bad_count=read.bad_count)
    return FactsToChange(replace(delete, rows=0), insert)


SCHEMA = "predicate string, arguments array<string>, insert boolean, row long, bad string"
"""Schema of operations between two stages of Spark, without ``seq``, whose type is that of the stream."""


def _numbered(reader: OperationReader, table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Operations with the numbers of their rows."""
    start = 0
    for rows in batches_of(table):
        found = reader.read(rows)
        yield found.append_column("row", pa.array(range(start + 1, start + 1 + len(rows)), pa.int64()))
        start += len(rows)


@dataclass(frozen=True)
class _Read:
    """Reads a partition; its rows have no number, since the order of partitions means nothing."""

    reader: OperationReader

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in batches:
            found = self.reader.read(rows)
            numbers = pa.nulls(len(rows), pa.int64())
            arguments = found.column("arguments").cast(pa.list_(pa.string()))
            columns = [found.column("predicate"), arguments, found.column("insert"), numbers, found.column("bad")]
            names = ["predicate", "arguments", "insert", "row", "bad", "seq"]
            yield pa.record_batch([*columns, found.column("seq")], names=names)


@dataclass(frozen=True)
class _Operations:
    """Operations that were read: the last one on each fact, their number, and the bad rows."""

    found: Resolved = field(default_factory=Resolved)
    rows: int = 0
    bad: list[BadRow] = field(default_factory=list)
    bad_count: int = 0

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch], where: str) -> _Operations:
        """Read batches and find the last operation on each fact."""
        read = list(batches)
        if not read:
            return cls()
        rows = pa.Table.from_batches(read)
        bad = rows.filter(rows.column("bad").is_valid())
        listed = bad.slice(0, MOST_LISTED).select(["row", "bad"]).to_pylist()
        found = resolved(rows.filter(rows.column("bad").is_null()))
        return cls(found, rows.num_rows, [BadRow(Place(where, row["row"]), row["bad"]) for row in listed], bad.num_rows)


@dataclass
class _BatchPart:
    """The result of one task."""

    insert: Staged
    delete: Staged
    rows: int
    bad: list[BadRow] = field(default_factory=list)
    bad_count: int = 0
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _WriteOperations:
    """Finds the last operation on each fact and writes the facts to insert and to delete."""

    work: Path
    width: int
    salt: int
    where: str
    literals: bool = False
    """Whether there is a fact for each literal that is inserted; see :mod:`everlog.engine.literals`."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield packed(lambda: self.write(batches))

    def write(self, batches: Iterable[pa.RecordBatch]) -> _BatchPart:
        read = _Operations.of(batches, self.where)
        return _BatchPart(
            self._staged(read.found.insert, self.literals),
            self._staged(read.found.delete, False),
            read.rows,
            read.bad,
            read.bad_count,
            read.found.conflicts,
        )

    def _staged(self, batches: Sequence[pa.RecordBatch], literals: bool) -> Staged:
        width = max([self.width, *(batch.num_columns - 1 for batch in batches)])
        spill = Spill(self.work, width, salt=self.salt, literals=literals)
        for batch in batches:
            spill.add(batch)
        spill.flush()
        return Staged(width, tuple(spill.fact_files), tuple(spill.term_files), spill.rows, kinds=spill.kinds)


def _joined_parts(
    parts: Sequence[_BatchPart], reader: OperationReader, where: str, width: int, on_error: str
) -> ChangeSet:
    bad = sorted((row for part in parts for row in part.bad), key=_by_row)
    count = sum(part.bad_count for part in parts)
    _refuse_batch(bad, count, [fact for part in parts for fact in part.conflicts], reader, where, on_error)
    return ChangeSet(
        _joined([part.insert for part in parts], width),
        _joined([part.delete for part in parts], width),
        sum(part.rows for part in parts),
        tuple(bad[:MOST_LISTED]),
        count,
    )


def _refuse_batch(
    bad: Sequence[BadRow], count: int, conflicts: Sequence[str], reader: OperationReader, where: str, on_error: str
) -> None:
    """Raise an error for bad rows, unless they are left out, and for contradicting operations."""
    if count and on_error == "stop":
        raise _bad_rows(bad, count, where)
    if conflicts:
        raise conflict_error(sorted(conflicts)[:MOST_SHOWN], where, reader.has_seq)


def _by_row(bad: BadRow) -> tuple[int, str]:
    return bad.place.line or 0, bad.reason


def _joined(parts: Sequence[Staged], width: int) -> Staged:
    return Staged(
        max([width, *(part.width for part in parts)]),
        tuple(file for part in parts for file in part.fact_files),
        tuple(file for part in parts for file in part.term_files),
        sum(part.rows for part in parts),
        kinds=merged_kinds(part.kinds for part in parts),
    )


def _bad_rows(bad: Sequence[BadRow], count: int, where: str) -> DataError:
    shown = [Diagnostic(Code.BAD_ROW, row.reason, row.place) for row in bad[:MOST_SHOWN]]
    rows = f"{count:,} bad row{'s' * (count > 1)}"
    hint = 'correct the source, or leave bad rows out with on_error="skip"'
    return DataError([*shown, Diagnostic(Code.BAD_ROWS, f"{where} was not applied: {rows}", hint=hint)])
