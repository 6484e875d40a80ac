"""Rows that insert and delete facts, as streams bring them: from values to texts, and the last operation on each fact.

A row has these columns, others are ignored:

- ``op``: ``insert`` or ``+``, ``delete`` or ``-``;
- ``predicate``: a bare name, a prefixed name of the rules, or ``<iri>``; the arity is the number of arguments;
- ``arguments``, an array of strings that are read like the cells of a file; or ``c0``, ``c1``, ..., columns of
  values of any type, as in a Parquet file, null beyond the arity of a predicate;
- ``seq``, which may be left out: a number, timestamp or string. Of several rows about one fact the one with the
  largest counts.

Everything works on whole Arrow columns, alike in process and in Spark's executors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.analysis.predicates import Names
from everlog.engine.kernels.delimited import GOOD
from everlog.engine.tables import argument_name, argument_names, fact_columns
from everlog.ingest.cells import CellRules
from everlog.ingest.values import TEXT, texts_of
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Diagnostic, EverlogError

OPERATIONS = {"insert": True, "+": True, "delete": False, "-": False}
"""Whether a value of ``op`` inserts."""

COLUMN_TYPES = {"op": ("string",), "predicate": ("string",), "arguments": ("array<string>",)}
"""The types that columns may have, by Spark's names."""

MOST_SHOWN = 10
"""Maximum number of facts or rows that an error names."""

LONGEST_SHOWN = 300
"""Maximum number of characters of a row in a message."""

_ARGUMENT = re.compile(r"c(0|[1-9][0-9]*)")


@dataclass(frozen=True)
class OperationReader:
    """Reads rows of operations; it can be sent to Spark's workers.

    ``typed`` are the columns of arguments that are values; if there are none, the arguments are in ``arguments``.
    """

    names: Names
    prefixes: Mapping[str, str]
    typed: tuple[str, ...] = ()
    has_seq: bool = False
    types: str = "auto"

    @classmethod
    def of(
        cls, columns: Mapping[str, str], names: Names, prefixes: Mapping[str, str], types: str = "auto"
    ) -> OperationReader:
        """The reader for rows with these columns, given with Spark's types; an error if they cannot be operations."""
        missing = [name for name in ("op", "predicate") if name not in columns]
        typed = sorted((name for name in columns if _ARGUMENT.fullmatch(name)), key=lambda name: int(name[1:]))
        if "arguments" not in columns and not typed:
            missing.append("arguments (or c0, c1, ...)")
        gaps = typed != argument_names(len(typed))
        kinds = [name for name, kind in COLUMN_TYPES.items() if name in columns and columns[name] not in kind]
        if missing or gaps or kinds or ("arguments" in columns and typed):
            wrong = "the arguments are neither `arguments` nor c0, c1, ..."
            wrong = f"there is no {' and no '.join(missing)}" if missing else wrong
            wrong = f"{kinds[0]} is not {COLUMN_TYPES[kinds[0]][0]}" if kinds else wrong
            shown = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            message = f"the stream cannot be read as changes of facts: {wrong}; its columns are {shown}"
            hint = "give it op, predicate, arguments (an array of strings) or c0, c1, ..., and if need be seq"
            raise DataError.of(Code.WRONG_COLUMNS, message, None, hint)
        return cls(names, dict(prefixes), tuple(typed), "seq" in columns, types)

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return ["op", "predicate", *(self.typed or ["arguments"]), *(["seq"] if self.has_seq else [])]

    def read(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The operations that rows stand for.

        Columns ``predicate`` (``name/arity``), ``arguments`` (a list of texts), ``insert``, ``seq``, and ``bad``:
        the reason why a row is no operation, in which case its other columns have no meaning.
        """
        rows = rows.select(self.columns)
        wrong = _Reasons(rows)
        inserts = self._inserts(rows.column("op"), wrong)
        arguments = self._values(rows, wrong) if self.typed else self._cells(rows.column("arguments"), wrong)
        predicates = self._predicates(rows.column("predicate"), arguments, wrong)
        seq = self._seq(rows.column("seq"), wrong) if self.has_seq else pa.array(np.zeros(len(rows), np.int8))
        columns = [predicates, arguments, inserts, seq, wrong.texts()]
        return pa.record_batch(columns, names=["predicate", "arguments", "insert", "seq", "bad"])

    def _inserts(self, ops: pa.Array, wrong: _Reasons) -> pa.BooleanArray:
        at = pc.index_in(ops.cast(TEXT), pa.array(list(OPERATIONS), TEXT))
        wrong.add(at.is_null(), lambda row: f"op {row['op']!r} is not one of {', '.join(OPERATIONS)}")
        return pa.array(list(OPERATIONS.values())).take(at)

    def _seq(self, seq: pa.Array, wrong: _Reasons) -> pa.Array:
        wrong.add(seq.is_null(), lambda _: "seq is null")
        if not pa.types.is_floating(seq.type):
            return seq
        wrong.add(pc.is_nan(seq).fill_null(False), lambda _: "seq is not a number")
        return pc.add(seq, pa.scalar(0.0, seq.type))  # -0.0 becomes 0.0, which is as large

    def _values(self, rows: pa.RecordBatch, wrong: _Reasons) -> pa.LargeListArray:
        """Columns of values as lists of texts; nulls must stand at the end."""
        columns = [texts_of(rows.column(name), name) for name in self.typed]
        there = np.array([column.is_valid().to_numpy(zero_copy_only=False) for column in columns])
        gaps = (there[1:] & ~there[:-1]).any(axis=0)
        wrong.add(pa.array(gaps), lambda _: "a value is null before one that is not")
        offsets = np.append(0, np.cumsum(there.sum(axis=0)))
        width, size = there.shape
        order = pa.array((np.arange(size)[:, None] + np.arange(width) * size)[there.T])
        return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.concat_arrays(columns).take(order))

    def _cells(self, lists: pa.Array, wrong: _Reasons) -> pa.LargeListArray:
        lists = lists.cast(pa.large_list(TEXT))
        wrong.add(lists.is_null(), lambda _: "arguments is null")
        flat = lists.flatten()
        if flat.null_count:
            parents = pc.list_parent_indices(lists).filter(flat.is_null())
            missing = np.zeros(len(lists), np.bool_)
            missing[parents.to_numpy()] = True
            wrong.add(pa.array(missing), lambda _: "an argument is null")
            flat = flat.fill_null("")
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
        offsets = pa.array(np.append(0, np.cumsum(lengths)), pa.int64())
        return pa.LargeListArray.from_arrays(offsets, cell_texts(flat, CellRules.of(self.types, self.prefixes)))

    def _predicates(self, keys: pa.Array, arguments: pa.LargeListArray, wrong: _Reasons) -> pa.Array:
        """The ``name/arity`` of every row. Mistakes are found once per name and arity."""
        wrong.add(keys.is_null(), lambda _: "predicate is null")
        pairs = pa.table({"key": keys.cast(TEXT).fill_null(""), "arity": arguments.value_lengths()})
        distinct = pairs.group_by(["key", "arity"], use_threads=False).aggregate([])
        found = [self._predicate(pair["key"], pair["arity"]) for pair in distinct.to_pylist()]
        texts = pa.array([name for name, _ in found], pa.string())
        reasons = [reason for _, reason in found]
        marked = distinct.append_column("at", pa.array(range(len(found)), pa.int64()))
        numbered = pairs.append_column("row", pa.array(range(len(keys)), pa.int64()))
        joined = numbered.join(marked, ["key", "arity"]).sort_by("row").column("at").combine_chunks()
        at = pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined
        if any(reasons):
            of_row = [reasons[i] for i in at.to_pylist()]
            wrong.add(pa.array([reason is not None for reason in of_row]), lambda row: of_row[row["row"]] or "")
        return texts.take(at)

    def _predicate(self, key: str, arity: int) -> tuple[str, str | None]:
        try:
            return str(self.names.for_data(key, arity)), None
        except EverlogError as error:
            return "", error.diagnostics[0].message


@dataclass
class _Reasons:
    """The reasons why rows are wrong, the first one of each row."""

    rows: pa.RecordBatch
    found: dict[int, str] = field(default_factory=dict)

    def add(self, wrong: pa.Array, reason: Callable[[dict[str, Any]], str]) -> None:
        if not pc.any(wrong).as_py():
            return
        for row in np.flatnonzero(wrong.to_numpy(zero_copy_only=False)).tolist():
            if row not in self.found:
                values = self.rows.slice(row, 1).to_pylist()[0]
                self.found[row] = f"{reason({**values, 'row': row})}: {_shown(values)}"

    def texts(self) -> pa.StringArray:
        if not self.found:
            return pa.nulls(self.rows.num_rows, pa.string())
        return pa.array([self.found.get(row) for row in range(self.rows.num_rows)], pa.string())


def _shown(row: dict[str, Any]) -> str:
    """The text of a row for a message, shortened if it is long."""
    text = ", ".join(f"{name}={value!r}" for name, value in row.items())
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."


def cell_texts(cells: pa.LargeStringArray, rules: CellRules) -> pa.LargeStringArray:
    """The canonical texts of cells, none of them null.

    >>> cell_texts(pa.array(["42", "a b", "ex:c"], pa.large_string()), CellRules.of("auto", {"ex": "x:"})).to_pylist()
    ['42', '"a b"', '<x:c>']
    """
    cells = pa.concat_arrays([cells, pa.array([], TEXT)])  # an offset of 0
    _, offsets, data = cells.buffers()
    if not len(cells) or data is None:
        return pa.array(['""'] * len(cells), TEXT)
    ends = np.frombuffer(offsets, np.int64)[: len(cells) + 1].copy()
    status = np.full(len(cells), GOOD, np.uint8)
    tokens = (ends, None, status, ends[:-1].copy(), ends[1:].copy())
    return rules.texts(tokens, np.frombuffer(data, np.uint8).copy(), 1, 0)


@dataclass(frozen=True)
class Resolved:
    """The result of operations: batches of texts to insert and to delete; each fact is in one of them, once."""

    insert: tuple[pa.RecordBatch, ...] = ()
    delete: tuple[pa.RecordBatch, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Facts whose last operations are an insertion and a deletion, described; the first few."""


def resolved(operations: pa.Table) -> Resolved:
    """The last operation on each fact.

    ``operations`` are good rows as :meth:`OperationReader.read` returns them. If a fact has its largest ``seq`` in
    an insertion and in a deletion, neither is the last: that is a conflict.
    """
    chosen: dict[bool, list[pa.RecordBatch]] = {True: [], False: []}
    conflicts: list[str] = []
    arities = pc.list_value_length(operations.column("arguments"))
    for arity in sorted(pc.unique(arities).to_pylist()):
        facts = _flat(operations.filter(pc.equal(arities, arity)), arity)
        names = fact_columns(arity)
        last = _last(facts, names)
        clash = pc.not_equal(last.column("low"), last.column("high"))
        conflicts += list(map(_fact, last.filter(clash).slice(0, MOST_SHOWN).select(names).to_pylist()))
        for inserts in chosen:
            mine = last.filter(pc.equal(last.column("low"), inserts)).select(names)
            chosen[inserts] += mine.combine_chunks().to_batches()
    return Resolved(tuple(chosen[True]), tuple(chosen[False]), tuple(conflicts[:MOST_SHOWN]))


def _flat(rows: pa.Table, arity: int) -> pa.Table:
    """The rows with ``arity`` arguments, each argument as a column."""
    lists = rows.column("arguments").chunks
    values = pa.concat_arrays([*(chunk.flatten().cast(TEXT) for chunk in lists), pa.array([], TEXT)])
    places = np.arange(rows.num_rows) * arity
    columns = {argument_name(i): values.take(pa.array(places + i)) for i in range(arity)}
    return pa.table({"predicate": rows.column("predicate"), **columns, "insert": rows["insert"], "seq": rows["seq"]})


def _last(facts: pa.Table, names: list[str]) -> pa.Table:
    """Each fact once, with the smallest and the largest operation at its largest ``seq``."""
    steps = facts.group_by([*names, "seq"]).aggregate([("insert", "min"), ("insert", "max")])
    ordered = steps.sort_by("seq").group_by(names, use_threads=False)
    last = ordered.aggregate([("insert_min", "last"), ("insert_max", "last")])
    return last.rename_columns({"insert_min_last": "low", "insert_max_last": "high"})


def _fact(row: dict[str, str]) -> str:
    name, *arguments = row.values()
    return f"{name.rpartition('/')[0]}({', '.join(arguments)})"


def conflict_error(conflicts: Sequence[str], where: str, has_seq: bool) -> DataError:
    """The error for facts that are both inserted and deleted."""
    same = "with the same seq" if has_seq else "and nothing says which came last"
    found = [
        Diagnostic(Code.CONFLICTING_OPERATIONS, f"{where} inserts and deletes {fact}, {same}") for fact in conflicts
    ]
    hint = "number the operations" if has_seq else "add a column seq: the last operation on a fact then counts"
    return DataError([*found[:-1], Diagnostic(found[-1].code, found[-1].message, hint=hint)])


def batches_of(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """A table in batches large enough for work on whole columns."""
    return iter(table.combine_chunks().to_batches(max_chunksize=1 << 20))
