"""Rows of terms as users see them: the facts of a predicate, or the answers to a query.

Rows are kept as columns of ids and turned into values when asked for. Their order is the same
whenever the facts are: by value, numbers first, up to a million rows; by the terms' hashes beyond.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary
from everlog.engine.keys import Column, pack
from everlog.engine.relation import Relation
from everlog.lang.printer import cell_text
from everlog.lang.terms import XSD, Value, text_of, value_of

SORTED_BELOW = 1_000_000
"""Up to so many rows are put in the order of their values."""

BATCH = 1 << 16

KINDS = (
    (r"^-?[0-9]{1,19}$", pa.int64()),
    (rf'^-?[0-9.]+E|^"(-?INF|NaN)"\^\^<{XSD}double>$', pa.float64()),
    (r"^(true|false)$", pa.bool_()),
)
"""What the texts of a column look like that has a type of its own."""


class Rows:
    """A set of rows with named columns.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("edge(a, b) . edge(b, c) .")
    >>> answers = kb.query("edge(?x, ?y)")
    >>> len(answers), answers.columns, answers.rows(), ("a", "b") in answers
    (2, ('x', 'y'), [('a', 'b'), ('b', 'c')], True)
    """

    def __init__(self, dictionary: Dictionary, relation: Relation, columns: Sequence[str]) -> None:
        self._dictionary = dictionary
        self._relation = relation
        self.columns = tuple(columns)

    def __len__(self) -> int:
        return len(self._relation)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        for start in range(0, len(self), BATCH):
            columns = [self._values(column[start : start + BATCH]) for column in self._ids]
            yield from zip(*columns, strict=True) if columns else [()] * min(len(self), 1)

    def __contains__(self, row: object) -> bool:
        """Whether a row of values is there; values are told apart as terms: 1, 1.0 and True differ."""
        if not isinstance(row, tuple) or len(row) != len(self.columns):
            return False
        try:
            ids = [self._dictionary.find(text_of(value)) for value in row]
        except (TypeError, ValueError):  # not a term
            return False
        if any(found < 0 for found in ids) or not self._relation.layout.fits(max(ids, default=-1) + 1):
            return False
        return bool(self._relation.contains(pack(self._relation.layout, ids, 1))[0])

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.rows(3)))
        more = ", ..." if len(self) > 3 else ""
        return f"<{type(self).__name__} ({', '.join(self.columns)}): {len(self):,} rows [{shown}{more}]>"

    def rows(self, limit: int | None = None) -> list[tuple[Value, ...]]:
        """The rows as tuples of Python values."""
        if limit is None:
            return list(self)
        return [row for row, _ in zip(self, range(limit), strict=False)]

    @property
    def nbytes(self) -> int:
        """The memory that the rows take as ids, in all the orders they are kept in."""
        return self._relation.nbytes

    def texts(self, start: int = 0, stop: int | None = None) -> list[pa.LargeStringArray]:
        """The columns as canonical texts (see ``everlog.lang.terms``), all rows or some."""
        return [self._dictionary.decode(column[start:stop]) for column in self._ids]

    def to_arrow(self) -> pa.Table:
        """An Arrow table. A column of only integers, doubles, booleans or strings has that type;
        any other holds terms as text, the way CSV output does.
        """
        columns = [typed.take(ids) for typed, ids in zip(self._typed, self._ids, strict=True)]
        return pa.table(columns, names=list(self.columns))

    @property
    def schema(self) -> pa.Schema:
        """The schema of :meth:`to_arrow`."""
        return pa.schema([pa.field(name, typed.type) for name, typed in zip(self.columns, self._typed, strict=True)])

    def batches(self, start: int = 0, stop: int | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of :meth:`to_arrow`, all or some, without having them in memory at once."""
        for first in range(start, len(self) if stop is None else stop, BATCH):
            last = first + BATCH if stop is None else min(first + BATCH, stop)
            columns = [typed.take(ids[first:last]) for typed, ids in zip(self._typed, self._ids, strict=True)]
            yield pa.record_batch(columns, schema=self.schema)

    def to_pandas(self) -> Any:
        """A pandas DataFrame; see :meth:`to_arrow`."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A Polars DataFrame; see :meth:`to_arrow`."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def to_spark(self, session: Any = None) -> Any:
        """A Spark DataFrame in the given session, the active one, or an embedded one."""
        if session is None:
            from everlog.pipeline.session import session as start

            session = start()
        table = self.to_arrow()
        large = [
            field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field for field in table.schema
        ]
        return session.createDataFrame(table.cast(pa.schema(large)))

    @cached_property
    def _ids(self) -> list[Column]:
        """The columns in the order in which rows are shown."""
        columns = self._relation.columns()
        if len(self) < 2 or not columns:
            return columns
        if len(self) <= SORTED_BELOW:
            ranks = self._value_ranks(columns)
            order = np.lexsort([ranks[column] for column in reversed(columns)])
        elif len(self._dictionary.base) == len(self._dictionary):
            return columns
        else:
            hashes = self._dictionary.hashes()
            order = np.lexsort([hashes[column] for column in reversed(columns)])
        return [column[order] for column in columns]

    def _value_ranks(self, columns: list[Column]) -> NDArray[np.int64]:
        """For each id that occurs its place among the terms in order of their values."""
        used = _used(columns, len(self._dictionary))
        texts = self._dictionary.decode(used)
        numeric = pc.match_substring_regex(texts, r"^-?[0-9]")
        numbers = pc.cast(pc.if_else(numeric, texts, None), pa.float64())
        order = pc.sort_indices(
            pa.table({"number": numbers, "text": texts}), sort_keys=[("number", "ascending"), ("text", "ascending")]
        ).to_numpy()
        ranks = np.zeros(len(self._dictionary), np.int64)
        ranks[used[order]] = np.arange(len(used))
        return ranks

    def _values(self, ids: Column) -> list[Value]:
        different, places = np.unique(ids, return_inverse=True)
        values = [value_of(text) for text in self._dictionary.decode(different).to_pylist()]
        return [values[place] for place in places.tolist()]

    @cached_property
    def _typed(self) -> list[_TypedTerms]:
        """For each column its terms as values of one type."""
        return [_TypedTerms(self._dictionary, column) for column in self._ids]


class _TypedTerms:
    """The different terms of a column as values of one type, to be looked up by id."""

    def __init__(self, dictionary: Dictionary, ids: Column) -> None:
        used = _used([ids], len(dictionary))
        self._values = typed_texts(dictionary.decode(used))
        self._places = np.zeros(len(dictionary), np.int64)
        self._places[used] = np.arange(len(used))

    @property
    def type(self) -> pa.DataType:
        return self._values.type

    def take(self, ids: Column) -> pa.Array:
        return self._values.take(pa.array(self._places[ids]))


class RelationRows(Rows):
    """The facts of a predicate that hold. ``explicit`` are those that were given."""

    def __init__(self, dictionary: Dictionary, relation: Relation, explicit: Relation) -> None:
        super().__init__(dictionary, relation, [f"c{i}" for i in range(relation.layout.arity)])
        self._explicit = explicit

    @property
    def explicit(self) -> Rows:
        """The facts that were given, derived or not."""
        return Rows(self._dictionary, self._explicit, self.columns)


def typed_texts(texts: pa.LargeStringArray) -> pa.Array:
    """Texts of terms as values of one type if they are of one kind, otherwise as readable text.

    >>> typed_texts(pa.array(["1", "2"], pa.large_string())).type, typed_texts(pa.array(['"a"'])).to_pylist()
    (DataType(int64), ['a'])
    """
    for pattern, kind in KINDS:
        if len(texts) and pc.all(pc.match_substring_regex(texts, pattern)).as_py():
            try:
                return pc.cast(pc.replace_substring_regex(texts, r'^"(.*)"\^\^.*$', r"\1"), kind)
            except pa.ArrowInvalid:  # an integer over 64 bits
                break
    if pc.all(pc.match_substring_regex(texts, r'(?s)^".*"$')).as_py() is not False:
        return pc.utf8_slice_codeunits(texts, 1, -1)
    if pc.all(pc.starts_with(texts, "<")).as_py():
        return texts
    return pa.array([cell_text(text) for text in texts.to_pylist()], pa.large_string())


def _used(columns: list[Column], universe: int) -> NDArray[np.int64]:
    """The ids that occur, ascending."""
    seen = np.zeros(universe, np.bool_)
    for column in columns:
        seen[column] = True
    return np.flatnonzero(seen)
