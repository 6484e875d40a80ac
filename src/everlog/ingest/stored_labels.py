"""Blank nodes of facts that Spark deletes from a store, found by the labels that the store shows.

This does what :class:`~everlog.ingest.blanks.StoredBlanks` does, without bringing the store's terms or the facts to
the driver: workers find the nodes that the store does not know by their source's name, look these up by label, and
write the facts again with the nodes that they found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from everlog.engine.hashing import hash_texts
from everlog.ingest.blanks import PREFIX, unknown_blanks
from everlog.ingest.dictionary import new_terms
from everlog.ingest.rdf import blank_prefix
from everlog.ingest.spill import Rows, rows_in, write_parquet
from everlog.ingest.split import Split
from everlog.ingest.stage import MOST_LISTED, Staged
from everlog.ingest.tasks import Runner, work_directory

LABELS = pa.schema([("id", pa.int64()), ("text", pa.string()), ("of", pa.int64()), ("written", pa.string())])
"""The schema of labels: ``id`` and ``text`` are those of the stored node, ``of`` and ``written`` those that the node
has by its source's name."""


_IS_BLANK = pc.starts_with(pc.field("text"), "_:")


def with_stored_labels(
    runner: Runner,
    staged: Staged,
    parts: Sequence[Split],
    existing: Sequence[str],
    work: Path,
    *,
    salt: int = 0,
    on_error: str = "stop",
) -> Staged:
    """The staged facts with the stored blank nodes that they mean; ``existing`` are the store's files of terms.

    A node that is found neither by its source's name nor by its label is an error, or with ``on_error="skip"`` one
    that no fact has.
    """
    if all(part.source.predicate is not None for part in parts):
        return staged
    if not any(runner.run(_has_blanks, staged.terms)):
        return staged
    directory = work_directory(work)
    strange = new_terms(runner, staged.terms, existing, work, salt=salt)
    found = runner.run(_WriteLabels(directory, salt), strange.files)
    files = tuple(file for file in found if file is not None)
    if not files:
        return staged
    missing = new_terms(runner, files, existing, work, salt=salt)
    if missing.count and on_error == "stop":
        paths = {blank_prefix(part.source.name): part.shown for part in parts}
        raise unknown_blanks(_written(files, missing.files), paths, missing.count)
    facts = tuple(runner.run(_Replace(files, directory), staged.facts))
    return replace(staged, fact_files=facts, held_facts=())


def _has_blanks(terms: Rows) -> bool:
    """Whether there are blank nodes among terms."""
    return bool(rows_in(terms, ["id"], _IS_BLANK).num_rows)


def _written(files: Sequence[str], missing: Sequence[str]) -> list[str]:
    """Some of the nodes whose labels are missing, with the texts that they have by their sources' names."""
    ids = pa.concat_tables(pq.read_table(file, columns=["id"]) for file in missing).column("id").slice(0, MOST_LISTED)
    tables = [pq.read_table(file, columns=["written"], filters=pc.field("id").isin(ids)) for file in files]
    texts: list[str] = pa.concat_tables(tables).column("written").to_pylist()
    return texts


@dataclass(frozen=True)
class _WriteLabels:
    """Writes the labels of the blank nodes in a file of terms; returns the file, None if there are no blank nodes."""

    work: Path
    salt: int

    def __call__(self, file: str) -> str | None:
        terms = pq.read_table(file, filters=_IS_BLANK, memory_map=True)
        if not terms.num_rows:
            return None
        texts = pc.utf8_replace_slice(terms.column("text").cast(pa.string()), 0, PREFIX, "_:")
        columns = [hash_texts(texts, salt=self.salt), texts, terms.column("id"), terms.column("text").cast(pa.string())]
        return write_parquet(pa.table(columns, schema=LABELS).sort_by("id"), self.work, "labels")


@dataclass(frozen=True)
class _Replace:
    """Writes facts into a file, with the nodes that labels stand for."""

    labels: tuple[str, ...]
    work: Path

    def __call__(self, rows: Rows) -> str:
        facts = rows_in(rows)
        known = pa.concat_tables(pq.read_table(path, columns=["of", "id"]) for path in self.labels).sort_by("of")
        old, new = (known.column(name).to_numpy() for name in ("of", "id"))
        for place, name in enumerate(facts.column_names):
            if name != "predicate":
                facts = facts.set_column(place, facts.schema.field(name), _replaced(facts.column(name), old, new))
        return write_parquet(facts, self.work, "facts")


def _replaced(column: pa.ChunkedArray, old: NDArray[np.int64], new: NDArray[np.int64]) -> pa.Array:
    """The column with the values ``old`` replaced by ``new``; nulls stay."""
    values = column.fill_null(0).to_numpy()
    places = np.minimum(np.searchsorted(old, values), len(old) - 1)
    is_old = old[places] == values
    return pa.array(np.where(is_old, new[places], values), mask=column.is_null().to_numpy())
