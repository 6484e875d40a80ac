"""Ids that rows refer to: each must be that of a term, so that every version can be read by its own terms.

Cost: the key columns of the new files are read back and sorted, and the ids of those row groups of terms are read whose
range has one of them. Memory: the distinct ids of one file, and two of its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from everlog.engine.tables import fact_columns
from everlog.lang.codes import Code
from everlog.store import schema
from everlog.store.errors import store_error
from everlog.store.files import open_file
from everlog.store.parquet import group_statistics
from everlog.store.rows import Ints, plain

THREADS = 2
"""Number of columns that are sorted at the same time."""


def refuse_unknown_ids(files: Iterable[Path], terms: Sequence[Path], store: Path) -> None:
    """Raise an error if data files refer to an id that no file of terms has. The predicates and arguments of files
    of facts are looked up, and the ids of files of terms.
    """
    with ThreadPoolExecutor(THREADS) as threads:
        for path in files:
            unknown = _unknown(list(threads.map(partial(_ids_in, path), _keys(path))), terms)
            if len(unknown):
                message = f"{len(unknown)} ids of new facts are not among the terms; the first is {unknown[0]}"
                raise store_error(Code.UNKNOWN_IDS, message, store, "the store is as before")


def _keys(path: Path) -> list[str]:
    """The columns of a file that have ids."""
    names = open_file(path).schema_arrow.names
    return ["id"] if "id" in names else fact_columns(schema.width_of(names))


def _ids_in(path: Path, name: str) -> Ints:
    """The distinct ids in a column of a file, ascending."""
    values = plain(open_file(path).read(columns=[name]).column(0).drop_null())
    values = np.sort(values[_is_first(values)])
    return values[_is_first(values)]


def _is_first(values: Ints) -> NDArray[np.bool_]:
    """A mask of the values that differ from their predecessor."""
    return np.concatenate([np.ones(min(len(values), 1), np.bool_), values[1:] != values[:-1]])


def _unknown(columns: Sequence[Ints], terms: Iterable[Path]) -> Ints:
    """The ids in some columns, each ascending, that no file of terms has."""
    unknown = [np.ones(len(ids), np.bool_) for ids in columns]
    for path in terms:
        file = open_file(path)
        for group, stats in enumerate(group_statistics(file, "id")):
            low, high = stats.min, stats.max
            places = [slice(np.searchsorted(ids, low), np.searchsorted(ids, high, "right")) for ids in columns]
            if not any(mask[place].any() for mask, place in zip(unknown, places, strict=True)):
                continue
            found = plain(file.read_row_group(group, columns=["id"]).column("id"))
            for ids, mask, place in zip(columns, unknown, places, strict=True):
                at = np.minimum(np.searchsorted(found, ids[place]), len(found) - 1)
                mask[place] &= found[at] != ids[place]
    return np.unique(np.concatenate([ids[mask] for ids, mask in zip(columns, unknown, strict=True)]))
