"""Reading: every task reads, checks and encodes its splits and writes Parquet files.

Only small rows come back from a task: which files, how many rows, which rows were bad. A file
counts only if its task returned it, so tasks that run twice do no harm.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from everlog.engine.kinds import ByPredicate, merged_kinds
from everlog.ingest.amounts import AmountProgress
from everlog.ingest.read import read
from everlog.ingest.sources import ReadOptions
from everlog.ingest.spill import Rows, Spill, write_parquet
from everlog.ingest.split import BadRow, Split
from everlog.ingest.tasks import Runner, Tally, work_directory
from everlog.ingest.triples import rdf_width
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Diagnostic
from everlog.store.schema import MIN_WIDTH

MOST_LISTED = 1000
"""Maximum number of bad rows that are kept with their reasons; the others are counted."""

MOST_SHOWN = 20
"""Maximum number of bad rows that an error shows."""

LARGEST_TASK = 64 << 20
"""Maximum bytes of input of a task, except where one split has more."""

SMALLEST_TASK = 4 << 20
"""Minimum bytes of input of a task, except for the last one."""


@dataclass(frozen=True)
class Staged:
    """Facts that were read and encoded, in files of ids and files of the terms they use.

    Facts and terms are distinct within a file, not across files. ``rows`` counts facts as read.
    """

    width: int
    fact_files: tuple[str, ...] = ()
    term_files: tuple[str, ...] = ()
    rows: int = 0
    bad: tuple[BadRow, ...] = ()
    bad_count: int = 0
    kinds: ByPredicate = field(default_factory=dict)
    """The kinds of terms in the columns of each predicate."""
    held_facts: tuple[pa.Table, ...] = ()
    held_terms: tuple[pa.Table, ...] = ()
    """Facts and terms that this process has read and holds instead of writing them into files."""

    @property
    def facts(self) -> tuple[Rows, ...]:
        """All facts, in files or in memory."""
        return (*self.fact_files, *self.held_facts)

    @property
    def terms(self) -> tuple[Rows, ...]:
        """All terms, in files or in memory."""
        return (*self.term_files, *self.held_terms)

    def in_files(self, work: Path) -> Staged:
        """The same facts and terms, all of them in files."""
        facts = [write_parquet(table, work, "facts") for table in self.held_facts]
        terms = [write_parquet(table, work, "terms") for table in self.held_terms]
        return replace(
            self,
            fact_files=(*self.fact_files, *facts),
            term_files=(*self.term_files, *terms),
            held_facts=(),
            held_terms=(),
        )


def stage(
    runner: Runner,
    splits: Sequence[Split],
    options: ReadOptions,
    work: Path | str | None,
    *,
    width: int | None = None,
    on_error: str = "stop",
    salt: int = 0,
    progress: AmountProgress | None = None,
    literals: bool = False,
) -> Staged:
    """Read splits into files in ``work``, a directory that all workers share; without it this process holds the rows.

    ``width`` is the largest arity, by default that of the splits. With ``on_error="stop"`` bad rows
    are an error that lists them; with ``"skip"`` they are counted and the first 1,000 returned. ``progress`` is called
    with the amount that is read so far. ``literals`` is as for :class:`everlog.ingest.spill.Spill`.
    """
    width = widest(splits, options) if width is None else width
    tasks = pack(list(map(_absolute, splits)), wanted=runner.parallelism)
    task = _ReadTask(options, None if work is None else work_directory(work), width, salt, literals)
    return replace(read_tasks(runner, task, tasks, splits, on_error, progress), width=width)


def read_tasks(
    runner: Runner,
    task: Callable[[tuple[Split, ...]], Staged],
    tasks: Sequence[tuple[Split, ...]],
    splits: Sequence[Split],
    on_error: str,
    progress: AmountProgress | None,
) -> Staged:
    """Run a task over splits, and return its results as one; with ``on_error="stop"`` an error if any row was bad.
    ``splits`` have the paths that the user gave, those in ``tasks`` may be absolute.
    """
    tally = None if progress is None else Tally([sum(map(bytes_in, task)) for task in tasks], progress)
    given = {path: split.shown for split in splits for path in (split.path, os.path.abspath(split.path))}
    try:
        parts = runner.run(task, tasks, tally)
    except DataError as error:
        raise DataError(_as_given(wrong, given) for wrong in error.diagnostics) from None
    found = (_as_given(row, given) for part in parts for row in part.bad)
    bad = sorted(found, key=lambda row: (row.place.file, row.place.line or 0))
    count = sum(part.bad_count for part in parts)
    if count and on_error == "stop":
        raise _bad_rows_error(bad, count)
    return Staged(
        0,
        fact_files=tuple(file for part in parts for file in part.fact_files),
        term_files=tuple(file for part in parts for file in part.term_files),
        rows=sum(part.rows for part in parts),
        bad=tuple(bad[:MOST_LISTED]),
        bad_count=count,
        kinds=merged_kinds(part.kinds for part in parts),
        held_facts=tuple(table for part in parts for table in part.held_facts),
        held_terms=tuple(table for part in parts for table in part.held_terms),
    )


def widest(splits: Sequence[Split], options: ReadOptions) -> int:
    """The largest number of arguments that facts of these splits may have, at least 2."""
    return max([MIN_WIDTH, *(rdf_width(options) if split.arity is None else split.arity for split in splits)])


def pack(splits: Sequence[Split], wanted: int) -> list[tuple[Split, ...]]:
    """Splits grouped into tasks, the largest first: small files share a task, so that a thousand of
    them do not make a thousand tasks, but there are ``wanted`` tasks if there is enough data.
    """
    sized = sorted(((bytes_in(split), split) for split in splits), key=lambda pair: -pair[0])
    target = min(LARGEST_TASK, max(SMALLEST_TASK, sum(size for size, _ in sized) // max(wanted, 1)))
    tasks: list[list[Split]] = []
    room = 0
    for size, split in sized:
        if size > room or not tasks:
            tasks.append([])
            room = target
        tasks[-1].append(split)
        room -= size
    return [tuple(task) for task in tasks]


def bytes_in(split: Split) -> int:
    """The approximate number of bytes to read in a split."""
    if split.source.kind in ("parquet", "delta"):
        return min(os.path.getsize(split.path), LARGEST_TASK)
    end = split.end if split.end is not None else os.path.getsize(split.path)
    return end - split.start


class Sink(Protocol):
    """Takes batches of texts, as readers give them."""

    rows: int
    """The number of rows that were added."""

    def add(self, batch: pa.RecordBatch) -> None: ...


def read_into(sink: Sink, options: ReadOptions, splits: tuple[Split, ...]) -> Staged:
    """Add the facts of splits to a sink; returns their number, the number of bad rows and the first of these."""
    before, count = sink.rows, 0
    first, bad = list[BadRow](), list[BadRow]()
    for split in splits:
        for batch in read(split, options, bad):
            sink.add(batch)
            count += len(bad)
            first += bad[: MOST_LISTED - len(first)]
            bad.clear()
    first += bad[: MOST_LISTED - len(first)]
    return Staged(0, rows=sink.rows - before, bad=tuple(first), bad_count=count + len(bad))


@dataclass(frozen=True)
class _ReadTask:
    """Reads some splits and writes their facts into a directory."""

    options: ReadOptions
    work: Path | None
    width: int
    salt: int
    literals: bool

    def __call__(self, splits: tuple[Split, ...]) -> Staged:
        spill = Spill(self.work, self.width, self.salt, literals=self.literals)
        read = read_into(spill, self.options, splits)
        spill.flush()
        files, held = (spill.fact_files, spill.term_files), (spill.held_facts, spill.held_terms)
        return replace(read, kinds=spill.kinds, **staged_as(files, held))


def staged_as(
    files: tuple[Iterable[str], Iterable[str]], held: tuple[Iterable[pa.Table], Iterable[pa.Table]]
) -> dict[str, Any]:
    """The entries of :class:`Staged` for files of facts and of terms, and for tables of facts and of terms."""
    names = "fact_files", "term_files", "held_facts", "held_terms"
    return dict(zip(names, map(tuple, (*files, *held)), strict=True))


def _absolute(split: Split) -> Split:
    """The split with an absolute path, for a worker in another directory."""
    source = replace(split.source, path=os.path.abspath(split.source.path))
    return replace(split, source=source, path=os.path.abspath(split.path))


Placed = TypeVar("Placed", BadRow, Diagnostic)


def _as_given(placed: Placed, given: Mapping[str, str]) -> Placed:
    """A bad row or a diagnostic of a file, with the path that the user gave."""
    place = placed.place
    return placed if place is None else replace(placed, place=replace(place, file=given.get(place.file, place.file)))


def _bad_rows_error(bad: Sequence[BadRow], count: int) -> DataError:
    """An error that lists the first bad rows and says how many there are."""
    shown = [Diagnostic(Code.BAD_ROW, row.reason, row.place) for row in bad[:MOST_SHOWN]]
    rows = "1 bad row" if count == 1 else f"{count:,} bad rows"
    more = f"{rows}, of which {len(shown)} are shown" if count > len(shown) else rows
    hint = "correct the data, or leave bad rows out with --on-error skip"
    return DataError([*shown, Diagnostic(Code.BAD_ROWS, f"nothing was loaded: {more}", hint=hint)])
