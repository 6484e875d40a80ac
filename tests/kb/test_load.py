"""``kb.load`` reads every kind of fact file, as the command line does."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import everlog
from everlog.lang.errors import DataError, EverlogWarning

E = "http://e.org/"
TRIPLES = f"<{E}a> <{E}p> <{E}b> .\n<{E}a> a <{E}C> .\n"


def test_rdf(tmp_path: Path) -> None:
    for name in ("one.ttl", "two.nt", "three.trig"):
        (tmp_path / name).write_text(TRIPLES.replace(" a ", " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "))
        kb = everlog.KnowledgeBase(f"@prefix e: <{E}> . e:D(?x) :- e:C(?x) .")
        assert kb.load(tmp_path / name) == 2
        assert kb["e:p"].rows() == [(everlog.IRI(f"{E}a"), everlog.IRI(f"{E}b"))]
        assert len(kb["e:D"]) == 1
    relative = tmp_path / "relative.ttl.gz"
    relative.write_bytes(gzip.compress(b"<x> <p> <y> ."))
    kb = everlog.KnowledgeBase()
    assert kb.load(str(relative), base=E) == 1
    assert kb[f"<{E}p>"].rows() == [(everlog.IRI(f"{E}x"), everlog.IRI(f"{E}y"))]


def test_rules_over_triples_get_triples(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(TRIPLES)
    kb = everlog.KnowledgeBase("", profile="rdfs")
    kb.load(tmp_path / "data.ttl")
    assert len(kb.query(f"triple(<{E}p>, rdf:type, rdf:Property)")) == 1


def test_tables(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("src,dst\na,1\nb,007\n")
    kb = everlog.KnowledgeBase()
    assert kb.load(tmp_path / "edge.csv", header=True) == 2
    assert kb["edge"].rows() == [("a", 1), ("b", "007")]
    assert kb.load(tmp_path / "edge.csv", "text", header=True, types="string") == 2
    assert kb["text"].rows() == [("a", "1"), ("b", "007")]
    assert kb.load(f"{tmp_path / 'edge.csv'}[dst, src]", "back", header=True) == 2
    assert (1, "a") in kb["back"]
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "n.parquet")
    assert kb.load(tmp_path / "n.parquet") == 2
    assert kb["n"].rows() == [(1,), (2,)]


def test_a_load_is_repaired_like_an_insertion(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\n")
    kb = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    kb.insert("edge", [("b", "c")])
    assert len(kb["path"]) == 1
    kb.load(tmp_path / "edge.csv")
    assert kb["path"].rows() == [("a", "b"), ("a", "c"), ("b", "c")]


def test_bad_rows_are_an_error_or_left_out_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\nc\nd,e\n")
    kb = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) .")
    with pytest.raises(DataError, match="bad-row"):
        kb.load(tmp_path / "edge.csv")
    assert kb["edge"].rows() == []
    with pytest.warns(EverlogWarning, match="1 bad row of .*edge.csv left out"):
        assert kb.load(tmp_path / "edge.csv", on_error="skip") == 2
    assert len(kb["path"]) == 2


def test_a_wrong_arity_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b,c\n")
    kb = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) .")
    with pytest.raises(DataError):
        kb.load(tmp_path / "edge.csv")
    assert kb["edge"].rows() == []
