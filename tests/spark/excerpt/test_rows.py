"""Rows are found in the row groups that may have them, and no others are read."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.spark.excerpt.rows import Found, Rows, TooMuchError
from everlog.spark.groups import Groups

Row = tuple[int, int, int, int]
"""A predicate, its arguments, and a weight. The predicate 1 has one argument, the predicate 2 has two."""

ARITY = {1: 1, 2: 2}
WEIGHTS = {"holds": pa.int8(), "explicit": pa.int8(), "nr": pa.int32(), "rec": pa.int32()}


def written(rows: list[Row], path: Path, size: int) -> str:
    ordered = sorted(rows)
    columns: dict[str, Any] = {"predicate": [row[0] for row in ordered], "c0": [row[1] for row in ordered]}
    columns["c1"] = pa.array([row[2] if row[0] == 2 else None for row in ordered], pa.int64())
    for name, kind in WEIGHTS.items():
        columns[name] = pa.array([row[3] if name == "holds" else 0 for row in ordered], kind)
    options: Any = {"c1": {"ndv": size, "fpp": 1e-6}}
    pq.write_table(pa.table(columns), path, row_group_size=size, bloom_filter_options=options)
    return str(path)


def listed(found: Found) -> Counter[tuple[int, ...]]:
    columns = [column.tolist() for column in (*found.arguments, found.weights["holds"])]
    return Counter(zip(*columns, strict=True))


values = st.integers(-4, 4)
files = st.lists(st.lists(st.tuples(st.sampled_from([1, 2]), values, values, st.sampled_from([1, -1])), min_size=1))
look_ups = st.lists(st.tuples(st.sampled_from([1, 2]), st.sampled_from([None, 0, 1]), st.sets(values, min_size=1)))


@given(files.filter(bool), st.integers(1, 4), st.integers(1, 12), look_ups)
def test_all_rows_with_a_value_are_found(tables: list[list[Row]], size: int, room: int, asked: Any) -> None:
    """However few row groups are remembered."""
    with tempfile.TemporaryDirectory() as name:
        paths = [written(rows, Path(name) / f"{number}.parquet", size) for number, rows in enumerate(tables)]
        store = Rows(Groups.of(paths), 1 << 40, room)
        for predicate, column, wanted in asked:
            if column is not None and column >= ARITY[predicate]:
                continue
            found = store.of(predicate, ARITY[predicate], column, np.array(sorted(wanted), np.int64))
            mine = [row for rows in tables for row in rows if row[0] == predicate]
            matched = [row for row in mine if column is None or row[1 + column] in wanted]
            assert listed(found) == Counter((*row[1 : 1 + ARITY[predicate]], row[3]) for row in matched)


def test_row_groups_are_read_once_while_they_are_remembered(tmp_path: Path) -> None:
    path = written([(2, i, 100 + i, 1) for i in range(40)], tmp_path / "a.parquet", 4)
    remembered, forgotten = (Rows(Groups.of([path]), 1 << 40, room) for room in (40, 4))
    for store in (remembered, forgotten):
        for value, column in ((3, 0), (102, 1), (9, 0), (103, 1)):
            assert len(store.of(2, 2, column, np.array([value])).arguments[0]) == 1
    assert (remembered.read, forgotten.read) == (8, 12)


@pytest.mark.parametrize("column", [0, 1, None])
def test_too_much_is_not_read(tmp_path: Path, column: int | None) -> None:
    path = written([(2, i, i, 1) for i in range(40)], tmp_path / "a.parquet", 4)
    wanted, rows = np.arange(40), 40 if column is None else 12
    asked = wanted if column is None else np.array([0, 20, 39])
    assert len(Rows(Groups.of([path]), rows).of(2, 2, column, asked).arguments[0]) == (40 if column is None else 3)
    store = Rows(Groups.of([path]), rows - 1)
    with pytest.raises(TooMuchError, match=f"more than {rows - 1} rows would be read"):
        store.of(2, 2, column, asked)
    assert store.read == 0
