"""Violations are counted in every summary, and listed by a command of their own."""

from __future__ import annotations

import json
from pathlib import Path

import everlog
from everlog.owl import program_of
from tests.cli.running import CommandLine, saved
from tests.owl.ontologies import turtle

LINE = "violations 1{} (everlog violations kb)\n"


def test_they_are_counted_and_listed(everlog_command: CommandLine, tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase(program_of(turtle(tmp_path, ":Cat owl:disjointWith :Dog . :tom a :Cat .")).program)
    kb.save(tmp_path / "kb")
    assert "violations" not in everlog_command("stats", "kb").out.replace("everlog:violation", "")
    assert everlog_command("violations", "kb", "--format", "csv").out == "what,axiom\n"
    turtle(tmp_path, ":tom a :Dog .", "more.ttl")
    done = everlog_command("update", "kb", "--insert", "more.ttl", "--dry-run")
    assert LINE.format(", +1 -0") in done.out
    done = everlog_command("update", "kb", "--insert", "more.ttl", "--json-logs")
    assert LINE.format(", +1 -0") in done.out
    assert json.loads(done.err.splitlines()[-1])["violations"] == 1
    assert LINE.format("") in everlog_command("stats", "kb").out
    assert json.loads(everlog_command("stats", "kb", "--json").out)["violations"] == 1
    (tmp_path / "own.rls").write_text("@prefix e: <http://e.org/> . pet(?x) :- e:Cat(?x) .")
    assert LINE.format("") in everlog_command("rules", "kb", "--add", "own.rls").out
    done = everlog_command("violations", "kb")
    assert "<http://e.org/tom>  DisjointClasses(:Cat :Dog)" in done.out
    assert "1 violation" in done.err
    assert everlog_command("violations", "kb", "--at", "0", "--format", "csv").out == "what,axiom\n"
    explained = everlog_command("explain", "kb", "everlog:violation(?what, ?axiom)")
    assert explained.status == 0
    done = everlog_command("update", "kb", "--delete", "more.ttl")
    assert "violations 0, +0 -1 (everlog violations kb)\n" in done.out


def test_a_store_without_an_ontology_has_none(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", "p(a) .")
    done = everlog_command("violations", "kb", "--format", "json")
    assert (done.status, done.out, "0 violations" in done.err) == (0, "", True)
