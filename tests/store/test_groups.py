"""Only row groups that a change can touch are read."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import everlog
from everlog.engine.hashing import hash_text
from everlog.jobs.update import UpdateJob, update
from everlog.store import Store
from everlog.store.entries import CHECK_KEY
from everlog.store.files import checks_of
from everlog.store.groups import (
    MOST_HASHES,
    MOST_VALUES,
    ArgumentBounds,
    Groups,
    Mask,
    Probe,
    all_touches,
    touches,
)
from everlog.store.layout import StoreLayout

RULES = """
known(?x, ?y) :- met(?x, ?y), ~enemy(?x, ?y) .
greeted(?x, ?z) :- known(?x, ?y), house(?y, ?z) .
alone(?x) :- person(?x), ~known(?x, _) .
"""


@given(st.lists(st.integers(-50, 50), max_size=8), st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 30))))
def test_masks_have_all_groups_with_a_value(values: list[int], ranges: list[tuple[int, int]]) -> None:
    low, high = [at for at, _ in ranges], [at + size for at, size in ranges]
    mask = ArgumentBounds(np.array(low, np.int64), np.array(high, np.int64)).touched(np.array(values, np.int64))
    assert [bool(mask >> i & 1) for i in range(len(ranges))] == [
        any(a <= value <= b for value in values) for a, b in zip(low, high, strict=True)
    ]


def test_groups_of_files(tmp_path: Path) -> None:
    rows = {"predicate": [1] * 4 + [2] * 4 + [3] * 2, "c0": [1, 3, 5, 7, 2, 4, 6, 8, None, None]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet", row_group_size=2)
    groups = Groups.of([str(tmp_path / "a.parquet")])
    assert groups.having([1]).tolist() == [True, True, False, False, False]
    assert groups.group.tolist() == [0, 1, 2, 3, 4]
    assert groups.size([2, 3]) == 6
    mask = groups.bounds.touched(np.array([3, 4]))
    assert groups.chosen([1, 2], mask).tolist() == [True, False, True, False, False]
    assert [each.tolist() for each in groups.different(groups.chosen([1, 2], mask))] == [[0, 0], [0, 2], [2, 2]]
    assert groups.number([1, 2], mask) == 2
    assert groups.chosen([3], mask).tolist() == [False] * 5
    found = touches(pa.table({"predicate": [9, 9], "c0": [7, 7], "c1": [2, 4]}), groups.bounds)
    assert found == {(9, 0): 0b1010, (9, 1): 0b100 | groups.bounds.touched(np.array([2]))}


def test_many_values_touch_all_groups(tmp_path: Path) -> None:
    pq.write_table(pa.table({"predicate": [1] * 4, "c0": [1, 3, 5, 7]}), tmp_path / "a.parquet", row_group_size=2)
    groups = Groups.of([str(tmp_path / "a.parquet")])
    every = groups.having([1])
    for size, touched, chosen in ((MOST_VALUES, {(9, 0): 0b1}, [True, False]), (MOST_VALUES + 1, None, None)):
        values = np.arange(4 - size, 4)
        found = touches(pa.table({"predicate": np.full(size, 9), "c0": values}), groups.bounds)
        assert found == touched
        assert all_touches([{(9, 0): 0b10}, found]) == (None if touched is None else {(9, 0): 0b11})
        by_values = groups.touched(every, 0, values)
        assert (None if by_values is None else by_values.tolist()) == chosen
        assert Probe(groups, (((1,), 0),))(values) == (None if chosen is None else 0b1)


def test_a_group_of_several_predicates_is_bounded_by_those_beside_it(tmp_path: Path) -> None:
    rows = {"predicate": [1] * 5 + [4] + [7] * 4, "c0": [1, 3, 5, 7, 9, 6, 2, 4, 6, 8]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet", row_group_size=4)
    groups = Groups.of([str(tmp_path / "a.parquet")])
    ends = zip(groups.group, groups.first, groups.last, groups.bounds.low, groups.bounds.high, strict=True)
    assert sorted(tuple(map(int, each)) for each in ends) == [
        (0, 1, 1, 1, 7),
        (1, 1, 1, 7, 9),
        (1, 2, 6, 2, 9),
        (1, 7, 7, 2, 6),
        (2, 7, 7, 6, 8),
    ]


def test_later_arguments_are_looked_up_in_filters(tmp_path: Path) -> None:
    path, options = tmp_path / "a.parquet", {"c1": {"ndv": 4, "fpp": 1e-6}}
    table = pa.table({"predicate": [1] * 6 + [2] * 6, "c0": [*range(6)] * 2, "c1": [10 * i for i in range(12)]})
    pq.write_table(table, path, row_group_size=3, bloom_filter_options=options)

    def probed(*values: int) -> int | None:
        return Probe(Groups.of([str(path)]), (((2,), 1),))(np.array(values))

    assert probed(60) == probed(80, 10) == 0b100
    assert probed(110, 60, 110) == 0b1100
    assert probed(5) == 0
    assert probed(*range(MOST_HASHES + 1)) is None
    assert Probe(Groups.of([str(path)]), (((2,), 0), ((1,), 1)))(np.array([2, 30])) == 0b110
    offset = pq.read_metadata(path).row_group(3).column(2).bloom_filter_offset
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(content)
    assert probed(60) == 0b1100, "a filter that cannot be read rules nothing out"


def regrouped(store: Path, rows: int) -> None:
    """Write the data files of a store again, with small row groups and Bloom filters."""
    for file in (store / "facts").glob("*.parquet"):
        table = pq.read_table(file)
        later = [name for name in table.column_names if name[0] == "c" and name != "c0"]
        options: Any = {name: {"ndv": rows, "fpp": 1e-6} for name in later}
        pq.write_table(table, file, row_group_size=rows, store_schema=False, bloom_filter_options=options)
        renamed = file.with_name(f"{file.stem[:-16]}{checks_of(file)}.parquet")
        file.rename(renamed)
        for entry in StoreLayout.log(store / "facts").glob("*.json"):
            _rename_in(entry, file.name, renamed)


def _rename_in(entry: Path, old: str, new: Path) -> None:
    """Replace the name of a file in a log entry, and remove the checksum of the entry."""
    lines = [json.loads(line) for line in entry.read_text().splitlines()]
    for line in lines:
        line.get("commitInfo", {}).pop(CHECK_KEY, None)
        for kind in ("add", "remove"):
            if line.get(kind, {}).get("path") == old:
                line[kind] |= {"path": new.name, "size": new.stat().st_size}
    entry.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines))


def spoilt(store: Path, texts: list[str], *seconds: str) -> tuple[int, int]:
    """Overwrite all row groups in which no term can be the first argument, nor in the one before or after, and none of
    other terms is the second; returns how many, and how many there are."""
    ids, others = (np.array([hash_text(f'"{text}"') for text in some]) for some in (texts, seconds))
    spoiled = total = 0
    for file in (store / "facts").glob("*.parquet"):
        opened: Any = pq.ParquetFile(file)
        content = bytearray(file.read_bytes())
        groups = [opened.metadata.row_group(i) for i in range(opened.num_row_groups)]
        ends = [group.column(1).statistics for group in groups]
        touched = [bool(((ids >= each.min) & (ids <= each.max)).any()) for each in ends]
        total += len(groups)
        for number, group in enumerate(groups):
            there = opened.read_row_group(number, columns=["c1"]).column(0).drop_null().to_numpy()
            if any(touched[max(0, number - 1) : number + 2]) or np.isin(others, there).any():
                continue
            spoiled += 1
            for column in (group.column(i) for i in range(group.num_columns)):
                start = column.dictionary_page_offset or column.data_page_offset
                content[start : start + column.total_compressed_size] = b"x" * column.total_compressed_size
        file.write_bytes(content)
    return spoiled, total


def updated(directory: Path, change: dict[str, Any], algorithm: Any, **more: Any) -> list[Any]:
    """Update two stores, by Spark and on this machine, and return the change, which is equal in both."""
    for name in ("local", "spark"):
        job = UpdateJob(str(directory / name), **change, engine=name, algorithm=algorithm, compact=False)
        done = update(replace(job, local_finish=0, **more) if name == "spark" else job)
        assert done.change.stats.algorithm == algorithm
    changes = [Store.open(directory / name).changes(0, 1).to_pylist() for name in ("local", "spark")]
    assert changes[0] == changes[1]
    return changes[1]


@pytest.mark.slow
@pytest.mark.parametrize("modules", [False, True])
def test_other_row_groups_may_be_spoilt(spark: Any, tmp_path: Path, modules: bool) -> None:
    rng = np.random.default_rng(1)
    pairs = sorted({(f"p{a}", f"p{b}") for a, b in rng.integers(0, 400, (1_500, 2)).tolist()})
    kb = everlog.KnowledgeBase(RULES, modules=modules)
    kb.insert("met", pairs)
    kb.insert("house", [(f"p{i}", f"h{i % 50}") for i in range(400)])
    kb.insert("person", [(f"p{i}",) for i in range(420)])
    kb.save(tmp_path / "spark")
    regrouped(tmp_path / "spark", 20)
    shutil.copytree(tmp_path / "spark", tmp_path / "local")
    (tmp_path / "deleted.csv").write_text(",".join(pairs[0]) + "\n")
    (tmp_path / "new.csv").write_text("p410,p7\n")
    homes = [f"h{int(p[1:]) % 50}" for p in (pairs[0][1], "p7")]
    spoiled, total = spoilt(tmp_path / "spark", [*pairs[0], "p410", "p7", *homes])
    assert spoiled > total // 3
    before = {path.name for path in (tmp_path / "spark" / "facts").glob("*.parquet")}
    change: dict[str, Any] = {"insert": (f"met={tmp_path}/new.csv",), "delete": (f"met={tmp_path}/deleted.csv",)}
    changes = updated(tmp_path, change, "dredc")
    added = [path for path in (tmp_path / "spark" / "facts").glob("*.parquet") if path.name not in before]
    assert sum(pq.read_metadata(path).num_rows for path in added) == len(changes) < 20


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 6 * MOST_VALUES])
def test_a_change_that_touches_all_row_groups(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """A task writes more changed facts than masks are made for, so all rows that they are joined with are read."""
    masks: list[Mask | None] = []

    def chosen(groups: Groups, predicates: Any, mask: Mask | None) -> Any:
        masks.append(mask)
        return original(groups, predicates, mask)

    original = Groups.chosen
    kb = everlog.KnowledgeBase("greeted(?x, ?z) :- met(?x, ?y), house(?y, ?z) .", modules=False)
    kb.insert("met", [("p1", "p2")])
    kb.insert("house", [(f"p{i}", f"h{i % 50}") for i in range(400)])
    kb.save(tmp_path / "spark")
    regrouped(tmp_path / "spark", 20)
    shutil.copytree(tmp_path / "spark", tmp_path / "local")
    (tmp_path / "new.csv").write_text("".join(f"v{i},p{i % 401}\n" for i in range(size)))
    monkeypatch.setattr(Groups, "chosen", chosen)
    changes = updated(tmp_path, {"insert": (f"met={tmp_path}/new.csv",)}, "dredc")
    assert len(changes) == 2 * size - sum(i % 401 == 400 for i in range(size))
    assert any(mask is not None for mask in masks) == (size <= MOST_VALUES)


LOOKED_UP = re.compile(r"(.*): (\d+) of (\d+) row groups \(probe-rows 0\)")
FARTHER = """
guest(?z, ?x) :- house(?y, ?z), met(?x, ?y) .
street(?x, ?w) :- met(?x, ?y), house(?y, ?z), road(?z, ?w), ~closed(?w, ?z) .
"""


@pytest.mark.slow
@pytest.mark.parametrize("probe_rows", [0, 1 << 40])
@pytest.mark.parametrize("algorithm", ["dredc", "dred", "bfc"])
def test_by_other_arguments_and_through_other_atoms(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, algorithm: str, probe_rows: int
) -> None:
    """A house is changed, so guests are looked up by second arguments, roads by terms that the change does not have."""
    kb = everlog.KnowledgeBase(FARTHER)
    kb.insert("met", [(f"v{i}", f"p{i % 300}") for i in range(1_200)])
    kb.insert("house", [(f"p{i}", f"h{i}") for i in range(300)])
    kb.insert("road", [(f"h{i}", f"r{i}") for i in range(600)])
    kb.insert("closed", [(f"r{i}", f"h{i}") for i in range(300, 600)])
    kb.save(tmp_path / "spark")
    regrouped(tmp_path / "spark", 8)
    shutil.copytree(tmp_path / "spark", tmp_path / "local")
    (tmp_path / "house.csv").write_text("p7,h7\n")
    (tmp_path / "met.csv").write_text("v1300,p8\n")
    guests = [f"v{i}" for i in (7, 307, 607, 907)]
    firsts = ["p7", "h7", "r7", "v1300", "p8", "h8", "r8", *guests]
    if probe_rows == 0:
        spoiled, total = spoilt(tmp_path / "spark", firsts, "p7", "h7")
        assert spoiled > total // 3
    change: dict[str, Any] = {"insert": (f"met={tmp_path}/met.csv",), "delete": (f"house={tmp_path}/house.csv",)}
    with caplog.at_level("INFO", "everlog.backends.spark"):
        changes = updated(tmp_path, change, algorithm, probe_rows=probe_rows)
    assert len(changes) == 12
    logged = [found for record in caplog.records if (found := LOOKED_UP.match(record.message))]
    assert {found[1] for found in logged} >= ({"met by argument 2", "road by argument 1"} if probe_rows == 0 else set())
    assert all(int(found[2]) < int(found[3]) // 3 for found in logged)
    assert bool(logged) == (probe_rows == 0)
