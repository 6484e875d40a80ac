"""Seminaive materialisation equals the naive oracle, and considers each rule instance exactly once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest
from hypothesis import given

from everlog.engine import keys
from everlog.lang.syntax import Program
from tests.oracle import asp, naive
from tests.running import knowledge_base, materialised
from tests.strategies import EDGE, MARK, RECURSIONS, Case, cases, graph_cases, rule_from

STRATIFICATIONS = ["levels", "single"]


@pytest.mark.parametrize("stratification", STRATIFICATIONS)
@given(cases(empty_bodies=True))
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
def test_equals_the_oracle_when_ids_outgrow_packed_keys(case: Case) -> None:
    """In nine bits, three columns have room for eight ids each, and four columns for four."""
    with key_bits(9):
        assert_equals_the_oracle(case, "levels")


@contextmanager
def key_bits(bits: int) -> Iterator[None]:
    """Limit packed keys to a number of bits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "KEY_BITS", bits)
        keys.layout_for.cache_clear()
        yield
    keys.layout_for.cache_clear()


@given(cases() | graph_cases())
def test_equals_clingo(case: Case) -> None:
    assert materialised(case.program, case.facts, case.predicates) == asp.materialise(case.program, case.facts)


@pytest.mark.parametrize("group", RECURSIONS, ids=lambda group: group[-1])
def test_equals_clingo_on_larger_graphs(group: tuple[str, ...]) -> None:
    """Relations large enough to be indexed, in runs of several sizes, over ids of every size."""
    random = Random(len(group[-1]))
    nodes = [f'"n{number}"' for number in range(40)]
    edges = {(EDGE, (random.choice(nodes), random.choice(nodes))) for _ in range(60)}
    facts = edges | {(MARK, (node,)) for node in nodes[:3]}
    rules = tuple(map(rule_from, ("path x y <- edge x y", *group, "apart x y <- edge x _, edge _ y, ~path x y")))
    program = Program(tuple(dict.fromkeys(rules)))
    predicates = {atom.predicate for rule in rules for atom in (rule.head, *rule.body)} | {EDGE, MARK}
    expected = asp.materialise(program, facts)
    assert sum(map(len, expected.values())) > 500
    for stratification in STRATIFICATIONS:
        assert materialised(program, facts, predicates, stratification=stratification) == expected


@pytest.mark.parametrize("stratification", STRATIFICATIONS)
@given(cases(empty_bodies=True) | graph_cases())
def test_counts_facts_and_considers_each_instance_once(stratification: str, case: Case) -> None:
    expected = naive.materialise(case.program, case.facts)
    explicit = {*case.facts, *naive.explicit(case.program)}
    stats = knowledge_base(case.program, case.facts, stratification=stratification, modules=False).materialise()
    total = sum(map(len, expected.values()))
    assert (stats.facts, stats.derived) == (total, total - len(explicit))
    assert stats.instances == len(naive.instances(case.program.rules, expected, expected))
