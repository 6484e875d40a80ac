"""Entities of RDF/XML: namespaces work, and documents that expand to too much text are refused before they are read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from everlog.ingest import entities
from everlog.ingest.entities import EntityGuard, ExpansionError
from everlog.lang.errors import DataError
from everlog.owl.graph import read_document
from tests.ingest.reading import read_all

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/"'


def document(declarations: str, text: str = "", about: str = "http://e.org/a") -> str:
    return (
        f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n{declarations}\n]>\n<rdf:RDF {RDF}>\n'
        f'<rdf:Description rdf:about="{about}"><e:p>{text}</e:p></rdf:Description>\n</rdf:RDF>\n'
    )


LAUGHS = "\n".join(
    ['<!ENTITY l0 "lol">', *(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 11))],
)
LONG = f'<!ENTITY a "{"x" * 50_000}">'

ATTACKS = {
    "billion laughs": (document(LAUGHS, "&l9;"), 10, 1),
    "in an attribute": (document(LAUGHS, "", "http://e.org/&l9;"), 10, 1),
    "never used": (document(LAUGHS), 10, 1),
    "quadratic": (document(LONG, "&a;" * 50_000), 6, 50),
    "parameter entities": (document(LAUGHS.replace("ENTITY ", "ENTITY % "), "&l9;"), 10, 1),
    "quotes in names": (document(LONG.replace(" a ", " a'b "), "&a'b;" * 50_000), 6, 50),
    "blanks of another kind": (document(LONG.replace(" a ", "\u00a0a "), "&a;" * 50_000), 6, 50),
    "long names": (document(LONG.replace(" a ", f" {'a' * 2000} "), f"&{'a' * 2000};" * 5000), 3, 1),
    "a long declaration": (document(f'<!ENTITY a "{"x" * 3_000_000}">', "&a;"), 3, 1),
    "after other text": (document(f"<!-- {'x' * 200_000} -->\n{LAUGHS}", "&l9;"), 11, 1),
    "over a block's end": (document(f"<!-- {'x' * (65536 - 72)} -->\n{LAUGHS}", "&l9;"), 11, 1),
    "single quotes": (document(LAUGHS.replace('"', "'"), "&l9;"), 10, 1),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("name", ["x.rdf", "x.owl.gz"])
def test_entities_that_stand_for_too_much_are_refused_with_their_place(tmp_path: Path, attack: str, name: str) -> None:
    text, line, column = ATTACKS[attack]
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    with pytest.raises(DataError) as found:
        read_all(path)
    (said,) = found.value.diagnostics
    assert said.code == "entity-expansion"
    assert said.place is not None
    assert (Path(said.place.file).name, said.place.line, said.place.column) == (name, line, column)
    with pytest.raises(DataError, match="entity-expansion"):
        read_document([str(path)])


@pytest.mark.parametrize("quote", ['"', "'"])
def test_namespaces_may_be_used_often(tmp_path: Path, quote: str) -> None:
    path = tmp_path / "x.owl"
    declared = f"<!ENTITY e {quote}http://a.long.namespace.example.org/ontologies/2024/{quote}>"
    body = "".join(
        f'<rdf:Description rdf:about="&e;a{i}"><e:p rdf:resource="&e;b"/></rdf:Description>\n' for i in range(9000)
    )
    path.write_text(f"<!DOCTYPE rdf:RDF [\n{declared}\n]>\n<rdf:RDF {RDF}>\n{body}</rdf:RDF>\n")
    found, bad = read_all(path)
    assert bad == []
    assert len(found) == 9000
    assert found[-1][1:] == tuple(f"<http://a.long.namespace.example.org/ontologies/2024/{x}>" for x in ("a8999", "b"))


def test_entities_may_use_others(tmp_path: Path) -> None:
    path = tmp_path / "x.owl"
    path.write_text(document('<!ENTITY b "http://b.org/"> <!ENTITY c "&b;c#">', "&lt;&c;&#65;", "&c;d"))
    assert read_all(path) == ([("<http://e.org/p>/2", "<http://b.org/c#d>", '"<http://b.org/c#A"')], [])


@pytest.mark.parametrize(
    "declared", ['<!ENTITY x SYSTEM "file:///etc/passwd">', '<!ENTITY x PUBLIC "p" "http://e.org/x">']
)
def test_external_entities_are_refused(tmp_path: Path, declared: str) -> None:
    path = tmp_path / "x.rdf"
    path.write_text(document(declared, "&x;"))
    found, bad = read_all(path)
    assert found == []
    assert len(bad) == 1


def test_a_text_about_entities_is_no_declaration(tmp_path: Path) -> None:
    path = tmp_path / "x.rdf"
    path.write_text(document("", '<!-- declare <!ENTITY x "..."> and write &x; or &y; -->' * 3))
    assert read_all(path)[1] == []


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_the_count_does_not_depend_on_the_pieces(size: int) -> None:
    text = document(
        '<!ENTITY a "12345">\n<!ENTITY b\'x "123">\n<!ENTITY c "&a;&a;">', "&a;" * 9 + "&b'x; &c; &amp; &#65; &d;"
    ).encode()
    whole, pieces = EntityGuard(), EntityGuard()
    whole.feed(text)
    for at in range(0, len(text), size):
        pieces.feed(text[at : at + size])
    assert pieces.expanded == whole.expanded > 9 * 5


def test_the_allowance_grows_with_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities, "ENTITY_BYTES", 100)
    monkeypatch.setattr(entities, "ENTITY_BYTES_PER_BYTE", 1)
    declared = b'<!ENTITY a "0123456789"><x>'
    few, many = EntityGuard(), EntityGuard()
    few.feed(declared + b"&a;" * 10)
    with pytest.raises(ExpansionError, match="&a;"):
        many.feed(declared + b"&a;" * 100)
    spaced = EntityGuard()
    spaced.feed(declared + b"&a; and text " * 100)


@pytest.mark.long
@pytest.mark.parametrize("name", ["x.ttl", "x.trig.gz", "x.rdf"])
def test_prefixes_that_stand_for_too_much_are_refused(tmp_path: Path, name: str) -> None:
    space = f"http://e.org/{'x' * 100_000}/"
    text = f"@prefix e: <{space}> .\n" + "".join(f"e:a{i} e:p e:b{i} .\n" for i in range(2_000))
    if name == "x.rdf":
        nodes = "".join(f'<e:c rdf:nodeID="n{i}"><e:p>1</e:p></e:c>\n' for i in range(4_000))
        text = f'<?xml version="1.0"?>\n<rdf:RDF {RDF.replace("http://e.org/", space)}>\n{nodes}</rdf:RDF>\n'
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    with pytest.raises(DataError, match=r"prefix-expansion.*are too long"):
        read_all(path)


def test_a_long_prefix_that_is_used_seldom_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(f"@prefix e: <http://e.org/{'x' * 100_000}/> .\n" + "".join(f"e:a{i} a e:b .\n" for i in range(50)))
    facts, bad = read_all(path)
    assert (len(facts), bad) == (50, [])
