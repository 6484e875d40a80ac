"""``everlog update`` and ``everlog changes``: their output, errors and temporary files."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.jobs import update as updates
from everlog.store import Store
from tests.cli.running import CommandLine, saved

SUMMARY = """\
store      kb, version 1, new
read       4 rows
explicit   +1 -1; 2 deletions did nothing
facts      +4 -4
algorithm  dredc
instances  2: delete 1, forward 1
"""
TABLE = """
predicate   inserted  deleted
ancestor/2        +2       -2
parent/2          +1       -1
root/1            +1       -1
"""


@pytest.fixture
def kb(everlog_command: CommandLine, tmp_path: Path) -> Path:
    """A store, with a file of facts to add and one of facts to remove."""
    (tmp_path / "parent.csv").write_text("cid,dan\n")
    (tmp_path / "gone.tsv").write_text("ann\tbob\nnobody\tnowhere\nbob\tann\n")
    return saved(tmp_path / "kb")


UPDATE = ("update", "kb", "--insert", "parent.csv", "--delete", "parent=gone.tsv", "--algorithm", "dredc")


def test_the_summary(everlog_command: CommandLine, kb: Path) -> None:
    done = everlog_command(*UPDATE)
    assert done.status == 0, done.err
    head, _, rest = done.out.partition("seconds ")
    assert head == SUMMARY
    assert rest.partition("\n")[2] == TABLE
    assert "check 0." in rest
    assert "start Spark" not in done.err
    assert everlog_command("query", "kb", "ancestor(bob, ?x)", "--format", "csv").out == "x\ncid\ndan\n"
    assert everlog_command("query", "kb", "ancestor(ann, ?x)", "--format", "csv", "--at", "0").out == "x\nbob\ncid\n"
    assert everlog_command("verify", "kb").status == 0
    assert "nobody" not in Store.open(kb).terms().column("text").to_pylist()


def test_as_json(everlog_command: CommandLine, kb: Path) -> None:
    done = everlog_command(*UPDATE, "--json-logs")
    found = json.loads(done.err.splitlines()[-1])
    assert (found["event"], found["version"], found["inserted"], found["deleted"]) == ("result", 1, 4, 4)
    assert (found["explicit_inserted"], found["explicit_deleted"], found["not_explicit"]) == (1, 1, 2)
    assert found["predicates"]["ancestor/2"] == {"added": 2, "removed": 2}
    assert found["statistics"]["algorithm"] == "dredc"
    kept = Store.open(kb).info().statistics
    assert kept["update"]["instances"] == found["statistics"]["instances"]


@pytest.mark.parametrize("algorithm", ["auto", "bfc", "fbf", "dred", "counting", "rematerialise"])
def test_every_algorithm(everlog_command: CommandLine, kb: Path, algorithm: str) -> None:
    done = everlog_command(*UPDATE[:-1], algorithm, "--strategy", "1")
    assert "facts      +4 -4\n" in done.out
    assert everlog_command("verify", "kb").status == 0
    assert "version 2, new" in everlog_command("update", "kb", "--delete", "parent.csv", "--algorithm", algorithm).out
    assert everlog_command("verify", "kb").status == 0


def test_a_dry_run_changes_nothing(everlog_command: CommandLine, kb: Path) -> None:
    done = everlog_command(*UPDATE, "--dry-run")
    assert done.out.startswith("store      kb, version 0, not changed\n")
    assert "facts      +4 -4\n" in done.out
    store = Store.open(kb)
    assert (store.version, store.term_files() == store.term_files(0)) == (0, True)


def test_nothing_to_change(everlog_command: CommandLine, kb: Path) -> None:
    (kb.parent / "parent.csv").write_text("ann,bob\n")
    done = everlog_command("update", "kb", "--insert", "parent.csv", "--delete", "other=gone.tsv")
    assert done.out.startswith(
        "store      kb, version 0, not changed\nread       4 rows\nexplicit   +0 -0; 3 deletions"
    )
    assert Store.open(kb).version == 0


def test_new_predicates_rdf_and_compression(everlog_command: CommandLine, kb: Path) -> None:
    ex = "http://example.org/"
    triples = f'<{ex}b> <{ex}met> <{ex}c> .\n<{ex}c> a <{ex}Person> .\n_:x <{ex}likes> "1" .\n'
    (kb.parent / "more.ttl").write_text(triples)
    with gzip.open(kb.parent / "wide.csv.gz", "wt") as file:
        file.write("1,two,3.5,four\n")
    done = everlog_command("update", "kb", "--insert", "more.ttl", "--insert", "wide.csv.gz")
    assert "explicit   +4 -0\n" in done.out
    opened = everlog.open(kb)
    assert len(opened["wide"]) == len(opened["<http://example.org/likes>"]) == 1
    assert everlog_command("verify", "kb").status == 0
    again = everlog_command("update", "kb", "--insert", "more.ttl", "--insert", "wide.csv.gz")
    assert "not changed" in again.out, "blank nodes have the same labels"
    gone = everlog_command("update", "kb", "--delete", "more.ttl")
    assert "explicit   +0 -3\n" in gone.out


def test_both_deleted_and_inserted_stays(everlog_command: CommandLine, kb: Path) -> None:
    (kb.parent / "gone.tsv").write_text("ann\tbob\ncid\tdan\n")
    done = everlog_command(*UPDATE)
    assert "explicit   +1 -1" in done.out
    assert "cid" in everlog_command("query", "kb", "parent(?x, dan)").out


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "--insert or --delete"),
        (["--insert", "nothing.csv"], 1, "nothing.csv"),
        (["--insert", "parent=wide.csv"], 1, "wide.csv:1"),
        (["--insert", "bad.csv"], 1, "bad.csv:2"),
        (["--insert", "parent.csv", "--algorithm", "magic"], 2, "--algorithm"),
        (["--insert", "parent.csv", "--strategy", "sometimes"], 2, "--strategy"),
        (["--insert", "parent.csv", "--max-facts", "3"], 1, "max-facts"),
    ],
)
def test_what_is_refused(
    everlog_command: CommandLine, kb: Path, arguments: list[str], status: int, message: str
) -> None:
    (kb.parent / "wide.csv").write_text("a,b,c\n")
    (kb.parent / "bad.csv").write_text("a,b\nc\n")
    done = everlog_command("update", "kb", *arguments)
    assert (done.status, done.out) == (status, "")
    assert message in done.err
    assert "Traceback" not in done.err
    assert Store.open(kb).version == 0
    assert {path.name for path in (kb / "work").iterdir()} == {"guard"}


def test_bad_rows_can_be_skipped(everlog_command: CommandLine, kb: Path) -> None:
    (kb.parent / "parent.csv").write_text("cid,dan\nodd\n")
    done = everlog_command("update", "kb", "--insert", "parent.csv", "--on-error", "skip")
    assert "read       1 row, 1 skipped" in done.out
    assert "skipped parent.csv:2" in done.err


def test_there_is_no_store(everlog_command: CommandLine, kb: Path) -> None:
    for command in (("update", "none", "--insert", "parent.csv"), ("changes", "none")):
        done = everlog_command(*command)
        assert (done.status, done.out) == (1, "")
        assert "not-a-store" in done.err
        assert not (kb.parent / "none").exists()


@pytest.mark.parametrize("how", [pytest.param("asked", marks=pytest.mark.slow), "large"])
def test_through_spark(
    everlog_command: CommandLine, kb: Path, spark: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(updates, "IN_PROCESS_BYTES", 10)
    done = everlog_command(*UPDATE, *(["--engine", "spark"] if how == "asked" else []))
    assert done.status == 0, done.err
    assert done.out.startswith(SUMMARY if how == "large" else SUMMARY.partition("algorithm")[0])
    assert everlog_command("verify", "kb").status == 0


def test_compaction_after_many_updates(everlog_command: CommandLine, kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from everlog.store import compaction

    monkeypatch.setattr(compaction, "MOST_SMALL_FILES", 2)
    for number in range(3):
        (kb.parent / "parent.csv").write_text(f"cid,n{number}\n")
        done = everlog_command("update", "kb", "--insert", "parent.csv", "--no-compact")
        assert "compacted" not in done.out
    (kb.parent / "parent.csv").write_text("cid,last\n")
    done = everlog_command("update", "kb", "--insert", "parent.csv")
    assert done.out.startswith("store      kb, version 4, new, compacted as version 5\n")
    assert len(Store.open(kb).files()) == 1
    assert everlog_command("verify", "kb").status == 0
    assert "last" in everlog_command("changes", "kb", "--from", "3").out


def test_an_interrupt_leaves_the_old_version(kb: Path) -> None:
    command = [sys.executable, "-m", "everlog.cli", *UPDATE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=kb.parent) as process:
        assert process.stderr is not None
        while "load" not in process.stderr.readline():
            pass
        time.sleep(0.02)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert (process.returncode, Store.open(kb).version) in ((130, 0), (130, 1), (0, 1))
    assert {path.name for path in (kb / "work").iterdir()} == {"guard"}


CHANGES = """\
version     fact
-------  -  ----
      1  -  ancestor(ann, bob)
      1  -  ancestor(ann, cid)
      1  +  ancestor(bob, dan)
      1  +  ancestor(cid, dan)
      1  -  parent(ann, bob)
      1  +  parent(cid, dan)
      1  -  root(ann)
      1  +  root(bob)
"""


def test_changes(everlog_command: CommandLine, kb: Path) -> None:
    assert everlog_command("changes", "kb").out.count("\n") == 20, "the first version, if there is no other"
    everlog_command(*UPDATE)
    assert everlog_command("changes", "kb").out == CHANGES
    assert everlog_command("changes", "kb", "--from", "1").out == "version     fact\n-------  -  ----\n"
    explicit = everlog_command("changes", "kb", "--explicit", "--format", "csv")
    assert explicit.out == "version,change,predicate,c0,c1\n1,-,parent,ann,bob\n1,+,parent,cid,dan\n"
    rows = everlog_command("changes", "kb", "--format", "json", "--predicate", "ancestor").out.splitlines()
    assert json.loads(rows[0]) == {"version": 1, "change": "-", "predicate": "ancestor", "arguments": ["ann", "bob"]}
    assert len(rows) == 4


def test_changes_of_the_first_version(everlog_command: CommandLine, kb: Path) -> None:
    everlog_command(*UPDATE)
    done = everlog_command("changes", "kb", "--from", "-1", "--to", "0", "--format", "csv")
    lines = done.out.splitlines()
    assert len(lines) >= 19
    assert "0,+,rainy,," in lines
    assert "0,+,<http://example.org/met>,<http://example.org/b>,42" in lines
    assert all(line.startswith(("0,+,", "version", "line")) for line in lines)


@pytest.mark.parametrize(("arguments", "status"), [(["--from", "3"], 2), (["--to", "9"], 1), (["--from", "-2"], 2)])
def test_changes_that_are_not_there(everlog_command: CommandLine, kb: Path, arguments: list[str], status: int) -> None:
    done = everlog_command("changes", "kb", *arguments)
    assert (done.status, done.out) == (status, "")
