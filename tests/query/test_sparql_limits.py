"""SPARQL keeps to the limits of its knowledge base, from the first character of the text on."""

from __future__ import annotations

import time

import numpy as np
import pytest

from everlog import KnowledgeBase, LimitError, RuleError
from everlog.host.memory import held_memory
from everlog.query.sparql import joining
from everlog.query.sparql.joining import matches

SECONDS = 0.3
SLACK = 5.0
"""Extra seconds that a query may take on a busy machine until it stops."""


def values(name: str, count: int) -> str:
    return f"VALUES ?{name} {{ {' '.join(map(str, range(count)))} }}"


PRODUCT = f"{values('x', 1200)} {values('y', 1200)}"

SLOW = {
    "order by an expression": f"SELECT ?x {{ {PRODUCT} }} ORDER BY CONCAT(STR(?x), STR(?y))",
    "order by a sum": f"SELECT ?x {{ {PRODUCT} }} ORDER BY (?x * ?y)",
    "a filter": f"SELECT ?x {{ {PRODUCT} FILTER(STRLEN(CONCAT(STR(?x), '-', STR(?y))) < 0) }}",
    "a regular expression": f"SELECT ?x {{ {PRODUCT} FILTER REGEX(CONCAT(STR(?x), '-', STR(?y)), '^(1+)+$') }}",
    "random numbers": f"SELECT (RAND() AS ?r) {{ {PRODUCT} }}",
    "sums of groups": f"SELECT (SUM(?z) AS ?s) {{ {PRODUCT} BIND(?x * 0.1 + ?y AS ?z) }} GROUP BY ?x",
    "a long sum": f"SELECT ({'+'.join(['1'] * 5000)} AS ?x) {{}}",
    "a long path": f"SELECT ?x {{ ?x {'/'.join(['<urn:p>?'] * 40_000)} ?y }}",
    "many alternatives": f"SELECT ?x {{ ?x {'|'.join(['<urn:p>'] * 40_000)} ?y }}",
    "a long list of patterns": f"SELECT ?x {{ {'OPTIONAL { ?x ?p ?y } ' * 3000} }}",
}
"""Queries that take seconds on a fast machine. The long texts are read in one loop that looks at the clock with each
term; only when they have been read it shows that they are nested too deeply, which must be later than the limit."""


@pytest.mark.long
@pytest.mark.parametrize("name", SLOW)
def test_a_query_ends_when_its_time_is_up(name: str) -> None:
    kb = KnowledgeBase("p(a, b) . p(b, c) .", timeout=SECONDS)
    kb.sparql("ASK {}")
    begun = time.monotonic()
    with pytest.raises(LimitError) as found:
        kb.sparql(SLOW[name])
    assert found.value.diagnostics[0].code == "timeout"
    assert time.monotonic() - begun < SECONDS + SLACK


def test_an_update_ends_when_its_time_is_up() -> None:
    kb = KnowledgeBase("p(a, b) .", timeout=SECONDS)
    with pytest.raises(LimitError, match="timeout"):
        kb.sparql_update(f"INSERT {{ <urn:a> <urn:p> ?z }} WHERE {{ {PRODUCT} BIND(?x * ?y + 0.5 AS ?z) }}")
    assert len(kb["p"]) == 1


@pytest.mark.parametrize("select", ["SELECT *", "SELECT ?x", "SELECT (SUM(?x + ?y) AS ?s)"])
def test_a_product_is_refused_before_it_is_made(select: str) -> None:
    query = f"{select} {{ {values('x', 400)} {values('y', 400)} }}"
    with pytest.raises(LimitError) as found:
        KnowledgeBase("p(a, b) .", max_facts=100_000).sparql(query)
    assert found.value.diagnostics[0].code == "max-facts"
    with pytest.raises(LimitError) as found:
        KnowledgeBase("p(a, b) .", max_memory=held_memory() + (1 << 20)).sparql(query)
    assert found.value.diagnostics[0].code == "memory"


def test_more_pairs_than_the_machine_can_hold_are_refused_before_they_are_made() -> None:
    column = np.zeros(1_000_000, np.int64)
    with pytest.raises(LimitError, match="1,000,000,000,000 rows would take"):
        matches(column, column)


def test_pairs_are_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    left, right = random.integers(0, 9, 50), random.integers(0, 9, 60)
    expected = [(i, j) for i in range(50) for j in range(60) if left[i] == right[j]]
    for pairs in (1, 7, 100, 1 << 22):
        monkeypatch.setattr(joining, "PAIRS", pairs)
        assert list(zip(*(rows.tolist() for rows in matches(left, right)), strict=True)) == expected


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT ?x {{ ?x {'|'.join(['<urn:p>'] * 1500)} ?y }}",
        f"SELECT ({'(' * 500}1{')' * 500} AS ?x) {{}}",
        f"SELECT ?x {'{' * 500} ?x ?p ?y {'}' * 500}",
    ],
    ids=["alternatives", "brackets", "groups"],
)
def test_what_is_nested_too_deeply_is_refused(query: str) -> None:
    with pytest.raises(RuleError, match="nested too deeply"):
        KnowledgeBase("p(a, b) .").sparql(query)
