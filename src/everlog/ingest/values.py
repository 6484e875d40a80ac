"""From columns of values in memory to columns of canonical texts.

Everything that has columns is turned into Arrow columns first, without a copy where the library allows it, and an
Arrow column becomes texts by one vectorised rule per type. Python objects, which have no such column, become texts
one by one.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.analysis.predicates import wrong_arity
from everlog.engine.kernels.numbers import canonical_doubles
from everlog.engine.tables import fact_columns
from everlog.ingest.columns import Header, TableHeader, header_of, order_of, pick_hint
from everlog.lang.codes import Code
from everlog.lang.errors import DataError
from everlog.lang.syntax import Predicate
from everlog.lang.terms import XSD, decimal_text, double_text, text_of

TEXT = pa.large_string()

ARROW_TYPES: Mapping[type, Any] = {str: TEXT, int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
"""Python types of which Arrow makes a column at once."""


CONVERT = "strings, numbers, booleans, dates, timestamps and times can; convert or leave out the column"


def texts_of(array: pa.Array | pa.ChunkedArray, column: str = "values", before: int = 0) -> pa.LargeStringArray:
    """The canonical texts of an Arrow column; a null stays null.

    Strings become string terms, unchanged, even if they look like numbers or IRIs. A timestamp with a zone is written
    in UTC. A type that cannot be a term is a :class:`DataError` that names the column.
    ``before`` is the number of rows before the column's first, which row numbers in messages include.

    >>> texts_of(pa.array([1.0, None, -1250.0])).to_pylist()
    ['1.0E0', None, '-1.25E3']
    >>> texts_of(pa.array(["a", "42"]).dictionary_encode()).to_pylist()
    ['"a"', '"42"']
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            return pa.concat_arrays([texts_of(chunk, column) for chunk in array.chunks])
    kind = array.type
    if pa.types.is_dictionary(kind) and pa.types.is_temporal(kind.value_type):
        return texts_of(array.dictionary_decode(), column, before)  # the error names the row of a value without a text
    if pa.types.is_dictionary(kind):
        return texts_of(array.dictionary, column).take(array.indices)
    if pa.types.is_run_end_encoded(kind):
        return texts_of(pc.run_end_decode(array), column, before)
    if _is_string(kind):
        return _string_texts(array, column)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return array.cast(TEXT)
    if pa.types.is_floating(kind):
        return _double_texts(array.cast(pa.float64()))
    if pa.types.is_decimal(kind):
        return _decimal_texts(array)
    if pa.types.is_date(kind):
        return _typed(_moments(array.cast(pa.date32()), column, before), "date")
    if pa.types.is_timestamp(kind):
        return _timestamp_texts(array, column, before)
    if pa.types.is_time(kind):
        return _typed(_without_zeros(_moments(array, column, before), kind.unit), "time")
    message = f"column {column!r} has the type {kind}, which cannot be a term"
    raise DataError.of(Code.UNSUPPORTED_TYPE, message, None, CONVERT)


def argument_columns(
    data: Any,
    arity: int | None = None,
    predicate: str | None = None,
    picked: Sequence[str] | None = None,
    headers: Mapping[tuple[str, int], Header] = MappingProxyType({}),
) -> tuple[list[pa.LargeStringArray], int, Header | None]:
    """The columns of texts of rows in memory, the number of rows, and the names of the columns.

    Takes rows (tuples of Python values), a mapping from names to columns, pandas, Polars, Arrow,
    NumPy (one or two dimensions, or structured), and anything with the Arrow stream protocol; columns without names
    have none. With ``arity``, data of another width is an error about ``predicate``, and no rows at all have that many
    columns.

    ``picked`` are the names of the columns that become arguments, by default all; ``headers`` are the names that
    earlier data had, by predicate and number of columns (see :mod:`everlog.ingest.columns`).

    >>> columns, rows, names = argument_columns([("a", 1), ("b", 2.5)])
    >>> [column.to_pylist() for column in columns], rows, names
    ([['"a"', '"b"'], ['1', '2.5E0']], 2, None)
    >>> argument_columns([()])
    ([], 1, None)
    """
    given = _columns(data)
    width = len(given.columns)
    if given.rows == 0 and not width and arity and not picked:
        return [pa.array([], TEXT) for _ in range(arity)], 0, None
    name = predicate or "the predicate"
    table = TableHeader(name, width, given.names, "the data", None, _pick_text)
    order = () if picked is not None and not picked else order_of(table, picked or (), headers.get((name, width)))
    if width and not order and not arity:
        hint = "name the columns that become arguments, or leave out `columns` to take all"
        raise DataError.of(Code.NO_SUCH_COLUMN, "`columns` is empty, so no column is picked", None, hint)
    if arity is not None and len(order) != arity:
        raise wrong_arity(predicate, arity, len(order), pick_hint(table, arity, headers.get((name, arity))))
    columns = [given.columns[place]() for place in order]
    rows = _rows_of(given, columns, order)
    for index, column in enumerate(columns):
        if column.null_count:
            _null(int(pc.index(pc.is_null(column), True).as_py()) + 1, f"column {index + 1}")
    header = header_of(table, order)
    return columns, rows, None if header is None else replace(header, shown="earlier data")


def _pick_text(names: Sequence[str]) -> str:
    return f"columns=[{', '.join(map(json.dumps, names))}]"


@dataclass(frozen=True)
class _LazyColumns:
    """Rows as columns that become texts at their first use.

    ``names`` is None if the columns have none, ``rows`` if the columns may be of different lengths.
    """

    names: tuple[str, ...] | None
    columns: Sequence[Callable[[], pa.LargeStringArray]]
    rows: int | None


def _rows_of(given: _LazyColumns, columns: Sequence[pa.LargeStringArray], order: Sequence[int]) -> int:
    """The number of rows; columns of different lengths are an error."""
    if given.rows is not None:
        return given.rows
    rows = len(columns[0]) if columns else 0
    for place, column in zip(order, columns, strict=True):
        if len(column) != rows:
            assert given.names is not None
            own = f"column {given.names[place]!r} has {_count(len(column), 'value')}"
            message = f"{own}, column {given.names[order[0]]!r} has {rows}"
            raise DataError.of(Code.RAGGED_COLUMN, message, None, "all columns have the same length")
    return rows


def _columns(data: Any) -> _LazyColumns:
    library = _library(data)
    if library == "pyspark" and hasattr(data, "toArrow"):
        data = data.toArrow()
    if library == "polars" and hasattr(data, "collect"):
        data = data.collect()
    if _is_column(data, library):
        return _LazyColumns(None, [partial(_one_column, data, str(getattr(data, "name", "values")))], len(data))
    names: tuple[str, ...] | None
    if isinstance(data, np.ndarray):
        names, columns = _numpy_columns(data)
    elif library == "pandas":
        names = tuple(map(str, data.columns))
        columns = [data.iloc[:, i] for i in range(len(names))]
    elif library == "polars":
        names, columns = tuple(data.columns), list(data.iter_columns())
    elif isinstance(data, pa.Table | pa.RecordBatch) or hasattr(data, "__arrow_c_stream__"):
        data = data if isinstance(data, pa.Table | pa.RecordBatch) else pa.table(data)
        names, columns = tuple(data.schema.names), data.columns
    elif isinstance(data, Mapping):
        names, columns = tuple(map(str, data)), list(data.values())
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return _row_columns(data)
    else:
        hint = "pass a list of tuples, a mapping of columns, or a pandas, Polars, Arrow or NumPy table"
        message = f"rows cannot be taken from a value of type {type(data).__name__}"
        raise DataError.of(Code.WRONG_DATA, message, None, hint)
    shown = [f"column {i + 1}" for i in range(len(columns))] if names is None else names
    texts = [partial(_one_column, column, name) for column, name in zip(columns, shown, strict=True)]
    return _LazyColumns(names, texts, None if isinstance(data, Mapping) and columns else len(data))


def _library(data: Any) -> str:
    """The package of a value's type."""
    return type(data).__module__.partition(".")[0]


def _is_column(data: Any, library: str) -> bool:
    """Whether a value is a single column."""
    if isinstance(data, np.ndarray):
        return data.ndim == 1 and data.dtype.names is None
    if library == "pandas":
        return not hasattr(data, "columns")
    return isinstance(data, pa.Array | pa.ChunkedArray) or (library == "polars" and hasattr(data, "to_frame"))


def _numpy_columns(data: np.ndarray[Any, Any]) -> tuple[tuple[str, ...] | None, list[Any]]:
    """The names and columns of an array of rows."""
    if (names := data.dtype.names) and data.ndim == 1:
        return names, [data[name] for name in names]
    if data.ndim == 2:
        return None, list(data.T)
    hint = "pass one column as a 1-D array, rows as a 2-D array, or a structured array"
    raise DataError.of(Code.WRONG_DATA, f"rows cannot be taken from a NumPy array of shape {data.shape}", None, hint)


def _row_columns(data: Iterable[Any]) -> _LazyColumns:
    rows = data if isinstance(data, Sequence) else list(data)
    if not rows:
        return _LazyColumns(None, [], 0)
    for kind in set(map(type, rows)):
        if not issubclass(kind, tuple | list):
            index = next(i for i, row in enumerate(rows) if type(row) is kind)
            message = f"row {index + 1} is {rows[index]!r}, not a tuple"
            raise DataError.of(Code.NOT_A_ROW, message, None, f"a row with one value is written ({rows[index]!r},)")
    width = len(rows[0])
    if set(map(len, rows)) != {width}:
        index = next(i for i, row in enumerate(rows) if len(row) != width)
        message = f"row {index + 1} has {_count(len(rows[index]), 'value')}, the rows before it have {width}"
        raise DataError.of(Code.RAGGED_ROW, message, None, "all rows of a predicate have the same number of values")
    columns = list(zip(*rows, strict=True)) if width else []
    made = [partial(_object_texts, column, f"column {i + 1}") for i, column in enumerate(columns)]
    return _LazyColumns(None, made, len(rows))


def _object_texts(values: Sequence[Any], column: str) -> pa.LargeStringArray:
    """The texts of Python objects; values of one plain type are converted by Arrow at once."""
    kinds = set(map(type, values))
    arrow_type = ARROW_TYPES.get(next(iter(kinds))) if len(kinds) == 1 else None
    if arrow_type is not None:
        try:
            return texts_of(pa.array(values, arrow_type), column)
        except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
            pass  # an integer over 64 bits, or a string that is not Unicode: converted or refused one by one
    texts = []
    for row, value in enumerate(values, 1):
        try:
            text = _text_of_object(value)
            text.encode()
        except TypeError as error:
            hint = "a value is a str, int, float, bool, Decimal, date, datetime, time, IRI, BlankNode or Literal"
            raise DataError.of(Code.UNSUPPORTED_VALUE, f"row {row}, {column}: {error}", None, hint) from None
        except ValueError as error:
            reason = "the string is no Unicode text" if isinstance(error, UnicodeError) else error
            hint = "correct the value, or leave out the row"
            raise DataError.of(Code.BAD_VALUE, f"row {row}, {column}: {reason}", None, hint) from None
        except _NullValueError:
            _null(row, column)
        texts.append(text)
    return pa.array(texts, TEXT)


class _NullValueError(Exception):
    pass


def _text_of_object(value: Any) -> str:
    if _is_missing(value):
        raise _NullValueError
    if isinstance(value, np.datetime64):
        try:
            return str(texts_of(pa.array(np.array([value])))[0])
        except DataError:
            raise ValueError(f"{value} is outside the years -32767 to 32767") from None
    return text_of(value)


def _is_missing(value: Any) -> bool:
    """Whether an object stands for a missing value: None, or the markers of pandas and NumPy."""
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, datetime.datetime | np.datetime64):
        return str(value) == "NaT"
    return type(value).__name__ == "NAType"  # pandas.NA, without an import of pandas


def _one_column(values: Any, name: str) -> pa.LargeStringArray:
    """The texts of a single column of any of the libraries."""
    library = _library(values)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return texts_of(values, name)
    if isinstance(values, np.ndarray):
        return _numpy_texts(values, name)
    if library == "pandas":
        return _series_texts(values, name)
    if library == "polars":
        return _polars_texts(values)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        hint = "a mapping has a list of values for each column"
        raise DataError.of(Code.WRONG_DATA, f"column {name!r} is {values!r}, not a list of values", None, hint)
    return _object_texts(values if isinstance(values, Sequence) else list(values), f"column {name!r}")


def _numpy_texts(values: np.ndarray[Any, Any], column: str) -> pa.LargeStringArray:
    if values.dtype.kind == "O":
        return _object_texts(values.tolist(), f"column {column!r}")
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    with _supported(column, f"NumPy type {values.dtype}"):
        array = pa.array(np.ascontiguousarray(values), mask=mask, from_pandas=False)
    return texts_of(array, column)


@contextmanager
def _supported(column: str, kind: str) -> Iterator[None]:
    """An error that names the type of a column which Arrow cannot take."""
    try:
        yield
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
        message = f"column {column!r} has the {kind}, which cannot be a term"
        raise DataError.of(Code.UNSUPPORTED_TYPE, message, hint=CONVERT) from error


def _series_texts(series: Any, name: str) -> pa.LargeStringArray:
    """The texts of a pandas column; whatever pandas counts as missing, NaN too, is a null."""
    missing = np.asarray(series.isna())
    if missing.any():
        _null(int(missing.argmax()) + 1, f"column {name!r}")
    if str(series.dtype) == "category":
        categories = _series_texts(series.cat.categories.to_series(), name)
        return categories.take(pa.array(np.asarray(series.cat.codes)))
    if series.dtype == object:
        return _object_texts(series.tolist(), f"column {name!r}")
    with _supported(name, f"pandas type {series.dtype}"):
        array = pa.array(series)
    return texts_of(array, name)


def _polars_texts(series: Any) -> pa.LargeStringArray:
    name = str(series.name)
    if str(series.dtype) == "Object":
        return _object_texts(series.to_list(), f"column {name!r}")
    return texts_of(series.to_arrow(), name)


def _is_string(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _string_texts(array: pa.Array, column: str) -> pa.LargeStringArray:
    array = array.cast(TEXT)
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        message = f"column {column!r} holds a string that is not valid UTF-8: {error}"
        raise DataError.of(Code.NOT_UTF_8, message, None, "decode the column with its own encoding first") from None
    return _between('"', array, '"')


def _typed(lexical: pa.LargeStringArray, datatype: str) -> pa.LargeStringArray:
    return _between('"', lexical, f'"^^<{XSD}{datatype}>')


def _between(start: str, texts: pa.LargeStringArray, end: str) -> pa.LargeStringArray:
    return pc.binary_join_element_wise(pa.scalar(start, TEXT), texts, pa.scalar(end, TEXT), pa.scalar("", TEXT))


def _double_texts(array: pa.DoubleArray) -> pa.LargeStringArray:
    finite = pc.is_finite(array)
    lexical = array.cast(TEXT)
    _, offsets, data = lexical.buffers()
    if len(lexical) == 0:
        return lexical
    starts = np.frombuffer(offsets, np.int64, len(lexical) + 1, lexical.offset * 8)
    if starts[-1] == starts[0]:
        return lexical
    plain = pc.if_else(finite, lexical, None) if not pc.all(finite, min_count=0).as_py() else lexical
    _, offsets, data = plain.buffers()
    written, ends = canonical_doubles(
        np.frombuffer(data, np.uint8), np.frombuffer(offsets, np.int64, len(plain) + 1, plain.offset * 8)
    )
    texts = large_strings(written, ends)
    if array.null_count == 0 and plain is lexical:
        return texts
    names = {value: pa.scalar(double_text(float(value)), TEXT) for value in ("nan", "inf", "-inf")}
    special = pc.if_else(pc.equal(array, float("inf")), names["inf"], names["-inf"])
    special = pc.if_else(pc.is_nan(array), names["nan"], special)
    return pc.if_else(finite, texts, special)


def large_strings(data: np.ndarray[Any, Any], offsets: np.ndarray[Any, Any]) -> pa.LargeStringArray:
    """An Arrow array over the bytes and offsets of texts."""
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def _decimal_texts(array: pa.Array) -> pa.LargeStringArray:
    """The texts of decimals. Arrow writes all digits of the scale, and zero or a huge number in scientific notation."""
    lexical = array.cast(TEXT)
    scientific = pc.fill_null(pc.match_substring(lexical, "E"), False)
    texts = lexical
    if array.type.scale > 0:
        texts = pc.replace_substring_regex(texts, r"0+$", "")
        texts = pc.replace_substring_regex(texts, r"\.$", ".0")
    else:
        texts = _between("", texts, ".0")
    if pc.any(scientific).as_py():
        distinct = lexical.filter(scientific).dictionary_encode()
        written = pa.array([decimal_text(Decimal(text)) for text in distinct.dictionary.to_pylist()], TEXT)
        texts = pc.replace_with_mask(texts, scientific, written.take(distinct.indices))
    return texts


def _moments(array: pa.Array, column: str, before: int) -> pa.LargeStringArray:
    """The texts of dates and times as Arrow writes them; those that it cannot write are an error."""
    lexical = array.cast(TEXT)
    row = pc.index(pc.starts_with(lexical, "<"), True).as_py()
    if row >= 0:
        number = lexical[row].as_py().strip("<>").rpartition(" ")[2]
        message = f"row {before + row + 1}, column {column!r}: the {array.type} {number} cannot be written as a term"
        hint = "years go from -32767 to 32767, times from 00:00 to 24:00; correct the value, or leave out the row"
        raise DataError.of(Code.BAD_VALUE, message, None, hint)
    return lexical


def _timestamp_texts(array: pa.TimestampArray, column: str, before: int) -> pa.LargeStringArray:
    zone = "Z" if array.type.tz is not None else ""
    lexical = _moments(array.cast(pa.timestamp(array.type.unit)), column, before)
    lexical = _without_zeros(pc.replace_substring(lexical, " ", "T"), array.type.unit)
    return _typed(_between("", lexical, zone), "dateTime")


def _without_zeros(lexical: pa.LargeStringArray, unit: str) -> pa.LargeStringArray:
    """The texts of times without the zeros at the end of their fraction."""
    return lexical if unit == "s" else pc.replace_substring_regex(lexical, r"\.?0+$", "")


def _null(row: int, column: str) -> None:
    """Raise the error of a missing value; rows count from 1."""
    hint = "drop or fill the rows with missing values first"
    raise DataError.of(Code.NULL_VALUE, f"row {row}, {column}: there is no value", None, hint)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def fact_batch(predicate: Predicate, columns: Sequence[pa.Array], rows: int) -> pa.RecordBatch:
    """Facts of one predicate as a batch of texts."""
    names = pa.repeat(pa.scalar(str(predicate), pa.string()), rows)
    return pa.record_batch([names, *columns], names=fact_columns(predicate.arity))
