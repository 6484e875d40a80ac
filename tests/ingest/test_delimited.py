"""Comma- and tab-separated files, whole and in splits of every size."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from everlog.ingest import delimited
from everlog.ingest.cells import cell_text
from everlog.ingest.sources import ReadOptions
from everlog.ingest.split import BadRow
from everlog.lang.errors import DataError
from tests.ingest.reading import Facts, read_all, shown


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def facts(folder: Path, name: str, data: bytes, options: ReadOptions | None = None) -> Facts:
    found, bad = read_all(write(folder, name, data), options=options or ReadOptions())
    assert bad == []
    return found


def test_tab_separated(tmp_path: Path) -> None:
    data = b'GO:1\tGO:2\n1\t"a"@en\n\t"b\n'
    assert facts(tmp_path, "is-a.tsv", data) == [
        ("is-a/2", '"GO:1"', '"GO:2"'),
        ("is-a/2", "1", '"a"@en'),
        ("is-a/2", '""', '""b"'),
    ]
    assert facts(tmp_path, "is-a.facts", data) == facts(tmp_path, "is-a.tsv.gz", data)


def test_comma_separated(tmp_path: Path) -> None:
    data = b'a,"b, ""c"""\n"multi\nline",""\n"""x""@en","42"\n'
    expected = [("p/2", '"a"', '"b, "c""'), ("p/2", '"multi\nline"', '""'), ("p/2", '"x"@en', "42")]
    assert facts(tmp_path, "p.csv", data) == expected
    assert facts(tmp_path, "p.csv.gz", data) == expected


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz"])
@pytest.mark.parametrize("data", [b"a\nb", b"a\nb\n", b"\xef\xbb\xbfa\nb\n", b"a\r\nb\r\n", b"a\r\nb"])
def test_marks_and_line_ends(tmp_path: Path, name: str, data: bytes) -> None:
    assert facts(tmp_path, name, data) == [("p/1", '"a"'), ("p/1", '"b"')]


def test_a_mark_before_a_quote(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", b'\xef\xbb\xbf"a\n",b\nc,d\n')
    for size in (1, 3, 5, 100):
        assert read_all(path, target_bytes=size) == ([("p/2", '"a\n"', '"b"'), ("p/2", '"c"', '"d"')], [])


def test_blank_lines(tmp_path: Path) -> None:
    assert facts(tmp_path, "p.csv", b"a\n\nb\n\n") == [("p/1", t) for t in ('"a"', '""', '"b"', '""')]
    found, bad = read_all(write(tmp_path, "q.tsv", b"a\tb\n\n"))
    assert (found, shown(bad)) == ([("q/2", '"a"', '"b"')], ["q.tsv:2: the row is empty, 2 cells were expected"])
    options = ReadOptions(arities={"p": 0})
    assert facts(tmp_path, "p.csv", b"\n", options) == [("p/0",)]


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz"])
def test_nothing_in_a_file(tmp_path: Path, name: str) -> None:
    assert facts(tmp_path, name, b"") == []
    assert facts(tmp_path, name, b"\xef\xbb\xbf") == []


def test_header_of_each_file(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", b'"fr\nom",to\n1,2\n3,4\n')
    write(tmp_path, "b.csv.gz", b'"fr\nom",to\n5,6\n')
    for size in (1, 10, 100):
        found, bad = read_all(f"e={tmp_path}", options=ReadOptions(header=True), target_bytes=size)
        assert (found, bad) == ([("e/2", "1", "2"), ("e/2", "3", "4"), ("e/2", "5", "6")], [])


def test_declared_prefixes(tmp_path: Path) -> None:
    options = ReadOptions(prefixes={"ex": "http://e.org/"})
    assert facts(tmp_path, "p.csv", b"ex:a,go:b\n", options) == [("p/2", "<http://e.org/a>", '"go:b"')]


def test_a_predicate_with_an_iri(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", b"1\n")
    options = ReadOptions(prefixes={"ex": "http://e.org/"})
    assert read_all(f"ex:p={path}", options=options)[0] == [("<http://e.org/p>/1", "1")]


MALFORMED = b'a,b\nc\nd,e,f\n"g"h,i\nj"k,l\nm,\xff\n"n\n",o,p\nq,r\n"s,t\n'
MESSAGES = [
    "p.csv:2: the row has 1 cell, 2 were expected",
    "p.csv:3: the row has 3 cells, 2 were expected",
    "p.csv:4: text after the closing quote of a cell; double the quotes inside a quoted cell",
    "p.csv:5: a quote inside an unquoted cell; quote the cell and double the quotes in it",
    "p.csv:6: byte 0xff at 3 of the row is not valid UTF-8",
    "p.csv:7: the row has 3 cells, 2 were expected",
    "p.csv:10: a quoted cell is never closed",
]


@pytest.mark.parametrize("size", range(1, len(MALFORMED) + 2))
def test_malformed_rows_at_every_split(tmp_path: Path, size: int) -> None:
    path = write(tmp_path, "p.csv", MALFORMED)
    found, bad = read_all(path, target_bytes=size)
    assert found == [("p/2", '"a"', '"b"'), ("p/2", '"q"', '"r"')]
    assert shown(bad) == MESSAGES
    assert [row.place.text for row in bad] == ["c", "d,e,f", '"g"h,i', 'j"k,l', "m,\ufffd", '"n', '"s,t']


def test_long_lines_are_cut_in_messages(tmp_path: Path) -> None:
    _, bad = read_all(write(tmp_path, "p.tsv", b"a\n" + "é\t".encode() * 1000 + b"\n"))
    assert bad[0].place.text == "é\t" * 100


def test_known_arities_decide(tmp_path: Path) -> None:
    options = ReadOptions(arities={"p": 3})
    found, bad = read_all(write(tmp_path, "p.csv", b"a,b\n1,2,3\n"), options=options)
    assert (found, shown(bad)) == ([("p/3", "1", "2", "3")], ["p.csv:1: the row has 2 cells, 3 were expected"])


def test_one_name_two_widths(tmp_path: Path) -> None:
    first, second = write(tmp_path, "a.csv", b"1\n"), write(tmp_path, "b.csv", b"1,2\n")
    with pytest.raises(DataError) as caught:
        read_all(f"p={first}", f"p={second}")
    assert str(caught.value).startswith(f"error[two-arities]: p has 2 columns here and 1 in {first}\n  --> {second}")
    found, _ = read_all(f"<x:p>={first}", f"<x:p>={second}")
    assert found == [("<x:p>/1", "1"), ("<x:p>/2", "1", "2")]


def test_corrupt_compression(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv.gz", b"a,b\n" * 1000)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"error\[unreadable-file\]: the file cannot be read: .*\n  --> .*p.csv.gz"):
        read_all(path)
    path.write_bytes(b"a,b\n")
    with pytest.raises(DataError, match="Not a gzipped file"):
        read_all(path)


def plain_rows(data: str, kind: str) -> list[list[str]]:
    """The rows of a well-formed file, by a reader written for the purpose, one character at a time."""
    rows: list[list[str]] = []
    row: list[str] = []
    cell, quoted, i = "", False, 0
    while i < len(data):
        char = data[i]
        if kind == "csv" and char == '"':
            if quoted and data[i + 1 : i + 2] == '"':
                cell += char
                i += 1
            else:
                quoted = not quoted
        elif not quoted and char == {"csv": ",", "tsv": "\t"}[kind]:
            row, cell = [*row, cell], ""
        elif not quoted and char == "\n":
            rows.append([*row, cell])
            row, cell = [], ""
        else:
            cell += char
        i += 1
    return rows


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


CSV_CELL = st.text('a1,"\n é<', max_size=4).map(quoted) | st.text("a1 é<>-.", max_size=4)
TSV_CELL = st.text('a1,"é <>', max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(["csv", "tsv"]), st.integers(1, 3))
def test_any_split_size_gives_the_same_facts(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, kind: str, arity: int
) -> None:
    cell = CSV_CELL if kind == "csv" else TSV_CELL
    rows = data.draw(st.lists(st.lists(cell, min_size=arity, max_size=arity), min_size=1, max_size=8))
    text = "".join(("," if kind == "csv" else "\t").join(row) + "\n" for row in rows)
    path = write(tmp_path_factory.mktemp("p"), f"p.{kind}", text.encode())
    expected = [(f"p/{arity}", *(cell_text(cell, {}) for cell in row)) for row in plain_rows(text, kind)]
    for size in (*range(1, 12), 17, 64, 10_000):
        assert read_all(path, target_bytes=size) == (expected, [])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([b"a", b",", b"\x22", b"\n", b"\r", b"\t", "é".encode(), b"\xff"]), max_size=25).map(
        b"".join
    )
)
@example(b'a\n"\r')
@example(b'""\r\r\n')
@example(b'"a"\xff\n')
def test_any_bytes_in_any_blocks(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Malformed or not, neither the size of splits nor that of blocks changes facts or bad rows."""
    for name in ("p.csv", "p.tsv"):
        path = write(tmp_path_factory.mktemp("p"), name, data)
        whole = read_all(path)
        assert len(whole[0]) + len(whole[1]) <= data.count(b"\n") + 1
        for size in (1, 2, 3, 5, 9):
            assert read_all(path, target_bytes=size) == whole
            assert in_blocks(path, size) == whole


def in_blocks(path: Path, block: int) -> tuple[Facts, list[BadRow]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK", block)
        return read_all(path)
