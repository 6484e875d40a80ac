"""``--equality`` on the command line: from an ontology to a store, through updates, and back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.lang.terms import text_of
from everlog.owl import program_of
from tests.cli.running import CommandLine, Done
from tests.owl.ontologies import EX, PREFIXES, turtle
from tests.reasoning.equality.test_representatives import OWL, facts

pytestmark = pytest.mark.spark

ONTOLOGY = """
:mother a owl:FunctionalProperty ; rdfs:range :Woman . :Woman rdfs:subClassOf :Person .
:ancestor a owl:TransitiveProperty . :mother rdfs:subPropertyOf :ancestor .
:ann :mother :eve .
"""
DATA = ":ann :mother :eva . :eva :mother :mia . :eve :mother :mim . :mia owl:sameAs :mary . :bob :mother :liz ."
Facts = dict[str, set[tuple[Any, ...]]]
QUERY = "SELECT ?x { <http://e.org/ann> <http://e.org/ancestor> ?x }"


@pytest.fixture
def run(everlog_command: CommandLine, tmp_path: Path) -> CommandLine:
    """The command line, with a store ``kb`` of an ontology and data."""
    turtle(tmp_path, ONTOLOGY)
    turtle(tmp_path, DATA, "data.ttl")
    turtle(tmp_path, ":ann :mother :eve . :nobody :mother :nothing .", "gone.ttl")
    turtle(tmp_path, ":bob :mother :lizzy .", "more.ttl")
    arguments = ("--facts", "data.ttl", "--equality", "representatives")
    succeeds(everlog_command("materialise", "ontology.ttl", *arguments, "--store", "kb"))
    return everlog_command


def succeeds(done: Done) -> Done:
    assert done.status == 0, done.err
    return done


def expected(tmp_path: Path, data: str) -> everlog.KnowledgeBase:
    """The facts that the axioms of equality derive as rules."""
    path = turtle(tmp_path, data, "expected.ttl")
    return everlog.KnowledgeBase(program_of([tmp_path / "ontology.ttl", path], equality="rules").program)


def test_from_an_ontology_through_updates_and_back(run: CommandLine, tmp_path: Path) -> None:
    kb = everlog.open(tmp_path / "kb")
    assert kb.equality == "representatives"
    first = facts(expected(tmp_path, DATA))
    assert facts(kb) == first
    assert f"{sum(map(len, first.values())):,} facts follow from" in succeeds(run("verify", "kb")).out
    asked = succeeds(run("query", "kb", "<http://e.org/Person>(?x)", "--format", "csv")).out.split()
    assert asked == ["x", *(f"<{EX}{name}>" for name in ("eva", "eve", "liz", "mary", "mia", "mim"))]

    dry = succeeds(run("update", "kb", "--delete", "gone.ttl", "--dry-run"))
    update = succeeds(run("update", "kb", "--delete", "gone.ttl", "--insert", "more.ttl", "--algorithm", "bfc"))
    assert "reasoning again over representatives" in update.err
    assert "version 0, not changed" in dry.out
    assert "explicit   +1 -1; 1 deletion did nothing" in update.out

    (tmp_path / "ontology.ttl").write_text(PREFIXES + ONTOLOGY.replace(":ann :mother :eve .", ""))
    second = facts(expected(tmp_path, DATA + ":bob :mother :lizzy ."))
    assert facts(everlog.open(tmp_path / "kb")) == second != first
    assert facts(everlog.open(tmp_path / "kb", 0)) == first
    succeeds(run("verify", "kb"))
    assert_changes(run, first, second)
    now = run("sparql", "kb", QUERY, "--format", "csv").out.split()[1:]
    before = run("sparql", "kb", QUERY, "--format", "csv", "--at", "0").out.split()[1:]
    assert sorted(now) == [f"{EX}{name}" for name in ("eva", "mary", "mia")]
    assert sorted(before) == [f"{EX}{name}" for name in ("eva", "eve", "mary", "mia", "mim")]


def assert_changes(run: CommandLine, first: Facts, second: Facts) -> None:
    """Check that the changes of version 1 are exactly the difference of the facts."""
    lines = [json.loads(line) for line in run("changes", "kb", "--format", "json").out.splitlines()]
    reported = {(line["change"], line["predicate"], tuple(line["arguments"])) for line in lines}
    assert len(reported) == len(lines)
    pairs = (("+", second, first), ("-", first, second))
    assert reported == {
        (sign, name.rpartition("/")[0], tuple(map(text_of, row)))
        for sign, one, other in pairs
        for name in one
        for row in one[name] - other.get(name, set())
    }


def test_every_algorithm(run: CommandLine, tmp_path: Path) -> None:
    turtle(tmp_path, ":mia owl:sameAs :mary .", "same.ttl")
    after = facts(expected(tmp_path, DATA.replace(":mia owl:sameAs :mary .", ":bob :mother :lizzy .")))
    for algorithm in ("auto", "dredc", "bfc", "fbf", "dred", "counting", "rematerialise"):
        shutil.copytree(tmp_path / "kb", tmp_path / algorithm)
        update = ("update", algorithm, "--algorithm", algorithm, "--quiet")
        succeeds(run(*update, "--delete", "gone.ttl"))
        succeeds(run("compact", algorithm, "--quiet"))
        succeeds(run(*update, "--insert", "more.ttl", "--insert", "gone.ttl", "--delete", "same.ttl"))
        turtle(tmp_path, ":nobody :mother :nothing .", "nobody.ttl")
        succeeds(run(*update, "--delete", "nobody.ttl"))
        succeeds(run("verify", algorithm))
        assert facts(everlog.open(tmp_path / algorithm)) == after


def test_a_sparql_update(run: CommandLine) -> None:
    done = succeeds(run("sparql", "kb", "--update", "DELETE DATA { :mia owl:sameAs :mary }"))
    assert "version 1, new" in done.out
    succeeds(run("verify", "kb"))
    assert run("sparql", "kb", "ASK { :mary a :Person }").out.split() == ["false"]
    assert run("sparql", "kb", "ASK { :mary a :Person }", "--at", "0").out.split() == ["true"]


def test_rule_files(everlog_command: CommandLine, tmp_path: Path) -> None:
    rules = "owl:sameAs(?x, ?y) :- key(?x, ?k), key(?y, ?k) . r(?x) :- q(?x, ?y), q(?y, ?x) ."
    (tmp_path / "own.rls").write_text(OWL + rules)
    (tmp_path / "key.csv").write_text("a,1\nb,1\nc,2\n")
    (tmp_path / "q.csv").write_text("a,d\nd,b\n")
    facts_given = ("--facts", "key.csv", "--facts", "q.csv")
    equality = ("--equality", "representatives", "--maintain", "counting", "--store", "kb")
    succeeds(everlog_command("materialise", "own.rls", *facts_given, *equality))
    assert everlog_command("query", "kb", "r(?x)", "--format", "csv").out.split() == ["x", "a", "b", "d"]
    succeeds(everlog_command("verify", "kb"))
    done = succeeds(everlog_command("stats", "kb", "--json"))
    assert json.loads(done.out)["reasoning"]["equality"] == "representatives"


def test_a_task_of_spark_repairs_representatives(run: CommandLine, tmp_path: Path) -> None:
    """One task opens the store as a whole; the classes of equal terms cannot be distributed."""
    update = ("update", "kb", "--insert", "more.ttl", "--engine", "spark")
    distributed = run(*update, "--spark-local-finish", "0")
    assert (distributed.status, "too-much-for-spark" in distributed.err) == (1, True)
    succeeds(run(*update))
    succeeds(run("verify", "kb"))
    assert facts(everlog.open(tmp_path / "kb")) == facts(expected(tmp_path, DATA + ":bob :mother :lizzy ."))


def test_what_is_refused(run: CommandLine, tmp_path: Path) -> None:
    base = ("materialise", "ontology.ttl", "--equality", "representatives", "--store", "no")
    assert "representatives-on-spark" in run(*base, "--engine", "spark").err
    assert "representatives-of-triples" in run(*base, "--profile", "rdfs").err
    (tmp_path / "own.rls").write_text(OWL + "owl:sameAs(?x, ?y) :- p(?x, ?y), ~q(?x, ?y) .")
    refused = run("materialise", "own.rls", "--equality", "representatives", "--store", "no")
    assert (refused.status, "equality-through-negation" in refused.err) == (1, True)
    assert run("materialise", "own.rls", "--equality", "maybe", "--store", "no").status == 2
    assert not (tmp_path / "no").exists()
