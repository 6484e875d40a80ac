"""Decomposed recursion in one stage gives the facts of the definition."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everlog.backends.executors import parallelism
from everlog.backends.spark.plans import PlanSettings, close, plan_of
from everlog.backends.spark.sharing import Array, map_arrays, renumbered, share, shared_facts, write_arrays
from everlog.engine.hashing import hash_text
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from tests.backends.spark.by_plans import SMALL, derived, frame, stratified
from tests.backends.spark.ran import ran
from tests.oracle.naive import Fact, materialise
from tests.strategies import Case, graph_cases

E, F, P = Predicate("e", 2), Predicate("f", 2), Predicate("p", 2)
EDGES: set[Fact] = {(E, (str(i), str(j))) for i in range(12) for j in (i + 1, (3 * i + 2) % 12)}
OTHERS: set[Fact] = {(F, (str(i), str(5 * i % 12))) for i in range(12)} | {
    (Predicate("g", 1), (str(i),)) for i in range(0, 12, 3)
}
OTHERS |= {(Predicate("s", 3), (str(i), str(j), str(i * j % 12))) for i in range(12) for j in range(0, 12, 2)}
BASE = "p(?x, ?y) :- e(?x, ?y) ."

PROGRAMS = {
    "left": f"{BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "right": f"{BASE} p(?x, ?z) :- e(?x, ?y), p(?y, ?z) .",
    "negation": f"{BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z), ~f(?x, ?z), ~g(?z), ~f(_, ?y) .",
    "constants": f"{BASE} p(?x, 7) :- p(?x, ?y), e(?y, 3) . p(?x, new) :- p(?x, 7), e(?x, ?y) .",
    "along": f"{BASE} p(?x, ?z) :- p(?x, ?y), f(?x, ?z) . p(?x, ?z) :- p(?x, ?y), f(?z, ?x), e(?y, ?z) .",
    "mutual": f"{BASE} q(?y, ?x) :- p(?x, ?y), ~g(?x) . p(?x, ?z) :- q(?y, ?x), e(?y, ?z) .",
    "arities": f"{BASE} t(?x, ?y, ?z) :- p(?x, ?y), e(?y, ?z) . u(?x) :- t(?x, ?y, ?y) . p(?x, ?z) :- u(?x), g(?z) .",
    "wide": "t(?x, ?y, ?z) :- e(?x, ?y), f(?y, ?z) . t(?x, ?z, ?w) :- t(?x, ?y, ?z), s(?w, ?z, ?y), ~s(?y, ?w, ?w) .",
    "seeds": "p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . p(1, 2) . p(5, 0) .",
}


def renamed(name: str) -> str:
    """The program with all predicates renamed except the given ones."""
    return re.sub(r"\b([pqtu])\(", rf"{name}_\1(", PROGRAMS[name])


def test_all_recursion_of_a_stratum_is_closed_in_one_stage(spark: Any, tmp_path: Path) -> None:
    program, facts = parse_program("\n".join(map(renamed, PROGRAMS))), EDGES | OTHERS
    found, (plan,) = derived(spark, stratified(program), facts, tmp_path)
    assert plan.kind == "decomposed"
    assert len(plan.stratum.predicates) == len(PROGRAMS) + 3
    assert found == materialise(program, facts)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_stage_gives_what_follows(name: str, spark: Any, tmp_path: Path) -> None:
    program, facts = parse_program(PROGRAMS[name]), EDGES | OTHERS
    found, chosen = derived(spark, stratified(program), facts, tmp_path)
    assert chosen[-1].kind == "decomposed"
    assert found == materialise(program, facts)


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(case=graph_cases())
def test_recursion_over_random_graphs(case: Case, spark: Any, tmp_path: Path) -> None:
    for modules in (False, True):
        found, _ = derived(spark, stratified(case.program, modules), case.facts, tmp_path)
        expected = materialise(case.program, case.facts)
        assert found == {predicate: rows for predicate, rows in expected.items() if rows}


def test_switches_without_arguments_are_shared(spark: Any, tmp_path: Path) -> None:
    on = Predicate("on", 0)
    (stratum,) = stratified(f"{BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z), on() .").strata
    edges = frame(spark, [("1", "2"), ("2", "3")], 2)
    for switch, count in ((spark.range(1).select(), 3), (spark.range(0).select(), 2)):
        given_facts = {P: edges, E: edges, on: switch}
        found = close(plan_of(stratum, {}, SMALL), spark, given_facts, tmp_path)
        assert found[P].count() == count


def test_more_shared_facts_than_allowed_are_a_loop() -> None:
    (stratum,) = stratified(PROGRAMS["left"]).strata
    for limit, kind in ((100, "decomposed"), (99, "loop")):
        plan = plan_of(stratum, {E: 100}, PlanSettings(shared_facts=limit))
        assert plan.kind == kind
        assert f"shared-facts {limit}" in str(plan)


def test_slices_are_a_setting(spark: Any, tmp_path: Path) -> None:
    (stratum,) = stratified(PROGRAMS["left"]).strata
    edges = frame(spark, [row for _, row in EDGES], 2)
    counts = []
    for slices in (1, 3):
        plan = plan_of(stratum, {}, replace(SMALL, slices=slices))
        assert f"(slices {slices})" in str(plan)
        found = close(plan, spark, {P: edges, E: edges}, tmp_path)[P]
        counts.append(found.rdd.getNumPartitions())
    assert counts[1] == 3 * counts[0]


def test_few_facts_are_few_slices(spark: Any, tmp_path: Path) -> None:
    (stratum,) = stratified(PROGRAMS["left"]).strata
    edges = frame(spark, [row for _, row in EDGES], 2)
    most = parallelism(spark)
    for least, slices in ((1, most), (len(EDGES) // 2, 2), (len(EDGES) + 1, 1)):
        plan = plan_of(stratum, {P: len(EDGES), E: len(EDGES)}, replace(SMALL, slice_facts=least))
        assert f"{SMALL.slices} slices for each shuffle partition (slices 1), fewer for few facts" in str(plan)
        assert f"(slice-facts {least})" in str(plan)
        found = close(plan, spark, {P: edges, E: edges}, tmp_path)[P]
        assert found.rdd.getNumPartitions() == slices
        assert found.count() == len(materialise(parse_program(PROGRAMS["left"]), EDGES)[P])


def test_a_recursion_of_any_depth_is_one_stage(spark: Any, tmp_path: Path) -> None:
    """One stage closes the slices; one more partitions, and two gather and share relations, in one task."""
    (stratum,) = stratified(PROGRAMS["left"]).strata
    for depth in (3, 300):
        edges = frame(spark, [(str(i), str(i + 1)) for i in range(depth)], 2).cache()
        edges.count()
        with ran(spark) as sharing:
            found = close(plan_of(stratum, {}, SMALL), spark, {P: edges, E: edges}, tmp_path)[P]
        assert [len(sharing.tasks), sharing.tasks[-1]] == [2, 1]
        with ran(spark) as closing:
            found.write.format("noop").mode("overwrite").save()
        assert [len(closing.tasks), closing.tasks[-1]] == [2, parallelism(spark)]
        assert found.count() == depth * (depth + 1) // 2
        edges.unpersist()


def test_ids_depend_on_the_salt(spark: Any, tmp_path: Path) -> None:
    (stratum,) = stratified("p(?x, ?y) :- e(?x, ?y) . p(?x, new) :- p(?x, ?y), e(?y, ?y) .").strata
    edges = spark.createDataFrame([(5, 5)], "c0 long, c1 long")
    found = close(plan_of(stratum, {}, replace(SMALL, salt=3)), spark, {P: edges, E: edges}, tmp_path)[P]
    assert {tuple(row) for row in found.collect()} == {(5, 5), (5, hash_text('"new"', salt=3))}


def test_nothing_given_is_nothing_derived(spark: Any, tmp_path: Path) -> None:
    (stratum,) = stratified(PROGRAMS["left"]).strata
    (found,) = close(plan_of(stratum, {}), spark, {}, tmp_path).values()
    assert (found.columns, found.count()) == (["c0", "c1"], 0)


def test_shared_relations_are_sorted_in_the_orders_that_plans_want(spark: Any, tmp_path: Path) -> None:
    wanted = {E: frozenset([(1, 0)])}
    directory = share({E: frame(spark, [row for _, row in EDGES], 2)}, tmp_path, wanted)
    facts, ids = shared_facts(directory)
    (run,) = facts[E].runs
    assert set(run.orders) == {(0, 1), (1, 0)}
    assert {(ids[x], ids[y]) for x, y in zip(*facts[E].columns(), strict=True)} == {
        (hash_text(x), hash_text(y)) for _, (x, y) in EDGES
    }


def test_arrays_are_mapped_and_changes_stay_private(tmp_path: Path) -> None:
    given_arrays: dict[str, Array] = {
        "long": np.arange(6).reshape(3, 2),
        "words": np.array([2**63], np.uint64),
        "none": np.empty((0, 3), np.int32),
    }
    write_arrays(tmp_path, given_arrays)
    mapped = map_arrays(tmp_path)
    for name, array in given_arrays.items():
        assert mapped[name].dtype == array.dtype
        np.testing.assert_array_equal(mapped[name], array)
    mapped["long"][0, 0] = 99
    map_arrays.cache_clear()
    assert map_arrays(tmp_path)["long"][0, 0] == 0


@given(st.lists(st.integers(-5, 5), max_size=20), st.lists(st.integers(-5, 5), max_size=6))
def test_numbers_of_ids_and_back(ids: list[int], shared: list[int]) -> None:
    known = np.array(sorted(set(shared)), np.int64)
    column = np.array(ids, np.int64)
    (first, second), numbering = renumbered([column[:7], column[7:]], known)
    numbers = np.concatenate([first, second])
    assert numbering.ids(numbers).tolist() == ids
    assert numbering.numbers_of(column).tolist() == numbers.tolist()
    assert set(numbers.tolist()) <= set(range(numbering.universe))
