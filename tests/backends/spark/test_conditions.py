"""Matching instances that have an atom in each of several changes gives the results of the local engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from everlog.engine.keys import columns_of
from everlog.engine.multiset import Counts
from everlog.engine.rules import RuleSet
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from tests.backends.spark.reasoning import setup
from tests.backends.spark.test_updates import facts
from tests.oracle.naive import Fact
from tests.reasoning.test_maintenance import Ids
from tests.strategies import Case

RULES = """
h(?x, ?z) :- e(?x, ?y), f(?y, ?z) .
k(?x, ?z) :- f(?x, ?y), e(?y, ?z) .
h(?x, ?x) :- e(?x, "2"), ~g(?x, _) .
h(?x, ?y) :- e(?x, ?y), e(?y, ?y), ~g(?x, ?y), ~f(_, ?x) .
alone() :- e(?x, ?x) .
"""
POS = facts("e", "12", "21", "22", "23", "33") | facts("f", "12", "22", "31", "23")
NEG = facts("g", "11", "33") | facts("f", "12", "22", "31", "23")
FIRST = facts("e", "12", "22", "33") | facts("f", "31"), facts("g", "22", "12") | facts("f", "11")
SECONDS = [
    (facts("e", "22", "23") | facts("f", "22", "12"), frozenset[Fact]()),
    (facts("f", "23"), facts("g", "21", "22", "12")),
    (facts("other", "1"), frozenset[Fact]()),
    (frozenset[Fact](), frozenset[Fact]()),
]


def numbers(counts: Counts, ids: Ids) -> Mapping[Fact, int]:
    texts = {number: text for text, number in ids.ids.items()}
    found: dict[Fact, int] = {}
    for predicate, multiset in counts.items():
        keys, weights = multiset.whole()
        columns = [column.tolist() for column in columns_of(multiset.layout, keys)]
        rows = zip(*columns, strict=True) if columns else [()] * len(keys)
        found.update(
            {(predicate, tuple(texts[i] for i in row)): n for row, n in zip(rows, weights.tolist(), strict=True)}
        )
    return found


@pytest.mark.parametrize("second", SECONDS, ids=["positive", "both", "elsewhere", "nothing"])
def test_instances_have_an_atom_of_each_change(spark: Any, tmp_path: Path, second: tuple[Any, Any]) -> None:
    program = parse_program(RULES)
    predicates = {atom.predicate for rule in program.rules for atom in (rule.head, *rule.body)}
    case = Case(program, POS | NEG, tuple(predicates), ("1", "2", "3"))
    ids = Ids(case)
    changes = [FIRST, second]
    with setup(spark, tmp_path, program, {*predicates, Predicate("other", 1)}) as on_spark:
        rules = RuleSet(on_spark.program.program.rules)
        here = ids.engine().match(
            rules,
            ids.facts(POS),
            ids.facts(NEG),
            [(ids.facts(inside), ids.facts(outside)) for inside, outside in changes],
        )
        there = on_spark.engine.match(
            rules,
            on_spark.facts(POS),
            on_spark.facts(NEG),
            [(on_spark.facts(inside), on_spark.facts(outside)) for inside, outside in changes],
        )
        expected = numbers(here.counts(), ids)
        assert dict(on_spark.numbers(there.counts())) == expected
        assert {(p, row) for p, rows in on_spark.listed(there.facts()).items() for row in rows} == set(expected)
        assert bool(expected) == (second in SECONDS[:2])
