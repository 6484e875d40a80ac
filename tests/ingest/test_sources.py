"""The sources that ``[NAME=]PATH`` arguments stand for."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import MappingProxyType

import pytest

from everlog.ingest.sources import FactSource, ReadOptions, resolve
from everlog.ingest.splits import splits
from everlog.lang.errors import DataError

PREFIXED = ReadOptions(prefixes={"ex": "http://e.org/"})


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments are written relative to an empty directory."""
    monkeypatch.chdir(tmp_path)


def make(*paths: str) -> None:
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def sources(*arguments: str, options: ReadOptions = PREFIXED) -> list[tuple[str, str, str | None, bool, str]]:
    return [
        (source.path, source.kind, source.predicate, source.compressed, source.name)
        for source in resolve(arguments, options)
    ]


def message(*arguments: str) -> str:
    with pytest.raises(DataError) as caught:
        resolve(arguments, PREFIXED)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "kind", "predicate", "compressed"),
    [
        ("edge.csv", "csv", "edge", False),
        ("edge.CSV.GZ", "csv", "edge", True),
        ("go-2023-is_a.tsv.gz", "tsv", "go-2023-is_a", True),
        ("edge.facts", "tsv", "edge", False),
        ("edge.parquet", "parquet", "edge", False),
        ("edge.parquet.gz", "parquet", "edge", True),
        ("x.nt", "nt", None, False),
        ("x.y.nq.gz", "nq", None, True),
        ("x.ttl", "ttl", None, False),
        ("x.trig", "trig", None, False),
        ("x.rdf", "rdf", None, False),
        ("x.owl.gz", "rdf", None, True),
        ("x.xml", "rdf", None, False),
    ],
)
def test_kind_by_extension(name: str, kind: str, predicate: str | None, compressed: bool) -> None:
    make(f"d/{name}")
    assert sources(f"d/{name}") == [(f"d/{name}", kind, predicate, compressed, name)]


@pytest.mark.parametrize(
    ("name", "predicate"),
    [("p", "p"), ("ex:p", "<http://e.org/p>"), ("<http://e.org/?a=b>", "<http://e.org/?a=b>")],
)
def test_named_predicates(name: str, predicate: str) -> None:
    make("a=b/1.csv")
    assert sources(f"{name}=a=b/1.csv") == [("a=b/1.csv", "csv", predicate, False, "1.csv")]


def test_an_equals_sign_in_a_path() -> None:
    make("year=1/p.csv")
    assert sources("year=1/p.csv") == [("year=1/p.csv", "csv", "p", False, "p.csv")]


def test_a_directory_is_everything_in_it() -> None:
    make("d/a.csv", "d/sub/b.tsv", "d/sub/x.nt", "d/_c.csv", "d/.e.csv", "d/_f/g.csv", "d/notes.txt")
    expected = [
        ("d/a.csv", "csv", "a", False, "a.csv"),
        ("d/sub/b.tsv", "tsv", "b", False, "sub/b.tsv"),
        ("d/sub/x.nt", "nt", None, False, "sub/x.nt"),
    ]
    assert sources("d") == expected
    assert sources("d/") == expected


def test_a_named_directory_is_one_predicate() -> None:
    make("d/a.csv", "d/sub/b.tsv")
    assert [source[2] for source in sources("p=d")] == ["p", "p"]


@pytest.mark.parametrize("folder", ["edge", "edge.parquet", "edge.csv"])
def test_part_files_are_one_relation(folder: str) -> None:
    make(f"{folder}/part-0.csv", f"{folder}/part-1.parquet", f"{folder}/_SUCCESS")
    assert [source[2] for source in sources(folder)] == ["edge", "edge"]
    assert [source[2] for source in sources(".")] == ["edge", "edge"]
    assert [source[2] for source in sources(f"{folder}/*.csv", f"q={folder}")] == ["part-0", "q", "q"]


def test_part_files_of_rdf_are_documents() -> None:
    make("d/part-0.nt")
    assert sources("d") == [("d/part-0.nt", "nt", None, False, "part-0.nt")]


def test_a_delta_table_is_one_relation() -> None:
    make("d/edge/_delta_log/0.json", "d/edge/x.parquet")
    assert sources("d") == [("d/edge", "delta", "edge", False, "edge")]
    assert sources("d/edge") == [("d/edge", "delta", "edge", False, "edge")]
    assert sources("q=d/edge") == [("d/edge", "delta", "q", False, "edge")]


def test_globs() -> None:
    make("d/a/x.nt", "d/b/x.nt", "d/b/_y.nt", "d/z.csv")
    assert [source[4] for source in sources("d/*/x.nt")] == ["a/x.nt", "b/x.nt"]
    assert [source[4] for source in sources("d/**/*.nt")] == ["a/x.nt", "b/x.nt"]
    assert [source[0] for source in sources("d/[ab]")] == ["d/a/x.nt", "d/b/x.nt"]
    assert [source[0] for source in sources("*/z.csv")] == ["d/z.csv"]


def test_a_file_is_read_once() -> None:
    make("a.csv")
    assert len(sources("a.csv", "a.csv")) == 1
    assert len(sources("a.csv", "b=a.csv")) == 2


def test_source_names() -> None:
    make("d/a/x.nt", "d/b/x.nt", "d/b/y.nt")
    named = ReadOptions(source="s")
    assert [source[4] for source in sources("d/a/x.nt", options=named)] == ["s"]
    assert [source[4] for source in sources("d", options=named)] == ["s/a/x.nt", "s/b/x.nt", "s/b/y.nt"]
    assert [source[4] for source in sources("d/a/x.nt", "d/b")] == ["d/a/x.nt", "d/b/x.nt", "y.nt"]


def test_sources_are_plain_data() -> None:
    make("a.csv")
    assert resolve(["a.csv"], PREFIXED) == [FactSource("a.csv", "csv", "a", False, "a.csv")]


def test_errors_name_the_path_and_the_remedy() -> None:
    make("1.csv", "a.txt", "a.tar.gz", "x.nt", "empty/_x.csv", "h/y=1/part-0.parquet")
    assert message("no.csv") == ("error[no-such-file]: the file does not exist\n  --> no.csv\n  = help: check the path")
    assert message("no/such.csv").endswith("= help: there is no directory no")
    assert (
        message("*.parquet")
        == "error[nothing-to-read]: no file matches the pattern\n  --> *.parquet\n  = help: check the path"
    )
    assert message("a.txt") == (
        "error[unknown-kind]: the extension says nothing about what is in the file\n  --> a.txt\n"
        "  = help: known are .csv .tsv .facts .parquet .nt .nq .ttl .trig .rdf .owl .xml, each also with .gz"
    )
    assert message("a.tar.gz").startswith("error[unknown-kind]")
    assert message("1.csv") == (
        "error[bad-name]: '1' cannot be the name of a predicate\n  --> 1.csv\n  = help: name the predicate: NAME=1.csv"
    )
    assert message("a b=1.csv").startswith("error[bad-name]: 'a b' cannot be")
    assert message("go:p=1.csv") == (
        "error[unknown-prefix]: the prefix go: of the predicate go:p is not declared\n  = help: the rules declare ex:"
    )
    assert message("p=x.nt") == (
        "error[named-rdf]: an RDF file has predicates of its own, so it cannot be read as p\n  --> x.nt\n"
        "  = help: leave out p="
    )
    assert message("empty").startswith("error[nothing-to-read]: there is no file of a known kind in the directory")
    assert message("e=h").startswith("error[partitioned-directory]")


def test_all_errors_at_once() -> None:
    assert message("no.csv", "nor.csv").count("error[no-such-file]") == 2


def test_options_and_splits_travel() -> None:
    Path("a.csv").write_text("1,2\n")
    options = ReadOptions(prefixes=MappingProxyType({"e": "http://e.org/"}))
    pieces = splits(resolve(["a.csv"], options), options)
    assert pickle.loads(pickle.dumps((pieces, options))) == (pieces, options)
