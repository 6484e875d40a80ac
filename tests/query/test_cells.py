"""Columns are written exactly like single terms."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st

from everlog.lang.printer import cell_text
from everlog.lang.terms import XSD, literal_text
from everlog.query.cells import cells, csv_cells, data_of, joined, json_values, ntriples_terms, table_cells

TRICKY = st.sampled_from(
    ["", "42", "-1", "true", "<a>", "_:b", '"', '""', "ex:a", "a:b", "\\", "\n", " x", "x ", "1.0", "é日"]
)
LEXICAL = TRICKY | st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=8)
TERMS = st.one_of(
    LEXICAL.map(literal_text),
    st.builds(lambda text: literal_text(text, language="en"), LEXICAL),
    st.builds(lambda text: literal_text(text, XSD + "date"), LEXICAL),
    st.sampled_from(["42", "-7", "1.5", "1.0E0", "-2.5E-7", "true", "false", "_:b0", "<http://e.org/a>"]),
)
PREFIXES = {"ex": "http://e.org/"}
COLUMNS = st.lists(TERMS, min_size=1, max_size=6)


def column(texts: list[str]) -> pa.LargeStringArray:
    return pa.array(["padding", *texts], pa.large_string()).slice(1)


@given(COLUMNS)
def test_cells(texts: list[str]) -> None:
    assert cells(column(texts), PREFIXES).to_pylist() == [cell_text(text, PREFIXES) for text in texts]


@given(COLUMNS)
def test_csv(texts: list[str]) -> None:
    written = bytes(data_of(joined([csv_cells(column(texts), PREFIXES, alone=True), "\n"]))).decode()
    assert [row[0] for row in csv.reader(io.StringIO(written, newline=""))] == [cell_text(t, PREFIXES) for t in texts]


@given(COLUMNS)
def test_json(texts: list[str]) -> None:
    for text, written in zip(texts, json_values(column(texts)).to_pylist(), strict=True):
        value = json.loads(written)
        if text.startswith('"') and text.endswith('"'):
            assert value == text[1:-1]
        elif text[0] in '"<_':
            assert value == cell_text(text)
        else:
            assert value == json.loads(text)


@given(COLUMNS)
def test_a_table_has_one_line_a_row(texts: list[str]) -> None:
    assert all(len(cell.splitlines()) <= 1 for cell in table_cells(column(texts), PREFIXES).to_pylist())


@given(COLUMNS)
def test_ntriples(texts: list[str]) -> None:
    written = joined(["<http://e.org/s> <http://e.org/p> ", ntriples_terms(column(texts)), " .\n"])
    triples = pyoxigraph.parse(bytes(data_of(written)), format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert [term_text(triple.object) for triple in triples] == texts


def term_text(term: object) -> str:
    if isinstance(term, pyoxigraph.NamedNode):
        return f"<{term.value}>"
    if isinstance(term, pyoxigraph.BlankNode):
        return f"_:{term.value}"
    assert isinstance(term, pyoxigraph.Literal)
    return literal_text(term.value, None if term.language else term.datatype.value, term.language)
