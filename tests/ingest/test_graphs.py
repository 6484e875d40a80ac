"""Named graphs are merged, or are the last argument of every fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.ingest.rdf import DEFAULT_GRAPH, blank_prefix
from everlog.ingest.sources import ReadOptions
from everlog.ingest.stage import stage, widest
from everlog.ingest.tasks import IN_PROCESS
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.jobs.update import UpdateJob, update
from everlog.lang.errors import DataError
from tests.ingest.reading import Facts, read_all

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
QUADS = f"""<x:s> <x:p> <x:o> <x:g> .
<x:s> <x:p> <x:o> .
<x:s> {TYPE} <x:C> _:g .
<x:s> <x:p> "\\u0041" <x:g> .
<x:s> {TYPE} <x:C> <x:\\u0067> .
"""
TRIG = """<x:s> <x:p> <x:o> .
<x:g> { <x:s> <x:p> <x:o>, "A" ; a <x:C> }
_:g { <x:s> a <x:C> }
"""
GRAPHS = ReadOptions(graphs=True)


def expected(name: str) -> Facts:
    return [
        ("<x:C>/2", "<x:s>", "<x:g>"),
        ("<x:C>/2", "<x:s>", f"{blank_prefix(name)}g"),
        ("<x:p>/3", "<x:s>", '"A"', "<x:g>"),
        ("<x:p>/3", "<x:s>", "<x:o>", '"default"'),
        ("<x:p>/3", "<x:s>", "<x:o>", "<x:g>"),
    ]


@pytest.mark.parametrize(("name", "text"), [("x.nq", QUADS), ("x.trig", TRIG)])
def test_graphs_are_a_last_argument(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    found, bad = read_all(path, options=GRAPHS)
    assert (sorted(found), bad) == (expected(name), [])
    merged, _ = read_all(path)
    assert set(merged) == {("<x:C>/1", "<x:s>"), ("<x:p>/2", "<x:s>", '"A"'), ("<x:p>/2", "<x:s>", "<x:o>")}


@pytest.mark.parametrize(("name", "text"), [("x.nt", "<x:s> <x:p> <x:o> ."), ("x.ttl", "<x:s> <x:p> <x:o> .")])
def test_formats_without_graphs_have_the_default_one(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_all(tmp_path / name, options=GRAPHS)[0] == [("<x:p>/3", "<x:s>", "<x:o>", DEFAULT_GRAPH)]


def test_triples_with_graphs_have_four_arguments(tmp_path: Path) -> None:
    path = tmp_path / "x.nq"
    path.write_text(QUADS)
    options = ReadOptions(graphs=True, arities={"triple": 4})
    found, _ = read_all(path, options=options)
    assert set(found) == {
        ("triple/4", "<x:s>", TYPE, "<x:C>", "<x:g>"),
        ("triple/4", "<x:s>", TYPE, "<x:C>", f"{blank_prefix('x.nq')}g"),
        ("triple/4", "<x:s>", "<x:p>", '"A"', "<x:g>"),
        ("triple/4", "<x:s>", "<x:p>", "<x:o>", '"default"'),
        ("triple/4", "<x:s>", "<x:p>", "<x:o>", "<x:g>"),
    }


RULES = """
@prefix x: <x:> .
known(?s, ?g) :- x:p(?s, ?o, ?g) .
outside(?s) :- x:p(?s, ?o, default) .
"""


def test_materialise_and_update_with_graphs(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "r.rls").write_text(RULES)
    (tmp_path / "x.nq").write_text(QUADS)
    (tmp_path / "gone.nq").write_text("<x:s> <x:p> <x:o> .\n<x:s> <x:p> <x:o> <x:other> .\n")
    (tmp_path / "new.nq").write_text("<x:t> <x:p> <x:o> <x:h> .\n")
    store = str(tmp_path / "kb")
    materialise(MaterialiseJob(str(tmp_path / "r.rls"), (str(tmp_path / "x.nq"),), store, graphs=True))
    kb = everlog.open(store)
    assert kb.query("outside(?s)").rows() == [(everlog.IRI("x:s"),)]
    job = UpdateJob(store, (str(tmp_path / "new.nq"),), (str(tmp_path / "gone.nq"),), graphs=True)
    change = update(job).change
    assert change.not_explicit == 1
    kb = everlog.open(store)
    assert kb.query("outside(?s)").rows() == []
    named = set(kb.query("known(?s, ?g)").rows())
    assert named == {(everlog.IRI("x:s"), everlog.IRI("x:g")), (everlog.IRI("x:t"), everlog.IRI("x:h"))}


@pytest.mark.parametrize(
    ("rules", "profile"),
    [("q(?x) :- triple(?x, ?y, ?z) .", "lower"), ("q(?x) :- p(?x) .", "rl"), ("q(?x) :- p(?x) .", "skos")],
)
def test_rules_without_a_place_for_graphs_are_refused(tmp_path: Path, rules: str, profile: Any) -> None:
    (tmp_path / "r.rls").write_text(rules)
    (tmp_path / "x.nq").write_text(QUADS)
    job = MaterialiseJob(
        str(tmp_path / "r.rls"), (str(tmp_path / "x.nq"),), str(tmp_path / "kb"), profile=profile, graphs=True
    )
    with pytest.raises(DataError) as caught:
        materialise(job)
    assert [wrong.code for wrong in caught.value.diagnostics] == ["graphs"]
    assert "leave out --graphs" in str(caught.value)
    assert not (tmp_path / "kb").exists()


def test_an_ontology_has_no_place_for_graphs(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text("<x:C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <x:D> .")
    (tmp_path / "x.nq").write_text(QUADS)
    job = MaterialiseJob(str(tmp_path / "o.ttl"), (str(tmp_path / "x.nq"),), str(tmp_path / "kb"), graphs=True)
    with pytest.raises(DataError, match="ontologies and profiles"):
        materialise(job)


def test_an_update_refuses_triples_with_graphs(tmp_path: Path) -> None:
    store = str(tmp_path / "kb")
    everlog.KnowledgeBase("q(?x) :- triple(?x, ?y, ?z) . triple(a, b, c) .").save(store)
    (tmp_path / "x.nq").write_text(QUADS)
    with pytest.raises(DataError, match="with three arguments"):
        update(UpdateJob(store, (str(tmp_path / "x.nq"),), graphs=True))
    assert everlog.open(store)["q"].rows() == [("a",)]


def test_staged_facts_are_as_wide_as_their_graphs_need(tmp_path: Path) -> None:
    from everlog.ingest.sources import resolve
    from everlog.ingest.splits import splits

    path = tmp_path / "x.nq"
    path.write_text(QUADS)
    for options, width in ((ReadOptions(), 2), (GRAPHS, 3), (ReadOptions(graphs=True, arities={"triple": 4}), 4)):
        parts = splits(resolve([str(path)], options), options)
        assert widest(parts, options) == width
        assert stage(IN_PROCESS, parts, options, tmp_path / "work").width == width
