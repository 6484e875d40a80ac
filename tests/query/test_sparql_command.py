"""``everlog sparql``: answers in every format, updates of stores."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import everlog
from tests.cli.running import CommandLine, saved


@pytest.fixture
def command(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    return CommandLine(capfdbinary)


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("family") / "kb")


PARENTS = "SELECT ?x ?y ?z { ?x everlog:parent ?y OPTIONAL { ?y everlog:parent ?z } } ORDER BY ?x"


def test_a_table(command: CommandLine, family: Path) -> None:
    done = command("sparql", family, PARENTS)
    assert done.status == 0
    assert done.out.splitlines() == ["x    y    z", "---  ---  ---", "ann  bob  cid", "bob  cid  "]
    assert "2 answers" in done.err


def test_standard_formats(command: CommandLine, family: Path) -> None:
    assert command("sparql", family, PARENTS, "--format", "csv").out == "x,y,z\r\nann,bob,cid\r\nbob,cid,\r\n"
    assert (
        command("sparql", family, PARENTS, "--format", "tsv", "--limit", "1").out == '?x\t?y\t?z\n"ann"\t"bob"\t"cid"\n'
    )
    found = json.loads(command("sparql", family, PARENTS, "--format", "json").out)
    assert found["head"] == {"vars": ["x", "y", "z"]}
    assert found["results"]["bindings"][1] == {
        "x": {"type": "literal", "value": "bob"},
        "y": {"type": "literal", "value": "cid"},
    }
    assert "<result><binding name=" in command("sparql", family, PARENTS, "--format", "xml").out


def test_truth_and_triples(command: CommandLine, family: Path) -> None:
    assert command("sparql", family, "ASK { 'ann' everlog:ancestor 'cid' }").out == "true\n"
    construct = "CONSTRUCT { ?x ex:met ?y } { ?x ex:met ?y FILTER(isIRI(?y)) }"
    assert command("sparql", family, construct, "--format", "nt").out == (
        "<http://example.org/a> <http://example.org/met> <http://example.org/b> .\n"
    )
    assert "ex:a ex:met ex:b" in command("sparql", family, construct).out


def test_files(command: CommandLine, family: Path) -> None:
    done = command("sparql", family, PARENTS, "--format", "parquet", "--output", "a.parquet")
    assert (done.status, done.out) == (0, "")
    assert pq.read_table("a.parquet").to_pydict() == {"x": ["ann", "bob"], "y": ["bob", "cid"], "z": ["cid", None]}


def test_errors(command: CommandLine, family: Path) -> None:
    done = command("sparql", family, "SELECT ?x { ?x a\n FITLER }")
    assert done.status == 1
    assert "error[sparql-syntax]" in done.err
    assert "<query>:" in done.err
    assert command("sparql", family, "CLEAR ALL").status == 2
    assert command("sparql", family, "ASK {}", "--update", "--at", "0").status == 2
    assert command("sparql", family, "SELECT * {}", "--format", "nt").status == 1


def test_an_update_is_a_version(command: CommandLine, tmp_path: Path) -> None:
    store = saved(tmp_path / "kb")
    done = command("sparql", store, "INSERT DATA { 'cid' everlog:parent 'dan' }", "--update")
    assert done.status == 0
    assert done.out.splitlines()[:3] == [
        f"store      {store}, version 1, new",
        "explicit   +1 -0",
        "facts      +4 -0",
    ]
    query = "SELECT (COUNT(*) AS ?n) { ?x everlog:ancestor ?y }"
    assert command("sparql", store, query, "--format", "csv").out == "n\r\n6\r\n"
    assert command("sparql", store, query, "--format", "csv", "--at", "0").out == "n\r\n3\r\n"
    done = command("sparql", store, "DELETE DATA { 'cid' everlog:parent 'nobody' }", "--update")
    assert "version 1, not changed" in done.out
    assert "1 deletion did nothing" in done.out
    assert len(everlog.open(store)["ancestor"]) == 6


def test_a_failed_update_leaves_the_store(command: CommandLine, tmp_path: Path) -> None:
    store = saved(tmp_path / "kb")
    done = command(
        "sparql", store, "INSERT DATA { 'x' everlog:parent 'y' } ; INSERT DATA { 'x' a everlog:parent }", "--update"
    )
    assert done.status == 1
    assert len(everlog.open(store)["parent"]) == 2


def test_relative_iris_are_resolved_with_the_base(command: CommandLine, family: Path) -> None:
    query = "SELECT ?y { <a> <met> ?y FILTER(isIRI(?y)) }"
    assert command("sparql", family, query, "--base", "http://example.org/", "--format", "csv").out == (
        "y\r\nhttp://example.org/b\r\n"
    )


def test_a_graph_that_is_not_there_is_told(command: CommandLine, family: Path) -> None:
    done = command("sparql", family, "SELECT ?g { GRAPH ?g { ?x ?p ?y } }")
    assert done.status == 0
    assert "warning[no-named-graphs]: GRAPH ?g matches nothing" in done.err


def test_an_update_of_a_named_graph_changes_nothing(command: CommandLine, tmp_path: Path) -> None:
    store = saved(tmp_path / "named")
    done = command("sparql", store, "INSERT DATA { GRAPH ex:g { ex:a ex:met ex:z } }", "--update")
    assert (done.status, "error[one-graph]" in done.err) == (1, True)
    reopened = everlog.open(store).saved
    assert reopened is not None
    assert reopened.version == 0
