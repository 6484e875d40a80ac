"""Fact sets in DataFrames behave as sets under any combination of operations."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.workspace import Stored
from everlog.engine.multiset import NO_COUNTS
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.oracle.naive import Fact

P, Q = Predicate("p", 1), Predicate("q", 2)
PROGRAM = parse_program("p(?x) :- q(?x, ?x) .")


def some_facts(choice: random.Random, most: int) -> set[Fact]:
    one = [(P, (str(choice.randrange(4)),)) for _ in range(choice.randrange(most))]
    two = [(Q, (str(choice.randrange(3)), str(choice.randrange(3)))) for _ in range(choice.randrange(most))]
    return {*one, *two}


def combined(
    choice: random.Random, a: tuple[FrameSet, set[Fact]], b: tuple[FrameSet, set[Fact]]
) -> tuple[FrameSet, set[Fact]]:
    operation = choice.choice(["or", "and", "sub", "sub", "extended", "restricted"])
    if operation == "or":
        return a[0] | b[0], a[1] | b[1]
    if operation == "and":
        return a[0] & b[0], a[1] & b[1]
    if operation == "sub":
        return a[0] - b[0], a[1] - b[1]
    if operation == "extended":
        return a[0].extended(b[0] - a[0]), a[1] | b[1]
    predicate = choice.choice([P, Q])
    return a[0].restricted([predicate]), {fact for fact in a[1] if fact[0] == predicate}


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_operations(spark: Any, tmp_path: Path, seed: int) -> None:
    choice = random.Random(seed)
    with setup(spark, tmp_path, PROGRAM, [P, Q]) as on_spark:
        drawn = [some_facts(choice, most) for most in (8, 4, 2, 2)]
        sets = [(on_spark.facts(facts), facts) for facts in drawn]
        for _ in range(14):
            sets.append(combined(choice, choice.choice(sets), choice.choice(sets)))
        for found, expected in sets[-5:]:
            assert bool(found) == bool(expected)
            assert naive.flat(on_spark.listed(found)) == expected
            assert found.count == len(expected)


def test_no_counters_of_facts_elsewhere() -> None:
    """An empty multiset has no number for facts in DataFrames, which is known without reading them."""
    space: Any = None
    facts = FrameSet.of(space, Stored(("a file",), {P: 1}))
    assert not NO_COUNTS.counted(facts)
