"""Numbers of more digits than Python makes an int of (4,300) are exact wherever they come in and go out."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog import KnowledgeBase, Literal
from everlog.lang.terms import XSD, text_of, value_of, whole_text
from tests.cli.running import CommandLine

DIGITS = "1" + "0" * 4998 + "7"
NUMBER = Literal(DIGITS, XSD + "integer")
POWER = 10**4999
"""DIGITS are those of POWER + 7."""

FRACTION = f"{DIGITS}.25"
EX = "@prefix ex: <http://e.org/> . "


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    return KnowledgeBase(f"{EX} n(?x) :- p(?x) . p({DIGITS}) . p(-{DIGITS}) . p(3) . d({FRACTION}) .")


def value(kb: KnowledgeBase, expression: str) -> str | None:
    """The text of the value of an expression over ?n and ?d, None if it has none."""
    query = f"SELECT ({expression} AS ?value) {{ VALUES (?n ?d) {{ ({DIGITS} {FRACTION}) }} }}"
    (row,) = kb.sparql(query).rows()
    (found,) = row
    return None if found is None else text_of(found)


def test_texts_and_values() -> None:
    assert value_of(DIGITS) == NUMBER
    assert text_of(NUMBER) == text_of(POWER + 7) == DIGITS
    assert text_of(-POWER - 7) == f"-{DIGITS}"
    assert value_of(FRACTION) == Decimal(FRACTION)
    assert text_of(Decimal(FRACTION)) == FRACTION
    assert value_of("9" * 4300) == int("9" * 4300)
    assert value_of(f"-{'9' * 4300}") == -int("9" * 4300)
    assert [whole_text(n) for n in (0, -1, 2**2048, -(2**2047))] == ["0", "-1", str(2**2048), str(-(2**2047))]


def test_the_limit_is_that_of_the_process() -> None:
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(0)
        assert value_of(DIGITS) == POWER + 7
        sys.set_int_max_str_digits(1000)
        assert value_of("9" * 1001) == Literal("9" * 1001, XSD + "integer")
        assert text_of(10**2000) == "1" + "0" * 2000
    finally:
        sys.set_int_max_str_digits(before)


def test_rules_queries_and_results(kb: KnowledgeBase) -> None:
    assert {text_of(x) for (x,) in kb["n"].rows()} == {DIGITS, f"-{DIGITS}", "3"}
    assert (POWER + 7,) in kb["n"]
    assert (NUMBER,) in kb["n"]
    assert kb.query(f"n({DIGITS}), d({FRACTION})").rows() == [()]
    assert kb["n"].to_arrow().num_rows == len(kb["n"].to_pandas()) == len(kb["n"].to_polars()) == 3
    assert DIGITS[:100] in repr(kb["n"])
    assert DIGITS[:100] in str(kb.explain(f"n({DIGITS})"))


@pytest.mark.parametrize("rows", [[(POWER,), (5,)], {"x": [POWER, 5]}])
def test_python_integers_go_in_and_out(rows: Any) -> None:
    kb = KnowledgeBase()
    kb.insert("p", rows)
    assert {text_of(x) for (x,) in kb["p"].rows()} == {"1" + "0" * 4999, "5"}
    kb.delete("p", [(POWER,)])
    assert kb["p"].rows() == [(5,)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("?n", DIGITS),
        (f"{DIGITS}", DIGITS),
        (f"-{DIGITS}", f"-{DIGITS}"),
        ("?n + 1", DIGITS[:-1] + "8"),
        ("?n - ?n", "0"),
        ("-?n", f"-{DIGITS}"),
        ("?n * 10", f"{DIGITS}0"),
        ("?n / 2", f"5{'0' * 4997}3.5"),
        ("ABS(-?n)", DIGITS),
        ("ROUND(?n)", DIGITS),
        ("FLOOR(?d)", f"{DIGITS}.0"),
        ("ROUND(?d)", f"{DIGITS}.0"),
        ("?d + 0.5", f"{DIGITS}.75"),
        ("-?d", f"-{FRACTION}"),
        ("?d - ?n", "0.25"),
        ("STRLEN(STR(?n))", "5000"),
        ("xsd:integer(STR(?n))", DIGITS),
        ("xsd:integer(?d)", DIGITS),
        ("xsd:decimal(?n)", f"{DIGITS}.0"),
        ("xsd:string(?n)", f'"{DIGITS}"'),
        ("xsd:boolean(?n)", "true"),
        ("IF(?n, 1, 2)", "1"),
        ("?n > 5 && 5 < ?n && ?n != 5", "true"),
        ("?n = ?n + 0", "true"),
        ("?n < ?n + 1", "true"),
        ("?d > ?n", "true"),
        ("?n IN (1, ?n)", "true"),
        ("xsd:double(?n)", f'"INF"^^<{XSD}double>'),
        ("?n + 1e0", f'"INF"^^<{XSD}double>'),
        ("SUBSTR('abc', ?n)", '""'),
        (f"YEAR('{DIGITS}-01-01'^^xsd:date)", None),
        (f"'{DIGITS}-01-01'^^xsd:date = '2000-01-01'^^xsd:date", None),
    ],
)
def test_expressions(kb: KnowledgeBase, expression: str, expected: str | None) -> None:
    assert value(kb, expression) == expected


def test_filters_orders_sums_and_slices(kb: KnowledgeBase) -> None:
    found = kb.sparql("SELECT ?x { ?x a everlog:p FILTER(?x > 2) } ORDER BY DESC(?x)").rows()
    assert [text_of(x) for (x,) in found] == [DIGITS, "3"]
    query = "SELECT (SUM(?x) AS ?s) (MAX(?x) AS ?m) (MIN(?x) AS ?l) (AVG(?x) AS ?a) { ?x a everlog:p }"
    assert [text_of(x) for x in kb.sparql(query).rows()[0]] == ["3", DIGITS, f"-{DIGITS}", "1.0"]
    assert len(kb.sparql(f"SELECT ?x {{ ?x a everlog:p }} LIMIT {DIGITS}")) == 3
    assert len(kb.sparql(f"SELECT ?x {{ ?x a everlog:p }} LIMIT {DIGITS} OFFSET 1")) == 2
    assert len(kb.sparql(f"SELECT ?x {{ ?x a everlog:p }} OFFSET {DIGITS}")) == 0


def test_decimals_are_not_rounded(kb: KnowledgeBase) -> None:
    long = "12345678901234567890123456789012345.678901234567890123456789"
    assert value(kb, f"-({long})") == f"-{long}"
    assert value(kb, f"{long} + 0.000000000000000000000001") == f"{long[:-2]}90"[:-1]
    assert value(kb, f"{long} * 10") == long.replace(".6", "6.")
    assert str(value(kb, f"{long} / 1")).startswith(long[: long.index(".") + 19])
    assert value(kb, "1 / 3") == "0." + "3" * 28


@pytest.mark.spark
def test_files_and_stores(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    command = CommandLine(capfdbinary)
    (tmp_path / "c.csv").write_text(f"{DIGITS},{FRACTION}\n")
    (tmp_path / "t.ttl").write_text(f"<http://e.org/a> <http://e.org/p> {DIGITS} .\n")
    (tmp_path / "n.nt").write_text(f'<http://e.org/b> <http://e.org/p> "{DIGITS}"^^<{XSD}integer> .\n')
    (tmp_path / "r.rls").write_text("both(?x) :- c(?x, _), <http://e.org/p>(_, ?x) .")
    store = tmp_path / "kb"
    facts = [part for name in ("c.csv", "t.ttl", "n.nt") for part in ("--facts", tmp_path / name)]
    assert command("materialise", tmp_path / "r.rls", *facts, "--store", store, "--quiet").status == 0
    opened = everlog.open(store)
    assert opened["both"].rows() == [(NUMBER,)]
    assert opened["c"].rows() == [(NUMBER, Decimal(FRACTION))]
    assert len(opened.sparql(f"SELECT ?x {{ ?x <http://e.org/p> {DIGITS} }}")) == 2
    done = command("sparql", store, "SELECT ?y { ?x <http://e.org/p> ?y FILTER(?y > 0) } LIMIT 1", "--format", "json")
    assert json.loads(done.out)["results"]["bindings"][0]["y"]["value"] == DIGITS
