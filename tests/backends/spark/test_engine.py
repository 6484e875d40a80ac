"""The work of the Spark engine: few jobs for many rules, the end of a loop in one task, a bounded number of files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.backends.spark import factset
from everlog.backends.spark.plans import PlanSettings
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.workspace import Workspace
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.strata import close_strata
from tests.backends.spark.ran import ran
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.running import knowledge_base, materialised

NONLINEAR = parse_program("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
EDGE = Predicate("edge", 2)
CHAIN: set[Fact] = {(EDGE, (str(i), str(i + 1))) for i in range(6)}


def thousand_rules() -> str:
    """A hierarchy of 910 classes below another, ten a class and three levels deep, and other rules for those below."""
    subclasses = [f"c{(i - 1) // 10}(?x) :- c{i}(?x) .\n" for i in range(1, 911)]
    others = [f"d{i}(?x, {i}) :- c{i}(?x), b(?x, _), ~a{i}(?x) .\n" for i in range(111, 201)]
    return "".join([*subclasses, *others])


def test_a_thousand_rules_of_few_shapes_are_few_joins_and_few_jobs(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Joins and reads are counted in the plans that Spark runs, each for all rules of a stratum; jobs by Spark."""
    plans: list[str] = []

    def store(space: Workspace, frame: Any, **more: Any) -> Any:
        plans.append(frame._jdf.queryExecution().optimizedPlan().toString())
        return original(space, frame, **more)

    original = Workspace.store
    program = parse_program(thousand_rules())
    facts = {(Predicate(f"c{i}", 1), (str(i % 7),)) for i in range(100, 911)} | {(Predicate("b", 2), ("3", "4"))}
    facts |= {(Predicate("a115", 1), ("3",)), (Predicate("b", 2), ("3", "5"))}
    with setup(spark, tmp_path, program) as on_spark:
        given = on_spark.facts(facts)
        assert (len(program.rules), len(on_spark.program.strata)) == (1000, 3)
        monkeypatch.setattr(Workspace, "store", store)
        with ran(spark) as found:
            derived, statistics = close_strata(on_spark.engine, on_spark.program, given)
        expected = naive.materialise(program, facts)
        assert on_spark.listed(derived) == expected == materialised(program, facts, expected, modules=False)
        assert statistics.instances == sum(naive.heads(program.rules, expected, expected).values())
    assert len(plans) == 3
    assert 3 < sum(len(re.findall(r"\bJoin \w+", plan)) for plan in plans) < 15
    assert 3 < sum(len(re.findall(r"\bRelation \[", plan)) for plan in plans) < 20
    assert 3 <= found.jobs < 25


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
        facts, statistics = close_strata(on_spark.engine, on_spark.program, on_spark.facts(CHAIN))
        assert on_spark.listed(facts) == naive.materialise(NONLINEAR, CHAIN)
    messages = [record.message for record in caplog.records]
    assert sum(": loop: " in message for message in messages) == 1
    logged = [m for m in messages if ": loop: " not in m and ("facts" in m or "task" in m)]
    assert bool(logged) == bool(says)
    assert all(says in message for message in logged if says)
    assert statistics.instances == expected.instances
    assert statistics.facts == expected.facts


def test_a_linear_recursion_is_one_stage(spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    program = parse_program("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    with setup(spark, tmp_path, program) as on_spark, caplog.at_level("INFO", "everlog"):
        facts, _ = close_strata(on_spark.engine, on_spark.program, on_spark.facts(CHAIN))
        assert on_spark.listed(facts) == naive.materialise(program, CHAIN)
    assert any("decomposed" in record.message for record in caplog.records)


def test_a_head_with_a_constant_where_it_would_be_carried(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A derived fact belongs to another slice than the fact from which it is derived."""
    program = parse_program("path(?x, ?y) :- edge(?x, ?y) . path(3, ?z) :- path(?x, ?y), edge(?y, ?z), ~edge(3, ?z) .")
    facts = {(EDGE, (str(i), str((2 * i + k) % 9))) for i in range(9) for k in (1, 2) if i != 5}
    with setup(spark, tmp_path, program) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = SparkSettings(local_finish=0)
        found, _ = close_strata(on_spark.engine, on_spark.program, on_spark.facts(facts))
        listed = on_spark.listed(found)
    assert listed == materialised(program, facts, listed, modules=False) == naive.materialise(program, facts)
    assert any("argument 1 of path: 3 in the head is no variable" in record.message for record in caplog.records)


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
        found, _ = close_strata(on_spark.engine, on_spark.program, on_spark.facts(facts))
        assert on_spark.listed(found) == naive.materialise(program, facts)
    logged = [record.message for record in caplog.records]
    assert any("decomposed" in message for message in logged)
    assert any("finished in one task" in message for message in logged)


CLOSURE = parse_program("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")


@pytest.mark.slow
def test_a_module_too_large_for_a_task_is_rounds_of_rules(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    program = with_modules(stratify(check(CLOSURE)))
    with setup(spark, tmp_path, CLOSURE) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = SparkSettings(0, PlanSettings(condensed_edges=1, shared_facts=1))
        facts, _ = close_strata(on_spark.engine, program, on_spark.facts(CHAIN))
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
