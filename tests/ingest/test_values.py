"""In-memory data of every library becomes the same texts as its Python values."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog import KnowledgeBase
from everlog.ingest.values import argument_columns, texts_of
from everlog.lang.errors import DataError
from everlog.lang.terms import IRI, XSD, BlankNode, Literal, decimal_text, double_text, text_of

MOMENT = dt.datetime(2026, 1, 2, 3, 4, 5, 250_000)
SUMMER = dt.timezone(dt.timedelta(hours=2))


def lists(data: Any, arity: int | None = None) -> list[list[str]]:
    columns, rows, _ = argument_columns(data, arity)
    assert all(column.type == pa.large_string() and len(column) == rows for column in columns)
    return [column.to_pylist() for column in columns]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.floats() | st.none(), max_size=8))
def test_doubles_are_canonical(values: list[float | None]) -> None:
    expected = [None if value is None else double_text(value) for value in values]
    assert texts_of(pa.array(values, pa.float64())).to_pylist() == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(width=32), max_size=8))
def test_single_floats_are_the_doubles_they_are(values: list[float]) -> None:
    assert texts_of(pa.array(values, pa.float32())).to_pylist() == [double_text(value) for value in values]


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([(38, 0), (38, 10), (30, 25), (9, -3)]).flatmap(
        lambda shape: st.tuples(
            st.just(shape), st.lists(st.integers(-(10 ** (shape[0] // 2)), 10 ** (shape[0] // 2)) | st.none())
        )
    )
)
def test_decimals_are_canonical(case: tuple[tuple[int, int], list[int | None]]) -> None:
    (precision, scale), units = case
    values = [None if unit is None else Decimal(unit).scaleb(-scale) for unit in units]
    expected = [None if value is None else decimal_text(value) for value in values]
    assert texts_of(pa.array(values, pa.decimal128(precision, scale))).to_pylist() == expected


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)), max_size=5),
    st.sampled_from(["s", "ms", "us", "ns"]),
    st.sampled_from([None, "UTC", "Europe/Berlin"]),
)
def test_timestamps_agree_with_python(values: list[dt.datetime], unit: str, zone: str | None) -> None:
    array = pa.array(values, pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)
    array = array.cast(pa.timestamp(unit, zone)) if zone is None else pa.array(array.cast(pa.int64()), pa.int64())
    if zone is not None:
        array = array.cast(pa.timestamp(unit, zone))
    expected = [
        text_of(value.to_pydatetime() if hasattr(value, "to_pydatetime") else value) for value in array.to_pylist()
    ]
    assert texts_of(array).to_pylist() == expected


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64(), pa.uint64()])
def test_integers_of_any_width(kind: Any) -> None:
    assert texts_of(pa.array([0, 100, None], kind)).to_pylist() == ["0", "100", None]


def test_uint64_does_not_wrap() -> None:
    assert texts_of(pa.array([2**64 - 1], pa.uint64())).to_pylist() == [str(2**64 - 1)]


def test_arrow_types() -> None:
    day = pa.array([dt.date(2026, 1, 2)])
    expected = [f'"2026-01-02"^^<{XSD}date>']
    assert texts_of(day).to_pylist() == expected
    assert texts_of(day.cast(pa.date64())).to_pylist() == expected
    assert texts_of(pa.array([True, None])).to_pylist() == ["true", None]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert texts_of(pa.array(['a"b', "<x>", "", None], kind)).to_pylist() == ['"a"b"', '"<x>"', '""', None]
    assert texts_of(pa.array([1, None, 1]).dictionary_encode()).to_pylist() == ["1", None, "1"]
    assert texts_of(pa.chunked_array([[1], [], [2]])).to_pylist() == ["1", "2"]
    assert texts_of(pa.chunked_array([], pa.string())).to_pylist() == []
    assert texts_of(pa.nulls(2)).to_pylist() == [None, None]
    assert texts_of(pa.array([1.5, 2.0, 3.0]).slice(1)).to_pylist() == ["2.0E0", "3.0E0"]


@pytest.mark.parametrize("kind", [pa.binary(), pa.list_(pa.int64()), pa.struct([("a", pa.int64())]), pa.duration("s")])
def test_other_types_are_refused_by_name(kind: Any) -> None:
    with pytest.raises(DataError, match=r"error\[unsupported-type\]: column 'b' has the type"):
        argument_columns(pa.table({"a": [1], "b": pa.array([None], kind)}))


def test_strings_that_are_not_unicode_are_refused() -> None:
    array = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff"))
    with pytest.raises(DataError, match="not-utf-8"):
        texts_of(array, "a")
    with pytest.raises(DataError, match="row 2, column 1"):
        argument_columns([("a",), ("\ud800",)])


VALUES = [
    "alice", "", 42, -7, 2**70, 1.5, math.inf, True, Decimal("1.50"), IRI("http://e.org/a"), BlankNode("b"),
    Literal("A", language="EN"), Literal("x", "http://e.org/t"), dt.date(2026, 1, 2), MOMENT,
    MOMENT.replace(tzinfo=SUMMER), np.int32(5), np.float32(0.5), np.str_("s"), np.bool_(False),
    np.datetime64("2026-01-02T03:04:05.250000000"),
]  # fmt: skip


def test_rows_of_python_values() -> None:
    expected = [
        '"alice"', '""', "42", "-7", str(2**70), "1.5E0", f'"INF"^^<{XSD}double>', "true", "1.5", "<http://e.org/a>",
        "_:b", '"A"@en', '"x"^^<http://e.org/t>', f'"2026-01-02"^^<{XSD}date>',
        f'"2026-01-02T03:04:05.25"^^<{XSD}dateTime>', f'"2026-01-02T01:04:05.25Z"^^<{XSD}dateTime>', "5", "5.0E-1",
        '"s"', "false", f'"2026-01-02T03:04:05.25"^^<{XSD}dateTime>',
    ]  # fmt: skip
    assert lists([(value,) for value in VALUES]) == [expected]
    assert [lists([(value,)])[0][0] for value in VALUES] == expected
    assert lists({"v": VALUES}) == [expected]
    assert lists(pd.DataFrame({"v": pd.Series(VALUES, dtype=object)})) == [expected]
    assert lists(np.array([*VALUES, None], dtype=object)[:-1]) == [expected]


def test_kinds_do_not_merge_in_a_column() -> None:
    assert lists([(1,), (1.0,), (True,), ("1",)]) == [["1", "1.0E0", "true", '"1"']]


def test_empty_and_nullary() -> None:
    assert argument_columns([()])[:2] == ([], 1)
    assert argument_columns([(), ()])[:2] == ([], 2)
    assert argument_columns([])[:2] == ([], 0)
    assert lists([], arity=2) == [[], []]
    assert argument_columns([], arity=0)[:2] == ([], 0)
    assert lists(iter([("a", 1)])) == [['"a"'], ["1"]]
    assert lists({("a",)}) == [['"a"']]


EDGES = [['"a"', '"b"'], ["1", "2"]]


@pytest.mark.parametrize(
    "data",
    [
        [("a", 1), ("b", 2)],
        [["a", 1], ["b", 2]],
        {"s": ["a", "b"], "o": np.array([1, 2], np.int8)},
        {"s": pa.array(["a", "b"]), "o": pd.Series([1, 2])},
        {"s": pl.Series(["a", "b"]), "o": (1, 2)},
        pd.DataFrame({"s": ["a", "b"], "o": [1, 2]}),
        pd.DataFrame({"s": pd.Categorical(["a", "b"]), "o": pd.array([1, 2], "Int32")}, index=[7, 7]),
        pd.DataFrame({"s": pd.array(["a", "b"], "string"), "o": [1, 2]}),
        pd.DataFrame([["a", 1], ["b", 2]]),
        pl.DataFrame({"s": ["a", "b"], "o": [1, 2]}),
        pl.DataFrame({"s": ["a", "b"], "o": [1, 2]}).lazy(),
        pl.DataFrame({"s": pl.Series(["a", "b"], dtype=pl.Categorical), "o": [1, 2]}),
        pa.table({"s": ["a", "b"], "o": [1, 2]}),
        pa.table({"s": ["a", "b"], "o": [1, 2]}).to_batches()[0],
        pa.table({"s": ["a", "b"], "o": [1, 2]}).to_reader(),
        np.array([("a", 1), ("b", 2)], dtype=[("s", "U5"), ("o", "i2")]),
        np.array([["a", 1], ["b", 2]], dtype=object),
    ],
    ids=lambda data: type(data).__module__.partition(".")[0] + "." + type(data).__name__,
)
def test_every_library(data: Any) -> None:
    assert lists(data) == EDGES


@pytest.mark.parametrize(
    "data",
    [np.array([1, 2], np.uint16), pd.Series([1, 2]), pl.Series([1, 2]), pa.array([1, 2]), pa.chunked_array([[1], [2]])],
)
def test_one_column_alone_is_unary(data: Any) -> None:
    assert lists(data) == [["1", "2"]]


def test_two_dimensional_numpy() -> None:
    assert lists(np.array([[1, 2], [3, 4]])) == [["1", "3"], ["2", "4"]]
    assert lists(np.array([[0.5], [math.nan]])) == [["5.0E-1", f'"NaN"^^<{XSD}double>']]
    assert lists(np.zeros((0, 3))) == [[], [], []]
    assert lists(np.array(["2026-01-02"], "M8[D]")) == [[f'"2026-01-02"^^<{XSD}date>']]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([("a", None)], "error[null-value]: row 1, column 2: there is no value"),
        ([("a",), ("b", "c")], "error[ragged-row]: row 2 has 2 values, the rows before it have 1"),
        (["a", "b"], "error[not-a-row]: row 1 is 'a', not a tuple"),
        (
            [("a",), (object,)],
            "error[unsupported-value]: row 2, column 1: <class 'object'> of type type cannot be a term",
        ),
        ([(Decimal("NaN"),)], "error[bad-value]: row 1, column 1: NaN is not a decimal number"),
        ([(pd.NaT,)], "error[null-value]: row 1, column 1: there is no value"),
        (pd.DataFrame({"a": [1.0, math.nan]}), "error[null-value]: row 2, column 'a': there is no value"),
        (pd.DataFrame({"a": ["x", None]}), "error[null-value]: row 2, column 'a': there is no value"),
        (pl.DataFrame({"a": ["x", None]}), "error[null-value]: row 2, column 1: there is no value"),
        ({"a": [1], "b": [1, 2]}, "error[ragged-column]: column 'b' has 2 values, column 'a' has 1"),
        ({"a": "xyz"}, "error[wrong-data]: column 'a' is 'xyz', not a list of values"),
        (np.zeros((1, 1, 1)), "error[wrong-data]: rows cannot be taken from a NumPy array of shape (1, 1, 1)"),
        (
            np.array([1j]),
            "error[unsupported-type]: column 'values' has the NumPy type complex128, which cannot be a term",
        ),
        (7, "error[wrong-data]: rows cannot be taken from a value of type int"),
        ("abc", "error[wrong-data]: rows cannot be taken from a value of type str"),
    ],
)
def test_errors_say_where(data: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        argument_columns(data)
    assert str(caught.value).splitlines()[0] == message


def test_wrong_arity() -> None:
    with pytest.raises(DataError, match="the predicate has 2 arguments, but the rows have 1 value"):
        argument_columns([("a",)], arity=2)


GAP = [False, True, False]


@pytest.mark.parametrize(
    "data",
    [
        np.ma.array([1, 2, 3], mask=GAP),
        np.ma.array([1.0, 2.0, 3.0], mask=GAP),
        np.ma.array(["a", "b", "c"], mask=GAP),
        np.ma.array(["2024-01-01"] * 3, mask=GAP, dtype="M8[D]"),
        np.ma.array([1, "b", None], mask=GAP, dtype=object),
        np.ma.array([[1], [2], [3]], mask=[[gap] for gap in GAP]),
        np.ma.array([(1,), (2,)], mask=[(False,), (True,)], dtype=[("a", int)]),
        {"a": np.ma.array([1, 2, 3], mask=GAP)},
        {"a": np.ma.array([1, 2, 3], mask=GAP, dtype=object)},
        [(1,), (np.ma.masked,)],
        [(1,), (pd.NA,)],
        [(1,), (pd.NaT,)],
        {"a": [1, pd.NA]},
    ],
)
def test_masked_and_missing_values_are_nulls(data: Any) -> None:
    with pytest.raises(DataError, match=r"error\[null-value\]: row 2, column"):
        argument_columns(data)


def test_masked_arrays_without_masked_values_are_taken_whole() -> None:
    assert lists(np.ma.array([[1, 2], [3, 4]])) == lists(np.array([[1, 2], [3, 4]]))
    assert lists(np.ma.array([math.nan, 1.0], mask=[False, False])) == lists(np.array([math.nan, 1.0]))


def test_numpy_days_in_rows_are_dates() -> None:
    assert lists([(np.datetime64("2024-01-01"),)]) == lists([(dt.date(2024, 1, 1),)])


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        (pa.timestamp("s"), 999999999999),
        (pa.timestamp("s"), -(2**62)),
        (pa.timestamp("ms", "UTC"), 2**62),
        (pa.date32(), 2**31 - 1),
        (pa.time32("s"), 100_000),
        (pa.time64("us"), -5),
    ],
)
def test_moments_that_arrow_cannot_write_are_refused(kind: Any, number: int) -> None:
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    array = pa.array([0, None, number], width).view(kind)
    places = pa.DictionaryArray.from_arrays(pa.array([0, 0, 1]), array.drop_null())
    for each in (array, pa.chunked_array([array[:1], array[1:]]), places):
        with pytest.raises(DataError, match=rf"bad-value\]: row 3, column 'a': the .* {number} cannot be written"):
            argument_columns(pa.table({"a": each}))
    assert lists(pa.table({"a": places[:2]})) == [texts_of(array[:1]).to_pylist() * 2]


def test_numpy_moments_that_arrow_cannot_write_are_told_by_their_row() -> None:
    with pytest.raises(DataError, match=r"row 2, column 1: 99999-01-01T10:00:00 is outside the years"):
        argument_columns([(1,), (np.datetime64("99999-01-01T10:00:00"),)])


def test_rows_before_a_column_are_counted() -> None:
    with pytest.raises(DataError, match="row 11, column 'a': the "):
        texts_of(pa.array([2**62], pa.timestamp("s")), "a", 10)


def test_a_parquet_file_with_such_a_moment_is_told_by_the_row_of_the_file(tmp_path: Path) -> None:
    moments = pa.array([0, 0, 2**60], pa.timestamp("us"))
    pq.write_table(pa.table({"a": moments}), tmp_path / "p.parquet", row_group_size=1)
    with pytest.raises(DataError, match="row 3, column 'a': the "):
        KnowledgeBase().load(tmp_path / "p.parquet")
