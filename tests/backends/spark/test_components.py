"""Connected components, in one task and in rounds."""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.backends.spark.components import connected, joined_pairs, membership, pairs
from everlog.backends.spark.plans import PlanSettings, membership_of, plan_of
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from tests.backends.spark.by_plans import derived, frame, stratified
from tests.oracle.naive import Fact, materialise

E, P = Predicate("e", 2), Predicate("p", 2)
PROGRAM = "p(?x, ?y) :- e(?x, ?y) . p(?y, ?x) :- p(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) ."
EDGES: set[Fact] = {(E, (str(i), str(i + 4))) for i in range(12)} | {(E, ("1", "2")), (E, ("30", "30"))}

Edge = tuple[int, int]
Classes = set[frozenset[int]]


def classes(members: dict[int, int]) -> Classes:
    """The components; checks that each has one representative, which is one of its vertices."""
    found: dict[int, set[int]] = {}
    for vertex, representative in members.items():
        found.setdefault(representative, set()).add(vertex)
    assert all(representative in vertices for representative, vertices in found.items())
    return {frozenset(vertices) for vertices in found.values()}


def expected(edges: list[Edge]) -> Classes:
    """The components by their definition."""
    found = {frozenset(edge) for edge in edges}
    while meeting := next(((a, b) for a in found for b in found if a != b and a & b), None):
        found = (found - set(meeting)) | {meeting[0] | meeting[1]}
    return found


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=15))
def test_components_in_one_task(edges: list[Edge]) -> None:
    sources, targets = np.array(edges, np.int64).reshape(-1, 2).T
    vertices, representatives = connected(sources, targets)
    assert classes(dict(zip(vertices.tolist(), representatives.tolist(), strict=True))) == expected(edges)


def collected(members: Any) -> dict[int, int]:
    rows = members.collect()
    found = {row["vertex"]: row["representative"] for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize(("chain", "limit"), [(200, 90), (200, 203), pytest.param(2_000, 0, marks=pytest.mark.slow)])
def test_a_limit_decides_where_edges_are_united(chain: int, limit: int, spark: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    names = rng.permutation(10 * chain)
    edges = [(int(names[i]), int(names[i + 1])) for i in range(chain)] + [(-1, -1), (-2, -3), (-2, -3)]
    shuffled = [edges[i] if i % 2 else edges[i][::-1] for i in rng.permutation(len(edges))]
    given_edges = spark.createDataFrame(shuffled, "c0 long, c1 long")
    members = collected(membership(spark, given_edges, tmp_path, edges_in_one_task=limit))
    assert classes(members) == {frozenset(names[: chain + 1].tolist()), frozenset([-1]), frozenset([-2, -3])}
    rounds = len(list(tmp_path.glob("contraction-*/map-*")))
    assert len(list(tmp_path.rglob("members-*/part-0.parquet"))) == (limit > 0)
    assert (rounds > 0) == (limit < len(edges))
    assert rounds <= 2 * log2(chain)


@pytest.mark.parametrize("limit", [pytest.param(0, marks=pytest.mark.slow), 1_000])
def test_pairs_of_a_symmetric_and_transitive_relation(limit: int, spark: Any, tmp_path: Path) -> None:
    program = parse_program(PROGRAM)
    settings = PlanSettings(united_edges=limit, slices=1)
    found, chosen = derived(spark, stratified(program, modules=True), EDGES, tmp_path, settings)
    assert [plan.kind for plan in chosen] == ["nonrecursive", "components"]
    assert f"(united-edges {limit:,})" in str(chosen[1])
    assert ("rounds" in str(chosen[1])) == (limit == 0)
    assert found == materialise(program, EDGES)


def test_members_are_kept_and_pairs_listed_or_joined(spark: Any, tmp_path: Path) -> None:
    stratum = stratified(PROGRAM, modules=True).strata[-1]
    assert stratum.alone is not None
    edges = frame(spark, [row for _, row in EDGES], 2)
    plan = plan_of(stratum, {}, PlanSettings(slices=1))
    members = membership_of(plan, spark, {stratum.alone.external[P]: edges}, tmp_path)
    sizes = [len(vertices) for vertices in classes(collected(members))]
    listed = {tuple(row) for row in pairs(spark, members, tmp_path, slices=5, shared=100).collect()}
    assert sorted(sizes) == [1, 4, 4, 8]
    assert len(listed) == sum(size * size for size in sizes)
    assert listed == {tuple(row) for row in joined_pairs(members).collect()}
    joined = pairs(spark, members, tmp_path, slices=5, shared=10)
    assert "Join" in joined._jdf.queryExecution().toString()
    assert "Join" not in pairs(spark, members, tmp_path, slices=5, shared=17)._jdf.queryExecution().toString()


def test_no_edges_have_no_components(spark: Any, tmp_path: Path) -> None:
    nothing = spark.createDataFrame([], "c0 long, c1 long")
    members = membership(spark, nothing, tmp_path, edges_in_one_task=0)
    assert members.count() == 0
    assert pairs(spark, members, tmp_path, slices=2, shared=10).count() == 0
