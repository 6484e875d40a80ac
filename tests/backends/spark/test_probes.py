"""Updates of stores in tiny row groups read only those that a change can touch."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everlog.backends.spark import stored
from everlog.backends.spark.opening import opened
from everlog.backends.spark.picked import PickRows
from everlog.backends.spark.settings import SparkSettings
from everlog.reasoning.names import Algorithm
from everlog.reasoning.update import update
from everlog.store import Store
from everlog.store.groups import Groups
from tests.backends.spark.reasoning import setup
from tests.backends.spark.test_updates import change
from tests.oracle import naive
from tests.running import knowledge_base
from tests.store.test_groups import regrouped
from tests.strategies import cases, graph_cases, side_by_side

SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.slow
@settings(max_examples=6, suppress_health_check=SHARED)
@given(st.data())
def test_random_programs(spark: Any, monkeypatch: pytest.MonkeyPatch, data: st.DataObject) -> None:
    monkeypatch.setattr(stored, "PICKED", 1)
    case = side_by_side([data.draw(st.one_of(cases(), graph_cases())) for _ in range(3)])
    changed = data.draw(change(case))
    algorithm: Algorithm = data.draw(st.sampled_from(["dredc", "bfc", "dred", "fbf"]))
    explicit = {*case.facts, *naive.explicit(case.program)}
    rules = replace(case.program, facts=())
    before, later = naive.materialise(rules, explicit), (explicit - changed.delete) | changed.insert
    after = naive.materialise(rules, later)
    with (
        tempfile.TemporaryDirectory() as name,
        setup(spark, Path(name) / "work", case.program, case.predicates) as on_spark,
    ):
        knowledge_base(case.program, case.facts, modules=False, maintain="dredc").save(Path(name) / "store")
        regrouped(Path(name) / "store", data.draw(st.integers(1, 4)))
        store = Store.open(Path(name) / "store")
        on_spark.engine.settings = SparkSettings(0, probe_rows=0)
        on_spark.facts({*naive.flat(before), *naive.flat(after), *changed.delete, *changed.insert})
        state = opened(on_spark.space, on_spark.program, store, store.info().version, on_spark.engine.settings)
        delete, insert = on_spark.facts(changed.delete), on_spark.facts(changed.insert)
        done = update(on_spark.engine, on_spark.program, state.version.materialisation, delete, insert, algorithm)
        assert on_spark.listed(done.materialisation.facts) == after
        assert naive.flat(on_spark.listed(done.inserted)) == naive.flat(after) - naive.flat(before)
        assert naive.flat(on_spark.listed(done.deleted)) == naive.flat(before) - naive.flat(after)


@given(st.integers(1, 7), st.integers(1, 5), st.integers(1, 30), st.data())
def test_tasks_pick_each_row_group_once(rows: int, tasks: int, batch: int, data: st.DataObject) -> None:
    """The rows are read for any partitioning of their numbers."""
    with tempfile.TemporaryDirectory() as name:
        paths = [f"{name}/{number}.parquet" for number in range(2)]
        for number, path in enumerate(paths):
            table = pa.table({"predicate": [1] * 10 + [2] * 9, "c0": [100 * number + i for i in range(19)]})
            pq.write_table(table, path, row_group_size=rows)
        groups = Groups.of(paths)
        values = data.draw(st.lists(st.integers(0, 120)))
        chosen = groups.chosen([2], groups.bounds.touched(pa.array(values, pa.int64()).to_numpy()))
        file, group, sizes = groups.different(chosen)
        starts, total = sizes.cumsum() - sizes, int(sizes.sum())
        columns = pa.schema([("predicate", pa.int64()), ("c0", pa.int64()), ("c1", pa.int64())])
        task = PickRows(groups.files, file, group, starts, (2,), columns)
        found = []
        for number in range(tasks):
            mine = list(range(number * total // tasks, (number + 1) * total // tasks))
            batches = [pa.record_batch({"id": mine[i : i + batch]}) for i in range(0, len(mine), batch)]
            found += [row for each in task(batches) for row in each.to_pylist()]
        places = [(int(f), int(g)) for f, g in zip(file, group, strict=True)]
        there = [row for f, g in places for row in pq.ParquetFile(paths[f]).read_row_group(g).to_pylist()]
        assert found == [{**row, "c1": None} for row in there if row["predicate"] == 2]
        wanted = {value for value in values if value % 100 in range(10, 19) and value < 119}
        assert {row["c0"] for row in found} >= wanted
