"""Staged facts for the engine: Parquet files of ids and terms as fact sets over a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import BLOCK_ROWS
from everlog.engine.relation import Relation
from everlog.ingest.blanks import StoredBlanks
from everlog.ingest.dictionary import collision_error, distinct_terms
from everlog.ingest.spill import distinct
from everlog.ingest.stage import Staged
from everlog.lang.syntax import Predicate
from everlog.store.schema import TERMS, fact_ids


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
    rows = distinct(_tables(staged.fact_files, fact_ids(staged.width)))
    return _Rows(rows, terms.column("id").to_numpy(), ids, texts).facts(len(dictionary))


def _tables(files: Sequence[str], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables(pq.read_table(file, schema=schema, memory_map=True) for file in files)


@dataclass(frozen=True)
class _Rows:
    """Rows of hashes of terms, with the id and the text of each term."""

    rows: pa.Table
    hashes: np.ndarray[tuple[int], np.dtype[np.int64]]
    ids: np.ndarray[tuple[int], np.dtype[np.int64]]
    texts: pa.LargeStringArray

    def facts(self, universe: int) -> tuple[FactSet, int]:
        """The facts all of whose terms have an id, by predicate, and the number of the others."""
        predicates = self.rows.column("predicate").to_numpy()
        order = np.argsort(predicates, kind="stable")
        grouped = predicates[order]
        starts = np.flatnonzero(np.append(True, grouped[1:] != grouped[:-1]))
        columns = [self._dense(name)[order] for name in self.rows.column_names if name != "predicate"]
        found: dict[Predicate, Relation] = {}
        unknown = 0
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
            at = int(np.searchsorted(self.hashes, grouped[start]))
            predicate = Predicate.parse(self.texts[at].as_py())
            mine = [column[start:end] for column in columns[: predicate.arity]]
            known = np.full(end - start, self.ids[at] >= 0)
            for column in mine:
                known &= column >= 0
            unknown += int((~known).sum())
            if known.any():
                found[predicate] = Relation.from_columns([column[known] for column in mine], universe, int(known.sum()))
        return FactSet(found), unknown

    def _dense(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """A column as ids; values beyond the arity of a predicate have no meaning."""
        values = self.rows.column(name).fill_null(self.hashes[0]).to_numpy()
        return self.ids[np.searchsorted(self.hashes, values)]
