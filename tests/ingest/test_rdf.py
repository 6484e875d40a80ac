"""RDF files: the kernel for simple lines agrees with the full parser, and both with the standard."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from everlog.engine.kernels.ntriples import OTHER, SIMPLE, parse_lines
from everlog.ingest import rdf
from everlog.ingest.rdf import DEFAULT_GRAPH, _KeptLabels, _parse_lines, _simple_batch, _Texts, blank_prefix
from everlog.ingest.sources import ReadOptions
from everlog.lang.terms import XSD
from tests.ingest.reading import Facts, read_all, rows_of, shown

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
BLANK = blank_prefix("x.nt")


def parsed(data: Any, quads: bool) -> Any:
    return parse_lines(data, np.flatnonzero(data == 10), quads)


def by_kernel(line: bytes, quads: bool, graphs: bool = False) -> Facts | None:
    """The facts of a line if the kernel takes it."""
    data = np.frombuffer(bytearray(line), np.uint8)
    forms, _, spans = parsed(data, quads)
    if OTHER in forms:
        return None
    return rows_of(_simple_batch(data, spans, BLANK, DEFAULT_GRAPH if graphs else ""))


def by_parser(line: bytes, kind: str, graphs: bool = False) -> Facts:
    found = _parse_lines(line, kind, _Texts(_KeptLabels(BLANK), graphs))
    return [tuple(text for text in fact if text is not None) for fact in found]


IRIS = [
    "<http://e.org/a>", "<http://e.org>", "<http://e.org/é?q=1#f>", "<http://e.org/#a#b>", "<http://e.org/%41>",
    "<http://e.org/%4>", "<urn:x:y>", "<mailto:a@b>", "<a>", "<>", "<http://e.org:80/>", "<http://e.org:x/>",
    "<http://[::1]/>", "<http://e.org/[>", "<http://e.org/a b>", "<http://e.org/{}>", "<http://é.org/>", "<file:///a>",
    "<http:a>", "<http://>", "<x://a//b>", "<1:a>", "<http://e.org/\\u0041>", "<http://e.org/\ue000>",
    "<http://e.org/\ufffe>", "<http://e.org/日本>", "<x:/..//.>", "<http://e.org/|>", "<x:\u00a0>", "<x:\U0001f600>",
    "<x:a?\ue000>", TYPE,
]  # fmt: skip
LITERALS = [
    '"a"', '""', '"é\t日"', '"a\\"b"', '"a\\n"', '"\\t\\b\\r\\f\\\\"@EN', '"\\x"', '"\\"', '"\\u0041"', '"a"@en',
    '"a"@EN-gb', '"a"@en-GB-oed', '"a"@e', '"a"@abcd', '"a"@', '"a"@en-x', '"a"@en-', '"a"@en--ltr', '"a"@en-1996',
    '"a"^^<http://e.org/t>', f'"a"^^<{XSD}string>', f'"42"^^<{XSD}integer>', f'"042"^^<{XSD}integer>',
    f'"1.0"^^<{XSD}decimal>', f'"1.0"^^<{XSD}integer>', f'"1.0E0"^^<{XSD}double>', f'"1"^^<{XSD}double>',
    f'"true"^^<{XSD}boolean>', f'"1"^^<{XSD}boolean>', f'""^^<{XSD}integer>', f'"42"^^<{XSD}integers>', '"a"^^<t>',
    '"a"^<x:t>', '"a"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>',
    '"a"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML>', "'a'", '"a', 'a"', '"a\rb"', '"\x00"', "42",
]  # fmt: skip
BLANKS = ["_:b", "_:B1", "_:1", "_:a-b", "_:a.b", "_:a.", "_:", "_:-a", "_:é", "_:a_", "_:a:b", "_:" + "0" * 32]
TERMS = IRIS + LITERALS + BLANKS + ["<<( <x:a> <x:b> <x:c> )>>"]
GAPS = st.sampled_from([" ", " ", " ", "\t", "", "  "])
ENDS = st.sampled_from(["\n", "\r\n", "", " \n", " # c\n", "#c\n", " x\n", ".\n"])


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, str]:
    kind = draw(st.sampled_from(["nt", "nq"]))
    mostly = st.sampled_from(IRIS[:7])
    parts = [
        draw(mostly | st.sampled_from(BLANKS)),
        draw(mostly | st.just(TYPE)),
        draw(mostly | st.sampled_from(TERMS)),
    ]
    if draw(st.booleans()):
        position = draw(st.integers(0, 2))
        parts[position] = draw(st.sampled_from(TERMS))
    if draw(st.integers(0, 3)) == 0:
        parts.append(draw(mostly | st.sampled_from(TERMS)))
    text = draw(GAPS) + "".join(part + draw(GAPS) for part in parts) + draw(st.sampled_from([".", ".", ".", ""]))
    return text + draw(ENDS), kind


@settings(max_examples=200, deadline=None)
@given(lines())
@example(("<http://e.org/a>" * 3 + ".", "nt"))
@example(('<x:a> <x:b> "a"@en.', "nt"))
@example(("<x:a> <x:b> <x:c> <x:g> .", "nt"))
def test_the_kernel_agrees_with_the_parser(case: tuple[str, str]) -> None:
    line, kind = case[0].encode(), case[1]
    for graphs in (False, True):
        found = by_kernel(line, kind == "nq", graphs)
        if found is not None:
            assert found == by_parser(line, kind, graphs)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
SHORT_ESCAPES = {"\t": "\\t", "\b": "\\b", "\f": "\\f", "'": "\\'"}
MUST_ESCAPE = {"\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


@st.composite
def literals(draw: st.DrawFn) -> str:
    """Any text as a literal, its characters escaped in any way that N-Triples has."""

    def written(character: str) -> str:
        way = draw(st.sampled_from(["plain", "plain", "plain", "short", "u", "U"]))
        if way == "U" or (way == "u" and ord(character) > 0xFFFF):
            return f"\\U{ord(character):08X}"
        if way == "u":
            return f"\\u{ord(character):04x}"
        shortest = SHORT_ESCAPES.get(character, character) if way == "short" else character
        return MUST_ESCAPE.get(character, shortest)

    text = "".join(map(written, draw(TEXTS)))
    kind = draw(
        st.sampled_from(["", "@en", "@EN-us", "@de-Latn-DE-1996", "^^<x:t>", f"^^<{XSD}integer>", f"^^<{XSD}string>"])
    )
    return f'"{text}"{kind}'


@st.composite
def documents(draw: st.DrawFn) -> list[str]:
    """Lines that are all valid N-Quads, without their ends."""
    iris = st.sampled_from(["<http://e.org/a>", "<x:é>", "<x:\\u0041>", "<urn:x:y?q#f>"])
    blanks = st.sampled_from(["_:b", "_:b.1", "_:é", "_:0"])
    found = []
    for _ in range(draw(st.integers(0, 5))):
        terms = [draw(iris | blanks), draw(iris | st.just(TYPE)), draw(iris | blanks | literals())]
        terms += [draw(iris | blanks)] if draw(st.booleans()) else []
        line = "".join(term + draw(st.sampled_from([" ", "\t", "  "])) for term in terms) + "."
        found.append(line + draw(st.sampled_from(["", "", " ", " # end", "#"])))
        found += draw(st.sampled_from([[], [], [""], ["# <x:a> <x:b> <x:c> ."], ["  \t"]]))
    return found


@settings(max_examples=300, deadline=None)
@given(documents(), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_lines_are_what_the_parser_says_line_by_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, ended: bool, graphs: bool
) -> None:
    path = tmp_path_factory.mktemp("x") / "x.nq"
    path.write_bytes((end.join(lines) + (end if ended else "")).encode())
    expected = [fact for line in lines for fact in by_parser(line.encode(), "nq", graphs)]
    found, bad = read_all(path, options=ReadOptions(source="x.nt", graphs=graphs))
    assert (sorted(found), bad) == (sorted(expected), [])


@pytest.mark.parametrize("first", IRIS)
@pytest.mark.parametrize("place", ["{} <x:p> <x:o> .", "<x:s> {} <x:o> .", "<x:s> <x:p> {} .", '<x:s> <x:p> "1"^^{} .'])
def test_each_iri_in_each_place(first: str, place: str) -> None:
    line = place.format(first).encode()
    found = by_kernel(line, False)
    if found is not None:
        assert found == by_parser(line, "nt")


@pytest.mark.parametrize(
    "line", ["<x:s> <x:p> " + term + " ." for term in IRIS[:3] + LITERALS[:6] + LITERALS[9:11] + BLANKS[:4]]
)
def test_common_lines_are_simple(line: str) -> None:
    forms = parsed(np.frombuffer(bytearray(line.encode()), np.uint8), False)[0].tolist()
    assert forms == [SIMPLE]


@pytest.mark.parametrize("point", [0, 0x22, 0x5C, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF])
def test_characters_by_number(point: int) -> None:
    codes = [f"\\U{point:08x}", *([f"\\u{point:04X}"] if point < 0x10000 else [])]
    for code in codes:
        line = f'<x:s> <x:p> "a{code}b"@en .'.encode()
        assert by_kernel(line, False) == by_parser(line, "nt") == [("<x:p>/2", "<x:s>", f'"a{chr(point)}b"@en')]


@pytest.mark.parametrize("code", ["\\uD83D\\uDE00", "\\uDFFF", "\\U00110000", "\\u00", "\\u00g0", "\\u"])
def test_numbers_that_are_no_characters_are_left_to_the_parser(code: str) -> None:
    assert by_kernel(f'<x:s> <x:p> "{code}" .'.encode(), False) is None


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_without_harm(data: bytes) -> None:
    forms, starts, _ = parsed(np.frombuffer(bytearray(data), np.uint8), True)
    assert len(forms) == len(starts) - 1 == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


LINES = f"""# a comment
<x:s> {TYPE} <x:C> .

_:b {TYPE} _:c .
<x:s> <x:p> "A"@EN .
<x:s> <x:p> "tab\\tq\\"" . # escaped
<x:s> <x:p> "42"^^<{XSD}integer> .
""".encode()


def lines_expected(blank: str) -> Facts:
    return [
        ("<x:C>/1", "<x:s>"),
        (f"{TYPE}/2", f"{blank}b", f"{blank}c"),
        ("<x:p>/2", "<x:s>", '"A"@en'),
        ("<x:p>/2", "<x:s>", "42"),
        ("<x:p>/2", "<x:s>", '"tab\tq""'),
    ]


def test_facts_of_lines_at_every_split(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    path.write_bytes(LINES)
    for size in (*range(1, 40), 64, 1 << 20):
        found, bad = read_all(path, target_bytes=size)
        assert (sorted(found), bad) == (sorted(lines_expected(BLANK)), [])
    (tmp_path / "x.nt.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + LINES))
    found, _ = read_all(tmp_path / "x.nt.gz", options=ReadOptions(source="x.nt"))
    assert found == lines_expected(BLANK)


def test_quads_are_merged(tmp_path: Path) -> None:
    path = tmp_path / "x.nq"
    path.write_text(
        '<x:s> <x:p> <x:o> <x:g> .\n<x:s> <x:p> <x:o> _:g .\n<x:s> <x:p> "\\n" <x:g> .\n<x:s> <x:q> <x:o> .\n'
    )
    found, bad = read_all(path)
    assert sorted(set(found)) == [
        ("<x:p>/2", "<x:s>", '"\n"'),
        ("<x:p>/2", "<x:s>", "<x:o>"),
        ("<x:q>/2", "<x:s>", "<x:o>"),
    ]
    assert bad == []


MALFORMED = (
    b'<x:s> <x:p> "ok" .\n<x:s> <p> <x:o> .\n<x:s> <x:p> "open .\n<x:s> <x:p> "\xff" .\n# \xff\n<x:s> <x:p> <x:o>\n'
    b'<x:s> <x:p> <x:o> . <x:s> <x:p> <x:o> .\n<x:s> <x:p> "a"@en--ltr .\n<x:s> <x:p> <<( <x:a> <x:b> <x:c> )>> .\n'
    b"<x:s> <x:p> <x:last> ."
)


@pytest.mark.parametrize("size", [1, 2, 7, 19, 20, 21, 50, 77, 1 << 20])
def test_malformed_lines_at_every_split(tmp_path: Path, size: int) -> None:
    path = tmp_path / "x.nt"
    path.write_bytes(MALFORMED)
    found, bad = read_all(path, target_bytes=size)
    assert found == [("<x:p>/2", "<x:s>", '"ok"'), ("<x:p>/2", "<x:s>", "<x:last>")]
    assert shown(bad) == [
        "x.nt:2: no scheme found in an absolute IRI",
        "x.nt:3: the line ends inside a term",
        "x.nt:4: invalid UTF-8: invalid utf-8 sequence of 1 bytes from index 0",
        "x.nt:6: quads must be followed by a dot",
        'x.nt:7: only a single triple or quad can be written in a line, found IriRef("x:s")',
        "x.nt:8: literals with a text direction are not supported",
        "x.nt:9: triples inside triples are not supported",
    ]
    assert (bad[0].place.column, bad[0].place.width, bad[0].place.text) == (7, 3, "<x:s> <p> <x:o> .")


@settings(max_examples=100, deadline=None)
@given(st.lists(lines(), max_size=6), st.integers(1, 30))
def test_blocks_and_splits_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[str, str]], size: int
) -> None:
    path = tmp_path_factory.mktemp("x") / "x.nq"
    path.write_bytes("".join(line for line, _ in cases).encode())
    found, bad = read_all(path)
    again, bad_again = read_all(path, target_bytes=size)
    assert (sorted(again), bad_again) == (sorted(found), bad)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rdf, "BLOCK", size)
        in_blocks, bad_blocks = read_all(path)
    assert (sorted(in_blocks), bad_blocks) == (sorted(found), bad)


def test_fifty_thousand_classes(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    path.write_text("".join(f"<x:s{i}> {TYPE} <x:C{i}> .\n" for i in range(50_000)))
    found, bad = read_all(path)
    assert found == [(f"<x:C{i}>/1", f"<x:s{i}>") for i in range(50_000)]
    assert bad == []


TURTLE = """\ufeff@prefix e: <http://e.org/> .
e:a a e:C ; e:p [ e:q _:x ], _:x ; e:r <b>, 42, 4.20, "A"@EN .
"""


def turtle_expected(blank: str, base: str) -> Facts:
    p, q, r = "<http://e.org/p>/2", "<http://e.org/q>/2", "<http://e.org/r>/2"
    return [
        ("<http://e.org/C>/1", "<http://e.org/a>"),
        (q, f"{blank}-0", f"{blank}x"),
        (p, "<http://e.org/a>", f"{blank}-0"),
        (p, "<http://e.org/a>", f"{blank}x"),
        (r, "<http://e.org/a>", f"<{base}b>"),
        (r, "<http://e.org/a>", "42"),
        (r, "<http://e.org/a>", f'"4.20"^^<{XSD}decimal>'),
        (r, "<http://e.org/a>", '"A"@en'),
    ]


@pytest.mark.parametrize("name", ["x.ttl", "x.ttl.gz", "x.trig"])
def test_turtle(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(TURTLE.encode()) if name.endswith("gz") else TURTLE.encode())
    based = ReadOptions(base="http://b.org/")
    expected = turtle_expected(blank_prefix(name), "http://b.org/")
    assert read_all(path, options=based) == (expected, [])
    assert read_all(path, options=based) == (expected, []), "blank nodes are numbered alike every time"
    assert read_all(path) == (turtle_expected(blank_prefix(name), f"{tmp_path.as_uri()}/"), [])


def test_many_unlabelled_nodes_are_the_same_every_time(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text("<x:a> <x:p> [], _:0, _:a .\n" + "[] <x:p> [] .\n" * 3000)
    found, _ = read_all(path)
    assert found == read_all(path)[0]
    nodes = {text for _, *texts in found for text in texts if text.startswith("_:")}
    assert len(nodes) == 6003
    assert {f"{blank_prefix('x.ttl')}{label}" for label in ("0", "a", "-0", "-6000")} <= nodes


XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY e 'http://e.org/'> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">
<e:C rdf:about="&e;a"><e:p rdf:parseType="Resource"><e:q rdf:resource="b"/></e:p></e:C>
{}</rdf:RDF>
"""


def test_rdf_xml(tmp_path: Path) -> None:
    path = tmp_path / "x.owl"
    path.write_text(XML.format(""))
    blank = blank_prefix("x.owl")
    found, bad = read_all(path, options=ReadOptions(base="http://b.org/"))
    assert bad == []
    assert found == [
        ("<http://e.org/C>/1", "<http://e.org/a>"),
        ("<http://e.org/p>/2", "<http://e.org/a>", f"{blank}-0"),
        ("<http://e.org/q>/2", f"{blank}-0", "<http://b.org/b>"),
    ]


def test_mistakes_in_documents_are_placed(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text("@prefix e: <http://e.org/> .\ne:a e:b e:c .\ne:a oops e:c .\ne:d e:e e:f .\n")
    found, bad = read_all(path)
    assert found == [("<http://e.org/b>/2", "<http://e.org/a>", "<http://e.org/c>")]
    assert [str(row.place) for row in bad] == [f"{path}:3:5"]
    assert bad[0].reason.endswith("; the rest of the file is not read")
    assert bad[0].place.text == "e:a oops e:c ."
    path = tmp_path / "x.rdf"
    path.write_text(XML.format('<e:C rdf:about="http:// x"/>\n'))
    found, bad = read_all(path, options=ReadOptions(base="http://b.org/"))
    assert len(found) == 3
    assert shown(bad) == [
        "x.rdf:5: error while parsing IRI 'http:// x': Invalid IRI code point ' '; the rest of the file is not read"
    ]
    assert bad[0].place.text == '<e:C rdf:about="http:// x"/>'


def test_documents_that_cannot_be_terms(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text('<x:a> <x:b> "x"@en--ltr .')
    assert [row.reason for row in read_all(path)[1]] == [
        "literals with a text direction are not supported; the rest of the file is not read"
    ]


def test_loading_real_data(shared_data: Path) -> None:
    found, bad = read_all(shared_data / "ontologies" / "doid.nt.gz")
    assert (len(found), bad) == (221_444, [])
    lubm, bad = read_all(shared_data / "lubm" / "data", options=ReadOptions(base="http://www.lehigh.edu/"))
    assert (len(set(lubm)), bad) == (100_545, [])
