"""What is exported can be read again, and what cannot be written is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pyoxigraph

from tests.cli.running import CommandLine, saved


def test_csv(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    done = everlog_command("export", family, "--output", "out")
    assert done.status == 0
    assert "left out 1 fact: a fact without arguments" in done.err
    assert (tmp_path / "out" / "ancestor.csv").read_text() == "ann,bob\nann,cid\nbob,cid\n"
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    files = {(said["predicate"], said["arity"]): said["file"] for said in manifest["relations"]}
    assert files["<http://example.org/met>", 2] == "met.csv"
    assert files["rainy", 0] is None
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        [*(name for name in files.values() if name), "_manifest.json"]
    )


def test_some_predicates_and_only_explicit_facts(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    everlog_command(
        "export", family, "--output", "out", "--predicate", "parent", "--predicate", "ex:knows", "--explicit"
    )
    assert (tmp_path / "out" / "parent.csv").read_text() == "ann,bob\nbob,cid\n"
    assert (tmp_path / "out" / "knows.csv").read_text() == ""
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_parquet(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    assert everlog_command("export", family, "--format", "parquet", "--output", "out").status == 0
    assert pq.read_table(tmp_path / "out" / "parent.parquet").to_pydict() == {
        "c0": ["ann", "bob"],
        "c1": ["bob", "cid"],
    }


def test_ntriples(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    done = everlog_command("export", family, "--format", "nt", "--output", "out.nt")
    assert done.status == 0
    triples = list(pyoxigraph.parse(path=str(tmp_path / "out.nt")))
    named = {(t.subject.value, t.predicate.value.rpartition("/")[2], t.object.value) for t in triples}
    ex = "http://example.org/"
    assert (f"{ex}a", "22-rdf-syntax-ns#type", f"{ex}Person") in named
    assert (f"{ex}b", "met", 'a "quoted"\nline') in named
    assert (f"{ex}b", "knows", "42") in named
    assert len(triples) == 3 + 3 + 2
    assert "left out 3 facts: the first argument is neither an IRI nor a blank node" in done.err
    assert "left out 7 facts: the predicate is not an IRI" in done.err
    on_stdout = everlog_command("export", family, "--format", "nt", "--quiet")
    assert on_stdout.out == (tmp_path / "out.nt").read_text()


def test_names_that_would_be_the_same_file(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", "<http://a/p>(x) . <http://b#P>(x) . p(x) . <http://c/>(x) . <http://a/p>(x, y) .")
    assert everlog_command("export", "kb", "--output", "out").status == 0
    names = sorted(path.name for path in (tmp_path / "out").glob("*.csv"))
    assert names == ["P-4.csv", "c.csv", "p-2.csv", "p-3.csv", "p.csv"]


def test_it_overwrites_nothing(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    done = everlog_command("export", family, "--output", "out")
    assert done.status == 1
    assert "output-exists" in done.err
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "mine"]
    assert everlog_command("export", family).status == 2
    assert everlog_command("export", family, "--format", "nt", "--predicate", "no").status == 1
