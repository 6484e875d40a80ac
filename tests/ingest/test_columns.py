"""Columns become arguments by name where they have names, and are picked by name where the user says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import everlog
from everlog.backends.executors import runner_of
from everlog.engine.hashing import hash_texts
from everlog.ingest.facts import load_columns
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.splits import splits
from everlog.ingest.stage import stage
from everlog.lang.errors import DataError
from tests.cli.running import CommandLine
from tests.ingest.reading import read_all

ONE: Any = pa.table({"src": ["a"], "dst": ["b"]})
SWAPPED: Any = pa.table({"dst": ["d"], "src": ["c"]})
OTHER: Any = pa.table({"from": ["e"], "to": ["f"]})
WIDE: Any = pa.table({"weight": [[1]], "dst": ["h"], "src": ["g"]})
FACTS = [("edge/2", '"a"', '"b"'), ("edge/2", '"c"', '"d"')]
HEADER = ReadOptions(header=True)


def test_part_files_with_their_columns_in_another_order(tmp_path: Path) -> None:
    folder = tmp_path / "edge"
    folder.mkdir()
    pq.write_table(ONE, folder / "part-0.parquet")
    pq.write_table(SWAPPED, folder / "part-1.parquet")
    assert read_all(folder) == (FACTS, [])


def test_files_of_several_kinds(tmp_path: Path) -> None:
    pq.write_table(ONE, tmp_path / "a.parquet")
    write_deltalake(str(tmp_path / "b"), SWAPPED)
    (tmp_path / "c.csv").write_text('"dst",src\n2,1\n')
    (tmp_path / "d.tsv").write_text("dst\tsrc\n4\t3\n")
    arguments = [f"edge={tmp_path / name}" for name in ("a.parquet", "b", "c.csv", "d.tsv")]
    found, bad = read_all(*arguments, options=HEADER)
    assert (found, bad) == ([*FACTS, ("edge/2", "1", "2"), ("edge/2", "3", "4")], [])


def test_columns_without_names_count_by_position(tmp_path: Path) -> None:
    pq.write_table(ONE, tmp_path / "a.parquet")
    pq.write_table(pa.table({"c0": ["c"], "c1": ["d"]}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"c1": ["d2"], "c0": ["c2"]}), tmp_path / "c.parquet")
    pq.write_table(pa.table([["c3"], ["d3"]], names=["x", "x"]), tmp_path / "d.parquet")
    (tmp_path / "e.csv").write_text("e,f\n")
    found, _ = read_all(f"edge={tmp_path}")
    rows = [("a", "b"), ("c", "d"), ("c2", "d2"), ("c3", "d3"), ("e", "f")]
    assert found == [("edge/2", f'"{x}"', f'"{y}"') for x, y in rows]


def test_names_that_disagree(tmp_path: Path) -> None:
    pq.write_table(ONE, tmp_path / "a.parquet")
    pq.write_table(OTHER, tmp_path / "b.parquet")
    message = (
        rf"the columns are 'from', 'to', but those of {tmp_path}/a.parquet, which has facts of edge too, are "
        rf"'src', 'dst'\n  --> {tmp_path}/b.parquet\n.*as in 'edge={tmp_path}/b.parquet\[from, to\]'"
    )
    with pytest.raises(DataError, match=message):
        read_all(f"edge={tmp_path}")
    picked = [f"edge={tmp_path}/a.parquet", f"edge={tmp_path}/b.parquet[from, to]"]
    assert read_all(*picked)[0] == [FACTS[0], ("edge/2", '"e"', '"f"')]


def test_an_iri_with_one_and_with_two_columns(tmp_path: Path) -> None:
    pq.write_table(ONE, tmp_path / "a.parquet")
    pq.write_table(ONE.select(["dst"]), tmp_path / "b.parquet")
    found, _ = read_all(f"<http://e.org/p>={tmp_path}")
    assert found == [("<http://e.org/p>/2", '"a"', '"b"'), ("<http://e.org/p>/1", '"b"')]


@pytest.mark.parametrize("kind", ["parquet", "delta", "csv", "tsv"])
def test_columns_are_picked_by_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"trips.{kind}"
    if kind == "parquet":
        pq.write_table(WIDE, path)
    elif kind == "delta":
        write_deltalake(str(path), WIDE)
    else:
        mark = "," if kind == "csv" else "\t"
        path.write_text(f"weight{mark}dst{mark}src\n1{mark}h{mark}g\n2{mark}j{mark}i\n")
    expected = [("edge/2", '"g"', '"h"'), ("edge/2", '"i"', '"j"')][: None if kind in ("csv", "tsv") else 1]
    for size in (1, 1 << 20):
        assert read_all(f"edge={path}[src, dst]", options=HEADER, target_bytes=size) == (expected, [])
    assert read_all(f"p={path}[dst]", options=HEADER)[0] == [("p/1", row[2]) for row in expected]


def test_partition_columns_are_picked(tmp_path: Path) -> None:
    write_deltalake(str(tmp_path / "t"), pa.table({"a": [1, 2], "b": [3, 3]}), partition_by=["b"])
    assert read_all(f"p={tmp_path}/t[b, a]")[0] == [("p/2", "3", "1"), ("p/2", "3", "2")]
    assert read_all(f"p={tmp_path}/t[b]")[0] == [("p/1", "3"), ("p/1", "3")]


def test_names_with_commas_and_one_column_picked_twice(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a, b": [1], "c.d": [2], "c": [3]}), tmp_path / "t.parquet")
    assert read_all(f'p={tmp_path}/t.parquet["a, b", c.d, c, c]')[0] == [("p/4", "1", "2", "3", "3")]
    with pytest.raises(DataError, match=r'as in \'p=.*/t.parquet\["a, b", c.d\]\''):
        read_all(f"p={tmp_path}/t.parquet", options=ReadOptions(arities={"p": 2}))


def test_brackets_of_globs_and_names_stay(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "t.csv[x]"):
        (tmp_path / name).write_text("1\n")
    assert len(read_all(f"p={tmp_path}/[ab].csv")[0]) == 2
    with pytest.raises(DataError, match="the extension says nothing"):
        read_all(f"p={tmp_path}/t.csv[x]")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("p=t.parquet[nope]", r"no column 'nope'\n.*t.parquet\n.*the columns are 'src', 'dst'"),
        ("p=t.csv[src]", "the columns of t.csv have no names"),
        ("t.nt[src]", "an RDF file has no columns"),
        ("p=twice.parquet[x]", "2 columns have the name 'x'"),
        ("edge=t.parquet[src]", "the number of picked columns is 1, but edge has 2 arguments"),
        ("edge=wide.parquet", r"the number of columns is 3, .*\n.*\n.*as in 'edge=wide.parquet\[weight, dst\]'"),
    ],
)
def test_what_cannot_be_picked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(ONE, "t.parquet")
    pq.write_table(WIDE, "wide.parquet")
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), "twice.parquet")
    Path("t.csv").write_text("1,2\n")
    Path("t.nt").write_text("<a:a> <a:b> <a:c> .\n")
    with pytest.raises(DataError, match=message):
        read_all(argument, options=ReadOptions(arities={"edge": 2}))


def test_a_wide_file_is_told_to_pick_the_columns_of_the_others(tmp_path: Path) -> None:
    pq.write_table(ONE, tmp_path / "a.parquet")
    pq.write_table(WIDE, tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"as in 'edge=.*b.parquet\[src, dst\]'"):
        read_all(f"edge={tmp_path}", options=ReadOptions(arities={"edge": 2}))
    with pytest.raises(DataError, match=r"error\[two-arities\].*\n.*\n.*NAME=PATH\[COLUMN, ...\]"):
        read_all(f"edge={tmp_path}")


def test_spark_aligns_and_picks(spark: Any, tmp_path: Path) -> None:
    for name, table in (("a", ONE), ("b", SWAPPED)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    pq.write_table(WIDE, tmp_path / "wide.parquet")
    arguments = [f"edge={tmp_path}/[ab].parquet", f"edge={tmp_path}/wide.parquet[src, dst]"]
    options = ReadOptions()
    for where in (spark, None):
        pieces = splits(resolve(arguments, options), options)
        staged = stage(runner_of(where), pieces, options, tmp_path / f"work-{where is None}")
        ids = {name: int(hash_texts(pa.array([f'"{name}"']))[0]) for name in "abcdgh"}
        rows = {tuple(row.values())[1:] for batch in load_columns(staged.fact_files) for row in batch.to_pylist()}
        assert rows == {(ids[x], ids[y]) for x, y in ("ab", "cd", "gh")}


def test_facts_to_insert_and_to_delete_are_aligned_with_each_other(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    run = CommandLine(capfdbinary)
    store = str(tmp_path / "kb")
    kb = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) .")
    kb.insert("edge", [("a", "b"), ("g", "h")])
    kb.save(store)
    pq.write_table(ONE, tmp_path / "a.parquet")
    pq.write_table(SWAPPED, tmp_path / "b.parquet")
    pq.write_table(WIDE, tmp_path / "wide.parquet")
    gone = ("--delete", f"edge={tmp_path}/a.parquet", "--delete", f"edge={tmp_path}/wide.parquet[src, dst]")
    assert run("update", store, *gone, "--insert", f"edge={tmp_path}/b.parquet").status == 0
    assert everlog.open(store)["path"].rows() == [("c", "d")]
