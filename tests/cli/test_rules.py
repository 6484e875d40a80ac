"""``everlog rules``: its output, changes, errors and temporary files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from everlog.cli.run import run
from everlog.store import Store, steps
from tests import processes
from tests.cli.running import CommandLine, saved
from tests.processes import kill_at
from tests.store.small import tree

SUMMARY = """\
store      kb, version 1, new
rules      +1 -1; 1 was there already
           - root(?x) :- parent(?x, _), ~parent(_, ?x) .
           + leaf(?x) :- parent(_, ?x), ~parent(?x, _) .
explicit   +1 -0
facts      +5 -1
algorithm  dredc
instances  2: delete 1, forward 1
"""
TABLE = """
predicate   inserted  deleted
ancestor/2        +3       -0
leaf/1            +1       -0
parent/2          +1       -0
root/1            +0       -1
"""
ADD = """
leaf(?x) :- parent(_, ?x), ~parent(?x, _) .
ancestor(?a, ?b) :- parent(?a, ?b) .
parent(cid, dan) .
"""
REMOVE = "root(?who) :- ~parent(_, ?who), parent(?who, ?child) .\n"
AFTER = (steps.FACTS_COMMITTED, steps.STAGING_REMOVED, steps.SNAPSHOT_WRITTEN)
QUICK = (steps.TERMS_COMMITTED, steps.FACTS_MOVED, steps.FACTS_COMMITTED)
STEPS = [s if s in QUICK else pytest.param(s, marks=pytest.mark.slow) for s in processes.STEPS if s != steps.WIDENED]
CHANGE = ("rules", "kb", "--add", "add.rls", "--remove", "remove.rls", "--algorithm", "dredc")


@pytest.fixture
def kb(everlog_command: CommandLine, tmp_path: Path) -> Path:
    """A store, with a file of rules to add and one of rules to remove."""
    (tmp_path / "add.rls").write_text(ADD)
    (tmp_path / "remove.rls").write_text(REMOVE)
    return saved(tmp_path / "kb")


def test_the_rules_are_printed(everlog_command: CommandLine, kb: Path) -> None:
    printed = everlog_command("rules", "kb")
    assert printed.status == 0
    assert printed.out == Store.open(kb).info().rules
    assert everlog_command(*CHANGE).status == 0
    assert everlog_command("rules", "kb", "--at", "0").out == printed.out
    now = everlog_command("rules", "kb").out
    assert "leaf(?x) :- parent(_, ?x), ~parent(?x, _) .\n" in now
    assert "root" not in now
    (kb.parent / "again.rls").write_text(now)
    assert everlog_command("check", "again.rls").status == 0


def test_the_summary(everlog_command: CommandLine, kb: Path) -> None:
    done = everlog_command(*CHANGE)
    assert done.status == 0, done.err
    head, _, rest = done.out.partition("seconds ")
    assert head == SUMMARY
    assert rest.partition("\n")[2] == TABLE
    assert everlog_command("verify", "kb").status == 0


def test_the_change_is_that_of_the_version(everlog_command: CommandLine, kb: Path) -> None:
    everlog_command(*CHANGE)
    shown = everlog_command("changes", "kb", "--format", "csv").out.splitlines()
    assert len(shown) == 1 + 5 + 1
    assert "1,-,root,ann," in shown
    assert "1,+,leaf,dan," in shown
    assert everlog_command("query", "kb", "root(?x)", "--format", "csv", "--at", "0").out == "x\nann\n"
    assert everlog_command("query", "kb", "root(?x)").status == 1


def test_an_update_follows_the_new_rules(everlog_command: CommandLine, kb: Path) -> None:
    everlog_command(*CHANGE)
    (kb.parent / "parent.csv").write_text("dan,eve\n")
    assert everlog_command("update", "kb", "--insert", "parent.csv").status == 0
    assert everlog_command("query", "kb", "leaf(?x)", "--format", "csv").out == "x\neve\n"
    assert everlog_command("verify", "kb").status == 0


def test_a_dry_run_changes_nothing(everlog_command: CommandLine, kb: Path) -> None:
    before = tree(kb)
    done = everlog_command(*CHANGE, "--dry-run")
    assert done.out.startswith("store      kb, version 0, not changed\nrules      +1 -1")
    assert {name for name in tree(kb) if not name.startswith("work")} == {n for n in before if not n.startswith("work")}


def test_nothing_new(everlog_command: CommandLine, kb: Path) -> None:
    (kb.parent / "same.rls").write_text("ancestor(?p, ?q) :- parent(?p, ?q) .")
    done = everlog_command("rules", "kb", "--add", "same.rls")
    assert done.status == 0
    assert "version 0, not changed" in done.out
    assert "rules      +0 -0; 1 was there already" in done.out
    assert Store.open(kb).version == 0


def test_several_files_and_data(everlog_command: CommandLine, kb: Path) -> None:
    (kb.parent / "more.rls").write_text("ex:met(ex:z, ex:a) . ex:Friend(?x) :- ex:knows(?x, _) .")
    done = everlog_command("rules", "kb", "--add", "add.rls", "--add", "more.rls", "--json-logs")
    assert done.status == 0, done.err
    (result,) = (line for line in map(json.loads, done.err.splitlines()) if "rules_added" in line)
    assert len(result["rules_added"]) == 2
    assert result["rules_known"] == ["ancestor(?a, ?b) :- parent(?a, ?b) ."]
    assert result["explicit_inserted"] == 2
    assert everlog_command("query", "kb", "ex:Friend(ex:z)").out == "true\n"


def test_a_new_warning_is_printed(everlog_command: CommandLine, kb: Path) -> None:
    (kb.parent / "typo.rls").write_text("old(?x) :- ancestr(?x, _) .")
    done = everlog_command("rules", "kb", "--add", "typo.rls")
    assert done.status == 0
    assert "ancestr" in done.err
    assert "typo.rls" in done.err


@pytest.mark.parametrize(
    ("rules", "option", "message"),
    [
        ("rot(?x) :- parent(?x, _), ~parent(_, ?x) .", "--remove", "there is no rule `rot(?x)"),
        ("parent(?x, ?y) :- root(?x), root(?y) .", "--add", "error[negation-cycle]"),
        ("root(?x :- parent(?x, _) .", "--add", "error[unclosed-parenthesis]"),
        ("parent(?x) :- root(?x) .", "--add", "error[arity]"),
    ],
)
def test_mistakes_leave_the_store(
    everlog_command: CommandLine, kb: Path, rules: str, option: str, message: str
) -> None:
    (kb.parent / "wrong.rls").write_text(rules)
    before = tree(kb)
    done = everlog_command("rules", "kb", option, "wrong.rls")
    assert done.status == 1
    assert message in done.err
    assert "wrong.rls:1:" in done.err
    assert "Traceback" not in done.err
    assert Store.open(kb).version == 0
    assert {name for name in tree(kb) if "work" not in name} == {name for name in before if "work" not in name}
    assert everlog_command("verify", "kb").status == 0


def test_wrong_usage(everlog_command: CommandLine, kb: Path) -> None:
    assert everlog_command("rules", "kb", "--add", "add.rls", "--at", "0").status == 2
    missing = everlog_command("rules", "kb", "--add", "nowhere.rls")
    assert (missing.status, "nowhere.rls" in missing.err) == (1, True)
    assert everlog_command("rules", "nowhere").status == 1


@pytest.mark.long
@pytest.mark.parametrize("step", STEPS)
def test_killed(everlog_command: CommandLine, kb: Path, step: str) -> None:
    """A process killed at any step leaves the old version or the new one, and the next change succeeds."""
    kill_at(step, job, kb)
    store = Store.open(kb)
    done = step in AFTER
    assert store.version == int(done)
    assert ("leaf" in everlog_command("rules", "kb").out) == done
    assert everlog_command("query", "kb", "root(?x)", "--at", "0", "--format", "csv").out == "x\nann\n"
    assert everlog_command("verify", "kb").status == 0
    if not done:
        assert everlog_command(*CHANGE).status == 0
    assert everlog_command("query", "kb", "leaf(?x)", "--format", "csv").out == "x\ndan\n"
    assert everlog_command("verify", "kb").status == 0


def job(path: str) -> None:
    """Change the rules of a store by the files beside it."""
    os.chdir(Path(path).parent)
    run(CHANGE)
