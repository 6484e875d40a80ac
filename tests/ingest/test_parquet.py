"""Parquet files and Delta tables."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, WriterProperties, write_deltalake

from everlog.ingest import parquet
from everlog.ingest.read import read
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.split import BadRow
from everlog.ingest.splits import splits
from everlog.lang.errors import DataError, EverlogWarning
from tests.ingest.deletion_vectors import delete_rows
from tests.ingest.reading import read_all, shown, split_at

EDGES: Any = pa.table({"s": ["a", "b", "42"], "o": pa.array([1, 2, 3], pa.int16())})
FEATURES = ["typeWidening"]
FACTS = [("edge/2", '"a"', "1"), ("edge/2", '"b"', "2"), ("edge/2", '"42"', "3")]


def test_a_file(tmp_path: Path) -> None:
    pq.write_table(EDGES, tmp_path / "edge.parquet")
    assert read_all(tmp_path / "edge.parquet") == (FACTS, [])
    (tmp_path / "edge.parquet.gz").write_bytes(gzip.compress((tmp_path / "edge.parquet").read_bytes()))
    assert read_all(tmp_path / "edge.parquet.gz") == (FACTS, [])


def test_row_groups_are_splits(tmp_path: Path) -> None:
    path = tmp_path / "edge.parquet"
    pq.write_table(EDGES, path, row_group_size=1)
    sources = resolve([str(path)], ReadOptions())
    assert [(split.start, split.end) for split in split_at(1, sources, ReadOptions())] == [(0, 1), (1, 2), (2, 3)]
    assert [(split.start, split.end) for split in split_at(1 << 30, sources, ReadOptions())] == [(0, 3)]
    assert read_all(path, target_bytes=1) == (FACTS, [])


def test_workers_with_little_room_hold_fewer_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Splits may end within a row group; the number of a bad row is its number in the file."""
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"s": [1, 2, 3, 4, None]}), path)
    (split,) = splits(resolve([str(path)], ReadOptions()), ReadOptions())
    monkeypatch.setattr(parquet, "BATCH_ROWS", 8)
    for share, sizes in ((1.0, [4]), (0.25, [2, 2])):
        monkeypatch.setattr(parquet, "own_share", lambda share=share: share)
        bad: list[BadRow] = []
        assert [batch.num_rows for batch in read(split, ReadOptions(), bad)] == sizes
        assert [row.reason for row in bad] == ["row 5 has no value in column 's'"]


def test_nulls_are_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"s": ["a", None, "c", None], "o": [1, 2, None, None]}), path, row_group_size=1)
    for size in (1, 1 << 20):
        found, bad = read_all(path, target_bytes=size)
        assert found == [("p/2", '"a"', "1")]
        assert sorted(row.reason for row in bad) == [
            "row 2 has no value in column 's'",
            "row 3 has no value in column 'o'",
            "row 4 has no value in column 's'",
        ]


def test_no_rows_and_no_columns(tmp_path: Path) -> None:
    pq.write_table(EDGES.slice(0, 0), tmp_path / "edge.parquet")
    assert read_all(tmp_path / "edge.parquet") == ([], [])


def test_types_that_cannot_be_terms(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"s": [[1]], "o": [1]}), path)
    with pytest.raises(DataError, match=rf"column 's' has the type list<.*>, which cannot be a term\n  --> {path}"):
        read_all(path)


def test_wrong_width(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(EDGES, path)
    with pytest.raises(DataError, match=r"the number of columns is 2, but p has 3 arguments"):
        read_all(path, options=ReadOptions(arities={"p": 3}))


@pytest.mark.parametrize("data", [b"", b"PAR1 not really PAR1", b"a,b\n" * 100])
def test_files_that_are_no_parquet(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p.parquet").write_bytes(data)
    with pytest.raises(DataError, match=r"error\[unreadable-file\]"):
        read_all(tmp_path / "p.parquet")


def test_a_damaged_page(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"s": [str(i) for i in range(10_000)]}), path)
    data = bytearray(path.read_bytes())
    data[100:2000] = b"\xff" * 1900
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"error\[unreadable-file\]"):
        read_all(path)


def test_part_files_with_parquet(tmp_path: Path) -> None:
    folder = tmp_path / "edge.parquet"
    folder.mkdir()
    pq.write_table(EDGES.slice(0, 1), folder / "part-0.parquet")
    pq.write_table(EDGES.slice(1), folder / "part-1.snappy.parquet")
    assert read_all(folder) == (FACTS, [])


def test_a_delta_table(tmp_path: Path) -> None:
    table = str(tmp_path / "edge")
    write_deltalake(table, EDGES.slice(0, 2))
    write_deltalake(table, EDGES.slice(2), mode="append")
    assert sorted(read_all(table)[0]) == sorted(FACTS)
    DeltaTable(table).delete("s = 'b'")
    assert sorted(read_all(table)[0]) == sorted([FACTS[0], FACTS[2]])


def test_partition_columns_come_from_the_log(tmp_path: Path) -> None:
    table = str(tmp_path / "p")
    data = pa.table({"year": [2025, 2026], "s": ["a b", "c/d"], "o": [0.5, 1.5]})
    write_deltalake(table, data, partition_by=["s", "year"])
    found, bad = read_all(table)
    assert sorted(found) == [("p/3", "2025", '"a b"', "5.0E-1"), ("p/3", "2026", '"c/d"', "1.5E0")]
    assert bad == []


def test_columns_added_later_are_null_before(tmp_path: Path) -> None:
    table = str(tmp_path / "p")
    write_deltalake(table, pa.table({"a": [1]}))
    write_deltalake(table, pa.table({"a": [2], "b": [3]}), mode="append", schema_mode="merge")
    found, bad = read_all(table)
    assert found == [("p/2", "2", "3")]
    assert [reason.rpartition(": ")[2] for reason in shown(bad)] == ["row 1 has no value in column 'b'"]


def test_a_broken_delta_table(tmp_path: Path) -> None:
    (tmp_path / "p" / "_delta_log").mkdir(parents=True)
    with pytest.raises(DataError, match=r"error\[unreadable-table\]"):
        read_all(tmp_path / "p")


@pytest.mark.parametrize("beside", [False, True])
def test_rows_that_deletion_vectors_take_out(tmp_path: Path, beside: bool) -> None:
    """Deleted rows are left out, also with row groups and batches smaller than the file and quoted names in the log."""
    table = tmp_path / "p q"
    data = pa.table({"a": [*range(20), 20], "b": ["x y%"] * 20 + ["z"]})
    write_deltalake(str(table), data, partition_by=["b"], writer_properties=WriterProperties(max_row_group_size=4))
    delete_rows(table, [0, 5, 19], beside=beside)
    assert len(DeltaTable(table).deletion_vectors().read_all()) == 1
    expected = [("p/1", str(row)) for row in range(21) if row not in (0, 5, 19)]
    for size in (1, 1 << 20):
        assert sorted(read_all(f"p={table}[a]", target_bytes=size)[0]) == sorted(expected)


def test_deleted_rows_with_nulls_are_not_bad(tmp_path: Path) -> None:
    write_deltalake(str(tmp_path / "p"), pa.table({"a": [1, None, 3, None]}))
    delete_rows(tmp_path / "p", [0, 1])
    found, bad = read_all(tmp_path / "p")
    assert (found, [row.reason for row in bad]) == ([("p/1", "3")], ["row 4 has no value in column 'a'"])


def test_files_of_a_table_read_by_themselves_are_warned_of(tmp_path: Path) -> None:
    table = tmp_path / "p"
    write_deltalake(str(table), pa.table({"a": [1, 2], "b": ["x", "y"]}), partition_by=["b"])
    write_deltalake(str(table), pa.table({"a": [3], "b": ["x"]}), mode="overwrite")
    with pytest.warns(EverlogWarning, match=rf"file-of-a-table(.|\n)*--> {table}\n") as seen:
        assert sorted(read_all(f"p={table}/*/*.parquet")[0]) == [("p/1", "1"), ("p/1", "2"), ("p/1", "3")]
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_all(f"p={tmp_path}")[0] == [("p/2", "3", '"x"')]


def test_a_table_that_could_have_deletion_vectors_and_has_none(tmp_path: Path) -> None:
    write_deltalake(str(tmp_path / "p"), pa.table({"a": [1]}), configuration={"delta.enableDeletionVectors": "true"})
    assert "deletionVectors" in (DeltaTable(tmp_path / "p").protocol().reader_features or ())
    assert read_all(tmp_path / "p")[0] == [("p/1", "1")]


@pytest.mark.parametrize(
    ("protocol", "settings", "needed"),
    [
        ({"minReaderVersion": 2, "minWriterVersion": 5}, {"delta.columnMapping.mode": "name"}, "columnMapping by name"),
        (
            {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": FEATURES, "writerFeatures": FEATURES},
            {},
            "typeWidening",
        ),
    ],
)
def test_tables_whose_files_mean_something_else(
    tmp_path: Path, protocol: dict[str, Any], settings: dict[str, str], needed: str
) -> None:
    write_deltalake(str(tmp_path / "p"), pa.table({"a": [1]}))
    log = tmp_path / "p" / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "protocol" in action:
            action["protocol"] = protocol
        if "metaData" in action and settings:
            action["metaData"]["configuration"] = settings
            schema = json.loads(action["metaData"]["schemaString"])
            schema["fields"][0]["metadata"] = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "x"}
            action["metaData"]["schemaString"] = json.dumps(schema)
    log.write_text("\n".join(map(json.dumps, actions)))
    with pytest.raises(DataError, match=rf"error\[unreadable-table\]: the Delta table .*{needed}") as caught:
        read_all(tmp_path / "p")
    assert "_delta_log" not in str(caught.value)
