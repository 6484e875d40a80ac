"""After updates on DataFrames facts and counters are those of the oracle, and the reported change is the difference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.backends.spark import factset
from everlog.backends.spark.plans import PlanSettings
from everlog.backends.spark.settings import SparkSettings
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.materialisation import Materialisation, with_bookkeeping
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.names import Algorithm
from everlog.reasoning.strata import close_strata
from everlog.reasoning.update import update
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.running import materialised
from tests.strategies import Case, Change, cases, graph_cases, side_by_side
from tests.strategies import facts as facts_over

NO_FINISH = SparkSettings(local_finish=0)
IN_A_LOOP = SparkSettings(local_finish=0, plans=PlanSettings(shared_facts=0, spread_facts=0))
SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def check_updates(
    spark: Any, work: Path, case: Case, changes: list[Change], algorithm: Algorithm, how: SparkSettings = NO_FINISH
) -> None:
    with setup(spark, work, case.program, case.predicates) as on_spark:
        engine, program = on_spark.engine, on_spark.program
        engine.settings = how
        explicit = {*case.facts, *naive.explicit(case.program)}
        given = on_spark.facts(explicit)
        facts, _ = close_strata(engine, program, given)
        kept = with_bookkeeping(engine, program, Materialisation(given, facts), "dredc")
        rules = case.program.rules
        before = naive.materialise(_rules_only(case), explicit)
        assert on_spark.listed(kept.facts) == before
        for change in changes:
            explicit = (explicit - change.delete) | change.insert
            delete, insert = on_spark.facts(change.delete), on_spark.facts(change.insert)
            done = update(engine, program, kept, delete, insert, algorithm)
            kept, after = done.materialisation, naive.materialise(_rules_only(case), explicit)
            assert on_spark.listed(kept.facts) == after
            assert naive.flat(on_spark.listed(done.inserted)) == naive.flat(after) - naive.flat(before)
            assert naive.flat(on_spark.listed(done.deleted)) == naive.flat(before) - naive.flat(after)
            assert naive.flat(on_spark.listed(kept.explicit)) == explicit
            before = after
        derived: dict[Fact, int] = dict(naive.heads(rules, before, before))
        heads = {rule.head.predicate for rule in rules}
        for fact in explicit:
            if fact[0] in heads:
                derived[fact] = derived.get(fact, 0) + 1
        both = dict(on_spark.numbers(kept.nr))
        for fact, number in on_spark.numbers(kept.rec).items():
            both[fact] = both.get(fact, 0) + number
        assert both == derived


def _rules_only(case: Case) -> Program:
    return replace(case.program, facts=())


EXAMPLE = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
loop(?x) :- path(?x, ?x) .
end(?x) :- edge(_, ?x), ~edge(?x, _) .
way(?x) :- node(?x), ~loop(?x), ~end(?x) .
way(?y) :- way(?x), path(?x, ?y), ~loop(?y) .
"""


def facts(name: str, *rows: str) -> frozenset[Fact]:
    return frozenset((Predicate(name, len(row)), tuple(row)) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "updates", "few"), [("dredc", 1, 0), ("dredc", 2, 1_000), ("bfc", 2, 1_000), ("counting", 2, 0)]
)
def test_an_example(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: Algorithm, updates: int, few: int
) -> None:
    monkeypatch.setattr(factset, "FEW_FACTS", few)
    edges = facts("edge", "12", "23", "31", "34", "45", "67")
    program = parse_program(EXAMPLE)
    predicates = tuple({atom.predicate for rule in program.rules for atom in (rule.head, *rule.body)})
    case = Case(program, edges | facts("node", "1", "4", "6"), predicates, tuple("1234567"))
    changes = [
        Change(facts("edge", "25", "71"), facts("edge", "31", "99")),
        Change(facts("edge", "31") | facts("path", "77"), facts("edge", "25", "67") | facts("node", "1")),
    ]
    check_updates(spark, tmp_path, case, changes[:updates], algorithm, IN_A_LOOP)


@pytest.mark.slow
def test_a_recursion_without_instances(spark: Any, tmp_path: Path) -> None:
    """No fact has a recursive counter, and a fact is overdeleted."""
    program = parse_program("p(?x) :- e(?x) . p(?y) :- p(?x), f(?x, ?y) .")
    predicates = tuple({atom.predicate for rule in program.rules for atom in (rule.head, *rule.body)})
    case = Case(program, facts("e", "1", "2"), predicates, tuple("12"))
    check_updates(spark, tmp_path, case, [Change(facts("f", "22"), facts("e", "1"))], "dredc")


CLOSURE = parse_program("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")


@pytest.mark.parametrize(
    ("edges", "pairs"),
    [pytest.param(9, 14, marks=pytest.mark.slow), pytest.param(8, 14, marks=pytest.mark.slow), (9, 13)],
    ids=["in one task", "too many edges", "too many pairs"],
)
def test_a_closure_is_repaired_in_one_task_or_closed_again(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, edges: int, pairs: int
) -> None:
    """Nine edges are read: seven, one deleted and one inserted; ten pairs are lost and four are derived newly."""
    given = facts("edge", "12", "23", "34", "45", "56", "67", "31")
    deleted, inserted = facts("edge", "56"), facts("edge", "48")
    program = with_modules(stratify(check(CLOSURE)))
    hidden = program.external.values()
    before, after = (
        naive.flat(materialised(CLOSURE, some, (Predicate("edge", 2), Predicate("path", 2))))
        for some in (given, given - deleted | inserted)
    )
    with setup(spark, tmp_path, CLOSURE, hidden) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = SparkSettings(0, PlanSettings(condensed_edges=edges, shared_facts=pairs))
        explicit = on_spark.facts(given)
        found, _ = close_strata(on_spark.engine, program, explicit)
        kept = with_bookkeeping(on_spark.engine, program, Materialisation(explicit, found), "dredc")
        done = update(on_spark.engine, program, kept, on_spark.facts(deleted), on_spark.facts(inserted), "dredc")

        def seen(facts: Any) -> set[Fact]:
            return naive.flat(on_spark.listed(facts.restricted(p for p in facts if p not in hidden)))

        assert seen(done.materialisation.facts) == after
        assert seen(done.deleted) == before - after
        assert seen(done.inserted) == after - before
    logged = [record.message for record in caplog.records if "closed again" in record.message]
    assert len(logged) == ((edges, pairs) != (9, 14))
    assert all(f"(condensed-edges {edges})" in message and f"(shared-facts {pairs})" in message for message in logged)


@st.composite
def change(draw: st.DrawFn, case: Case) -> Change:
    """A change of each of several programs."""
    known = sorted(case.facts)
    insert = draw(st.lists(facts_over(case.predicates, case.domain), max_size=12))
    delete = draw(st.lists(st.sampled_from(known), max_size=12)) if known else []
    return Change(frozenset(insert), frozenset(delete))


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=SHARED)
@given(st.data())
def test_many_random_programs(spark: Any, tmp_path: Path, data: st.DataObject) -> None:
    case = side_by_side([data.draw(st.one_of(cases(), graph_cases())) for _ in range(3)])
    changes = [data.draw(change(case)) for _ in range(data.draw(st.integers(1, 2)))]
    algorithm: Algorithm = data.draw(st.sampled_from(["dredc", "bfc", "rematerialise"]))
    how = data.draw(st.sampled_from([NO_FINISH, IN_A_LOOP, SparkSettings()]))
    check_updates(spark, tmp_path, case, changes, algorithm, how)
