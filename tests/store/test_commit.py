"""The checked commit refuses every action that would damage a table, and does not change the log then."""

from __future__ import annotations

import errno
import json
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog.lang.errors import EverlogWarning, StoreError
from everlog.store import schema
from everlog.store.commit import NewFile, commit, file_stats
from everlog.store.log import active_files, newest_version, open_table
from everlog.store.schema import conform
from tests.store.small import EDGES, MORE, rows_of

FACTS = schema.facts(2)


def put(table: Path, name: str, rows: Any, **options: Any) -> NewFile:
    table.mkdir(exist_ok=True)
    pq.write_table(rows, table / name, **options)
    return NewFile(name, (table / name).stat().st_size, rows.num_rows)


def commit_files(table: Path, base: int | None, *adds: NewFile, removes: tuple[str, ...] = ()) -> int:
    metadata = {"writer": uuid.uuid4().hex, "operation": "test"}
    return commit(table, base, FACTS, adds=adds, removes=removes, metadata=metadata)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table with one version of one file."""
    table = tmp_path / "facts"
    assert commit_files(table, None, put(table, "a.parquet", conform(rows_of(EDGES), 2))) == 0
    return table


@pytest.fixture
def good(table: Path) -> NewFile:
    return put(table, "b.parquet", conform(rows_of(MORE), 2))


def refuses(table: Path, reason: str, *adds: NewFile, removes: tuple[str, ...] = ()) -> None:
    log = sorted((table / "_delta_log").iterdir())
    with pytest.raises(StoreError, match=reason) as caught:
        commit_files(table, 0, *adds, removes=removes)
    assert caught.value.diagnostics[0].code == "bad-file"
    assert sorted((table / "_delta_log").iterdir()) == log


def test_good_files_are_committed(table: Path, good: NewFile) -> None:
    stats = json.dumps(file_stats(table / good.name, FACTS))
    assert commit_files(table, 0, replace(good, stats=stats), removes=("a.parquet",)) == 1
    files = active_files(open_table(table))
    assert [(file.name, file.size, file.rows) for file in files] == [(good.name, good.size, good.rows)]
    assert files[0].low["holds"] == files[0].high["holds"] == 1
    assert files[0].nulls["c1"] == 0


def test_missing_file(table: Path) -> None:
    refuses(table, "missing", NewFile("gone.parquet", 10, 1))


def test_wrong_size(table: Path, good: NewFile) -> None:
    refuses(table, r"has \d+ bytes, not 7", replace(good, size=7))


def test_wrong_rows(table: Path, good: NewFile) -> None:
    refuses(table, "has 2 rows, not 3", replace(good, rows=3))


@pytest.mark.parametrize("part", ["minValues", "maxValues", "nullCount"])
def test_wrong_stats(table: Path, good: NewFile, part: str) -> None:
    stats = file_stats(table / good.name, FACTS)
    stats[part]["c0"] = 5
    refuses(table, "statistics are", replace(good, stats=json.dumps(stats)))


def test_no_stats(table: Path) -> None:
    refuses(table, "no statistics", put(table, "c.parquet", conform(rows_of(MORE), 2), write_statistics=False))


@pytest.mark.parametrize("name", ["predicate", "holds", "explicit"])
def test_null_in_a_column_that_must_have_none(table: Path, name: str) -> None:
    rows = conform(rows_of(MORE), 2)
    position = rows.schema.get_field_index(name)
    rows = rows.set_column(position, name, pa.array([1, None], rows.schema.field(name).type))
    refuses(table, f"{name} has 1 nulls", put(table, "c.parquet", rows))


def test_wrong_type(table: Path) -> None:
    rows = conform(rows_of(MORE), 2)
    rows = rows.set_column(1, "c0", rows["c0"].cast(pa.string()))
    refuses(table, "c0 is string, not int64", put(table, "c.parquet", rows))


def test_wrong_columns(table: Path) -> None:
    refuses(table, "columns are", put(table, "c.parquet", conform(rows_of(MORE), 2).drop_columns(["rec"])))
    refuses(table, "columns are", put(table, "d.parquet", conform(rows_of(MORE), 3)))


def test_not_parquet(table: Path) -> None:
    (table / "c.parquet").write_text("hello")
    refuses(table, "not a Parquet file", NewFile("c.parquet", 5, 1))


@pytest.mark.parametrize("name", ["../b.parquet", "x/b.parquet", "_b.parquet", ".b.parquet", "b.csv"])
def test_bad_names(table: Path, name: str) -> None:
    refuses(table, "plain name", NewFile(name, 1, 1))


def test_duplicate_paths(table: Path, good: NewFile) -> None:
    refuses(table, "added twice", good, good)
    refuses(table, "already has it", put(table, "a.parquet", conform(rows_of(MORE), 2)))
    refuses(table, "removed twice", good, removes=("a.parquet", "a.parquet"))
    refuses(table, "already has it", NewFile("a.parquet", 1, 1), removes=("a.parquet",))
    refuses(table, "both added and removed", good, removes=("b.parquet",))


def test_removing_what_is_not_there(table: Path, good: NewFile) -> None:
    refuses(table, "does not have it", good, removes=("z.parquet",))


def test_another_version_than_prepared_for(table: Path, good: NewFile) -> None:
    commit_files(table, 0, good)
    later = put(table, "c.parquet", conform(rows_of(MORE), 2))
    with pytest.raises(StoreError, match="another writer committed version 1"):
        commit_files(table, 0, later)
    with pytest.raises(StoreError, match="another writer committed version 1"):
        commit_files(table, None, later)


def test_delta_decides_between_two_that_both_looked(
    table: Path, good: NewFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second commit fails even if the check before it found no other commit."""
    later = put(table, "c.parquet", conform(rows_of(MORE), 2))
    stale = open_table(table, 0)
    commit_files(table, 0, good)
    looks = iter([0])
    monkeypatch.setattr("everlog.store.commit.newest_version", lambda at: next(looks, newest_version(at)))
    monkeypatch.setattr("everlog.store.commit.open_table", lambda *_: stale)
    with pytest.raises(StoreError, match="another writer committed version 1"):
        commit_files(table, 0, later)


def test_retention_is_long_and_the_log_is_kept(table: Path) -> None:
    settings = open_table(table).metadata().configuration
    assert settings["delta.logRetentionDuration"] == settings["delta.deletedFileRetentionDuration"]
    assert settings["delta.deletedFileRetentionDuration"] == "interval 3650 days"
    assert settings["delta.enableExpiredLogCleanup"] == "false"


def test_a_disk_that_does_not_confirm_a_commit_is_no_failure_of_it(
    table: Path, good: NewFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(paths: Any) -> None:
        if any("_delta_log" in str(path) for path in paths):
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("everlog.store.commit.sync_directories", fails)
    with pytest.warns(EverlogWarning, match="version 1 is committed, but a power cut may take it back: Input/output"):
        assert commit_files(table, 0, good) == 1
    assert newest_version(table) == 1


def test_a_disk_that_does_not_confirm_the_data_files_fails_the_commit(
    table: Path, good: NewFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(paths: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("everlog.store.commit.sync_files", fails)
    with pytest.raises(OSError, match="Input/output"):
        commit_files(table, 0, good)
    assert newest_version(table) == 0
