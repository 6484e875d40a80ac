"""Strata are evaluated in one task if their facts are expected to fit there, and distributed otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.backends.engines import memory_needed, needs_spark
from everlog.backends.spark.plans import PlanSettings, plan_of
from everlog.backends.spark.settings import SparkSettings, plan_settings
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.materialisation import Materialisation, with_bookkeeping
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.strata import close_strata
from everlog.reasoning.update import update
from everlog.store import Store
from tests.backends.spark.by_plans import stratified
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.oracle.naive import Fact

PROGRAM = """
big(?x, ?y) :- edge(?x, ?y) .
big(?x, ?y) :- edge(?y, ?x) .
near(?x, ?z) :- small(?x, ?y), small(?y, ?z) .
near(?x, ?z) :- near(?x, ?y), near(?y, ?z), ~stop(?y) .
both(?x, new) :- near(?x, ?y), big(?y, _) .
on() :- near(?x, ?x) .
"""
EDGE, SMALL = Predicate("edge", 2), Predicate("small", 2)
FACTS: set[Fact] = {(EDGE, (str(i), str(j))) for i in range(12) for j in range(5)}
FACTS |= {(SMALL, (str(i), str(i + 1))) for i in range(7)}
FACTS |= {(Predicate("stop", 1), ("3",)), (Predicate("on", 0), ()), (Predicate("near", 2), ("5", "5"))}


def test_a_limit_decides_by_what_is_expected() -> None:
    near, *_ = stratified("p(?x, ?z) :- e(?x, ?y), f(?y, ?z) .").strata
    sizes = {Predicate("e", 2): 60, Predicate("f", 2): 40, Predicate("g", 2): 1_000}
    for limit, growth, kind in ((500, 4, "local"), (499, 4, "nonrecursive"), (499, 3, "local"), (0, 4, "nonrecursive")):
        plan = plan_of(near, sizes, PlanSettings(local_facts=limit, growth=growth))
        assert plan.kind == kind
        assert (f"(local-facts {limit})" in str(plan)) == bool(limit)
        assert (f"(growth {growth})" in str(plan)) == bool(limit)


@pytest.mark.parametrize(
    ("limit", "kinds"),
    [
        pytest.param(10_000, {"big, near, on": "local", "both": "local"}, marks=pytest.mark.slow),
        (100, {"big, near, on": "nonrecursive, local", "both": "nonrecursive"}),
    ],
    ids=["all", "some"],
)
def test_each_stratum_has_its_place(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, limit: int, kinds: dict[str, str]
) -> None:
    program = parse_program(PROGRAM)
    with setup(spark, tmp_path, program, {p for p, _ in FACTS}) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = SparkSettings(0, PlanSettings(local_facts=limit))
        facts, statistics = close_strata(on_spark.engine, on_spark.program, on_spark.facts(FACTS))
        expected = naive.materialise(program, FACTS)
        assert on_spark.listed(facts) == expected
    logged = [record.message for record in caplog.records if record.message.startswith("stratum")]
    assert any(": local: the local engine in one task" in message for message in logged) == ("local" in str(kinds))
    assert [each.plan for each in statistics.strata] == list(kinds.values())
    instances = sum(naive.heads(program.rules, expected, expected).values())
    assert statistics.instances == instances


def test_a_task_gives_up(spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    program = parse_program("pair(?x, ?y) :- edge(?x, _), edge(?y, _) .")
    facts = {fact for fact in FACTS if fact[0] == EDGE}
    with setup(spark, tmp_path, program) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = SparkSettings(0, PlanSettings(local_facts=100, growth=0))
        found, _ = close_strata(on_spark.engine, on_spark.program, on_spark.facts(facts))
        assert on_spark.listed(found) == naive.materialise(program, facts)
    assert any("more than 100 facts, so it is distributed after all" in record.message for record in caplog.records)


INNER = """
part(?x, ?z) :- part(?x, ?y), part(?y, ?z) .
part(?x, ?y) :- piece(?x, ?y), ~odd(?x) .
part(?x, ?y) :- part(?y, ?y), piece(?x, ?y) .
chain(?x, ?y) :- piece(?x, ?y) .
chain(?x, ?z) :- chain(?x, ?y), chain(?y, ?z) .
whole(?x) :- part(?x, ?x), chain(?x, _) .
"""


@pytest.mark.parametrize("limit", [0, pytest.param(10_000, marks=pytest.mark.slow)])
def test_modules_inside_a_stratum_leave_the_others_as_they_are(spark: Any, tmp_path: Path, limit: int) -> None:
    rules = parse_program(INNER)
    facts: set[Fact] = {
        (Predicate("piece", 2), row) for row in [("1", "2"), ("2", "3"), ("3", "3"), ("4", "1"), ("5", "4")]
    }
    facts |= {(Predicate("odd", 1), ("2",)), (Predicate("part", 2), ("6", "1"))}
    program = with_modules(stratify(check(rules)))
    assert any(stratum.is_mixed for stratum in program.strata)
    assert any(stratum.alone for stratum in program.strata)
    with setup(spark, tmp_path, rules, {p for p, _ in facts}) as on_spark:
        on_spark.engine.settings = SparkSettings(plans=PlanSettings(local_facts=limit))
        found, statistics = close_strata(on_spark.engine, program, on_spark.facts(facts).renamed(program.external))
        seen = found.restricted(p for p in found if p not in program.external.values())
        assert on_spark.listed(seen) == naive.materialise(rules, facts)
    assert "reachability" in [each.plan for each in statistics.strata]


@pytest.mark.slow
def test_a_stratum_with_modules_inside_is_closed_again(spark: Any, tmp_path: Path) -> None:
    """The facts are repaired, what changed is said, and the counters are those of materialising."""
    rules = parse_program(INNER)
    piece, odd = Predicate("piece", 2), Predicate("odd", 1)
    before: set[Fact] = {(piece, row) for row in [("1", "2"), ("2", "3"), ("3", "3"), ("4", "1")]} | {(odd, ("2",))}
    delete: set[Fact] = {(odd, ("2",)), (piece, ("4", "1"))}
    insert: set[Fact] = {(piece, ("5", "4"))}
    after = (before - delete) | insert
    program = with_modules(stratify(check(rules)))
    with setup(spark, tmp_path, rules) as on_spark:
        engine = on_spark.engine

        def counted_anew(explicit: set[Fact]) -> Any:
            given = on_spark.facts(explicit)
            facts, _ = close_strata(engine, program, given)
            return with_bookkeeping(engine, program, Materialisation(given, facts), "dredc")

        old, fresh = counted_anew(before), counted_anew(after)
        done = update(engine, program, old, on_spark.facts(delete), on_spark.facts(insert), "dredc")
        whole, known = (naive.flat(naive.materialise(rules, facts)) for facts in (after, before))
        hidden = set(program.external.values())

        def shown(facts: Any) -> set[Fact]:
            return naive.flat(on_spark.listed(facts.restricted(p for p in facts if p not in hidden)))

        assert shown(done.materialisation.facts) == whole
        assert (shown(done.inserted), shown(done.deleted)) == (whole - known, known - whole)
        for kept, changed, new in (
            (old.nr, done.nr, fresh.nr),
            (old.rec, done.rec, fresh.rec),
        ):
            assert on_spark.numbers(kept + changed) == on_spark.numbers(new)


def test_the_memory_granted_decides(spark: Any, caplog: pytest.LogCaptureFixture) -> None:
    needed = memory_needed(1_000, 10)
    with caplog.at_level("INFO", "everlog"):
        assert [needs_spark(needed, memory) for memory in (needed - 1, needed)] == [True, False]
    assert ["spark" in record.message for record in caplog.records] == [True, False]
    assert plan_settings(spark, "spark", 1 << 30) == PlanSettings()
    assert plan_settings(spark, "auto", 1 << 30) == PlanSettings().choosing(1 << 30)
    assert plan_settings(spark, "auto", 0).local_facts == 0


@pytest.mark.slow
@pytest.mark.parametrize("rules", [PROGRAM, INNER])
def test_stores_are_the_same(
    spark: Any, tmp_path: Path, rules: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("everlog.backends.spark.plans.WORKER_BYTES", 0)
    monkeypatch.setattr("everlog.backends.spark.plans.LOCAL_BYTES", 16)
    (tmp_path / "rules.rls").write_text(rules)
    for name in ("edge", "small", "piece"):
        (tmp_path / f"{name}.csv").write_text("".join(f"{i % 9},{(i * i + 1) % 11}\n" for i in range(30)))
    files = tuple(str(tmp_path / f"{name}.csv") for name in ("edge", "small", "piece") if name in rules)
    tables = []
    with caplog.at_level("INFO", "everlog"):
        for engine, memory in (("local", None), ("spark", None), ("auto", 8_000 if rules is PROGRAM else 3_000)):
            job = MaterialiseJob(
                str(tmp_path / "rules.rls"), files, str(tmp_path / engine), engine=engine, memory=memory
            )
            materialise(job)
            store = Store.open(tmp_path / engine)
            tables.append([row for batch in store.facts() for row in batch.to_pylist()])
            assert store.info().statistics["modules"] is (rules is INNER)
    assert tables[0] == tables[1] == tables[2]
    assert any("engine auto: spark" in record.message for record in caplog.records)
    assert any("local: the local engine" in record.message for record in caplog.records)
