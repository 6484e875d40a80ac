"""``everlog owl``, and ontologies as rules of other commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from everlog.ingest.triples import as_triples
from everlog.lang.parser import parse_file
from everlog.owl import program_of
from tests.cli.running import CommandLine
from tests.owl.ontologies import turtle

ONTOLOGY = """
:A rdfs:subClassOf :B , [ owl:onProperty :p ; owl:someValuesFrom :B ] .
:p rdfs:domain :A ; a owl:TransitiveProperty . :x a :A .
"""


def test_prints_the_program(everlog_command: CommandLine, tmp_path: Path) -> None:
    turtle(tmp_path, ONTOLOGY)
    done = everlog_command("owl", "ontology.ttl")
    assert done.status == 0
    assert "% not expressed: SubClassOf(:A SomeValuesFrom(:p :B))\n%   something unnamed follows to exist" in done.out
    assert "% SubClassOf(:A :B)\n:B(?x) :- :A(?x) .\n" in done.out
    assert "3 rules, 1 fact; 1 axiom not expressed, 0 not wholly" in done.err
    (tmp_path / "printed.rls").write_text(done.out)
    translation = program_of("ontology.ttl")
    assert parse_file("printed.rls").rules == translation.program.rules
    assert parse_file("printed.rls").facts == translation.facts


def test_profiles_and_equality(everlog_command: CommandLine, tmp_path: Path) -> None:
    turtle(tmp_path, ONTOLOGY + ":p a owl:FunctionalProperty .")
    assert "urn:everlog:some" not in everlog_command("owl", "ontology.ttl").out
    assert "everlog:some" in everlog_command("owl", "ontology.ttl", "--profile", "upper").out.replace("urn:", "")
    same = "owl:sameAs(?x, ?y) :- :p(?z, ?x), :p(?z, ?y) ."
    for equality, axioms in (("off", 0), ("rules", 1), ("representatives", 0)):
        printed = everlog_command("owl", "ontology.ttl", "--equality", equality).out
        assert (same in printed) == (equality != "off")
        assert printed.count("owl:sameAs(?y, ?x) :- owl:sameAs(?x, ?y) .") == axioms
    for profile in ("rl", "rdfs", "skos"):
        assert everlog_command("owl", "--profile", profile).status == 0


def test_wrong_usage_and_wrong_files(everlog_command: CommandLine, tmp_path: Path) -> None:
    assert everlog_command("owl").status == 2
    assert everlog_command("owl", "x.ttl", "--profile", "dl").status == 2
    missing = everlog_command("owl", "x.ttl")
    assert (missing.status, "no-such-file" in missing.err) == (1, True)
    (tmp_path / "bad.ttl").write_text("oops")
    bad = everlog_command("owl", "bad.ttl")
    assert (bad.status, "bad.ttl:1" in bad.err, bad.out) == (1, True, "")


@pytest.mark.spark
def test_materialise(everlog_command: CommandLine, tmp_path: Path) -> None:
    """Ontologies and rules in one command, also with the rules over triples, before and after an update."""
    turtle(tmp_path, ONTOLOGY)
    turtle(tmp_path, ":B rdfs:subClassOf :C .", "more.owl.ttl")
    (tmp_path / "own.rls").write_text("@prefix e: <http://e.org/> . found(?x) :- e:C(?x) .")
    data = turtle(tmp_path, ":y :p :z . :z :p :w .", "data.ttl")
    done = everlog_command(
        "materialise", "ontology.ttl", "own.rls", "more.owl.ttl", "--facts", "data.ttl", "--store", "kb"
    )
    assert done.status == 0, done.err
    assert "an axiom is not expressed" in done.err
    asked = everlog_command("query", "kb", "found(?x)", "--format", "csv")
    assert asked.out.split() == ["x", *(f"<http://e.org/{name}>" for name in "xyz")]

    done = everlog_command(
        "materialise", "ontology.ttl", "--profile", "rl", "--facts", "data.ttl", "--store", "triples", "--quiet"
    )
    assert done.status == 0, done.err
    query = "triple(?x, rdf:type, <http://e.org/B>)"
    assert everlog_command("query", "triples", query, "--format", "csv").out.count("\n") == 4
    shutil.move(data, tmp_path / "gone.ttl")
    done = everlog_command("update", "triples", "--delete", "gone.ttl", "--quiet")
    assert done.status == 0, done.err
    assert everlog_command("query", "triples", query, "--format", "csv").out.split() == ["x", "<http://e.org/x>"]


@pytest.mark.spark
def test_two_values_of_a_functional_property_under_rl(everlog_command: CommandLine, tmp_path: Path) -> None:
    """Two values are reported and not equated, both in the first facts and in an update."""
    turtle(tmp_path, ":age a owl:FunctionalProperty . :ann :age 30 , 31 . :tea :degrees 30 . :bob :age 7 .")
    done = everlog_command("materialise", "ontology.ttl", "--profile", "rl", "--store", "kb", "--quiet")
    assert done.status == 0, done.err
    assert "\nviolations 1 (everlog violations kb)\n" in done.out
    turtle(tmp_path, ":bob :age 8 .", "more.ttl")
    done = everlog_command("update", "kb", "--insert", "more.ttl", "--quiet")
    assert (done.status, "\nviolations 2, +1 -0 (everlog violations kb)\n" in done.out) == (0, True)
    assert everlog_command("query", "kb", "triple(31, owl:sameAs, 30)").out == "false\n"
    exported = everlog_command("export", "kb", "--format", "ttl", "--quiet").out
    assert (":tea" in exported, "<http://e.org/tea>" in exported) == (True, False)
    refused = everlog_command("rules", "kb", "--add", "more.ttl")
    assert (refused.status, "ontology-is-facts" in refused.err) == (1, True)
    assert everlog_command("query", "kb", "triple(<http://e.org/tea>, ?p, 31)", "--format", "csv").out == "p\n"
    found = everlog_command("query", "kb", "everlog:violation(?x, ?rule)", "--format", "csv").out
    assert found == "x,rule\n<http://e.org/ann>,prp-fp\n<http://e.org/bob>,prp-fp\n"


def test_materialise_needs_rules_or_a_program_of_its_own(everlog_command: CommandLine) -> None:
    done = everlog_command("materialise", "--facts", "data.ttl", "--store", "kb")
    assert (done.status, "RULES" in done.err) == (2, True)


@pytest.mark.parametrize("types", [[None, None], [None, '"v"'], ['"u"', '"v"']])
def test_facts_as_triples(types: list[str | None]) -> None:
    predicates = ["<p>/1" if value is None else "<p>/2" for value in types]
    batch = pa.record_batch({"predicate": predicates, "c0": ["<a>", "<b>"], "c1": pa.array(types, pa.large_string())})
    rdf_type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    expected = [
        ("triple/3", subject, rdf_type, "<p>") if value is None else ("triple/3", subject, "<p>", value)
        for subject, value in zip(["<a>", "<b>"], types, strict=True)
    ]
    assert [tuple(row.values()) for row in as_triples(batch).to_pylist()] == expected
