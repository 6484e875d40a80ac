"""The answers to conjunctive queries equal the oracle's, whether listed, counted or looked up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.lang.parser import parse_program
from everlog.lang.printer import print_query
from everlog.lang.syntax import Predicate
from everlog.lang.terms import text_of, value_of
from tests.oracle import naive
from tests.running import knowledge_base, known
from tests.strategies import Case, cases, graph_cases, queries

CLOSURES = """
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .
same(?x, ?y) :- same(?y, ?x) . same(?x, ?z) :- same(?x, ?y), same(?y, ?z) . same(?x, ?y) :- link(?x, ?y) .
either(?x, ?y) :- path(?x, ?y) . either(?x, ?y) :- same(?x, ?y) . either(?x, ?y) :- path(?y, ?x) .
"""
DOMAIN = tuple(f'"{name}"' for name in "abcde")
PAIRS = st.sets(st.tuples(st.sampled_from(DOMAIN), st.sampled_from(DOMAIN)), max_size=8)
Rows = set[tuple[str, str]]
RELATIONS = [Predicate(name, 2) for name in ("path", "same", "either", "edge")]


@given(st.data(), cases() | graph_cases())
def test_equals_the_oracle(data: st.DataObject, case: Case) -> None:
    predicates = known(case.program, case.facts, case.predicates)
    query = data.draw(queries(predicates, case.domain))
    kb = knowledge_base(case.program, case.facts)
    rows = [tuple(map(text_of, row)) for row in kb.query(print_query(query))]
    assert len(rows) == len(set(rows))
    expected = naive.query(query, naive.materialise(case.program, case.facts))
    assert set(rows) == expected
    assert (len(kb.query(print_query(query))), bool(kb.query(print_query(query)))) == (len(expected), bool(expected))


@pytest.mark.parametrize("modules", [True, False])
@given(data=st.data(), edges=PAIRS, links=PAIRS)
def test_counting_over_closures_equals_the_oracle(modules: bool, data: st.DataObject, edges: Rows, links: Rows) -> None:
    facts = {(Predicate("edge", 2), row) for row in edges} | {(Predicate("link", 2), row) for row in links}
    query = data.draw(queries(RELATIONS, DOMAIN))
    kb = knowledge_base(CLOSURES, facts, modules=modules)
    expected = naive.query(query, naive.materialise(parse_program(CLOSURES), facts))
    text = print_query(query)
    assert len(kb.query(text)) == len(expected)
    assert bool(kb.query(text)) == bool(expected)
    asked = kb.query(text)
    row = data.draw(st.tuples(*[st.sampled_from(DOMAIN)] * len(query.variables)))
    assert (tuple(map(value_of, row)) in asked) == (row in expected)
    assert {tuple(map(text_of, found)) for found in asked} == expected
