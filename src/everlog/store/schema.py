"""The columns of the two tables, and what their ids are.

``facts``: ``predicate`` and ``c0``, ``c1``, ... are ids of terms (null beyond the arity); ``holds``,
``explicit``, ``nr`` and ``rec`` are signed changes. A fact is what its rows sum to.
``terms``: ``id`` is the xxHash64 of ``text``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

FORMAT = 1
"""The version of what is written here; a store with a higher one is refused."""

SEED = 42
MIN_WIDTH = 2
WEIGHTS = ("holds", "explicit", "nr", "rec")
WEIGHT_TYPES = {"holds": pa.int8(), "explicit": pa.int8(), "nr": pa.int32(), "rec": pa.int32()}

_TERM_FIELDS: list[Any] = [pa.field("id", pa.int64(), nullable=False), pa.field("text", pa.string(), nullable=False)]
TERMS = pa.schema(_TERM_FIELDS)


def columns(width: int) -> list[str]:
    """The argument columns of a table for arities up to ``width``.

    >>> columns(3)
    ['c0', 'c1', 'c2']
    """
    return [f"c{position}" for position in range(width)]


def keys(width: int) -> list[str]:
    """The columns that name a fact, in the order files are sorted by."""
    return ["predicate", *columns(width)]


def facts(width: int) -> pa.Schema:
    """The schema of ``facts`` for arities up to ``width``."""
    return pa.schema(
        [
            pa.field("predicate", pa.int64(), nullable=False),
            *(pa.field(name, pa.int64()) for name in columns(width)),
            pa.field("holds", pa.int8(), nullable=False),
            pa.field("explicit", pa.int8(), nullable=False),
            pa.field("nr", pa.int32()),
            pa.field("rec", pa.int32()),
        ]
    )


def width_of(names: Iterable[str]) -> int:
    """How many argument columns there are among column names, at least two.

    >>> width_of(["predicate", "c0", "c1", "c2", "holds"]), width_of(["predicate"])
    (3, 2)
    """
    return max(MIN_WIDTH, *(1 + int(name[1:]) for name in names if name[0] == "c" and name[1:].isdigit()), 0)


def conform(batch: pa.RecordBatch | pa.Table, width: int) -> pa.Table:
    """The same rows with exactly the columns of ``facts(width)``.

    Missing argument columns are null, missing ``explicit``, ``nr`` and ``rec`` are 0, a missing
    ``holds`` is 1.
    """
    wanted = facts(width)
    found = []
    for field in wanted:
        if field.name in batch.schema.names:
            column = batch.column(field.name)
            found.append(column if column.type == field.type else column.cast(field.type))
        elif field.name in WEIGHTS:
            value = np.full(batch.num_rows, field.name == "holds", field.type.to_pandas_dtype())
            found.append(pa.array(value))
        else:
            found.append(pa.nulls(batch.num_rows, field.type))
    return pa.Table.from_arrays(found, schema=wanted)


def seed_of(salt: int) -> int:
    """The seed of the hash for a salt: that of Spark's ``xxhash64(text)`` or ``xxhash64(salt, text)``.

    >>> seed_of(0)
    42
    """
    return SEED if salt == 0 else xxhash.xxh64_intdigest(salt.to_bytes(8, "little", signed=True), SEED)


def hash_texts(texts: Iterable[str], salt: int = 0) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The ids of texts, one Python call per text: for checking, not for loading.

    >>> hash_texts(["1"]).tolist()
    [-928762887014768240]
    """
    seed = seed_of(salt)
    return np.fromiter((xxhash.xxh64_intdigest(text.encode(), seed) for text in texts), np.uint64).view(np.int64)
