"""Rows for users: order, types, tables."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from everlog import IRI, BlankNode, KnowledgeBase, Literal, Rows
from everlog.query import answers, ordered
from everlog.query.typed import typed_texts


def rows_of(*values: Any) -> Rows:
    kb = KnowledgeBase()
    kb.insert("v", [value if isinstance(value, tuple) else (value,) for value in values])
    return kb["v"]


def test_numbers_come_first_and_by_value() -> None:
    found = rows_of("b", 10, 9, 1.5, Decimal("2.5"), "a", "10", IRI("http://e.org/"), -3, 10**30)
    assert [row[0] for row in found][:6] == [-3, 1.5, Decimal("2.5"), 9, 10, 10**30]
    assert [row[0] for row in found][6:9] == ["10", "a", "b"]


def test_rows_with_a_limit() -> None:
    found = rows_of(3, 1, 2)
    assert found.rows(2) == [(1,), (2,)]
    assert (found.rows(0), found.rows(9)) == ([], [(1,), (2,), (3,)])


def test_many_rows_come_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rows_of(*range(100))
    monkeypatch.setattr(answers, "BATCH_ROWS", 7)
    assert found.rows() == [(i,) for i in range(100)]
    assert found.rows(30) == [(i,) for i in range(30)]


def test_too_many_rows_to_sort_by_value_still_have_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered, "SORTED_BELOW", 5)
    rows = [(f"n{i}", i) for i in range(50)]
    orders = [rows_of(*given).rows() for given in (rows, rows[::-1])]
    assert orders[0] == orders[1]
    assert sorted(orders[0], key=str) == sorted(rows, key=str)


def test_a_representation_is_short() -> None:
    assert repr(rows_of(1, 2, 3, 4)) == "<RelationRows (c0): 4 rows [(1,), (2,), (3,), ...]>"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, -2, 2**63 - 1, -(2**63)], pa.int64()),
        ([1.5, -0.0, 1e300, float("inf"), float("-inf")], pa.float64()),
        ([True, False], pa.bool_()),
        (["a", "", 'quote"d', "line\nbreak", "1", "ünï"], pa.large_string()),
    ],
)
def test_columns_of_one_kind_have_its_type(values: list[Any], kind: pa.DataType) -> None:
    table = rows_of(*[(value, "x") for value in values]).to_arrow()
    assert table.schema.types == [kind, pa.large_string()]
    assert sorted(table.column("c0").to_pylist()) == sorted(values)


def test_not_a_number_is_a_double() -> None:
    column = rows_of(1.0, float("nan")).to_arrow().column("c0")
    assert column.type == pa.float64()
    assert sum(value != value for value in column.to_pylist()) == 1  # noqa: PLR0124


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, "1"], {"1", '"1"'}),
        ([1, 1.0, True], {"1", "1.0E0", "true"}),
        ([2**63, 1], {"9223372036854775808", "1"}),
        ([2**200, 1], {str(2**200), "1"}),
        ([IRI("http://e.org/a")], {"<http://e.org/a>"}),
        ([IRI("http://e.org/a"), "a b"], {"<http://e.org/a>", "a b"}),
        ([BlankNode("b"), "_:b"], {"_:b", '"_:b"'}),
        ([Literal("A", language="en"), "A"], {'"A"@en', "A"}),
        ([Decimal("1.50"), 1], {"1.5", "1"}),
    ],
)
def test_mixed_columns_are_text_that_tells_terms_apart(values: list[Any], texts: set[str]) -> None:
    column = rows_of(*values).to_arrow().column("c0")
    assert column.type == pa.large_string()
    assert set(column.to_pylist()) == texts


def test_no_rows_and_no_columns() -> None:
    kb = KnowledgeBase("p(?x, ?y) :- q(?x, ?y) . yes() .")
    empty = kb["p"].to_arrow()
    assert (empty.num_rows, empty.column_names) == (0, ["c0", "c1"])
    assert len(kb["p"].to_pandas()) == 0
    assert kb["p"].to_polars().shape == (0, 2)
    assert kb["yes"].to_arrow().num_columns == 0


def test_pandas_and_polars() -> None:
    found = rows_of(("ann", 1, 0.5, True), ("bob", 2, 1.5, False))
    frame = found.to_pandas()
    assert frame.dtypes.tolist()[1:] == [pd.Series([1]).dtype, pd.Series([0.5]).dtype, pd.Series([True]).dtype]
    assert frame.to_numpy().tolist() == [["ann", 1, 0.5, True], ["bob", 2, 1.5, False]]
    polars = found.to_polars()
    assert polars.schema == {"c0": pl.String, "c1": pl.Int64, "c2": pl.Float64, "c3": pl.Boolean}
    assert polars.rows() == found.rows()


def test_tables_have_the_order_of_rows_and_names_of_variables() -> None:
    kb = KnowledgeBase()
    kb.insert("r", [(i * 7 % 10, f"n{i}") for i in range(10)])
    found = kb.query("r(?number, ?name)")
    table = found.to_arrow()
    assert table.column_names == ["number", "name"]
    assert list(zip(*table.to_pydict().values(), strict=True)) == found.rows()


def test_what_tables_say_can_be_inserted_again() -> None:
    kb = KnowledgeBase()
    kb.insert("r", [("a", 1, 0.5, True), ("b", 2**62, 2.0, False)])
    for form in (kb["r"].to_arrow(), kb["r"].to_pandas(), kb["r"].to_polars(), kb["r"].rows()):
        again = KnowledgeBase()
        again.insert("r", form)
        assert again["r"].rows() == kb["r"].rows()


def test_typed_texts_of_nothing() -> None:
    assert len(typed_texts(pa.array([], pa.large_string()))) == 0
