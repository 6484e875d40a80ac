"""Verify finds each kind of damage and reports its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog.engine.hashing import hash_texts
from everlog.store import Store, begin, transaction
from tests.store.small import EDGES, MORE, fact, finish, id_of, rows_of, terms_of, write
from tests.store.verified import verify


@pytest.fixture
def store(tmp_path: Path) -> Store:
    write(tmp_path, EDGES)
    return Store.open(tmp_path)


def data_file(store: Store, table: str = "facts") -> Path:
    (path,) = (store.path / table).glob("*.parquet")
    return path


def findings(store: Store) -> str:
    found = verify(Store.open(store.path))
    assert found
    return "\n".join(found)


def append(store: Store, *facts: Any, **weights: int) -> None:
    with begin(store.path) as writing:
        for rows in facts:
            writing.add_facts([rows_of([rows], **weights)])
        finish(writing)


def test_clean(store: Store) -> None:
    assert verify(store) == []


def test_missing_file(store: Store) -> None:
    data_file(store).unlink()
    assert f"{data_file_name(store)}" in findings(store)


def data_file_name(store: Store) -> str:
    return store.files()[0].name


@pytest.mark.parametrize("table", ["facts", "terms"])
def test_truncated_file(store: Store, table: str) -> None:
    path = data_file(store, table)
    path.write_bytes(path.read_bytes()[:-10])
    assert str(path) in findings(store)


@pytest.fixture
def no_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write data files without checksums in their names, like earlier versions."""
    monkeypatch.setattr("everlog.store.files.check_in", lambda _: None)


@pytest.mark.usefixtures("no_checks")
def test_file_changed_behind_the_log(store: Store) -> None:
    path = data_file(store)
    pq.write_table(pq.read_table(path).slice(1), path, compression="none")
    text = findings(store)
    assert "bytes, the log says" in text
    assert "rows are 3, the log says 4" in text


def test_wrong_statistics_in_the_log(store: Store) -> None:
    entry = store.path / "facts" / "_delta_log" / f"{0:020}.json"
    lines = [json.loads(line) for line in entry.read_text().splitlines()]
    for line in lines:
        line.get("commitInfo", {}).pop("everlogCheck", None)  # like stores of versions without checksums
        if "add" in line:
            stats = json.loads(line["add"]["stats"])
            stats["maxValues"]["c0"] += 1
            line["add"]["stats"] = json.dumps(stats)
    entry.write_text("\n".join(map(json.dumps, lines)))
    assert "largest values are" in findings(store)


@pytest.mark.usefixtures("no_checks")
def test_unsorted_file(store: Store) -> None:
    path = data_file(store)
    rows = pq.read_table(path).sort_by([("predicate", "descending")])
    pq.write_table(rows, path)
    assert "must be sorted" in findings(store)


def test_a_fact_inserted_twice(store: Store) -> None:
    append(store, EDGES[0])
    text = findings(store)
    assert "1 facts have holds that do not sum to 0 or 1" in text
    assert str(id_of(EDGES[0][0])) in text


def test_a_fact_deleted_that_was_not_there(store: Store) -> None:
    append(store, fact("edge", "c", "a"), holds=-1, explicit=0)
    assert "holds that do not sum to 0 or 1" in findings(store)


def test_explicit_without_holding(store: Store) -> None:
    append(store, EDGES[0], holds=-1, explicit=0)
    assert "explicit and do not hold" in findings(store)


def test_negative_counters(store: Store) -> None:
    with begin(store.path) as writing:
        rows = rows_of(EDGES[:1], 0).append_column("nr", pa.array([-1], pa.int32()))
        writing.add_facts([rows])
        finish(writing)
    assert "negative nr" in findings(store)


def test_ids_without_terms(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "refuse_unknown_ids", lambda *_: None)
    append(store, fact("edge", "a", "nobody"))
    assert f"1 ids are not in the terms: [{id_of('nobody')}]" in findings(store)


def test_a_term_whose_id_is_not_its_hash(store: Store) -> None:
    with begin(store.path) as writing:
        writing.add_terms([pa.table({"id": [5], "text": ["five"]})])
        finish(writing)
    assert "not the hashes of their texts: five" in findings(store)


def test_a_term_twice(store: Store) -> None:
    with begin(store.path) as writing:
        writing.add_terms([terms_of(EDGES[:1]).slice(0, 1)])
        finish(writing)
    assert "1 ids come more than once" in findings(store)


def test_salted_ids(tmp_path: Path) -> None:
    with begin(tmp_path) as writing:
        writing.add_terms([pa.table({"id": hash_texts(pa.array(["a", "b"]), salt=7), "text": ["a", "b"]})])
        writing.commit(rules="", statistics={}, bookkeeping="none", operation="materialise", salt=7)
    store = Store.open(tmp_path)
    assert store.info().salt == 7
    assert verify(store) == []
    write(tmp_path, MORE)
    assert verify(Store.open(tmp_path)) != []
