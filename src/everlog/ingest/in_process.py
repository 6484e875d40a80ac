"""Facts of splits read by this process, straight into a dictionary; no files are written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.keys import Column
from everlog.engine.kinds import ByPredicate, add_kinds
from everlog.engine.relation import Relation
from everlog.ingest.amounts import AmountProgress
from everlog.ingest.blanks import StoredBlanks
from everlog.ingest.read import read
from everlog.ingest.sources import ReadOptions
from everlog.ingest.split import BadRow, Split
from everlog.ingest.stage import MOST_LISTED, as_given, bad_rows_error, bytes_in
from everlog.ingest.tasks import IN_PROCESS, Tally
from everlog.lang.errors import DataError
from everlog.lang.syntax import Predicate

IN_PROCESS_BYTES = 64 << 20
"""Maximum bytes of input, once unpacked, that this process reads by default; Spark reads larger inputs."""

UNPACKED = 5
"""Assumed ratio of the bytes of a compressed file once it is unpacked to its bytes as it is stored."""


def size_of(parts: Iterable[Split]) -> int:
    """The approximate number of bytes to read in splits, once they are unpacked."""
    sources = {part.path: part.source for part in parts}
    return sum(os.path.getsize(path) * (UNPACKED if source.compressed else 1) for path, source in sources.items())


@dataclass
class FactsRead:
    """Facts over a dictionary, and what reading them found.

    ``rows`` counts facts as read, ``unknown`` those left out because the dictionary does not have their terms.
    """

    facts: FactSet
    rows: int = 0
    unknown: int = 0
    bad: tuple[BadRow, ...] = ()
    bad_count: int = 0
    kinds: ByPredicate = field(default_factory=dict)
    """The kinds of terms in the columns of each predicate."""


def read_facts(
    parts: Sequence[Split],
    options: ReadOptions,
    dictionary: Dictionary,
    *,
    add: bool = True,
    blanks: StoredBlanks | None = None,
    on_error: str = "stop",
    progress: AmountProgress | None = None,
) -> FactsRead:
    """The facts of splits. With ``add`` new terms are added to the dictionary, otherwise facts with new terms are left
    out.

    ``blanks`` finds blank nodes by the labels that a store has for them. Bad rows are an error that lists them, or with
    ``on_error="skip"`` counted, the first 1,000 of them returned. ``progress`` is called with the amount that is read
    so far.
    """
    collected = _Collected(dictionary, add, blanks)
    tally = None if progress is None else Tally([bytes_in(part) for part in parts], progress)
    task = _Reading(options, collected)
    given = {part.path: part.shown for part in parts}
    try:
        IN_PROCESS.run(task, parts, tally)
    except DataError as error:
        raise DataError(as_given(wrong, given) for wrong in error.diagnostics) from None
    bad = sorted((as_given(row, given) for row in task.bad), key=lambda row: (row.place.file, row.place.line or 0))
    if bad and on_error == "stop":
        raise bad_rows_error(bad, task.bad_count)
    if blanks is not None:
        blanks.refuse_missing()
    return FactsRead(
        collected.facts(), collected.rows, collected.unknown(), tuple(bad), task.bad_count, collected.kinds
    )


def facts_of_batches(batches: Iterable[pa.RecordBatch], dictionary: Dictionary, *, add: bool = True) -> FactsRead:
    """The facts of batches of texts; ``add`` is as for :func:`read_facts`.

    >>> texts = pa.record_batch({"predicate": ["p/1", "q/2"], "c0": ["1", "2"], "c1": [None, "2"]})
    >>> facts = facts_of_batches([texts], Dictionary()).facts
    >>> {str(predicate): len(relation) for predicate, relation in facts.items()}
    {'p/1': 1, 'q/2': 1}
    """
    collected = _Collected(dictionary, add, None)
    for batch in batches:
        collected.take(batch)
    return FactsRead(collected.facts(), collected.rows, collected.unknown(), kinds=collected.kinds)


@dataclass
class _Amount:
    """The number of rows of one split, for a tally."""

    rows: int


class _Reading:
    """Reads splits one by one; bad rows are collected."""

    def __init__(self, options: ReadOptions, into: _Collected) -> None:
        self.options = options
        self.into = into
        self.bad: list[BadRow] = []
        self.bad_count = 0

    def __call__(self, part: Split) -> _Amount:
        before, bad = self.into.rows, list[BadRow]()
        for batch in read(part, self.options, bad):
            self.into.take(batch)
            self._note(bad)
        self._note(bad)
        return _Amount(self.into.rows - before)

    def _note(self, bad: list[BadRow]) -> None:
        """Count bad rows and keep the first of them; empties the list."""
        self.bad_count += len(bad)
        self.bad += bad[: MOST_LISTED - len(self.bad)]
        bad.clear()


class _Collected:
    """Facts as ids, by predicate, as batches of texts bring them."""

    def __init__(self, dictionary: Dictionary, add: bool, blanks: StoredBlanks | None) -> None:
        self.dictionary = dictionary
        self.add = add
        self.blanks = blanks
        self.kinds: ByPredicate = {}
        self.rows = 0
        self._unknown: list[pa.Table] = []
        self._found: dict[Predicate, list[list[Column]]] = {}
        self._sizes: dict[Predicate, int] = {}

    def take(self, batch: pa.RecordBatch) -> None:
        """Add the facts of a batch of texts, as readers give it."""
        names = batch.column("predicate").dictionary_encode()
        numbers = names.indices.to_numpy().astype(np.int64)
        predicates = [Predicate.parse(text) for text in names.dictionary.to_pylist()]
        add_kinds(self.kinds, batch, numbers)
        columns = [self._ids(batch.column(i)) for i in range(1, batch.num_columns)]
        self.rows += batch.num_rows
        if not self.add:
            known = self._known(batch, columns)
            self._unknown.append(pa.table(batch.filter(pa.array(~known))))
            numbers, columns = numbers[known], [column[known] for column in columns]
        if len(predicates) == 1:
            self._keep(predicates[0], columns[: predicates[0].arity], len(numbers))
            return
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(np.bincount(numbers, minlength=len(predicates)))
        for predicate, start, end in zip(predicates, [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            mine = order[start:end]
            self._keep(predicate, [column[mine] for column in columns[: predicate.arity]], end - start)

    def _ids(self, texts: pa.Array) -> Column:
        """The ids of a column; -1 where there is no text or no such term."""
        texts = texts.cast(pa.large_string())
        ids = np.full(len(texts), -1, np.int64)
        there = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False)) if texts.null_count else None
        given = texts.drop_null() if texts.null_count else texts
        encoded = self.dictionary.encode(given) if self.add else self.dictionary.lookup(given)
        if self.blanks is not None:
            encoded = self.blanks.found(given, encoded)
        ids[slice(None) if there is None else there] = encoded
        return ids

    def _keep(self, predicate: Predicate, columns: list[Column], size: int) -> None:
        if size:
            self._found.setdefault(predicate, []).append(columns)
            self._sizes[predicate] = self._sizes.get(predicate, 0) + size

    def _known(self, batch: pa.RecordBatch, columns: Sequence[Column]) -> NDArray[np.bool_]:
        """A mask of the facts of a batch all of whose terms are in the dictionary. Values beyond the arity are null."""
        known = np.ones(batch.num_rows, np.bool_)
        for texts, ids in zip(batch.columns[1:], columns, strict=True):
            known &= (ids >= 0) | texts.is_null().to_numpy(zero_copy_only=False)
        return known

    def unknown(self) -> int:
        """The number of different facts that were left out."""
        if not any(map(len, self._unknown)):
            return 0
        rows = pa.concat_tables(self._unknown, promote_options="default")
        return int(rows.group_by(rows.column_names).aggregate([]).num_rows)

    def facts(self) -> FactSet:
        universe = len(self.dictionary)
        return FactSet(
            {
                predicate: Relation.from_columns(
                    [np.concatenate(column) for column in zip(*blocks, strict=True)], universe, self._sizes[predicate]
                )
                for predicate, blocks in self._found.items()
            }
        )
