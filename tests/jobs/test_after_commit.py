"""A failure after the commit of a version is a warning: the change is made, and the result names the version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import everlog
from everlog import EverlogWarning, KnowledgeBase
from everlog.cli.run import run
from everlog.jobs.changed import changed
from everlog.jobs.rules import RulesJob, change_rules
from everlog.jobs.update import UpdateJob, update
from everlog.store import Store, compaction, steps
from tests.store.small import at_step

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."


@pytest.fixture
def kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that is compacted after the next write, which fails: an old file goes right after the commit."""
    monkeypatch.setattr(compaction, "MOST_SMALL_FILES", 1)
    made = KnowledgeBase(RULES)
    made.insert("edge", [("a", "b")])
    made.save(tmp_path / "kb")
    (tmp_path / "edge.tsv").write_text("b\tc\n")
    (tmp_path / "more.rls").write_text("end(?y) :- edge(_, ?y) .")
    old = tmp_path / "kb" / "facts" / Store.open(tmp_path / "kb").files()[0].name
    at_step(monkeypatch, steps.FACTS_COMMITTED, old.unlink)
    return tmp_path / "kb"


def saved(kb: Path) -> int:
    opened = everlog.open(kb)
    opened.insert("edge", [("b", "c")])
    version = opened.save()
    assert opened.saved is not None
    assert opened.saved.version == version
    return version


WRITES: dict[str, Callable[[Path], int]] = {
    "save": saved,
    "changed": lambda kb: changed(kb, lambda base: base.insert("edge", [("b", "c")]))[0],
    "update": lambda kb: update(UpdateJob(str(kb), insert=(str(kb.parent / "edge.tsv"),))).version,
    "rules": lambda kb: change_rules(RulesJob(str(kb), add=(str(kb.parent / "more.rls"),))).version,
}


@pytest.mark.parametrize("how", WRITES)
def test_a_compaction_that_fails_is_a_warning(kb: Path, how: str) -> None:
    with pytest.warns(EverlogWarning, match="version 1 is committed, but compacting failed") as warned:
        assert WRITES[how](kb) == 1
    (warning,) = [found.message for found in warned if isinstance(found.message, EverlogWarning)]
    assert warning.diagnostic.code == "after-commit"
    assert "as before" not in str(warning)
    assert Store.open(kb).version == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("update", "kb", "--insert", "edge.tsv"),
        ("rules", "kb", "--add", "more.rls"),
        ("sparql", "kb", "--update", "INSERT DATA { 'b' everlog:edge 'c' }"),
    ],
)
def test_commands_that_committed_end_with_status_0(
    kb: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(kb.parent)
    assert run(arguments) == 0
    shown = capfd.readouterr()
    assert "version 1, new" in shown.out
    assert "warning[after-commit]: version 1 is committed, but compacting failed" in shown.err


def test_a_writer_that_cannot_clean_up_has_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer releases its lock, so that no other writer waits for it."""
    made = KnowledgeBase("p(a) .")
    made.save(tmp_path / "kb")
    guard = tmp_path / "kb" / "work" / "guard"

    def lose_guard() -> None:
        guard.unlink()
        guard.mkdir()

    at_step(monkeypatch, steps.FACTS_COMMITTED, lose_guard)
    made.insert("p", [("b",)])
    with pytest.warns(EverlogWarning, match="version 1 is committed, but removing what is not needed any more failed"):
        assert made.save() == 1
    guard.rmdir()
    made.insert("p", [("c",)])
    assert made.save(wait=0) == 2
    assert {path.name for path in (tmp_path / "kb" / "work").iterdir()} == {"guard"}
    assert everlog.open(tmp_path / "kb")["p"].rows() == [("a",), ("b",), ("c",)]


def test_a_profile_that_cannot_be_written_is_a_warning(
    kb: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(kb.parent)
    page = kb.parent / "page.html"
    at_step(monkeypatch, steps.FACTS_COMMITTED, page.mkdir)
    assert run(["update", "kb", "--insert", "edge.tsv", "--profile", "page.html"]) == 0
    assert "warning[no-profile-page]: the profile could not be written: Is a directory" in capfd.readouterr().err
    assert Store.open(kb).version == 1
