"""If the logs of a store are lost, damaged or repaired, nothing is deleted and no process waits for ever."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

import pytest

import everlog
from everlog.lang.errors import StoreError
from everlog.store import Store, begin, locking
from everlog.store.layout import StoreLayout
from everlog.store.log import forget_contents
from everlog.store.repair import repair


@pytest.fixture
def store(tmp_path: Path) -> StoreLayout:
    """A store with the versions 0 to 2."""
    kb = everlog.KnowledgeBase("q(?x) :- p(?x) . p(0) .")
    kb.save(tmp_path / "kb")
    for number in (1, 2):
        kb.insert("p", [(number,)])
        kb.save()
    return StoreLayout.at(tmp_path / "kb")


def files(layout: StoreLayout) -> set[Path]:
    return {path for table in (layout.facts, layout.terms) for path in table.glob("*.parquet")}


def empty(table: Path, *versions: int) -> None:
    for version in versions:
        StoreLayout.commit_file(table, version).write_bytes(b"")


def test_a_failed_write_leaves_data_files_whose_log_is_lost(store: StoreLayout) -> None:
    there = files(store)
    for entry in StoreLayout.log(store.facts).iterdir():
        entry.unlink()
    with pytest.raises(ValueError, match="given up"), begin(store.root):
        raise ValueError("given up")
    assert files(store) == there


def test_a_damaged_log_leaves_data_files_whose_log_is_lost(store: StoreLayout) -> None:
    there = files(store)
    for entry in StoreLayout.log(store.facts).iterdir():
        entry.unlink()
    empty(store.terms, 2)
    with pytest.raises(StoreError, match="damaged-log"):
        begin(store.root)
    assert files(store) == there


def test_repair_moves_nothing_where_the_terms_are_gone(store: StoreLayout, tmp_path: Path) -> None:
    store.terms.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="no-terms"):
        repair(store.root)
    assert len(list(StoreLayout.log(store.facts).glob("*.json"))) == 3
    (tmp_path / "elsewhere").rename(store.terms)
    assert everlog.open(store.root)["q"].rows() == [(0,), (1,), (2,)]


def test_a_knowledge_base_is_not_saved_on_top_of_another_history(store: StoreLayout) -> None:
    kb = everlog.open(store.root)
    empty(store.facts, 2)
    assert repair(store.root).version == 1
    other = everlog.open(store.root)
    other.insert("p", [(7,)])
    assert other.save() == 2
    kb.delete("p", [(0,)])
    with pytest.raises(StoreError, match="another-writer"):
        kb.save()
    assert everlog.open(store.root)["q"].rows() == [(0,), (1,), (7,)]


def test_a_version_below_a_damaged_one_is_found(store: StoreLayout) -> None:
    empty(store.facts, 1)
    empty(store.terms, 2)
    with pytest.warns(everlog.EverlogWarning, match="version 0"):
        assert Store.open(store.root).version == 0


def test_a_store_without_a_whole_version_can_be_made_again(store: StoreLayout) -> None:
    (store.root / "streams").mkdir()
    empty(store.facts, 0, 1, 2)
    assert repair(store.root).version is None
    with pytest.raises(ValueError, match="given up"), begin(store.root):
        raise ValueError("given up")
    assert everlog.KnowledgeBase("p(9) .").save(store.root) == 0
    assert everlog.open(store.root)["p"].rows() == [(9,)]


def test_a_writer_that_gives_up_lets_go_though_an_old_entry_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kb = everlog.KnowledgeBase("q(?x) :- p(?x) .")
    place = tmp_path / "kb"
    kb.save(place)
    for number in range(11):
        kb.insert("p", [(number,)])
        kb.save()
    layout = StoreLayout.at(place)
    StoreLayout.commit_file(layout.facts, 3).write_bytes(b"damaged")

    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    kb.insert("p", [(99,)])
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr("everlog.store.transaction.Transaction._commit_facts", full)
        with pytest.raises(StoreError, match="disk-full"):
            kb.save()
    assert not locking.living(layout)
    assert kb.save(wait=0) == 12


def test_a_writer_that_cannot_register_lets_go(store: StoreLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("everlog.store.locking.os.write", full)
        with pytest.raises(StoreError, match="disk-full"):
            begin(store.root)
    with begin(store.root, wait=0) as transaction:
        assert transaction.base_version == 2


def test_a_checkpoint_that_was_repaired_by_another_process_is_no_obstacle(tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase("p(0) .")
    place = tmp_path / "kb"
    kb.save(place)
    for number in range(1, 12):
        kb.insert("p", [(number,)])
        kb.save()
    log = StoreLayout.log(StoreLayout.at(place).facts)
    (checkpoint,) = log.glob("*.checkpoint.parquet")
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    forget_contents()
    with pytest.warns(everlog.EverlogWarning, match="damaged-log"), pytest.raises(StoreError, match="damaged-log"):
        begin(place)
    checkpoint.unlink()
    (log / "_last_checkpoint").unlink()
    with begin(place) as transaction:
        assert transaction.base_version == 11
