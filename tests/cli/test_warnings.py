"""Commands warn of predicates that match nothing; with ``--warnings error`` they end before writing."""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog.store import Store
from tests.cli.running import CommandLine, saved

RULES = "path(?x, ?y) :- edge(?x, ?y) .\nheavy(?x) :- edge(?x, _), weight(?x) .\n"
PLAIN = "path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .\n"


def test_an_update_that_creates_a_relation(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", PLAIN)
    (tmp_path / "new.csv").write_text("b,c\n")
    done = everlog_command("update", "kb", "--insert", "edgee=new.csv")
    assert (done.status, done.err.count("warning[")) == (0, 1)
    assert "warning[unread-facts]: there are facts of `edgee`, which no rule has" in done.err
    assert "did you mean `edge`?" in done.err
    done = everlog_command("update", "kb", "--insert", "edgee=new.csv")
    assert (done.status, "warning[" in done.err) == (0, False)


def test_an_update_with_other_kinds(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", RULES + "edge(1, 2) . edge(2, 3) .")
    (tmp_path / "weight.csv").write_text("1.0\n")
    done = everlog_command("update", "kb", "--insert", "weight.csv")
    assert done.status == 0
    assert "warning[never-joined]" in done.err
    assert "kb (rules of version 0):" in done.err
    assert "stands for integers there, and for decimals here" in done.err


def test_an_update_that_deletes_from_an_unknown_relation(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", PLAIN)
    (tmp_path / "edg.csv").write_text("a,b\n")
    done = everlog_command("update", "kb", "--delete", "edg.csv")
    assert done.status == 0
    assert "warning[unknown-predicate]: there is no predicate `edg` with 2 arguments\n  --> edg.csv" in done.err


def test_changes_of_a_predicate_that_is_not_known(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", PLAIN)
    done = everlog_command("changes", "kb", "--from", "-1", "--predicate", "pth", "--predicate", "edge")
    assert done.status == 0
    assert "warning[unknown-predicate]: there is no predicate `pth`\n  = help: did you mean `path`?" in done.err
    assert done.err.count("warning[") == 1


@pytest.mark.parametrize("quiet", [(), ("--quiet",), ("--json-logs",)])
def test_an_update_ends_before_it_writes(everlog_command: CommandLine, tmp_path: Path, quiet: tuple[str, ...]) -> None:
    saved(tmp_path / "kb", PLAIN)
    (tmp_path / "new.csv").write_text("b,c\n")
    done = everlog_command("update", "kb", "--insert", "edgee=new.csv", "--warnings", "error", *quiet)
    assert done.status == 1
    assert ("unread-facts" in done.err, "--warnings error" in done.err) == (True, True)
    assert Store.open(tmp_path / "kb").version == 0
    done = everlog_command("update", "kb", "--insert", "edge=new.csv", "--warnings", "error", *quiet)
    assert done.status == 0
    assert Store.open(tmp_path / "kb").version == 1


def test_rules_that_are_added(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", PLAIN)
    (tmp_path / "more.rls").write_text("near(?x) :- egde(?x, _) .\nfar(?x) :- edge(?x, 7) .\n")
    done = everlog_command("rules", "kb", "--add", "more.rls", "--warnings", "error")
    assert done.status == 1
    assert "warning[possible-typo]: `egde` has no rule and no fact" in done.err
    assert "warning[no-facts]: no rule and no fact gives `egde`" in done.err
    assert "warning[never-joined]: `7` is never in `edge`" in done.err
    assert "more.rls:1:13" in done.err
    assert Store.open(tmp_path / "kb").version == 0
    done = everlog_command("rules", "kb", "--add", "more.rls")
    assert (done.status, Store.open(tmp_path / "kb").version) == (0, 1)
    (tmp_path / "other.rls").write_text("up(?x) :- edge(?x, _) .\n")
    done = everlog_command("rules", "kb", "--add", "other.rls")
    assert (done.status, "warning[" in done.err) == (0, False)


def test_an_ontology_that_is_added(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", PLAIN)
    prefixes = "@prefix : <http://e.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."
    rdfs = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    (tmp_path / "o.ttl").write_text(f"{prefixes} {rdfs} :A rdfs:subClassOf [ a owl:Class ; owl:unionOf ( :B :C ) ] .\n")
    done = everlog_command("rules", "kb", "--add", "o.ttl", "--warnings", "error")
    assert (done.status, Store.open(tmp_path / "kb").version) == (1, 0)
    assert "warning[untranslated]" in done.err
    assert "o.ttl" in done.err


def test_materialise(everlog_command: CommandLine, tmp_path: Path, spark: object) -> None:
    (tmp_path / "r.rls").write_text(RULES + "free(?x) :- edge(?x, _), ~blocked(?x) .\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "edge.csv").write_text("1,2\n")
    (tmp_path / "in" / "wieght.csv").write_text("1\n")
    (tmp_path / "in" / "blocked.csv").write_text("")
    (tmp_path / "other.nt").write_text("<http://e.org/a> <http://e.org/unread> <http://e.org/b> .\n")
    common = ("materialise", "r.rls", "--facts", "in", "--facts", "other.nt", "--store")
    done = everlog_command(*common, "kb", "--warnings", "error")
    assert done.status == 1
    assert done.err.count("warning[") == 1
    assert "warning[no-facts]: no rule and no fact gives `weight`" in done.err
    assert "did you mean `wieght`, which has facts that no rule reads?" in done.err
    assert not (tmp_path / "kb").exists()
    (tmp_path / "in" / "wieght.csv").rename(tmp_path / "in" / "weight.csv")
    done = everlog_command(*common, "kb", "--warnings", "error")
    assert (done.status, "warning[" in done.err) == (0, False)
    statistics = Store.open(tmp_path / "kb").info().statistics
    assert statistics["kinds"] == {"edge/2": [8, 8], "weight/1": [8], "blocked/1": [0]}
    kb = everlog.open(tmp_path / "kb")
    with pytest.warns(everlog.EverlogWarning, match="never-joined"):
        kb.update(insert={"blocked": [("a",)]})
