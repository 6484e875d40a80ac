"""Rows as facts over a dictionary: of splits read by this process, of batches of texts, and of staged files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import BLOCK_ROWS, Column
from everlog.engine.kinds import ByPredicate, add_kinds
from everlog.engine.relation import Relation
from everlog.ingest.amounts import AmountProgress
from everlog.ingest.blanks import StoredBlanks
from everlog.ingest.dictionary import collision_error, distinct_terms
from everlog.ingest.sources import ReadOptions
from everlog.ingest.spill import distinct
from everlog.ingest.split import BadRow, Split
from everlog.ingest.stage import Staged, read_into, read_tasks
from everlog.ingest.tasks import IN_PROCESS
from everlog.lang.syntax import Predicate
from everlog.store.codec import facts_of
from everlog.store.schema import TERMS, fact_ids

IN_PROCESS_BYTES = 64 << 20
"""Maximum bytes of input, once unpacked, that this process reads by default; Spark reads larger inputs."""

UNPACKED = 5
"""Assumed ratio of the bytes of a compressed file once it is unpacked to its bytes as it is stored."""


def size_of(parts: Iterable[Split]) -> int:
    """The approximate number of bytes to read in splits, once they are unpacked."""
    sources = {part.path: part.source for part in parts}
    return sum(os.path.getsize(path) * (UNPACKED if source.compressed else 1) for path, source in sources.items())


@dataclass(frozen=True)
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
    tasks = [(part,) for part in parts]
    read = read_tasks(IN_PROCESS, partial(read_into, collected, options), tasks, parts, on_error, progress)
    if blanks is not None:
        blanks.refuse_missing()
    return replace(collected.read(), bad=read.bad, bad_count=read.bad_count)


def facts_of_batches(batches: Iterable[pa.RecordBatch], dictionary: Dictionary, *, add: bool = True) -> FactsRead:
    """The facts of batches of texts; ``add`` is as for :func:`read_facts`.

    >>> texts = pa.record_batch({"predicate": ["p/1", "q/2"], "c0": ["1", "2"], "c1": [None, "2"]})
    >>> facts = facts_of_batches([texts], Dictionary()).facts
    >>> {str(predicate): len(relation) for predicate, relation in facts.items()}
    {'p/1': 1, 'q/2': 1}
    """
    collected = _Collected(dictionary, add, None)
    for batch in batches:
        collected.add(batch)
    return collected.read()


class _Collected:
    """Facts as ids, by predicate, as batches of texts bring them."""

    def __init__(self, dictionary: Dictionary, encode: bool, blanks: StoredBlanks | None) -> None:
        self.dictionary = dictionary
        self.encode = encode
        self.blanks = blanks
        self.kinds: ByPredicate = {}
        self.rows = 0
        self._unknown: list[pa.Table] = []
        self._found: dict[Predicate, list[tuple[int, list[Column]]]] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the facts of a batch of texts, as readers give it."""
        names = batch.column("predicate").dictionary_encode()
        numbers = names.indices.to_numpy().astype(np.int64)
        predicates = [Predicate.parse(text) for text in names.dictionary.to_pylist()]
        add_kinds(self.kinds, batch, numbers)
        columns = [self._ids(texts) for texts in batch.columns[1:]]
        known = np.ones(batch.num_rows, np.bool_)
        for texts, ids in () if self.encode else zip(batch.columns[1:], columns, strict=True):
            known &= (ids >= 0) | texts.is_null().to_numpy(zero_copy_only=False)
        self.rows += batch.num_rows
        if not known.all():
            self._unknown.append(pa.table(batch.filter(pa.array(~known))))
            numbers, columns = numbers[known], [column[known] for column in columns]
        if len(predicates) == 1:
            self._keep(predicates[0], len(numbers), columns)
            return
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(np.bincount(numbers, minlength=len(predicates)))
        for predicate, mine in zip(predicates, np.split(order, ends[:-1]), strict=True):
            self._keep(predicate, len(mine), [column[mine] for column in columns[: predicate.arity]])

    def _ids(self, texts: pa.Array) -> Column:
        """The ids of a column; -1 where there is no text or no such term."""
        given = texts.cast(pa.large_string()).drop_null()
        ids = self.dictionary.encode(given) if self.encode else self.dictionary.lookup(given)
        if self.blanks is not None:
            ids = self.blanks.found(given, ids)
        if len(given) == len(texts):
            return ids
        found = np.full(len(texts), -1, np.int64)
        found[texts.is_valid().to_numpy(zero_copy_only=False)] = ids
        return found

    def _keep(self, predicate: Predicate, size: int, columns: list[Column]) -> None:
        if size:
            self._found.setdefault(predicate, []).append((size, columns[: predicate.arity]))

    def read(self) -> FactsRead:
        """The facts that were added. Different facts that were left out are counted once."""
        universe, found = len(self.dictionary), {}
        for predicate, blocks in self._found.items():
            columns = [np.concatenate(column) for column in zip(*(columns for _, columns in blocks), strict=True)]
            found[predicate] = Relation.from_columns(columns, universe, sum(size for size, _ in blocks))
        unknown = 0
        if self._unknown:
            rows = pa.concat_tables(self._unknown, promote_options="default")
            unknown = rows.group_by(rows.column_names).aggregate([]).num_rows
        return FactsRead(FactSet(found), self.rows, unknown, kinds=self.kinds)


def load_columns(files: Iterable[str]) -> Iterator[pa.RecordBatch]:
    """The rows of memory-mapped Parquet files as Arrow batches."""
    for file in files:
        with pq.ParquetFile(file, memory_map=True) as opened:
            yield from opened.iter_batches(batch_size=BLOCK_ROWS, use_threads=False)


def facts_in(
    staged: Staged, dictionary: Dictionary, *, add: bool, blanks: StoredBlanks | None = None
) -> tuple[FactSet, int]:
    """Staged facts over a dictionary, and the number that were left out because the dictionary does not have their
    terms.

    With ``add`` the terms are added, and none is left out; ``blanks`` finds blank nodes by stored labels.
    """
    if not staged.fact_files:
        return NONE, 0
    terms, collisions = distinct_terms(_tables(staged.term_files, TERMS))
    if collisions:
        raise collision_error(collisions, dictionary.salt)
    texts = pa.concat_arrays(terms.column("text").cast(pa.large_string()).chunks)
    ids = dictionary.encode(texts) if add else dictionary.lookup(texts)
    if blanks is not None:
        ids = blanks.found(texts, ids)
        blanks.refuse_missing()
    hashes = terms.column("id").to_numpy()
    rows = distinct(_tables(staged.fact_files, fact_ids(staged.width)))
    known = np.ones(rows.num_rows, np.bool_)
    for column in () if (ids >= 0).all() else rows.columns:
        places = np.searchsorted(hashes, column.fill_null(hashes[0]).to_numpy())
        known &= (ids[places] >= 0) | column.is_null().to_numpy()
    kept = rows.filter(pa.array(known)).to_batches()
    return facts_of(kept, dictionary, lambda column: ids[np.searchsorted(hashes, column)]), int((~known).sum())


def _tables(files: Sequence[str], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables(pq.read_table(file, schema=schema, memory_map=True) for file in files)
