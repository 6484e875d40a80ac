"""Closures from a condensed graph have the pairs of their definition, listed by one stage."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.generators import random_dag
from everlog.backends.executors import parallelism
from everlog.backends.spark.closure import bounds, condense
from everlog.backends.spark.plans import PlanSettings, close, plan_of
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules.union.description import VirtualUnion
from tests.backends.spark.by_plans import SMALL, derived, frame, stratified
from tests.backends.spark.ran import ran
from tests.oracle.naive import Fact, heads, materialise

E, F, P = Predicate("e", 2), Predicate("f", 2), Predicate("p", 2)
EDGES: set[Fact] = {(E, (str(i), str(j))) for i in range(12) for j in (i + 1, (3 * i + 2) % 12) if i % 4}
OTHERS: set[Fact] = {(F, (str(i), str(5 * i % 14))) for i in range(0, 14, 3)} | {(P, ("3", "20")), (P, ("20", "1"))}
BASE = "p(?x, ?y) :- e(?x, ?y) ."

CLOSURES = {
    "transitive": f"{BASE} p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .",
    "left": f"{BASE} p(?x, ?z) :- p(?x, ?y), f(?y, ?z) .",
    "right": f"{BASE} p(?x, ?z) :- f(?y, ?x), p(?y, ?z) .",
    "closed": f"{BASE} p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "again": "p(?x, ?y) :- f(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "states": f"{BASE} q(?x, ?z) :- p(?x, ?y), f(?y, ?z) . p(?x, ?z) :- q(?x, ?y), e(?y, ?w), e(?z, ?w) .",
}
KINDS = {"transitive": "transitive", "states": "chain"}


def closure(name: str) -> Any:
    """The module of the closure's stratum."""
    return next(stratum for stratum in stratified(CLOSURES[name], modules=True).strata if stratum.alone)


@pytest.mark.parametrize("name", ["transitive", "right", "states"])
def test_a_condensed_graph_gives_what_follows(name: str, spark: Any, tmp_path: Path) -> None:
    program, facts = parse_program(CLOSURES[name]), EDGES | OTHERS
    found, chosen = derived(spark, stratified(program, modules=True), facts, tmp_path)
    assert [plan.kind for plan in chosen if plan.stratum.alone] == ["reachability"]
    assert closure(name).alone.kind == KINDS.get(name, "linear")
    assert found == materialise(program, facts)


@pytest.mark.parametrize("name", CLOSURES)
def test_a_closure_is_linear_rules_as_well(name: str) -> None:
    program, module = parse_program(CLOSURES[name]), closure(name).alone
    expected = materialise(program, EDGES | OTHERS)
    known = {predicate: rows for predicate, rows in expected.items() if predicate not in module.predicates}
    for stratum in stratified(program, modules=True).strata:
        for predicate, row in heads(stratum.nonrecursive, known, known):
            known.setdefault(predicate, set()).add(row)
    hidden = module.external[P]
    known.setdefault(hidden, set()).update(row for predicate, row in OTHERS if predicate == P)
    rules, seeds = module.as_rules()
    for predicate, sources in seeds.items():
        rows = {row[::-1] if edge.inverted else row for edge in sources for row in known.get(edge.predicate, ())}
        known[predicate] = rows
    while new := [fact for fact in heads(rules, known, known) if fact[1] not in known[fact[0]]]:
        for predicate, row in new:
            known[predicate].add(row)
    assert {p: known[p] for p in module.predicates} == {p: expected[p] for p in module.predicates}


@pytest.mark.parametrize("name", ["transitive", "states"])
def test_a_closure_too_large_to_condense_is_decomposed_or_a_loop(name: str) -> None:
    stratum = closure(name)
    sizes = dict.fromkeys(stratum.alone.inputs, 100)
    edges = sum(sizes.values())
    for settings, kind in (
        (PlanSettings(condensed_edges=edges), "reachability"),
        (PlanSettings(condensed_edges=edges - 1), "decomposed"),
        (PlanSettings(condensed_edges=edges - 1, shared_facts=99), "loop"),
    ):
        plan = plan_of(stratum, sizes, settings)
        assert plan.kind == kind
        assert f"(condensed-edges {settings.condensed_edges:,})" in str(plan)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 1_000])
@pytest.mark.parametrize("name", CLOSURES)
def test_both_sides_of_the_limit_give_the_same(name: str, limit: int, spark: Any, tmp_path: Path) -> None:
    program, facts = parse_program(CLOSURES[name]), EDGES | OTHERS
    settings = PlanSettings(condensed_edges=limit, slices=1)
    found, chosen = derived(spark, stratified(program, modules=True), facts, tmp_path, settings)
    kind = "reachability" if limit else "decomposed"
    assert [plan.kind for plan in chosen if plan.stratum.alone] == [kind]
    assert found == materialise(program, facts)


def test_pairs_are_known_before_they_are_listed(spark: Any, tmp_path: Path) -> None:
    module = closure("transitive").alone
    edges = frame(spark, [("1", "2"), ("2", "3"), ("3", "1"), ("3", "4")], 2)
    condensed = condense(module, {module.external[P]: edges}, tmp_path)
    assert (condensed.vertices, condensed.pairs) == (4, {P: 12})


def test_few_pairs_are_few_slices(spark: Any, tmp_path: Path) -> None:
    stratum = closure("transitive")
    edges = {stratum.alone.external[P]: frame(spark, [("1", "2"), ("2", "3"), ("3", "1"), ("3", "4")], 2)}
    for least, slices in ((1, parallelism(spark)), (6, 2), (13, 1)):
        plan = plan_of(stratum, {}, replace(SMALL, slice_pairs=least))
        assert f"fewer for few pairs (slice-pairs {least})" in str(plan)
        found = close(plan, spark, edges, tmp_path)[P]
        assert found.rdd.getNumPartitions() == slices
        assert found.distinct().count() == found.count() == 12


def test_a_closure_of_any_depth_is_one_stage(spark: Any, tmp_path: Path) -> None:
    """One stage lists the pairs; two more gather the edges and condense them, in one task."""
    stratum = closure("transitive")
    for depth in (3, 300):
        edges = frame(spark, [(str(i), str(i + 1)) for i in range(depth)], 2).cache()
        edges.count()
        plan = plan_of(stratum, {}, replace(SMALL, slice_pairs=1))
        with ran(spark) as condensing:
            found = close(plan, spark, {stratum.alone.external[P]: edges}, tmp_path)[P]
        assert [len(condensing.tasks), condensing.tasks[-1]] == [2, 1]
        with ran(spark) as listing:
            found.write.format("noop").mode("overwrite").save()
        assert (listing.jobs, listing.tasks) == (1, [parallelism(spark)])
        assert found.count() == depth * (depth + 1) // 2
        edges.unpersist()


@pytest.mark.slow
def test_the_pairs_of_dag_r_are_one_stage(spark: Any, tmp_path: Path) -> None:
    """22.4 million pairs are listed by one stage with a task for each slice; a second stage adds up their counts."""
    stratum = closure("transitive")
    given = spark.createDataFrame(list(map(tuple, random_dag(10_000, 100_000, seed=3).tolist())), "c0 long, c1 long")
    plan = plan_of(stratum, {stratum.alone.external[P]: 100_000})
    assert plan.kind == "reachability"
    found = close(plan, spark, {stratum.alone.external[P]: given}, tmp_path)[P]
    with ran(spark) as listing:
        assert found.count() == 22_405_629
    assert listing.tasks == [plan.settings.slices * parallelism(spark), 1]


def test_a_closure_of_nothing_is_empty(spark: Any, tmp_path: Path) -> None:
    stratum = closure("transitive")
    nothing = spark.createDataFrame([], "c0 long, c1 long")
    for facts in ({}, {stratum.alone.external[P]: nothing}):
        assert close(plan_of(stratum, {}, SMALL), spark, facts, tmp_path)[P].count() == 0


def test_a_virtual_union_is_one_of_dataframes(spark: Any, tmp_path: Path) -> None:
    program = parse_program("p(?x, ?y) :- e(?x, ?y) . p(?x, ?y) :- f(?y, ?x) . f(?x, ?z) :- f(?x, ?y), f(?y, ?z) .")
    facts = {fact for fact in EDGES | OTHERS if fact[0] != P}
    found, chosen = derived(spark, stratified(program, modules=True), facts, tmp_path)
    assert [plan.kind for plan in chosen if isinstance(plan.stratum.alone, VirtualUnion)] == ["nonrecursive"]
    assert found == materialise(program, facts)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 12))
def test_slices_cover_all_sources_once(counts: list[int], slices: int) -> None:
    ends = np.cumsum(counts)
    found = [bounds(ends, number, slices) for number in range(slices)]
    assert [source for low, high in found for source in range(low, high)] == list(range(len(counts)))
    most = max((sum(counts[low:high]) for low, high in found), default=0)
    assert most <= sum(counts) / slices + max(counts, default=0) + 1


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["executor", "worker"])
def test_a_process_killed_in_the_middle_changes_nothing(victim: str, tmp_path: Path) -> None:
    """DAG-R's 22.4 million pairs on two real executors, of which one, or a Python worker of one, is killed."""
    command = [sys.executable, "-m", "tests.backends.spark.killed", victim, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    report = json.loads(ran.stdout.strip().splitlines()[-1])
    assert report["undisturbed"]["pairs"] == 22_405_629
    assert report["disturbed"] == report["undisturbed"]
    assert report["died"]
    assert 0 < report["done_when_killed"] < report["tasks"]
    assert report["failed"] > 0
