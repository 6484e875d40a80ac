"""Other tools read equal facts directly from the Delta tables."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from everlog.store import Store, parquet
from everlog.store.compaction import compact
from tests.store.small import EDGES, MORE, WIDE, fact, read, write


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A compacted store of several files."""
    monkeypatch.setattr(parquet, "FILE_ROWS", 100)
    write(tmp_path, [*EDGES, *(fact("edge", f"n{i}", f"n{i + 1}") for i in range(450))])
    write(tmp_path, WIDE, EDGES[:2])
    store = Store.open(tmp_path)
    compact(store)
    return store


def test_polars(store: Store) -> None:
    facts = polars.scan_delta(str(store.path / "facts")).collect()
    terms = polars.scan_delta(str(store.path / "terms")).collect()
    assert facts.filter(polars.col("holds") == 1).height == facts.height == len(read(store.path))
    assert dict(terms.iter_rows()) == dict(zip(*store.terms().to_pydict().values(), strict=True))


def test_duckdb(store: Store) -> None:
    def count(name: str, condition: str) -> int:
        files = DeltaTable(str(store.path / name)).file_uris()
        rows = duckdb.read_parquet(files, union_by_name=True).filter(condition).count("*").fetchall()
        return int(rows[0][0])

    assert count("facts", "holds = 1") == len(read(store.path))
    assert count("terms", "text LIKE 'n%'") == len([t for t in store.terms()["text"].to_pylist() if t[0] == "n"])


def test_delta_arrow_reader(store: Store) -> None:
    dataset = DeltaTable(str(store.path / "facts")).to_pyarrow_dataset()
    assert dataset.count_rows(pc.field("holds") == 1) == len(read(store.path))
    terms = DeltaTable(str(store.path / "terms")).to_pyarrow_dataset()
    texts = store.terms()["text"].to_pylist()
    assert [terms.count_rows(pc.field("text") == text) for text in texts] == [1] * len(texts)


def test_sums_by_sql_are_the_facts_of_an_uncompacted_version(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    write(tmp_path, MORE, EDGES[:1])
    write(tmp_path, EDGES[:1], MORE[:1])
    frame = polars.scan_delta(str(tmp_path / "facts"))
    held = frame.group_by("predicate", "c0", "c1").agg(polars.col("holds").sum()).filter(polars.col("holds") == 1)
    assert held.collect().height == len(read(tmp_path)) == 5
