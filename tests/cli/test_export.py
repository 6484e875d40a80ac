"""Exported facts can be read again; facts that cannot be written are an error, or are counted with an option."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph
import pytest

import everlog
from everlog.lang.terms import Value, text_of
from everlog.owl import program_of
from everlog.owl.programs import Profile
from everlog.query.cells import ntriples_terms
from tests.cli.running import CommandLine, saved


def test_csv(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    done = everlog_command("export", family, "--output", "out", "--on-error", "skip")
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
    args = ("export", family, "--format", "parquet", "--output", "out")
    refused = everlog_command(*args)
    assert (refused.status, "not-writable" in refused.err) == (1, True)
    assert not (tmp_path / "out").exists()
    assert everlog_command(*args, "--on-error", "skip").status == 0
    assert pq.read_table(tmp_path / "out" / "parent.parquet").to_pydict() == {
        "c0": ["ann", "bob"],
        "c1": ["bob", "cid"],
    }


def test_ntriples(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    refused = everlog_command("export", family, "--format", "nt", "--output", "out.nt")
    assert (refused.status, "not-writable" in refused.err) == (1, True)
    assert not (tmp_path / "out.nt").exists()
    done = everlog_command("export", family, "--format", "nt", "--output", "out.nt", "--on-error", "skip")
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
    on_stdout = everlog_command("export", family, "--format", "nt", "--on-error", "skip", "--quiet")
    assert on_stdout.out == (tmp_path / "out.nt").read_text()


TURTLE = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:A rdfs:subClassOf :B ; rdfs:label "a \\"quoted\\"\\nline"@en . :p rdfs:domain :A .
:x :p :y , _:b . _:b :q 1 , 1.50 , "e"^^:d .
"""


@pytest.mark.parametrize("form", ["nt", "ttl"])
@pytest.mark.parametrize("profile", ["rl", "rdfs", "lower"])
def test_triples_can_be_read_again(everlog_command: CommandLine, tmp_path: Path, profile: Profile, form: str) -> None:
    """An export has the triples of the store, no relations of the profile's own, and reading it gives them again."""
    (tmp_path / "data.ttl").write_text(TURTLE)
    kb = everlog.KnowledgeBase(program_of(tmp_path / "data.ttl", profile).program)
    kb.save(tmp_path / "kb")
    expected = triples(kb)
    assert len(expected) > 4
    out = tmp_path / f"out.{form}"
    done = everlog_command("export", "kb", "--format", form, "--output", out)
    assert done.status == 0, done.err
    found = {(str(t.subject), str(t.predicate), str(t.object)) for t in pyoxigraph.parse(path=str(out))}
    assert found == expected
    assert "urn:everlog:" not in out.read_text().replace("@prefix everlog: <urn:everlog:>", "")
    assert f"wrote {len(expected):,} facts" in done.err
    assert ("derived, but RDF has no triple" in done.err) == (profile != "lower")


def triples(kb: everlog.KnowledgeBase) -> set[tuple[str, str, str]]:
    """The triples of RDF among the facts, one by one, in N-Triples."""
    rdf_type = everlog.IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    rows: list[tuple[Value, ...]] = []
    for predicate in kb.predicates:
        name = everlog.IRI(predicate.name.strip("<>"))
        if predicate.name == "triple":
            rows += [row for row in kb[predicate] if isinstance(row[0], everlog.IRI | everlog.BlankNode)]
        elif not name.value.startswith("urn:everlog:"):
            rows += [(row[0], name, row[1]) if len(row) == 2 else (row[0], rdf_type, name) for row in kb[predicate]]
    found = pa.array([text_of(value) for row in rows for value in row], pa.large_string())
    texts = ntriples_terms(found).to_pylist()
    return set(zip(texts[::3], texts[1::3], texts[2::3], strict=True))


def test_a_triple_that_was_given_and_is_none_is_an_error(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", 'triple("s", <http://e.org/p>, 1) . triple(<http://e.org/s>, <http://e.org/p>, 1) .')
    done = everlog_command("export", "kb", "--format", "ttl")
    assert (done.status, done.out, "1 fact of `triple/3`" in done.err) == (1, "", True)
    done = everlog_command("export", "kb", "--format", "ttl", "--on-error", "skip")
    assert (done.status, done.out) == (0, "<http://e.org/s> <http://e.org/p> 1 .\n")


def test_turtle_has_the_prefixes_of_the_rules(everlog_command: CommandLine, family: Path) -> None:
    done = everlog_command("export", family, "--format", "ttl", "--predicate", "ex:Person", "--predicate", "ex:knows",
                           "--on-error", "skip")  # fmt: skip
    assert done.status == 0
    assert "@prefix ex: <http://example.org/> ." in done.out
    assert "ex:a ex:knows ex:b ;\n\ta ex:Person .\n" in done.out


def test_relations_of_a_profile_are_written_if_named(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", "@prefix everlog: <urn:everlog:> . everlog:violation(<http://e.org/a>, cax-dw) .")
    assert everlog_command("export", "kb", "--format", "nt").out == ""
    named = everlog_command("export", "kb", "--format", "nt", "--predicate", "everlog:violation")
    assert named.out == '<http://e.org/a> <urn:everlog:violation> "cax-dw" .\n'


def test_names_that_would_be_the_same_file(everlog_command: CommandLine, tmp_path: Path) -> None:
    saved(tmp_path / "kb", "<http://a/p>(x) . <http://b#P>(x) . p(x) . <http://c/>(x) . <http://a/p>(x, y) .")
    assert everlog_command("export", "kb", "--output", "out").status == 0
    names = sorted(path.name for path in (tmp_path / "out").glob("*.csv"))
    assert names == ["P-4.csv", "c.csv", "p-2.csv", "p-3.csv", "p.csv"]


def test_it_overwrites_nothing(everlog_command: CommandLine, family: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    done = everlog_command("export", family, "--output", "out", "--on-error", "skip")
    assert done.status == 1
    assert "output-exists" in done.err
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "mine"]
    assert everlog_command("export", family).status == 2
    assert everlog_command("export", family, "--format", "nt", "--predicate", "no").status == 1
