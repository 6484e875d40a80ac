"""The kernel writes every cell as the rule says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from everlog.engine.kernels.delimited import tokenise
from everlog.ingest.cells import CellRules, cell_text
from everlog.lang.terms import XSD, value_of

PREFIXES = {"ex": "http://e.org/", "": "http://d.org/#", "xsd": XSD}

CELLS = {
    "42": "42",
    "0": "0",
    "-7": "-7",
    "007": '"007"',
    "+5": '"+5"',
    "-0": '"-0"',
    "1.0": "1.0",
    "1.00": '"1.00"',
    "-0.0": '"-0.0"',
    "-0.5": "-0.5",
    ".5": '".5"',
    "1.": '"1."',
    "1.0E0": "1.0E0",
    "-0.0E0": "-0.0E0",
    "1e5": '"1e5"',
    "12.5E3": '"12.5E3"',
    "1.25E-3": "1.25E-3",
    "1.25E+3": '"1.25E+3"',
    "0.5E1": '"0.5E1"',
    "true": "true",
    "false": "false",
    "True": '"True"',
    "": '""',
    " ": '" "',
    " 42": '" 42"',
    "<http://e.org/a>": "<http://e.org/a>",
    "<a b>": '"<a b>"',
    "<a": '"<a"',
    "<": '"<"',
    "<\\u0061>": "<a>",
    "<\\u0020>": '"<\\u0020>"',
    "<a\\>": '"<a\\>"',
    '"42"': '"42"',
    '"a"@EN': '"a"@en',
    '"a"@en-GB': '"a"@en-gb',
    '"a"@': '""a"@"',
    f'"42"^^<{XSD}integer>': "42",
    f'"042"^^<{XSD}integer>': f'"042"^^<{XSD}integer>',
    '"42"^^xsd:integer': "42",
    '"42"^^no:integer': '""42"^^no:integer"',
    '"a"^^<http://e.org/t>': '"a"^^<http://e.org/t>',
    '"a\\"b\\n"': '"a"b\n"',
    '"a\\q"': '""a\\q""',
    '"a"b"': '""a"b""',
    '"': '"""',
    '""': '""',
    "ex:a": "<http://e.org/a>",
    "ex:": "<http://e.org/>",
    ":a": "<http://d.org/#a>",
    "ex:a.b": "<http://e.org/a.b>",
    "ex:a.": '"ex:a."',
    "ex:-a": '"ex:-a"',
    "ex:a b": '"ex:a b"',
    "ex:a/b": '"ex:a/b"',
    "ex:a:b": "<http://e.org/a:b>",
    "ex:é": "<http://e.org/é>",
    "ex:a%20b": "<http://e.org/a%20b>",
    "ex:a\\,b": "<http://e.org/a,b>",
    "ex:%": '"ex:%"',
    "GO:0000001": '"GO:0000001"',
    "_:b": '"_:b"',
    "http://e.org/a": '"http://e.org/a"',
}


def kernel_texts(cells: list[str], prefixes: dict[str, str], types: str = "auto") -> list[str]:
    """Through the kernel, as the only column of a comma-separated file with everything quoted."""
    data = "".join('"' + cell.replace('"', '""') + '"\n' for cell in cells).encode()
    block = np.frombuffer(bytearray(data), np.uint8)
    tokens = tokenise(block, ord(","), True, 1, True)
    texts: list[str] = CellRules.of(types, prefixes).texts(tokens, block, 1, 0).to_pylist()
    return texts


@pytest.mark.parametrize(("cell", "text"), CELLS.items())
def test_the_rule(cell: str, text: str) -> None:
    assert cell_text(cell, PREFIXES) == text


def test_the_kernel_on_the_same_cells() -> None:
    assert kernel_texts(list(CELLS), PREFIXES) == list(CELLS.values())


def test_types_string_takes_cells_as_they_stand() -> None:
    assert kernel_texts(list(CELLS), PREFIXES, "string") == [f'"{cell}"' for cell in CELLS]


PIECES = [
    "0", "1", "42", "-", ".", "E", "+", "true", "false", "<", ">", '"', "\\", "@en", "^^", "ex:", ":", "a", " ", "é",
    "%4", "_",
]  # fmt: skip
LIKELY = st.lists(st.sampled_from(PIECES), max_size=7).map("".join)
ANY = st.text(st.characters(codec="utf-8"), max_size=6)


@settings(max_examples=400, deadline=None)
@given(st.lists(LIKELY | ANY, min_size=1, max_size=20), st.booleans())
@example(["\x00", "\r", "a\r", "\n"], True)
def test_the_kernel_follows_the_rule(cells: list[str], declared: bool) -> None:
    prefixes = PREFIXES if declared else {}
    assert kernel_texts(cells, prefixes) == [cell_text(cell, prefixes) for cell in cells]


@settings(max_examples=300, deadline=None)
@given(LIKELY)
def test_a_text_names_a_value(cell: str) -> None:
    value_of(cell_text(cell, PREFIXES))
