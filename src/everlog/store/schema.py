"""The columns of the two tables of a store.

``facts``: ``predicate`` and ``c0``, ``c1``, ... are ids of terms (null beyond the arity); ``holds``, ``explicit``,
``nr`` and ``rec`` are signed changes, whose sums over the rows of a fact describe it. ``terms``: ``id`` is the
xxHash64 of ``text``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from everlog.engine.tables import PREDICATE, argument_names, argument_of

FORMAT = 1
"""Version of the format that is written; stores of a higher version are refused."""

MIN_WIDTH = 2
"""Minimum number of argument columns."""

WEIGHT_TYPES: Mapping[str, pa.DataType] = {
    "holds": pa.int8(),
    "explicit": pa.int8(),
    "nr": pa.int32(),
    "rec": pa.int32(),
}
"""The columns of signed changes, with their types."""

WEIGHTS = tuple(WEIGHT_TYPES)
"""The names of the columns of signed changes."""

COUNTERS = ("nr", "rec")
"""The weights that count instances of rules, which not every version has."""

FEEDING = ("explicit", *COUNTERS)
"""Names of weights: a fact for which one of these is above zero feeds the module of its predicate."""

_TERM_FIELDS: list[Any] = [pa.field("id", pa.int64(), nullable=False), pa.field("text", pa.string(), nullable=False)]
TERMS = pa.schema(_TERM_FIELDS)
"""The schema of ``terms``."""


def fact_ids(width: int) -> pa.Schema:
    """The ids that name a fact: its predicate, and its arguments for arities up to ``width``.

    >>> fact_ids(2).names
    ['predicate', 'c0', 'c1']
    """
    arguments = [pa.field(name, pa.int64()) for name in argument_names(width)]
    return pa.schema([pa.field(PREDICATE, pa.int64(), nullable=False), *arguments])


def facts(width: int) -> pa.Schema:
    """The schema of ``facts`` for arities up to ``width``."""
    weights = [pa.field(name, kind, nullable=name in COUNTERS) for name, kind in WEIGHT_TYPES.items()]
    return pa.schema([*fact_ids(width), *weights])


def width_of(names: Iterable[str]) -> int:
    """Number of argument columns among column names, at least two.

    >>> width_of(["predicate", "c0", "c1", "c2", "holds"]), width_of(["predicate"])
    (3, 2)
    """
    return max([MIN_WIDTH, *(1 + number for number in map(argument_of, names) if number is not None)])


def conform(batch: pa.RecordBatch | pa.Table, width: int) -> pa.Table:
    """The rows with exactly the columns of ``facts(width)``.

    Missing argument columns are null, missing ``explicit``, ``nr`` and ``rec`` are 0, a missing ``holds`` is 1.
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
