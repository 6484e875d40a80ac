"""Rows are found in the row groups that may have them, and no other row groups are read."""

from __future__ import annotations

import tempfile
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from everlog.backends.lookup import rows
from everlog.backends.lookup.rows import FILTER_ROWS, FoundRows, RowReader
from everlog.backends.too_much import TooMuchError
from everlog.store.blooms import Bloom, read_bloom
from everlog.store.groups import Groups

Row = tuple[int, int, int, int]
"""A predicate, its arguments, and a weight. The predicate 1 has one argument, the predicate 2 has two."""

ARITY = {1: 1, 2: 2}
WEIGHTS = {"holds": pa.int8(), "explicit": pa.int8(), "nr": pa.int32(), "rec": pa.int32()}


def written(given: list[Row], path: Path, size: int) -> str:
    ordered = sorted(given)
    columns: dict[str, Any] = {"predicate": [row[0] for row in ordered], "c0": [row[1] for row in ordered]}
    columns["c1"] = pa.array([row[2] if row[0] == 2 else None for row in ordered], pa.int64())
    for name, kind in WEIGHTS.items():
        columns[name] = pa.array([row[3] if name == "holds" else 0 for row in ordered], kind)
    options: Any = {"c1": {"ndv": size, "fpp": 1e-6}}
    pq.write_table(pa.table(columns), path, row_group_size=size, bloom_filter_options=options)
    return str(path)


def listed(found: FoundRows) -> Counter[tuple[int, ...]]:
    columns = [column.tolist() for column in (*found.arguments, found.weights["holds"])]
    return Counter(zip(*columns, strict=True))


def looked_up(store: RowReader, predicate: int, column: int | None, wanted: list[int], *weighing: str) -> FoundRows:
    values = np.array(wanted, np.int64)
    chosen = store.touched(predicate, column, values)
    return store.of(predicate, ARITY[predicate], chosen, column, values, weighing)


values = st.integers(-4, 4)
files = st.lists(st.lists(st.tuples(st.sampled_from([1, 2]), values, values, st.sampled_from([1, -1])), min_size=1))
look_ups = st.lists(st.tuples(st.sampled_from([1, 2]), st.sampled_from([None, 0, 1]), st.sets(values, min_size=1)))


@drawn(files.filter(bool), st.integers(1, 4), st.integers(1, 12), look_ups)
def test_all_rows_with_a_value_are_found(tables: list[list[Row]], size: int, room: int, asked: Any) -> None:
    """Rows are found for any number of row groups that stay in memory."""
    with tempfile.TemporaryDirectory() as name:
        paths = [written(table, Path(name) / f"{number}.parquet", size) for number, table in enumerate(tables)]
        store = RowReader(Groups.of(paths), 1 << 40, room)
        for predicate, column, wanted in asked:
            if column is not None and column >= ARITY[predicate]:
                continue
            found = looked_up(store, predicate, column, sorted(wanted))
            mine = [row for table in tables for row in table if row[0] == predicate]
            matched = [row for row in mine if column is None or row[1 + column] in wanted]
            assert listed(found) == Counter((*row[1 : 1 + ARITY[predicate]], row[3]) for row in matched)


def test_row_groups_are_read_once_while_they_are_remembered(tmp_path: Path) -> None:
    path = written([(2, i, 100 + i, 1) for i in range(40)], tmp_path / "a.parquet", 4)
    remembered, forgotten = (RowReader(Groups.of([path]), 1 << 40, room) for room in (40, 4))
    for store in (remembered, forgotten):
        for value, column in ((3, 0), (102, 1), (9, 0), (103, 1)):
            assert len(looked_up(store, 2, column, [value]).arguments[0]) == 1
    assert (remembered.read, forgotten.read) == (8, 12)


@pytest.mark.parametrize("column", [0, 1, None])
def test_too_much_is_not_read(tmp_path: Path, column: int | None) -> None:
    path = written([(2, i, i, 1) for i in range(40)], tmp_path / "a.parquet", 4)
    wanted, size = (list(range(40)), 40) if column is None else ([0, 20, 39], 12)
    filters = 10 * FILTER_ROWS if column == 1 else 0
    enough = RowReader(Groups.of([path]), size + filters)
    assert len(looked_up(enough, 2, column, wanted).arguments[0]) == len(wanted)
    store = RowReader(Groups.of([path]), size + filters - 1)
    with pytest.raises(TooMuchError, match=f"more than {size + filters - 1:,} rows would be read"):
        looked_up(store, 2, column, wanted)
    assert store.read == 0


def test_filters_are_read_once_while_they_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking into a filter counts as reading rows, so that many look-ups in many row groups give up."""
    path = written([(2, i, 100 + i, 1) for i in range(40)], tmp_path / "a.parquet", 4)
    opened: list[int] = []

    def counted(file: str, offset: int, length: int) -> Bloom:
        opened.append(offset)
        return read_bloom(file, offset, length)

    monkeypatch.setattr(rows, "read_bloom", counted)
    store = RowReader(Groups.of([path]), 24 * FILTER_ROWS)
    for value in (103, 117):
        assert len(looked_up(store, 2, 1, [value]).arguments[0]) == 1
    assert len(opened) == 10
    with pytest.raises(TooMuchError):
        looked_up(store, 2, 1, [139])


def test_only_rows_that_weigh_something(tmp_path: Path) -> None:
    """Row groups in which no row has such a weight are not read."""
    path = written([(2, i, i, int(i in (5, 6, 21))) for i in range(40)], tmp_path / "a.parquet", 4)
    store = RowReader(Groups.of([path]), 1 << 40)
    assert listed(looked_up(store, 2, None, [], "holds")) == Counter({(5, 5, 1): 1, (6, 6, 1): 1, (21, 21, 1): 1})
    assert store.read == 8
    assert listed(looked_up(store, 2, 0, [5, 7], "holds", "nr")) == Counter({(5, 5, 1): 1})
    assert listed(looked_up(store, 2, 0, [5, 7], "nr")) == Counter()


def test_row_groups_go_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look-up that touches many row groups holds only the columns of those that stay in memory."""
    path = written([(2, i, i, 1) for i in range(400)], tmp_path / "a.parquet", 4)
    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    most = 0
    read = rows._Block.read

    def watched(file: Any, group: int) -> Any:
        nonlocal most
        found = read(file, group)
        alive.add(found)
        most = max(most, len(alive))
        return found

    monkeypatch.setattr(rows._Block, "read", staticmethod(watched))
    assert len(looked_up(RowReader(Groups.of([path]), 1 << 40, room=8), 2, None, []).arguments[0]) == 400
    assert most <= 4
