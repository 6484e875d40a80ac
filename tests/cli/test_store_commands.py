"""``stats``, ``verify``, ``compact``, ``vacuum`` on whole and on damaged stores."""

from __future__ import annotations

import json
from pathlib import Path

import everlog
from everlog.store import Store, begin
from everlog.store.codec import fact_batches
from everlog.store.loading import state_in_tables
from everlog.store.states import write_whole
from tests.cli.running import CommandLine, saved


def test_stats(everlog_command: CommandLine, family: Path) -> None:
    done = everlog_command("stats", family)
    assert done.status == 0
    assert "facts      18: 7 explicit, 11 derived" in done.out
    assert [line.split() for line in done.out.splitlines() if line.startswith("ancestor/2")] == [
        ["ancestor/2", "3", "0", "3"]
    ]
    assert "  root(?x) :- parent(?x, _), ~parent(_, ?x) ." in done.out


def test_stats_as_json(everlog_command: CommandLine, family: Path) -> None:
    found = json.loads(everlog_command("stats", family, "--json").out)
    assert (found["version"], found["facts"], found["explicit"], found["derived"]) == (0, 18, 7, 11)
    assert found["predicates"][0] == {
        "predicate": "<http://example.org/knows>/2",
        "facts": 4,
        "explicit": 0,
        "derived": 4,
    }
    assert found["reasoning"]["strata"][0]["rules"] == 3
    assert found["bytes"] > 0
    assert found["bytes_on_disk"]["facts"] >= found["bytes"] / 2


def test_stats_of_many_predicates(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", " ".join(f"p{number}(a) ." for number in range(40)))
    assert "and 15 more predicates (--all)" in everlog_command("stats", "kb").out
    assert "p39/1" in everlog_command("stats", "kb", "--all").out


def test_verify_agrees(everlog_command: CommandLine, family: Path) -> None:
    done = everlog_command("verify", family)
    assert done.status == 0
    assert "18 facts follow from 7 explicit ones, as stored" in done.out
    assert "follow" not in everlog_command("verify", family, "--quick").out


def test_verify_says_which_facts_do_not_follow(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    (tmp_path / "other.rls").write_text("ancestor(?x, ?y) :- parent(?x, ?y) . sibling(?x, ?x) :- parent(_, ?x) .")
    done = everlog_command("verify", family, "--rules", "other.rls")
    assert (done.status, done.out) == (1, "")
    assert "2 of the facts that follow are not among the facts stored: sibling(" in done.err
    assert "9 of the facts stored are not among the facts that follow" in done.err


def test_verify_finds_a_missing_file(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb")
    next((tmp_path / "kb" / "facts").glob("*.parquet")).unlink()
    done = everlog_command("verify", "kb")
    assert done.status == 1
    assert "error[not-verified]" in done.err


def test_verify_finds_a_snapshot_that_differs(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", "p(a) . q(b) .")
    other = everlog.KnowledgeBase("p(a) . p(b) .").state().ranked()
    write_whole(Store.open(tmp_path / "kb"), 0, other)
    done = everlog_command("verify", "kb")
    assert done.status == 1
    assert "1 of the facts of the snapshot are not among the facts of the tables: p(b)" in done.err
    assert "1 of the facts of the tables are not among the facts of the snapshot: q(b)" in done.err


def test_verify_finds_facts_without_support(everlog_command: CommandLine, tmp_path: Path) -> None:
    """A store whose facts are consistent with each other, but not with its rules."""
    kb = everlog.KnowledgeBase("p(a) . q(a) .")
    kb.save(tmp_path / "kb")
    store = Store.open(tmp_path / "kb")
    state, info = state_in_tables(store), store.info()
    with begin(tmp_path / "kb") as transaction:
        transaction.rewrite_facts()
        transaction.add_facts(fact_batches(state))
        transaction.commit(rules="r(?x) :- p(?x) .\n", statistics=info.statistics, bookkeeping="none", operation="save")
    done = everlog_command("verify", "kb")
    assert done.status == 1
    assert "1 of the facts that follow are not among the facts stored: r(a)" in done.err


def test_compact_and_vacuum(everlog_command: CommandLine, tmp_path: Path) -> None:
    for _ in range(3):
        everlog.KnowledgeBase("p(a) .").save(tmp_path / "kb", overwrite=True)
    assert "is compact already" in everlog_command("compact", "kb").out
    assert everlog_command("vacuum", "kb").out.startswith("deleted: 0 files")
    planned = everlog_command("vacuum", "kb", "--keep-versions", "1", "--dry-run")
    files = planned.out.splitlines()
    assert len(files) >= 4
    assert all((tmp_path / file).exists() for file in files)
    done = everlog_command("vacuum", "kb", "--keep-versions", "1")
    assert f"deleted: {len(files)} files" in done.out
    assert not any((tmp_path / file).exists() for file in files)
    assert everlog_command("query", "kb", "p(?x)", "--format", "csv").out == "x\na\n"
    assert everlog_command("query", "kb", "p(?x)", "--at", "0").status == 1
    assert everlog_command("vacuum", "kb", "--keep-versions", "0").status == 2


def test_repair(everlog_command: CommandLine, tmp_path: Path) -> None:
    kb = saved(tmp_path / "kb")
    (kb.parent / "more.rls").write_text("root(nobody) .")
    assert everlog_command("rules", kb, "--add", kb.parent / "more.rls").status == 0
    entry = kb / "facts" / "_delta_log" / f"{1:020}.json"
    entry.write_bytes(b"")
    done = everlog_command("stats", kb)
    assert "warning[damaged-log]: version 1 is not whole; the last one that is, version 0, is read" in done.err
    assert done.err.count("is not whole") == 1
    assert f"everlog repair {kb}" in done.err
    assert everlog_command("rules", kb, "--add", kb.parent / "more.rls").status == 1
    done = everlog_command("repair", kb)
    assert done.status == 0
    assert f"{entry}: is empty; moved to {kb}/damaged/" in done.out
    assert f"store      {kb}, version 0, 1 file moved aside" in done.out
    assert "nothing in its logs is damaged" in everlog_command("repair", kb).out
    assert "warning" not in everlog_command("stats", kb).err
