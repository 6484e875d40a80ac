"""Dates, timestamps and decimals come out as values, exactly or not at all."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog import IRI, BlankNode, KnowledgeBase, Literal, Rows
from everlog.lang.terms import XSD, text_of, value_of
from everlog.query.typed import FEW, values_of

DATE, DATE_TIME, TIME = XSD + "date", XSD + "dateTime", XSD + "time"
NOON = datetime(2026, 1, 31, 12)
KINDS: dict[str, tuple[list[Any], Any]] = {
    "dates": ([date(1, 1, 1), date(2024, 2, 29), date(9999, 12, 31)], pa.date32()),
    "timestamps": ([datetime.min, NOON, datetime(1969, 12, 31, 23, 59, 59, 500000), datetime.max], pa.timestamp("us")),
    "moments": (
        [datetime.min.replace(tzinfo=UTC), NOON.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)],
        pa.timestamp("us", "UTC"),
    ),
    "decimals": (
        [Decimal("-0.5"), Decimal("0.0"), Decimal("12345678901234567890.000000000000000001")],
        pa.decimal128(38, 18),
    ),
}
INEXACT = [
    (DATE, "2026-01-31+01:00"),
    (DATE, "2026-01-31Z"),
    (DATE, "2026-02-30"),
    (DATE, "20260131"),
    (DATE, "2026-W05-6"),
    (DATE, "0000-01-01"),
    (DATE, "-0044-03-15"),
    (DATE, "12026-01-01"),
    (DATE, "today"),
    (DATE, ""),
    (DATE_TIME, "2026-01-31T24:00:00"),
    (DATE_TIME, "2026-01-31T12:00:00+01:00"),
    (DATE_TIME, "2026-01-31T12:00:00+00:00"),
    (DATE_TIME, "2026-01-31T12:00:00.50"),
    (DATE_TIME, "2026-01-31T12:00:00.0"),
    (DATE_TIME, "2026-01-31T12:00:00.1234567"),
    (DATE_TIME, "2026-01-31 12:00:00"),
    (DATE_TIME, "2026-01-31T12:00"),
    (DATE_TIME, "2026-01-31T23:59:60"),
    (DATE_TIME, "0000-01-01T00:00:00Z"),
    (TIME, "24:00:00"),
    (TIME, "12:00"),
    (TIME, "12:00:00+00:00"),
    (TIME, "12:00:00.10"),
    (XSD + "decimal", "1.50"),
    (XSD + "integer", "+1"),
    (XSD + "double", "1.00000000000000001E0"),
    (XSD + "double", "1.0E400"),
    (XSD + "double", "1.5"),
    (XSD + "dateTimeStamp", "2026-01-31T12:00:00Z"),
]


def rows_of(values: list[Any]) -> Rows:
    kb = KnowledgeBase()
    kb.insert("v", [(value,) for value in values])
    return kb["v"]


def texts_of_facts(data: Any) -> set[str]:
    kb = KnowledgeBase()
    kb.insert("v", data)
    return set(kb["v"].texts()[0].to_pylist())


@pytest.mark.parametrize("kind", KINDS)
def test_values_come_out_as_they_went_in(kind: str, tmp_path: Path) -> None:
    values, arrow_type = KINDS[kind]
    rows, texts = rows_of(values), set(map(text_of, values))
    assert set(rows.rows()) == {(value,) for value in values}
    assert {type(value) for (value,) in rows} == {type(value) for value in values}
    assert all((value,) in rows for value in values)
    table = rows.to_arrow()
    assert table.schema.types == [arrow_type]
    assert set(table.column(0).to_pylist()) == set(values)
    pq.write_table(table, tmp_path / "v.parquet")
    for data in (rows.rows(), table, rows.to_polars(), pq.read_table(tmp_path / "v.parquet")):
        assert texts_of_facts(data) == texts
    assert rows.to_arrow(dictionary=True).schema.types == [pa.dictionary(pa.int32(), arrow_type)]
    answers = rows_in_sparql(values)
    assert answers.to_arrow().schema.types == [arrow_type]
    assert set(answers.rows()) == {(value,) for value in values}


def rows_in_sparql(values: list[Any]) -> Any:
    kb = KnowledgeBase()
    kb.insert("v", [(value,) for value in values])
    return kb.sparql("SELECT ?x { ?x a everlog:v }")


@pytest.mark.parametrize("kind", KINDS)
def test_pandas_has_the_types_too(kind: str) -> None:
    values, _ = KINDS[kind]
    frame = rows_of(values).to_pandas()
    assert texts_of_facts(frame) == set(map(text_of, values))
    if kind in ("timestamps", "moments"):
        assert pd.api.types.is_datetime64_any_dtype(frame["c0"].dtype)


@pytest.mark.parametrize(("datatype", "lexical"), INEXACT)
def test_a_literal_that_no_value_writes_stays_one(datatype: str, lexical: str) -> None:
    literal = Literal(lexical, datatype)
    assert rows_of([literal]).rows() == [(literal,)]
    column = rows_of([literal]).to_arrow().column(0)
    assert column.type in (pa.large_string(), pa.float64() if datatype == XSD + "double" else None)


def test_a_column_with_one_such_literal_is_text() -> None:
    for values, _ in KINDS.values():
        datatype = {date: DATE, datetime: DATE_TIME}.get(type(values[0]), XSD + "decimal")
        column = rows_of([*values, Literal("0000-01-01", datatype)]).to_arrow().column(0)
        assert column.type == pa.large_string()
    assert rows_of([NOON, NOON.replace(tzinfo=UTC)]).to_arrow().schema.types == [pa.large_string()]
    for wide in (Decimal(10**20), Decimal(10**30), Decimal("1e-19")):
        assert rows_of([wide, Decimal(1)]).to_arrow().schema.types == [pa.large_string()]


@pytest.mark.parametrize("odd", [None, 2**70, "1.00000000000000001E0", "1.0E400", "x", float("nan"), -0.0])
@pytest.mark.parametrize("numbers", [range(-FEW, FEW), [x / 7 for x in range(-FEW, FEW)]])
def test_many_numbers_are_read_as_each_is(numbers: Any, odd: Any) -> None:
    made = [*numbers, *([] if odd is None else [Literal(odd, XSD + "double") if isinstance(odd, str) else odd])]
    texts = list(map(text_of, made))
    found = values_of(pa.array(texts, pa.large_string()))
    assert list(map(text_of, found)) == texts
    assert list(map(type, found)) == list(map(type, map(value_of, texts)))


def test_times_of_day() -> None:
    zone = timezone(-timedelta(hours=3, minutes=30))
    values = [time(12), time(12, 30, 0, 250000), time(0, tzinfo=UTC), time(23, 59, 59, tzinfo=zone)]
    assert set(rows_of(values).rows()) == {(value,) for value in values}
    assert text_of(values[3]) == f'"23:59:59-03:30"^^<{TIME}>'
    assert texts_of_facts(pa.table({"t": [time(12), time(12, 30, 0, 250000)]})) == set(map(text_of, values[:2]))
    with pytest.raises(ValueError, match="no offset of whole minutes"):
        text_of(time(1, tzinfo=timezone(timedelta(hours=20))))


def test_moments_that_utc_has_no_place_for() -> None:
    with pytest.raises(ValueError, match="outside the years 1 to 9999"):
        text_of(datetime.min.replace(tzinfo=timezone(timedelta(hours=2))))


TWO = "[0-9]{2}"
lexicals = st.one_of(
    st.dates().map(str),
    st.datetimes().map(lambda moment: moment.isoformat()),
    st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat()),
    st.times().map(str),
    st.floats().map(repr),
    st.integers().map(str),
    st.decimals().map(str),
    st.text(max_size=5),
    st.from_regex(
        r"[0-9]{1,5}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,8})?)?(Z|\+0[01]:00)?", fullmatch=True
    ),
    st.from_regex(r"-?[0-9]{1,3}(\.[0-9]{1,20})?(E-?[0-9]{1,3})?", fullmatch=True),
)
datatypes = st.sampled_from(
    [XSD + name for name in ("date", "dateTime", "time", "double", "decimal", "integer", "boolean", "x")]
)
values = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.decimals(allow_nan=False, allow_infinity=False, places=4),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
    st.times(),
    st.sampled_from([IRI("http://e.org/a"), BlankNode("b"), Literal("a", language="en")]),
    st.builds(Literal, lexicals, datatypes),
)


@given(st.lists(values, min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_inserting_what_came_out_is_the_identity(given_values: list[Any]) -> None:
    kb = KnowledgeBase()
    kb.insert("v", [(value,) for value in given_values])
    texts = set(kb["v"].texts()[0].to_pylist())
    rows = kb["v"].rows()
    assert texts_of_facts(rows) == texts
    assert {text_of(value) for (value,) in rows} == texts
    assert all(row in kb["v"] for row in rows)
    column = kb["v"].to_arrow().column(0)
    if not pa.types.is_large_string(column.type) and not pa.types.is_floating(column.type):
        assert texts_of_facts(pa.table([column], names=["c0"])) == texts
    assert all(text_of(value_of(text)) == text for text in texts)


def test_spark_has_the_types_too(spark: Any) -> None:
    kb = KnowledgeBase()
    rows = list(zip(*(given[:3] for given, _ in KINDS.values()), strict=True))[1:2]
    kb.insert("v", rows)
    frame = kb["v"].to_spark(spark)
    assert [kind for _, kind in frame.dtypes] == ["date", "timestamp_ntz", "timestamp", "decimal(38,18)"]
    again = KnowledgeBase()
    again.insert("v", frame)
    assert again["v"].rows() == kb["v"].rows() == rows


@pytest.mark.parametrize("lexical", ["1.00000000000000000001E0", "1.0E400", "-1.0E400", "1.0E-400"])
def test_columns_of_doubles_are_exact_or_text(lexical: str) -> None:
    odd = Literal(lexical, XSD + "double")
    for others in ([], [0.5, -0.0], [0.5, float("inf"), float("-inf"), float("nan")]):
        if others:
            column = rows_of(others).to_arrow().column(0)
            assert column.type == pa.float64()
            assert set(map(text_of, column.to_pylist())) == set(map(text_of, others))
        column = rows_of([*others, odd]).to_arrow().column(0)
        assert column.type == pa.large_string()
        assert any(lexical in text for text in column.to_pylist())
