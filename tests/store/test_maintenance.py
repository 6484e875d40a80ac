"""Compaction, vacuum and the changes between versions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from everlog.lang.errors import StoreError
from everlog.store import Store, begin, parquet
from everlog.store.compaction import compact
from everlog.store.vacuum import vacuum
from tests.store.small import EDGES, MORE, WIDE, fact, fill, finish, id_of, read, rows_of, tree, write
from tests.store.verified import verify


def three_versions(path: Path) -> Store:
    write(path, EDGES)
    write(path, WIDE, EDGES[:1])
    write(path, EDGES[:1], MORE[:1])
    return Store.open(path)


def test_compaction_changes_no_fact(tmp_path: Path) -> None:
    store = three_versions(tmp_path)
    before = read(tmp_path)
    version = compact(store)
    assert version == store.version == 4
    assert read(tmp_path) == before
    assert len(store.files()) == len(store.term_files()) == 1
    assert store.files()[0].rows == len(before)
    assert store.info().operation == "compact"
    assert store.info().rules == store.info(0).rules
    assert verify(store) == []
    assert read(tmp_path, 0) == set(EDGES)
    assert store.changes(3, 4).num_rows == 0
    assert compact(store) == 4


def test_compaction_of_nothing(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    write(tmp_path, (), EDGES)
    store = Store.open(tmp_path)
    compact(store)
    assert read(tmp_path) == set()
    assert store.files() == []


def test_a_reader_keeps_its_version_during_compaction(tmp_path: Path) -> None:
    store = three_versions(tmp_path)
    expected = sum(batch.num_rows for batch in store.facts())
    reading = Store.open(tmp_path).facts()
    compact(store)
    write(tmp_path, [fact("later", "x")])
    assert sum(batch.num_rows for batch in reading) == expected


def test_a_writer_that_began_before_a_compaction_loses(tmp_path: Path) -> None:
    store = three_versions(tmp_path)
    with begin(tmp_path) as transaction:
        fill(transaction, [fact("later", "x")])
        compact(store, wait=None)
        with pytest.raises(StoreError, match="another writer"):
            finish(transaction)
    assert verify(Store.open(tmp_path)) == []


def test_changes(tmp_path: Path) -> None:
    store = three_versions(tmp_path)
    assert [store.changes(v - 1, v).num_rows for v in range(4)] == [4, 0, 4, 2]
    change = store.changes(0, 3)
    expected = {(id_of(row[0]), id_of(row[1])): 1 for row in WIDE[1:]}
    facts = zip(change["predicate"].to_pylist(), change["c0"].to_pylist(), strict=True)
    found = dict(zip(facts, change["holds"].to_pylist(), strict=True))
    assert found == expected
    compact(store)
    assert store.changes(0, 4).equals(change)
    assert store.changes(4, 4).num_rows == 0


def test_a_change_of_explicit_alone(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    with begin(tmp_path) as transaction:
        transaction.add_facts([rows_of(EDGES[:1], 0, -1)])
        finish(transaction)
    store = Store.open(tmp_path)
    assert read(tmp_path) == set(EDGES)
    change = store.changes(0, 1)
    assert (change["holds"].to_pylist(), change["explicit"].to_pylist()) == ([0], [-1])
    assert sum(sum(batch.column("explicit").to_pylist()) for batch in store.facts()) == len(EDGES) - 1
    compact(store)
    assert sum(sum(batch.column("explicit").to_pylist()) for batch in store.facts()) == len(EDGES) - 1


def test_vacuum_keeps_what_retained_versions_need(tmp_path: Path) -> None:
    store = three_versions(tmp_path)
    compact(store)
    last = read(tmp_path)
    assert vacuum(store) == []
    would = vacuum(store, keep_versions=1, dry_run=True)
    assert would
    assert all(path.exists() for path in would)
    assert read(tmp_path, 0) == set(EDGES)
    assert vacuum(store, keep_versions=1) == would
    assert not any(path.exists() for path in would)
    assert read(tmp_path) == last
    assert verify(store) == []
    with pytest.raises(StoreError, match="gone") as caught:
        read(tmp_path, 0)
    assert caught.value.diagnostics[0].code == "version-gone"
    write(tmp_path, [fact("later", "x")])
    assert read(tmp_path) == {*last, fact("later", "x")}


def test_vacuum_by_age_and_number(tmp_path: Path) -> None:
    store = three_versions(tmp_path)
    compact(store)
    assert vacuum(store, keep_hours=1) == []
    assert vacuum(store, keep_versions=2, dry_run=True) == []
    assert vacuum(store, keep_hours=0, dry_run=True) == vacuum(store, keep_versions=1, dry_run=True) != []
    with pytest.raises(StoreError, match="keep at least 1"):
        vacuum(store, keep_versions=0)


def test_vacuum_removes_orphans_but_no_stranger(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    orphan = tmp_path / "facts" / f"part-00000-{'0' * 32}.parquet"
    stranger = tmp_path / "facts" / "mine.parquet"
    orphan.write_bytes(b"x")
    stranger.write_bytes(b"x")
    assert vacuum(Store.open(tmp_path)) == [orphan]
    assert stranger.exists()


def test_fifty_thousand_predicates_are_a_handful_of_files(tmp_path: Path) -> None:
    write(tmp_path, [fact(f"class{i}", "a") for i in range(50_000)])
    assert len([name for name in tree(tmp_path) if name.endswith(".parquet")]) == 2


def test_large_versions_are_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "FILE_ROWS", 10)
    facts = [fact("edge", f"n{i}", f"n{j}") for i in range(5) for j in range(5)]
    write(tmp_path, facts)
    store = Store.open(tmp_path)
    assert [file.rows for file in store.files()] == [10, 10, 5]
    assert read(tmp_path) == set(facts)
    assert verify(store) == []
    compact(store)
    assert read(tmp_path) == set(facts)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_store_that_may_not_be_written_to(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    (tmp_path / "work").chmod(0o500)
    try:
        with pytest.raises(StoreError, match="not allowed"):
            begin(tmp_path)
        assert read(tmp_path) == set(EDGES)
    finally:
        (tmp_path / "work").chmod(0o700)
