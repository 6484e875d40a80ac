"""Writers at the same time: each waits for its turn and builds on what was committed before."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import everlog
from everlog import KnowledgeBase, StoreError
from everlog.jobs.changed import changed
from everlog.jobs.rules import RulesJob, change_rules
from everlog.jobs.update import UpdateJob, update
from everlog.store import Store, begin, locking
from everlog.store.compaction import compact
from tests.kb.test_store_updates import check_store
from tests.processes import command
from tests.running import SOURCES

WAITING = "waiting up to 600 s for another writer: process"
RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    made = KnowledgeBase(RULES)
    made.insert("edge", [("a", "b")])
    made.save(tmp_path / "kb")
    return tmp_path / "kb"


def test_of_four_updates_at_once_all_are_applied(kb: Path, tmp_path: Path) -> None:
    running = {}
    with begin(kb):  # all four are there before any of them may begin
        for number in range(4):
            (tmp_path / f"{number}.tsv").write_text(f"b\tn{number}\n")
            errors = tmp_path / f"{number}.err"
            running[errors] = command(errors, "update", kb, "--insert", f"edge={tmp_path}/{number}.tsv", "--wait", 600)
        for errors, process in running.items():
            while WAITING not in errors.read_text():
                assert process.is_alive(), errors.read_text()
                time.sleep(0.02)
    for errors, process in running.items():
        process.join()
        assert process.exitcode == 0, errors.read_text()
        assert errors.read_text().count("waiting") == 1, "it is said once"
    assert sorted(everlog.open(kb)["path"].rows()) == sorted(
        [("a", "b"), *((x, f"n{number}") for x in "ab" for number in range(4))]
    )
    assert Store.open(kb).version == 4
    check_store(kb)


def test_after_the_wait_it_is_an_error_and_nothing_changes(kb: Path, tmp_path: Path) -> None:
    (tmp_path / "edge.tsv").write_text("x\ty\n")
    (tmp_path / "more.rls").write_text("end(?y) :- edge(_, ?y) .")
    opened = everlog.open(kb)
    opened.insert("edge", [("x", "y")])
    with begin(kb):
        for write in (
            lambda: update(UpdateJob(str(kb), insert=(str(tmp_path / "edge.tsv"),), wait=0.1)),
            lambda: change_rules(RulesJob(str(kb), add=(str(tmp_path / "more.rls"),), wait=0.1)),
            lambda: changed(kb, lambda base: base.insert("edge", [("x", "y")]), wait=0.1),
            lambda: opened.save(wait=0.1),
            lambda: KnowledgeBase("p(a) .").save(kb, overwrite=True, wait=0.1),
            lambda: compact(Store.open(kb), wait=0.1),
        ):
            with pytest.raises(StoreError, match="another writer is at work: process") as error:
                write()
            assert error.value.diagnostics[0].code == "another-writer"
    assert Store.open(kb).version == 0
    assert opened.save() == 1


def test_nobody_waits_for_a_writer_that_died(kb: Path) -> None:
    code = f"import os; from everlog.store import begin; begin({str(kb)!r}); os.kill(os.getpid(), 9)"
    ended = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": SOURCES}, check=False)
    assert ended.returncode == -9
    layout = Store.open(kb).layout
    assert locking.writers(layout)
    assert not locking.living(layout)
    version, _ = changed(kb, lambda base: base.insert("edge", [("b", "c")]), wait=0.0)
    assert version == 1


def test_a_knowledge_base_whose_store_moved_on_is_not_saved(kb: Path) -> None:
    late = everlog.open(kb)
    late.insert("edge", [("late", "late")])
    changed(kb, lambda base: base.insert("edge", [("b", "c")]))
    begun = time.monotonic()
    with begin(kb), pytest.raises(StoreError, match="another writer committed version 1"):
        late.save()
    assert time.monotonic() - begun < locking.PAUSE + 30, "there is nothing to wait for"


def test_of_two_that_make_a_store_the_second_is_refused(tmp_path: Path) -> None:
    """The second writer does not add its facts to those of the first."""
    kb = tmp_path / "kb"
    second = KnowledgeBase("p(b) .")
    found: list[BaseException] = []

    def save() -> None:
        try:
            second.save(kb)
        except StoreError as error:
            found.append(error)

    with begin(kb) as transaction:
        thread = threading.Thread(target=save)
        thread.start()
        time.sleep(4 * locking.PAUSE)
        from tests.store.small import EDGES, fill, finish

        fill(transaction, EDGES)
        finish(transaction)
    thread.join(60)
    assert "store-exists" in str(found[0])
    assert Store.open(kb).version == 0


def test_a_compaction_after_a_write_gives_way(
    kb: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from everlog.store import compaction

    monkeypatch.setattr(compaction, "MOST_SMALL_FILES", 0)
    with begin(kb), caplog.at_level(logging.WARNING, "everlog"):
        assert compaction.compact_if_worth(kb, 0) is None
    assert compaction.compact_if_worth(kb, 0) == 1
    assert not caplog.records
