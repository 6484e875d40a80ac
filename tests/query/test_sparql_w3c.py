"""The W3C tests of SPARQL 1.1: query evaluation, updates, result formats."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import pyoxigraph as ox
import pytest

from everlog.lang.errors import RuleError
from everlog.query.sparql.formats import write
from everlog.query.sparql.parsing import parse_query, parse_update
from everlog.query.sparql.results import Triples, Truth
from tests.conftest import SHARED_DATA
from tests.query.w3c import (
    Case,
    answered,
    cases,
    path_of,
    read_results,
    same_answer,
    same_graphs,
    same_solutions,
    solutions_of,
    touches_one_graph,
    updated,
)

EXPECTED_FAILURES: dict[str, str] = {}
"""Tests that fail, each with its reason, as docs/sparql.md lists them. One that passes does not belong here."""

QUERIES = cases(SHARED_DATA, "QueryEvaluationTest")
UPDATES = cases(SHARED_DATA, "UpdateEvaluationTest")
CSV_RESULTS = cases(SHARED_DATA, "CSVResultFormatTest")
REFUSED = cases(SHARED_DATA, "NegativeSyntaxTest11")


def test_all_tests_are_there(shared_data: Path) -> None:
    assert (len(QUERIES), len(UPDATES), len(CSV_RESULTS), len(REFUSED)) == (232, 53, 3, 17)
    assert sum(map(touches_one_graph, UPDATES)) == 17
    known = {case.id for case in (*QUERIES, *UPDATES, *CSV_RESULTS)}
    assert len(known) == 288
    assert set(EXPECTED_FAILURES) <= known


@pytest.mark.parametrize("case", QUERIES, ids=lambda case: case.id)
def test_query(case: Case) -> None:
    assert same_answer(case, answered(case)) == (case.id not in EXPECTED_FAILURES)


@pytest.mark.filterwarnings(r"ignore:warning.(unknown-graph|no-named-graphs)\]")
@pytest.mark.parametrize("case", UPDATES, ids=lambda case: case.id)
def test_update(case: Case) -> None:
    assert same_graphs(*updated(case)) == (case.id not in EXPECTED_FAILURES)


@pytest.mark.parametrize("case", CSV_RESULTS, ids=lambda case: case.id)
def test_csv_result(case: Case) -> None:
    file = io.BytesIO()
    write(answered(case), "csv", file)
    found, expected = file.getvalue(), path_of(case.result).read_bytes()
    assert _csv_rows(found) == _csv_rows(expected)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.id)
def test_refused(case: Case) -> None:
    path = path_of(case.action)
    parse = parse_update if path.suffix == ".ru" else parse_query
    with pytest.raises(RuleError):
        parse(path.read_text(encoding="utf-8"))


def _csv_rows(data: bytes) -> tuple[list[str], Counter[tuple[str, ...]]]:
    """The head and the rows, with blank nodes numbered by their first occurrence."""
    head, *rows = csv.reader(io.StringIO(data.decode(), newline=""))
    return head, Counter(tuple("_:" if cell.startswith("_:") else cell for cell in row) for row in rows)


@pytest.mark.parametrize("form", ["json", "xml", "tsv"])
def test_results_are_read_back(shared_data: Path, form: str) -> None:
    """Another program reads the answers in standard formats."""
    formats = {"json": ox.QueryResultsFormat.JSON, "xml": ox.QueryResultsFormat.XML, "tsv": ox.QueryResultsFormat.TSV}
    asked = 0
    for case in QUERIES[::3]:
        result = answered(case)
        if isinstance(result, Triples) or (form == "tsv" and isinstance(result, Truth)):
            continue
        file = io.BytesIO()
        write(result, form, file)
        read = read_results(file.getvalue(), formats[form])
        if isinstance(result, Truth):
            assert read == bool(result)
        else:
            assert isinstance(read, tuple)
            assert read[0] == list(result.columns)
            assert same_solutions(solutions_of(result), read[1]), case.id
        asked += 1
    assert asked > 60
