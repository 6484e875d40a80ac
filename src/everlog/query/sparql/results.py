"""Answers to queries: solutions of SELECT, the truth of ASK, the triples of CONSTRUCT and DESCRIBE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa

from everlog.engine.keys import Column
from everlog.lang.terms import Value
from everlog.query.display import Frames, Tabular
from everlog.query.sparql.pool import TermPool, distinct_ids
from everlog.query.sparql.table import SolutionTable
from everlog.query.typed import BATCH_ROWS, typed_texts, values_of

Row = tuple[Value | None, ...]


class Solutions(Tabular):
    """The solutions of a SELECT query: a sequence of rows, in which a value may be missing.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("edge(a, b) . edge(b, c) .")
    >>> found = kb.sparql("SELECT ?x ?z { ?x everlog:edge ?y OPTIONAL { ?y everlog:edge ?z } } ORDER BY ?x")
    >>> len(found), found.columns, found.rows()
    (2, ('x', 'z'), [('a', 'c'), ('b', None)])
    """

    def __init__(self, terms: TermPool, table: SolutionTable, columns: Sequence[str]) -> None:
        self._terms = terms
        self._table = table
        self._ids = [table.column(name) for name in columns]
        self._size = table.size
        self.columns = tuple(columns)

    def first(self, limit: int | None) -> Self:
        """The solutions with at most ``limit`` rows."""
        if limit is None or limit >= self._size:
            return self
        return type(self)(self._terms, self._table.take(np.arange(limit)), self.columns)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, self._size, BATCH_ROWS):
            stop = min(start + BATCH_ROWS, self._size)
            columns = [self._values(ids[start:stop]) for ids in self._ids]
            yield from zip(*columns, strict=True) if columns else [()] * (stop - start)

    def rows(self, limit: int | None = None) -> list[Row]:
        """The rows as tuples of Python values, None where a variable is unbound."""
        return list(self.first(limit))

    def texts(self, start: int = 0, stop: int | None = None) -> list[pa.LargeStringArray]:
        """The columns as canonical texts (see ``everlog.lang.terms``), null where a variable is unbound."""
        return [self._terms.texts(ids[start:stop]) for ids in self._ids]

    def ids(self) -> list[Column]:
        """The columns as numbers that are equal if and only if the terms are equal, -1 where a variable is unbound."""
        return list(self._ids)

    def different(self, ids: Column) -> tuple[list[str], Column]:
        """The distinct texts of a column of ids, and for each row the index of its text, -1 if none."""
        different, places = distinct_ids(ids)
        unbound = int(len(different) > 0 and different[0] < 0)
        return self._terms.texts(different[unbound:]).to_pylist(), places - unbound

    def to_arrow(self) -> pa.Table:
        """An Arrow table. A column of only integers, decimals, doubles, booleans, strings, dates or timestamps has
        that type; any other holds terms as text.
        """
        return pa.table(self._typed, schema=self.schema)

    @property
    def schema(self) -> pa.Schema:
        """The schema of :meth:`to_arrow`."""
        return pa.schema([pa.field(name, typed.type) for name, typed in zip(self.columns, self._typed, strict=True)])

    def batches(self, start: int = 0, stop: int | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of :meth:`to_arrow`, or a range of them, in batches."""
        stop = self._size if stop is None else stop
        yield from self.to_arrow().slice(start, stop - start).to_batches(max_chunksize=BATCH_ROWS)

    @cached_property
    def _typed(self) -> list[pa.Array]:
        found = []
        for ids in self._ids:
            texts, places = self.different(ids)
            typed = typed_texts(pa.array(texts, pa.large_string()))
            found.append(typed.take(pa.array(places, mask=places < 0)))
        return found

    def _values(self, ids: Column) -> list[Value | None]:
        texts, places = self.different(ids)
        values: list[Value | None] = [*values_of(pa.array(texts, pa.large_string())), None]
        return [values[place] for place in places.tolist()]


class Triples(Solutions):
    """The triples of a CONSTRUCT or DESCRIBE query: a set of rows of subject, predicate and object.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("<http://e.org/p>(<http://e.org/a>, 1) .")
    >>> len(kb.sparql("DESCRIBE <http://e.org/a>"))
    1
    """


class Truth(Frames):
    """The answer to an ASK query.

    >>> import everlog
    >>> bool(everlog.KnowledgeBase("p(a) .").sparql('ASK { "a" a everlog:p }'))
    True
    """

    columns: tuple[str, ...] = ()

    def __init__(self, answer: bool) -> None:
        self._answer = answer

    def __bool__(self) -> bool:
        return self._answer

    def __len__(self) -> int:
        """1 if it is true and 0 otherwise, as for a query without variables."""
        return int(self._answer)

    def __repr__(self) -> str:
        return f"<Truth: {str(self._answer).lower()}>"

    def rows(self) -> list[tuple[()]]:
        """One empty row if the answer is true, none otherwise."""
        return [()] if self._answer else []

    def to_arrow(self) -> pa.Table:
        """A table with one cell, ``answer``."""
        return pa.table({"answer": pa.array(np.array([self._answer]))})


Result = Solutions | Truth
