"""Joins of a loop: facts that are joined in each round stay in their partitions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from everlog.backends.spark import match
from everlog.backends.spark.plans import PlanSettings
from everlog.backends.spark.settings import SparkSettings
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.strata import close_strata
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.oracle.naive import Fact

RULES = """
p(?x, ?y) :- e(?x, ?y) .
p(?y, ?z) :- p(?x, ?y), p(?x, ?w), e(?w, ?z), ~gone(?x, ?z) .
p(?x, ?x) :- p(?x, ?y), f(?y, ?x, ?x) .
"""
LINE = re.compile(r"^([ :+|-]*)(?:\*\(\d+\) )?(\w+)")


def moved(plan: str) -> tuple[int, int]:
    """The number of persisted relations that a plan reads, and of those among them exchanged before a join."""
    above: list[tuple[int, str]] = []
    scans = exchanged = 0
    for depth, name in ((len(found[1]), found[2]) for line in plan.splitlines() if (found := LINE.match(line))):
        while above and above[-1][0] >= depth:
            above.pop()
        if name == "InMemoryTableScan" and not any(each == "InMemoryRelation" for _, each in above):
            scans += 1
            below_join = [each for _, each in above]
            while below_join and not below_join[-1].endswith("Join"):
                exchanged += below_join.pop() in ("Exchange", "BroadcastExchange")
        above.append((depth, name))
    return scans, exchanged


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 1_000])
def test_joined_facts_stay_in_their_partitions(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    plans: list[str] = []

    def new_facts(engine: Any, frames: Any, *others: Any, **more: Any) -> Any:
        plans.extend(frame._jdf.queryExecution().executedPlan().toString() for frame, _ in frames)
        return original(engine, frames, *others, **more)

    original = match.new_facts
    monkeypatch.setattr(match, "new_facts", new_facts)
    program = parse_program(RULES)
    e, f, gone = Predicate("e", 2), Predicate("f", 3), Predicate("gone", 2)
    facts: set[Fact] = {(e, (str(i), str((3 * i + k) % 20))) for i in range(20) for k in (1, 2)}
    facts |= {(f, (str(i), str(i % 7), str(i % 7))) for i in range(20)} | {(gone, ("5", "5"))}
    threshold = spark.conf.get("spark.sql.autoBroadcastJoinThreshold")
    with setup(spark, tmp_path, program) as on_spark:
        on_spark.engine.settings = SparkSettings(0, PlanSettings(shared_facts=0, spread_facts=most))
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        try:
            found, _ = close_strata(on_spark.engine, on_spark.program, on_spark.facts(facts))
            assert on_spark.listed(found) == naive.materialise(program, facts)
        finally:
            spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
        on_disk = spark.sparkContext._jsc.getPersistentRDDs().size()
    numbers = [moved(plan) for plan in plans]
    if most:
        assert not on_disk
        assert not any(scans for scans, _ in numbers)
    else:
        assert on_disk
        assert not spark.sparkContext._jsc.getPersistentRDDs().size()
        assert sum(scans for scans, _ in numbers) > 6
        assert sum(exchanged for _, exchanged in numbers) == 0
