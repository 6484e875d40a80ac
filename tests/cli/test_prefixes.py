"""Prefixes that files of facts declare are kept, and used in output and queries."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import everlog
from everlog import KnowledgeBase, RuleError
from everlog.ingest.prefixes import declared_prefixes
from everlog.ingest.sources import ReadOptions, resolve
from everlog.store import Store
from tests.cli.running import CommandLine

RULES = "@prefix ex: <http://rules.org/> . <http://d.org/old>(?x) :- <http://d.org/age>(?x, _), ~ex:young(?x) ."
TURTLE = """# comment
@prefix : <http://d.org/> .
PREFIX ppl: <http://d.org/people/>
@prefix ex: <http://other.org/> .
@prefix rel: <#> .
ppl:ann :age 90 ; ex:likes "@prefix no: <http://no.org/> ." .
"""
XML = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:größe="http://g.org/"
  xmlns='http://d.org/'><rdf:Description rdf:about="http://d.org/people/bob"><age>91</age></rdf:Description></rdf:RDF>"""


def test_what_files_declare(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE)
    (tmp_path / "b.rdf.gz").write_bytes(gzip.compress(XML.encode()))
    (tmp_path / "c.ttl.gz").write_bytes(b"not compressed")
    (tmp_path / "d.ttl").write_text("@prefix ppl: <http://later.org/> .")
    assert declared_prefixes(resolve([str(tmp_path)], ReadOptions())) == {
        "": "http://d.org/",
        "ppl": "http://d.org/people/",
        "ex": "http://other.org/",
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "größe": "http://g.org/",
    }


def test_explanations_and_queries_use_the_prefixes_of_the_data(everlog_command: CommandLine, tmp_path: Path) -> None:
    place = tmp_path / "kb"
    KnowledgeBase(RULES).save(place)
    (tmp_path / "a.ttl").write_text(TURTLE)
    (tmp_path / "b.rdf").write_text(XML)
    assert everlog_command("update", place, "--insert", tmp_path / "a.ttl").status == 0
    assert everlog_command("update", place, "--insert", tmp_path / "b.rdf").status == 0
    assert everlog_command("compact", place).status == 0
    shown = everlog_command("explain", place, ":old(ppl:ann)").out
    assert ":old(ppl:ann)" in shown
    assert ":age(ppl:ann, 90)" in shown
    assert "<http://d.org/" not in shown
    kb = everlog.open(place)
    assert kb.prefixes["ex"] == "http://rules.org/", "the rules keep their names"
    assert kb.query("<http://other.org/likes>(?x, _)").rows() == kb.query(":age(?x, 90)").rows()
    assert len(kb[":old"]) == 2
    assert kb.sparql("SELECT ?x { ?x :age '91' }").rows() == [(everlog.IRI("http://d.org/people/bob"),)]
    assert ":age/2 2" in repr(kb)
    assert "@prefix ppl: <http://d.org/people/> ." in everlog_command("export", place, "--format", "ttl").out
    changed = everlog_command("changes", place, "--predicate", ":old", "--format", "csv").out
    assert changed.count("http://d.org/people/") == 2


def test_prefixes_of_the_data_hold_in_no_rule_and_no_cell(everlog_command: CommandLine, tmp_path: Path) -> None:
    place = tmp_path / "kb"
    KnowledgeBase(RULES).save(place)
    (tmp_path / "a.ttl").write_text(TURTLE)
    (tmp_path / "name.csv").write_text("ppl:ann\nex:ann\n")
    for file in ("a.ttl", "name.csv"):
        assert everlog_command("update", place, "--insert", tmp_path / file).status == 0
    kb = everlog.open(place)
    assert kb["name"].rows() == [("ppl:ann",), (everlog.IRI("http://rules.org/ann"),)]
    with pytest.raises(RuleError, match="undeclared-prefix"):
        kb.change_rules(add="ppl:p(?x) :- name(?x) .")
    assert "ppl" not in kb.rules


def test_prefixes_are_saved_with_a_knowledge_base_and_replaced_with_its_facts(tmp_path: Path) -> None:
    kb = KnowledgeBase("p(<http://d.org/a>) .")
    kb.declare({"d": "http://d.org/"})
    kb.declare({"d": "http://second.org/", "e": "http://e.org/"})
    kb.save(tmp_path / "kb")
    assert everlog.open(tmp_path / "kb").prefixes == {"d": "http://d.org/", "e": "http://e.org/"}
    assert "p(d:a)" in str(everlog.open(tmp_path / "kb").explain("p(?x)"))
    KnowledgeBase("p(a) .").save(tmp_path / "kb", overwrite=True)
    assert Store.open(tmp_path / "kb").info().prefixes == {}
    assert everlog.open(tmp_path / "kb", 0).prefixes["d"] == "http://d.org/"


def test_a_file_that_is_loaded_in_python_brings_its_prefixes(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(TURTLE)
    kb = KnowledgeBase(RULES)
    kb.load(str(tmp_path / "a.ttl"))
    assert ":old(ppl:ann)" in str(kb.explain(":old(?x)"))
