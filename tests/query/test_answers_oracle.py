"""The answers to conjunctive queries equal the oracle's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everlog.lang.printer import print_query
from everlog.lang.terms import text_of
from tests.oracle import naive
from tests.running import knowledge_base, known
from tests.strategies import Case, cases, graph_cases, queries


@given(st.data(), cases() | graph_cases())
def test_equals_the_oracle(data: st.DataObject, case: Case) -> None:
    predicates = known(case.program, case.facts, case.predicates)
    query = data.draw(queries(predicates, case.domain))
    kb = knowledge_base(case.program, case.facts)
    rows = [tuple(map(text_of, row)) for row in kb.query(print_query(query))]
    assert len(rows) == len(set(rows))
    assert set(rows) == naive.query(query, naive.materialise(case.program, case.facts))
