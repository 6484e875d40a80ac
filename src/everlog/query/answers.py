"""Rows of terms as users see them: the facts of a predicate, or the answers to a query.

Rows are kept as ids and converted to values when they are read. Their order depends on the facts only: by value,
numbers first, up to a million rows; by the terms' hashes beyond (see :mod:`.ordered`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from everlog.engine.dictionary import Dictionary
from everlog.engine.keys import Column, pack
from everlog.engine.relation import Relation
from everlog.engine.tables import argument_names
from everlog.lang.terms import Value, text_of
from everlog.query.display import Tabular
from everlog.query.ordered import Numbers, Ordered, ordered
from everlog.query.typed import BATCH_ROWS, typed_texts, values_of


class Rows(Tabular):
    """A set of rows with named columns.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("edge(a, b) . edge(b, c) .")
    >>> answers = kb.query("edge(?x, ?y)")
    >>> len(answers), answers.columns, answers.rows(), ("a", "b") in answers
    (2, ('x', 'y'), [('a', 'b'), ('b', 'c')], True)
    """

    def __init__(self, dictionary: Dictionary, relation: Relation, columns: Sequence[str]) -> None:
        self._dictionary = dictionary
        self._given = relation
        self.columns = tuple(columns)

    @property
    def _relation(self) -> Relation:
        return self._given

    def __len__(self) -> int:
        return len(self._relation)

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        if not self.columns:
            yield from [()] * len(self)
            return
        for columns in self._blocks(0, len(self)):
            values = [self._values(terms, numbers) for terms, numbers in zip(self._ordered.terms, columns, strict=True)]
            yield from zip(*values, strict=True)

    def __contains__(self, row: object) -> bool:
        """Whether the rows contain a row of values; values are compared as terms: 1, 1.0 and True differ."""
        if not isinstance(row, tuple) or len(row) != len(self.columns):
            return False
        try:
            ids = [self._dictionary.find(text_of(value)) for value in row]
        except (TypeError, ValueError):  # not a term
            return False
        if any(found < 0 for found in ids) or not self._relation.layout.fits(max(ids, default=-1) + 1):
            return False
        return bool(self._relation.contains(pack(self._relation.layout, ids, 1))[0])

    def rows(self, limit: int | None = None) -> list[tuple[Value, ...]]:
        """The rows as tuples of Python values."""
        if limit is None:
            return list(self)
        return [row for row, _ in zip(self, range(limit), strict=False)]

    @property
    def nbytes(self) -> int:
        """The number of bytes that the rows take as ids, in all orders in which they are kept."""
        return self._relation.nbytes

    def texts(self, start: int = 0, stop: int | None = None) -> list[pa.LargeStringArray]:
        """The columns as canonical texts (see ``everlog.lang.terms``), of all rows or a range of them."""
        stop = len(self) if stop is None else min(stop, len(self))
        blocks = list(self._ordered.blocks(start, stop))
        columns = [_joined([block[i] for block in blocks]) for i in range(len(self.columns))]
        return [self._dictionary.decode(t[n]) for t, n in zip(self._ordered.terms, columns, strict=True)]

    def text_batches(self, stop: int) -> Iterator[list[pa.LargeStringArray]]:
        """The columns of the first rows as canonical texts, in batches."""
        for columns in self._blocks(0, min(stop, len(self))):
            yield [self._dictionary.decode(t[n]) for t, n in zip(self._ordered.terms, columns, strict=True)]

    def terms(self, column: int) -> pa.LargeStringArray:
        """The distinct terms of a column, as canonical texts."""
        return self._dictionary.decode(self._ordered.terms[column])

    def to_arrow(self, *, dictionary: bool = False) -> pa.Table:
        """An Arrow table. A column of only integers, decimals, doubles, booleans, strings, dates or timestamps has
        that type; any other holds terms as text, the way CSV output does.

        With ``dictionary`` columns are dictionary-encoded, which is the fastest and smallest form of many rows.

        >>> import everlog
        >>> kb = everlog.KnowledgeBase("edge(a, b) . edge(b, b) .")
        >>> kb["edge"].to_arrow(dictionary=True)["c1"].chunk(0).dictionary.to_pylist()
        ['b']
        """
        numbers = self._ordered.blocks(0, len(self))
        batches = [self._batch(columns, self._schema(dictionary)) for columns in numbers] if self.columns else []
        return pa.Table.from_batches(batches, self._schema(dictionary))

    @property
    def schema(self) -> pa.Schema:
        """The schema of :meth:`to_arrow`."""
        return self._schema(dictionary=False)

    def to_batches(self, *, dictionary: bool = False) -> pa.RecordBatchReader:
        """The rows of :meth:`to_arrow` in batches: those of a compact relation are never all in memory.

        >>> import everlog
        >>> reader = everlog.KnowledgeBase("edge(a, b) . edge(b, c) .")["edge"].to_batches()
        >>> reader.schema.names, [len(batch) for batch in reader]
        (['c0', 'c1'], [2])
        """
        schema = self._schema(dictionary)
        return pa.RecordBatchReader.from_batches(schema, self.batches(dictionary=dictionary))

    def batches(self, start: int = 0, stop: int | None = None, *, dictionary: bool = False) -> Iterator[pa.RecordBatch]:
        """The batches of :meth:`to_batches` for all rows or a range of them."""
        schema = self._schema(dictionary)
        for columns in self._blocks(start, len(self) if stop is None else min(stop, len(self))):
            yield self._batch(columns, schema)

    def to_spark(self, session: Any = None) -> Any:
        """A Spark DataFrame in the given session, the active one, or an embedded one."""
        if session is None:
            from everlog.host.session import session as start

            session = start()
        from pyspark.sql.pandas.types import from_arrow_schema

        table = self.to_arrow()
        small = pa.schema(
            field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field for field in table.schema
        )
        # Without a schema, Spark reads a timestamp without a zone in the zone of the session.
        schema = from_arrow_schema(small, prefer_timestamp_ntz=True)
        return session.createDataFrame(table.cast(small), schema)

    @cached_property
    def _ordered(self) -> Ordered:
        return ordered(self._dictionary, self._relation)

    def _blocks(self, start: int, stop: int) -> Iterator[list[Numbers]]:
        """A range of rows in batches, as numbers of terms."""
        for columns in self._ordered.blocks(start, stop) if self.columns else ():
            for first in range(0, len(columns[0]), BATCH_ROWS):
                yield [column[first : first + BATCH_ROWS] for column in columns]

    def _values(self, terms: Column, numbers: Numbers) -> list[Value]:
        different, places = np.unique(numbers, return_inverse=True)
        values = values_of(self._dictionary.decode(terms[different]))
        return [values[place] for place in places.tolist()]

    @cached_property
    def _typed(self) -> list[pa.Array]:
        """For each column, its distinct terms as values of one type."""
        return [typed_texts(self._dictionary.decode(terms)) for terms in self._ordered.terms]

    def _schema(self, dictionary: bool) -> pa.Schema:
        kinds = (pa.dictionary(pa.int32(), each.type) if dictionary else each.type for each in self._typed)
        return pa.schema([pa.field(name, kind) for name, kind in zip(self.columns, kinds, strict=True)])

    def _batch(self, columns: Sequence[Numbers], schema: pa.Schema) -> pa.RecordBatch:
        arrays = []
        for field, numbers, values in zip(schema, columns, self._typed, strict=True):
            if pa.types.is_dictionary(field.type):
                arrays.append(pa.DictionaryArray.from_arrays(pa.array(numbers), values, safe=False))
            else:
                arrays.append(values.take(pa.array(numbers)))
        return pa.record_batch(arrays, schema=schema)


class RelationRows(Rows):
    """The facts of a predicate that hold. ``explicit`` are those that were inserted."""

    def __init__(self, dictionary: Dictionary, relation: Relation, explicit: Relation) -> None:
        super().__init__(dictionary, relation, argument_names(relation.layout.arity))
        self._explicit = explicit

    @property
    def explicit(self) -> Rows:
        """The explicit facts, derived or not."""
        return Rows(self._dictionary, self._explicit, self.columns)


def _joined(pieces: Sequence[Numbers]) -> Numbers:
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, np.int32), *pieces])
