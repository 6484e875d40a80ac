"""Malformed files of every format are reported with place, reason and hint, or bad rows are left out and counted."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import everlog
from everlog.ingest.sources import ReadOptions, resolve
from everlog.ingest.splits import large_files, splits
from everlog.ingest.stage import Staged, stage
from everlog.ingest.tasks import IN_PROCESS
from everlog.jobs.update import UpdateJob, update
from everlog.lang.errors import DataError

XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">
<e:C rdf:about="http://e.org/a"/>
{}
"""


@dataclass(frozen=True)
class Case:
    """A file with one mistake: its place, the message, and the number of facts without it."""

    name: str
    text: str | bytes
    line: int | None
    reason: str
    rest: int

    @property
    def data(self) -> bytes:
        return self.text if isinstance(self.text, bytes) else self.text.encode()


NOT_READ = "; the rest of the file is not read"
CASES = [
    Case("p.csv", "a,b\nc\nd,e\n", 2, "the row has 1 cell, 2 were expected", 2),
    Case("p.csv", 'a,b\nc,"d"e\nf,g\n', 2, "text after the closing quote of a cell", 2),
    Case("p.csv", 'a,b\nd,e\n"x,y\n', 3, "a quoted cell is never closed", 2),
    Case("p.csv", b"a,b\nc,\xff\n", 2, "byte 0xff at 3 of the row is not valid UTF-8", 1),
    Case("p.tsv", "a\tb\nc\nd\te\n", 2, "the row has 1 cell, 2 were expected", 2),
    Case("p.facts", "a\tb\nc\td\te\n", 2, "the row has 3 cells, 2 were expected", 1),
    Case("x.nt", "<x:a> <x:b> <x:c> .\n<x:a> <x:b> .\n", 2, "the object of a triple must be", 1),
    Case("x.nt", "<x:a> <x:b> <x:c> <x:g> .\n", 1, "quads must be followed by a dot", 0),
    Case("x.nt", '<x:a> <x:b> "c .\n<x:a> <x:b> <x:c> .', 1, "the line ends inside a term", 1),
    Case("x.nq", '<x:a> <x:b> <x:c> "g" .\n<x:a> <x:b> <x:c> .\n', 1, "the graph of a quad must be", 1),
    Case("x.nq", "<x:a> <x:b> <x:c> .\n<x:a> <x:b> <x:c> <x:d> <x:e> .\n", 2, "quads must be followed by a dot", 1),
    Case("x.ttl", "@prefix e: <x:> .\ne:a e:b 1 .\nf:a e:b 2 .\n", 3, "the prefix f: has not been declared", 1),
    Case("x.ttl", '<x:a> <x:b> 1 .\n<x:a> <x:b> "open .\n', 2, "unexpected end of file", 1),
    Case("x.ttl", "<x:a> <x:b> 1 .\n<x:a> <x:b>\n", 3, "unexpected end", 1),
    Case("x.trig", "<x:g> { <x:a> <x:b> 1 }\n<x:g> { <x:a> <x:b> }\n", 2, "} is not a valid RDF object", 1),
    Case("x.trig", "<x:g> { <x:a> <x:b> 1 .\n", 2, "unexpected end", 1),
    Case("x.rdf", XML.format('<e:C rdf:ID="a b"/></rdf:RDF>'), 4, "a b is not a valid rdf:ID value", 1),
    Case("x.rdf", XML.format("<e:C></e:D></rdf:RDF>"), 4, "ill-formed document: expected `</e:C>`", 2),
    Case("x.owl", XML.format('<e:C rdf:about="http:// x"/></rdf:RDF>'), 4, "error while parsing IRI", 1),
    Case("x.xml", "no XML at all\n", 1, "unexpected text event", 0),
    Case("x.rdf", XML.format("<e:C><e:p>"), 5, "the document breaks off before its end", 2),
    Case("x.rdf", XML.format("<e:C rdf:"), 4, "syntax error: tag not closed", 1),
    Case("x.rdf", "", 1, "the document breaks off before its end", 0),
]


def read(path: Path, on_error: str = "stop") -> Staged:
    options = ReadOptions(base="http://b.org/")
    parts = splits(resolve([str(path)], options), options)
    return stage(IN_PROCESS, parts, options, path.parent / "work", on_error=on_error)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.line}-{case.reason[:16]}")
def test_a_mistake_is_placed_explained_and_can_be_left_out(tmp_path: Path, case: Case, compressed: bool) -> None:
    path = tmp_path / (case.name + ".gz" * compressed)
    path.write_bytes(gzip.compress(case.data) if compressed else case.data)
    with pytest.raises(DataError) as caught:
        read(path)
    wrong, *_, summary = caught.value.diagnostics
    assert wrong.place is not None
    assert (wrong.place.file, wrong.place.line) == (str(path), case.line)
    assert wrong.message.startswith(case.reason)
    assert summary.message == "nothing was loaded: 1 bad row"
    assert summary.hint == "correct the data, or leave bad rows out with --on-error skip"
    staged = read(path, "skip")
    assert (staged.rows, staged.bad_count) == (case.rest, 1)
    assert [(row.place, row.reason) for row in staged.bad] == [(wrong.place, wrong.message)]


@pytest.mark.parametrize("base", ["no IRI", "relative"])
def test_a_base_that_is_no_iri(tmp_path: Path, base: str) -> None:
    (tmp_path / "x.ttl").write_text("<a> <b> <c> .")
    options = ReadOptions(base=base)
    with pytest.raises(DataError) as caught:
        stage(IN_PROCESS, splits(resolve([str(tmp_path)], options), options), options, tmp_path / "work")
    (wrong,) = caught.value.diagnostics
    assert (wrong.code, wrong.hint) == ("bad-base", "give an absolute IRI, such as http://example.org/")


def test_a_null_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"a": [1, None, 3], "b": ["x", "y", "z"]}), path)
    with pytest.raises(DataError, match="row 2 has no value in column 'a'"):
        read(path)
    staged = read(path, "skip")
    assert (staged.rows, staged.bad_count) == (2, 1)


BROKEN = [
    ("x.nt.gz", b"<x:a> <x:b> <x:c> .\n", "Not a gzipped file", "take .gz from its name"),
    ("x.nq.gz", gzip.compress(b"<x:a> <x:b> <x:c> .\n" * 1000)[:-9], "ended before", "incomplete or damaged"),
    ("x.ttl.gz", gzip.compress(b"<x:a> <x:b> <x:c> .\n" * 1000)[:-9], "ended before", "incomplete or damaged"),
    ("x.rdf.gz", gzip.compress(XML.format("</rdf:RDF>").encode())[:-9], "ended before", "incomplete or damaged"),
    ("p.csv.gz", gzip.compress(b"a,b\n" * 1000)[:-9], "ended before", "incomplete or damaged"),
    ("p.parquet", b"not Parquet", "Parquet magic bytes not found", "incomplete or damaged"),
    ("p.parquet.gz", b"not gzip", "Not a gzipped file", "take .gz from its name"),
]


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize(("name", "data", "reason", "remedy"), BROKEN, ids=[name for name, *_ in BROKEN])
def test_a_broken_file_is_never_skipped(
    tmp_path: Path, name: str, data: bytes, reason: str, remedy: str, on_error: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        read(path, on_error)
    (wrong,) = caught.value.diagnostics
    assert (wrong.code, str(wrong.place)) == ("unreadable-file", str(path))
    assert reason in wrong.message
    assert remedy in str(wrong.hint)


def test_skipped_lines_are_counted_and_the_first_listed(tmp_path: Path) -> None:
    path = tmp_path / "x.nq"
    path.write_text("<x:a> <x:b> .\n<x:a> <x:b> <x:c> .\n" * 1500)
    staged = read(path, "skip")
    assert (staged.rows, staged.bad_count, len(staged.bad)) == (1500, 1500, 1000)
    assert [row.place.line for row in staged.bad[:3]] == [1, 3, 5]


@pytest.mark.parametrize(
    ("cut", "complete"), [("<e:C/>", False), ("<e:C/></rdf:RDF>", True), ("</rdf:RDF><!-- end", False)]
)
def test_a_document_is_complete_with_its_last_tag(tmp_path: Path, cut: str, complete: bool) -> None:
    path = tmp_path / "x.rdf"
    path.write_text(XML.format(cut))
    assert (read(path, "skip").bad_count == 0) == complete


def test_an_update_that_fails_changes_nothing(tmp_path: Path) -> None:
    store = str(tmp_path / "kb")
    everlog.KnowledgeBase("q(?x) :- <x:b>(?x, ?y) .").save(store)
    path = tmp_path / "x.nt"
    path.write_text("<x:a> <x:b> <x:c> .\n<x:a> <x:b>\n")
    with pytest.raises(DataError, match="nothing was loaded"):
        update(UpdateJob(store, (str(path),)))
    assert len(everlog.open(store)["q"]) == 0
    result = update(UpdateJob(store, (str(path),), on_error="skip"))
    assert (result.rows, result.bad_count, len(everlog.open(store)["q"])) == (1, 1, 1)


def test_large_compressed_files_are_warned_of(tmp_path: Path) -> None:
    import random

    noise = random.Random(1).randbytes(1 << 20).hex().encode()
    options = ReadOptions()
    for name, remedy in (("p.csv.gz", "split it into several .gz files"), ("x.ttl.gz", "convert it to N-Triples")):
        path = tmp_path / name
        path.write_bytes(gzip.compress(b"a,b\n" if name == "p.csv.gz" else b"#" + noise * 2, 1))
        if name == "p.csv.gz":
            path.write_bytes(gzip.compress(b"a," + noise * 2 + b"\n", 1))
        parts = splits(resolve([str(path)], options), options)
        (warning,) = large_files(parts, 1)
        assert (warning.severity, warning.code, str(warning.place)) == ("warning", "large-gz", str(path))
        assert remedy in str(warning.hint)
        assert list(large_files(parts)) == []
