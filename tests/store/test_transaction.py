"""Versions are written completely or not at all, and each stays readable."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog.engine.tables import fact_columns
from everlog.lang.errors import StoreError
from everlog.store import Store, begin, exists, parquet, schema, steps
from tests.store.small import EDGES, MORE, at_step, fact, fill, finish, read, rows_of, terms_of, tree, write
from tests.store.verified import verify


def test_first_version(tmp_path: Path) -> None:
    kb = tmp_path / "deep" / "kb"
    assert not exists(kb)
    assert write(kb, EDGES, operation="materialise") == 0
    assert exists(kb)
    assert read(kb) == set(EDGES)
    info = Store.open(kb).info()
    assert (info.version, info.operation, info.bookkeeping, info.statistics) == (0, "materialise", "none", {"facts": 1})
    assert info.rules == "p(?x) :- q(?x) ."
    assert tree(kb / "work") == {"guard"}


def test_every_version_stays_readable(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    write(tmp_path, MORE, EDGES[:1])
    write(tmp_path, EDGES[:1], MORE)
    assert [read(tmp_path, version) for version in range(3)] == [
        set(EDGES),
        {*EDGES[1:], *MORE},
        set(EDGES),
    ]
    assert [info.operation for info in Store.open(tmp_path).versions()] == ["update"] * 3


def test_facts_come_sorted_with_pruning(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    write(tmp_path, MORE, EDGES[:1])
    store = Store.open(tmp_path)
    rows = pa.Table.from_batches(store.facts())
    assert rows.schema.names == ["predicate", "c0", "c1", "explicit", "nr", "rec"]
    keys = list(zip(rows["predicate"].to_pylist(), (v or 0 for v in rows["c0"].to_pylist()), strict=True))
    assert keys == sorted(keys)
    edge = rows_of([fact("edge", "a", "b")])["predicate"][0].as_py()
    assert sum(batch.num_rows for batch in store.facts(predicates=[edge])) == 3
    assert sum(batch.num_rows for batch in store.facts(predicates=[17])) == 0


def test_no_facts_at_all(tmp_path: Path) -> None:
    assert write(tmp_path) == 0
    assert read(tmp_path) == set()
    assert verify(Store.open(tmp_path)) == []


def test_rules_are_written_once_and_found_from_every_version(tmp_path: Path) -> None:
    rules = ["one", "one", "two", "two", "one"]
    for text in rules:
        with begin(tmp_path) as transaction:
            finish(transaction, rules=text)
    store = Store.open(tmp_path)
    assert [info.rules for info in store.versions()] == rules
    entries = sorted((tmp_path / "facts" / "_delta_log").glob("*.json"))
    assert [('"rules":' in entry.read_text()) for entry in entries] == [True, False, True, False, True]


def test_overwrite_replaces_facts_and_terms_but_not_the_past(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    with begin(tmp_path, overwrite=True) as transaction:
        assert transaction.base_version == 0
        transaction.add_terms([terms_of(MORE)])
        transaction.add_facts([rows_of(MORE)])
        assert finish(transaction, "materialise") == 1
    assert (read(tmp_path, 0), read(tmp_path, 1)) == (set(EDGES), set(MORE))
    store = Store.open(tmp_path)
    assert store.terms()["text"].to_pylist() == terms_of(MORE).sort_by("id")["text"].to_pylist()
    assert verify(store) == []
    changes = store.changes(0, 1)
    assert sorted(changes["holds"].to_pylist()) == [-1] * 4 + [1] * 2


def test_a_larger_arity_widens_the_table(tmp_path: Path) -> None:
    wide = [fact("wide", "a", "b", "c", "d"), fact("edge", "x", "y")]
    write(tmp_path, EDGES)
    write(tmp_path, wide)
    store = Store.open(tmp_path)
    assert [info.operation for info in store.versions()] == ["update", "widen", "update"]
    assert store.width() == 4
    assert read(tmp_path) == {*EDGES, *wide}
    assert (read(tmp_path, 0), read(tmp_path, 1)) == (set(EDGES), set(EDGES))
    write(tmp_path, MORE, EDGES[:1])
    assert read(tmp_path) == {*EDGES[1:], *wide, *MORE}
    assert verify(Store.open(tmp_path)) == []


def test_a_larger_arity_within_one_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "FILE_ROWS", 2)
    facts = [*EDGES, fact("wide", "a", "b", "c")]
    with begin(tmp_path) as transaction:
        transaction.add_terms([terms_of(facts)])
        transaction.add_facts([rows_of(EDGES)])
        transaction.add_facts([rows_of(facts[-1:])])
        finish(transaction)
    assert read(tmp_path) == set(facts)


def test_files_of_executors(tmp_path: Path) -> None:
    with begin(tmp_path) as transaction:
        rows = schema.conform(rows_of(EDGES), 2).sort_by([(n, "ascending") for n in fact_columns(2)])
        files = [transaction.work / f"e{number}.parquet" for number in range(3)]
        pq.write_table(rows.slice(0, 2), files[0])
        pq.write_table(rows.slice(2), files[1])
        pq.write_table(terms_of(EDGES).sort_by("id"), files[2])
        transaction.add_fact_files(files[:2])
        transaction.add_term_files(files[2:])
        finish(transaction)
    assert read(tmp_path) == set(EDGES)
    assert verify(Store.open(tmp_path)) == []


def test_an_unsorted_file_of_an_executor_is_refused(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    with begin(kb) as transaction:
        rows = schema.conform(rows_of(EDGES), 2).sort_by([("predicate", "descending")])
        pq.write_table(rows, transaction.work / "f.parquet")
        with pytest.raises(StoreError, match="rows must be sorted"):
            transaction.add_fact_files([transaction.work / "f.parquet"])
    assert tree(tmp_path) == set()


def test_a_file_outside_the_private_directory_is_refused(tmp_path: Path) -> None:
    pq.write_table(schema.conform(rows_of(EDGES[:1]), 2), tmp_path / "f.parquet")
    with begin(tmp_path / "kb") as transaction, pytest.raises(StoreError, match="outside"):
        transaction.add_fact_files([tmp_path / "f.parquet"])
    assert tree(tmp_path) == {"f.parquet"}


@pytest.mark.parametrize(
    ("what", "rows"),
    [
        ("comes twice", rows_of([EDGES[0], EDGES[1], EDGES[0]])),
        ("predicate has nulls", rows_of(EDGES).set_column(0, "predicate", pa.array([1, None, 2, 3]))),
    ],
)
def test_bad_rows_are_refused_and_nothing_is_left(tmp_path: Path, what: str, rows: Any) -> None:
    with begin(tmp_path / "kb") as transaction, pytest.raises(StoreError, match=what):
        transaction.add_facts([rows])
    assert tree(tmp_path) == set()


def test_a_term_that_comes_twice_is_refused(tmp_path: Path) -> None:
    with begin(tmp_path) as transaction, pytest.raises(StoreError, match="comes twice"):
        transaction.add_terms([terms_of(EDGES), terms_of(EDGES)])


def test_a_term_in_two_files_is_refused(tmp_path: Path) -> None:
    with begin(tmp_path / "kb") as transaction:
        transaction.add_terms([terms_of(EDGES)])
        transaction.add_terms([terms_of(EDGES[:1])])
        with pytest.raises(StoreError, match="comes twice"):
            finish(transaction)
    assert tree(tmp_path) == set()


def test_an_executors_file_with_other_columns_is_refused(tmp_path: Path) -> None:
    with begin(tmp_path / "kb") as transaction:
        pq.write_table(rows_of(EDGES[:1]), transaction.work / "f.parquet")
        with pytest.raises(StoreError, match="columns are"):
            transaction.add_fact_files([transaction.work / "f.parquet"])
    assert tree(tmp_path) == set()


def test_leaving_without_commit_leaves_nothing(tmp_path: Path) -> None:
    kb = tmp_path / "new" / "kb"
    with begin(kb) as transaction:
        fill(transaction, EDGES)
    assert tree(tmp_path) == set()
    write(kb, EDGES)
    before = tree(kb)
    with begin(kb) as transaction:
        fill(transaction, MORE)
    assert tree(kb) == before
    with pytest.raises(StoreError, match="is over"):
        transaction.add_facts([])


def test_two_writers(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    first, second = begin(tmp_path), begin(tmp_path)
    fill(first, MORE)
    fill(second, [fact("edge", "z", "z")])
    assert finish(first) == 1
    before = tree(tmp_path)
    with pytest.raises(StoreError, match=r"another writer committed version 1 .*run again"):
        _in_one_line(second)
    assert read(tmp_path) == {*EDGES, *MORE}
    assert before - tree(tmp_path) == {f"work/{name}" for name in _staged(second, before)}
    assert tree(tmp_path) <= before
    assert verify(Store.open(tmp_path)) == []


def test_two_writers_without_new_terms(tmp_path: Path) -> None:
    write(tmp_path, [*EDGES, *MORE])
    first, second = begin(tmp_path), begin(tmp_path)
    fill(first, remove=EDGES[:1])
    fill(second, remove=EDGES[1:2])
    finish(first)
    with pytest.raises(StoreError, match=r"another writer committed version 1"):
        finish(second)
    assert read(tmp_path) == {*EDGES[1:], *MORE}
    assert verify(Store.open(tmp_path)) == []


def test_two_writers_of_a_new_store(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    first, second = begin(kb), begin(kb)
    fill(first, EDGES)
    fill(second, MORE)
    finish(first)
    with pytest.raises(StoreError, match="another writer"):
        finish(second)
    assert read(kb) == set(EDGES)
    assert tree(kb / "work") == {"guard"}


def test_terms_of_a_writer_that_lost_do_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interleaving in which both commit terms before either commits facts."""
    write(tmp_path, EDGES)
    first = begin(tmp_path)
    fill(first, [fact("edge", "z", "z")])
    at_step(monkeypatch, steps.TERMS_COMMITTED, lambda: _write_one(tmp_path, fact("edge", "y", "y")))
    with pytest.raises(StoreError, match="another writer"):
        finish(first)
    assert read(tmp_path) == {*EDGES, fact("edge", "y", "y")}
    write(tmp_path, [fact("edge", "z", "z")])
    store = Store.open(tmp_path)
    assert verify(store) == []
    assert store.terms().num_rows == terms_of([*EDGES, fact("edge", "y", "y"), fact("edge", "z", "z")]).num_rows


@pytest.mark.parametrize("kind", ["terms", "facts"])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    write(tmp_path, EDGES)
    before = tree(tmp_path)

    def full(writer: Any, *_: Any, **__: Any) -> None:
        assert Path(writer.where).exists()
        raise OSError(errno.ENOSPC, "No space left on device", str(writer.where))

    with begin(tmp_path) as transaction:
        if kind == "facts":
            transaction.add_terms([terms_of([fact("z", "z")])])
        monkeypatch.setattr("everlog.store.parquet.pq.ParquetWriter.write_table", full)
        with pytest.raises(StoreError, match=r"no space left on the disk while writing") as caught:
            fill(transaction, [fact("z", "z")]) if kind == "terms" else transaction.add_facts([rows_of(MORE)])
    assert caught.value.diagnostics[0].code == "disk-full"
    monkeypatch.undo()
    assert tree(tmp_path) == before
    assert read(tmp_path) == set(EDGES)
    assert write(tmp_path, MORE) == 1


@pytest.mark.parametrize("step", [steps.TERMS_MOVED, steps.FACTS_MOVED])
def test_a_disk_that_is_full_for_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    write(tmp_path, EDGES)
    before = tree(tmp_path)

    def full(*_: Any, **__: Any) -> None:
        raise OSError("Generic LocalFileSystem error: No space left on device (os error 28)")

    def fill_up() -> None:
        monkeypatch.setattr("everlog.store.commit.DeltaTable.create_write_transaction", full)

    at_step(monkeypatch, step, fill_up)
    with begin(tmp_path) as transaction:
        fill(transaction, MORE)
        with pytest.raises(StoreError, match=r"no space left on the disk while committing"):
            finish(transaction)
    monkeypatch.undo()
    left = tree(tmp_path) - before
    assert not [name for name in left if name.startswith(("work", "facts"))]
    assert read(tmp_path) == set(EDGES)
    assert verify(Store.open(tmp_path)) == []
    assert write(tmp_path, MORE) == 1
    assert read(tmp_path) == {*EDGES, *MORE}


def test_a_full_disk_for_a_new_store_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("everlog.store.parquet.pq.ParquetWriter.write_table", full)
    with begin(tmp_path / "kb") as transaction, pytest.raises(StoreError, match="no space left"):
        fill(transaction, EDGES)
    assert tree(tmp_path) == set()


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_not_a_store_is_refused(tmp_path: Path, overwrite: bool) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.tex").write_text("precious")
    (tmp_path / "file").write_text("precious")
    before = tree(tmp_path)
    for path in (tmp_path, tmp_path / "file"):
        with pytest.raises(StoreError) as caught:
            begin(path, overwrite=overwrite)
        assert caught.value.diagnostics[0].code == "not-a-store"
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["work", "work/thesis.tex", "facts/data.csv", "other/work"])
def test_a_directory_that_looks_a_little_like_a_store_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("precious")
    before = tree(tmp_path)
    with pytest.raises(StoreError, match="not-a-store"):
        begin(tmp_path)
    assert tree(tmp_path) == before


def test_another_writer_that_has_just_begun_is_no_stranger(tmp_path: Path) -> None:
    """The other writer has made ``work/``, but not yet its first file."""
    (tmp_path / "work").mkdir()
    assert write(tmp_path, EDGES) == 0


def test_a_foreign_delta_table_is_refused(tmp_path: Path) -> None:
    import deltalake

    deltalake.write_deltalake(str(tmp_path / "facts"), pa.table({"x": [1]}))
    before = tree(tmp_path)
    with pytest.raises(StoreError, match="did not write"):
        begin(tmp_path, overwrite=True)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("function", ["guarded", "register"])
def test_a_beginning_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    def full(layout: Any, *_: Any) -> None:
        layout.work.mkdir(parents=True, exist_ok=True)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(f"everlog.store.locking.{function}", full)
    with pytest.raises(StoreError, match="no space left on the disk while beginning"):
        begin(tmp_path / "deep" / "kb")
    assert tree(tmp_path) == set()


def test_opening_says_what_is_wrong(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    with pytest.raises(StoreError, match=r"there is no store here(.|\n)*everlog materialise"):
        Store.open(kb)
    with begin(kb), pytest.raises(StoreError, match="none was finished"):
        Store.open(kb)
    write(kb, EDGES)
    store = Store.open(kb)
    with pytest.raises(StoreError, match=r"no version 1(.|\n)*versions are 0 to 0"):
        list(store.facts(1))
    entry = kb / "facts" / "_delta_log" / f"{0:020}.json"
    entry.write_text(entry.read_text().replace('"format":1', '"format":99'))
    with pytest.raises(StoreError, match=r"format 99(.|\n)*newer Everlog"):
        Store.open(kb)


def test_opening_after_many_versions_reads_a_checkpoint(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    for number in range(25):
        write(tmp_path, MORE, EDGES[:1]) if number % 2 == 0 else write(tmp_path, EDGES[:1], MORE)
    log = tmp_path / "facts" / "_delta_log"
    assert len(list(log.glob("*.checkpoint.parquet"))) == 2
    assert len(list(log.glob("*.json"))) == 26
    assert read(tmp_path) == {*EDGES[1:], *MORE}
    assert read(tmp_path, 2) == set(EDGES)


@pytest.mark.parametrize("one", [fact("edge", "a", "nobody"), fact("nobody", "a"), fact("wide", "a", "b", "nobody")])
def test_a_fact_without_terms_is_refused(tmp_path: Path, one: tuple[str, ...]) -> None:
    write(tmp_path, [*EDGES, fact("wide", "a", "b", "c")])
    before = tree(tmp_path)
    with begin(tmp_path) as transaction:
        transaction.add_facts([rows_of([one])])
        with pytest.raises(StoreError, match="1 ids of new facts are not among the terms"):
            finish(transaction)
    assert tree(tmp_path) == before


def test_terms_that_are_rewritten_must_all_be_there(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    with begin(tmp_path) as transaction:
        transaction.rewrite_terms()
        transaction.add_terms([Store.open(tmp_path).terms().slice(1)])
        with pytest.raises(StoreError, match="are not among the terms"):
            finish(transaction, "compact")
    assert read(tmp_path) == set(EDGES)


def test_a_store_that_is_replaced_needs_none_of_the_terms_before(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    with begin(tmp_path, overwrite=True) as transaction:
        transaction.add_facts([rows_of([fact("edge", "c", "d")])])
        with pytest.raises(StoreError, match="are not among the terms"):
            finish(transaction)
    with begin(tmp_path, overwrite=True) as transaction:
        transaction.add_terms([terms_of([fact("edge", "c", "d")])])
        transaction.add_facts([rows_of([fact("edge", "c", "d")])])
        finish(transaction)
    assert read(tmp_path) == {fact("edge", "c", "d")}


def _write_one(path: Path, one: tuple[str, ...]) -> None:
    write(path, [one])


def _in_one_line(transaction: Any) -> None:
    try:
        finish(transaction)
    except StoreError as error:
        raise type(error).of(error.diagnostics[0].code, str(error).replace("\n", " ")) from error


def _staged(transaction: Any, names: set[str]) -> set[str]:
    return {name.removeprefix("work/") for name in names if transaction.writer in name}
