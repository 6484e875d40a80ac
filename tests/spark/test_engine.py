"""How the Spark engine goes about it: few jobs for many rules, the end of a loop in one task, bounded files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everlog.analysis.check import check
from everlog.analysis.modules import with_modules
from everlog.analysis.stratify import stratify
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.seminaive import seminaive
from everlog.spark import factset
from everlog.spark.plans import PlanSettings
from everlog.spark.settings import SparkSettings
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.running import knowledge_base
from tests.spark.reasoning import setup

NONLINEAR = parse_program("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
EDGE = Predicate("edge", 2)
CHAIN: set[Fact] = {(EDGE, (str(i), str(i + 1))) for i in range(6)}


def test_rules_of_one_shape_are_one_join(spark: Any, tmp_path: Path) -> None:
    text = "".join(f"d{i}(?x, {i}) :- c{i}(?x), b(?x, _), ~a{i}(?x) .\n" for i in range(200))
    program = parse_program(text)
    facts = {(Predicate(f"c{i}", 1), (str(i % 7),)) for i in range(200)} | {(Predicate("b", 2), ("3", "4"))}
    facts |= {(Predicate("a3", 1), ("3",)), (Predicate("b", 2), ("3", "5"))}
    with setup(spark, tmp_path, program) as on_spark:
        given = on_spark.facts(facts)
        before = on_spark.space.jobs
        found, statistics = seminaive(on_spark.engine, on_spark.program, given)
        assert on_spark.space.jobs == before + 1
        assert statistics.instances == sum(
            naive.heads(program.rules, naive.grouped(facts), naive.grouped(facts)).values()
        )
        assert on_spark.listed(found) == naive.materialise(program, facts)


@pytest.mark.parametrize(
    ("local_finish", "says"),
    [(0, None), (10, "more than 10 facts"), (1000, "finished in one task")],
    ids=["never", "gives up", "finishes"],
)
def test_the_local_finish(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, local_finish: int, says: str | None
) -> None:
    local = knowledge_base(NONLINEAR, CHAIN, modules=False)
    expected = local.materialise()
    with setup(spark, tmp_path, NONLINEAR) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = SparkSettings(local_finish=local_finish, plans=PlanSettings(shared_facts=0))
        facts, statistics = seminaive(on_spark.engine, on_spark.program, on_spark.facts(CHAIN))
        assert on_spark.listed(facts) == naive.materialise(NONLINEAR, CHAIN)
    messages = [record.message for record in caplog.records]
    assert sum(": loop: " in message for message in messages) == 1
    said = [m for m in messages if ": loop: " not in m and ("facts" in m or "task" in m)]
    assert bool(said) == bool(says)
    assert all(says in message for message in said if says)
    assert statistics.instances == expected.instances
    assert statistics.facts == expected.facts


def test_a_linear_recursion_is_one_stage(spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    program = parse_program("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    with setup(spark, tmp_path, program) as on_spark, caplog.at_level("INFO", "everlog"):
        facts, _ = seminaive(on_spark.engine, on_spark.program, on_spark.facts(CHAIN))
        assert on_spark.listed(facts) == naive.materialise(program, CHAIN)
    assert any("decomposed" in record.message for record in caplog.records)


MIXED = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z), ~closed(?z, "yes") .
far(?x, ?y) :- path(?x, ?y), ~edge(?x, ?y) .
near(?x, ?y) :- edge(?x, ?y) .
near(?x, ?z) :- near(?x, ?y), near(?y, ?z), open("yes", ?y) .
both(?x) :- near(?x, ?y), far(?x, ?y) .
"""


def test_a_stratum_is_closed_in_parts(spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    program = parse_program(MIXED)
    open_, closed = Predicate("open", 2), Predicate("closed", 2)
    facts = CHAIN | {(open_, ('"yes"', str(i))) for i in (1, 2, 4)} | {(closed, ("5", '"yes"'))}
    with setup(spark, tmp_path, program, kind="single", salt=3) as on_spark, caplog.at_level("INFO", "everlog"):
        assert len(on_spark.program.strata) < 3
        found, _ = seminaive(on_spark.engine, on_spark.program, on_spark.facts(facts))
        assert on_spark.listed(found) == naive.materialise(program, facts)
    said = [record.message for record in caplog.records]
    assert any("decomposed" in message for message in said)
    assert any("finished in one task" in message for message in said)


CLOSURE = parse_program("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")


@pytest.mark.slow
def test_a_module_too_large_for_a_task_is_rounds_of_rules(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    program = with_modules(stratify(check(CLOSURE)))
    with setup(spark, tmp_path, CLOSURE) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = SparkSettings(0, PlanSettings(condensed_edges=1, shared_facts=1))
        facts, _ = seminaive(on_spark.engine, program, on_spark.facts(CHAIN))
        seen = facts.restricted(p for p in facts if p not in program.external.values())
        assert on_spark.listed(seen) == naive.materialise(CLOSURE, CHAIN)
    assert any("loop: decomposes" in record.message for record in caplog.records)


def test_files_stay_few(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factset, "MOST_FILES", 3)
    with setup(spark, tmp_path, NONLINEAR) as on_spark:
        facts = on_spark.facts([])
        parts = sorted(CHAIN)
        for part in parts:
            facts = facts.extended(on_spark.facts([part]))
        assert on_spark.listed(facts) == {EDGE: {row for _, row in parts}}
        assert isinstance(facts, factset.FrameSet)
        assert len(facts.base) <= 4
