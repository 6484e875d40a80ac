"""Seminaive materialisation equals the naive oracle, and considers each rule instance exactly once."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.oracle import asp, naive
from tests.running import knowledge_base, materialised
from tests.strategies import Case, cases, graph_cases

STRATIFICATIONS = ["levels", "single"]


@pytest.mark.parametrize("stratification", STRATIFICATIONS)
@given(cases())
def test_equals_the_oracle(stratification: str, case: Case) -> None:
    assert_equals_the_oracle(case, stratification)


@pytest.mark.parametrize("stratification", STRATIFICATIONS)
@given(graph_cases())
def test_equals_the_oracle_on_recursion(stratification: str, case: Case) -> None:
    assert_equals_the_oracle(case, stratification)


def assert_equals_the_oracle(case: Case, stratification: str) -> None:
    found = materialised(case.program, case.facts, case.predicates, stratification=stratification)
    assert found == naive.materialise(case.program, case.facts)


@given(cases() | graph_cases())
def test_equals_clingo(case: Case) -> None:
    assert materialised(case.program, case.facts, case.predicates) == asp.materialise(case.program, case.facts)


@pytest.mark.parametrize("stratification", STRATIFICATIONS)
@given(cases() | graph_cases())
def test_counts_facts_and_considers_each_instance_once(stratification: str, case: Case) -> None:
    expected = naive.materialise(case.program, case.facts)
    explicit = {*case.facts, *naive.explicit(case.program)}
    stats = knowledge_base(case.program, case.facts, stratification=stratification).materialise()
    total = sum(map(len, expected.values()))
    assert (stats.facts, stats.derived) == (total, total - len(explicit))
    assert stats.instances == len(naive.instances(case.program.rules, expected, expected))
