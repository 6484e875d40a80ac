"""Linear recursion that does not decompose: rounds over slices whose facts stay where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.engine.factset import FactSet
from everlog.engine.relation import Relation
from everlog.lang.errors import LimitError
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.seminaive import seminaive
from everlog.spark.engine import SparkEngine
from everlog.spark.factset import FrameSet
from everlog.spark.plans import PlanSettings, plan_of
from everlog.spark.rounds import close_in_rounds, received, send, slots_of
from everlog.spark.settings import SparkSettings
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.running import knowledge_base
from tests.spark.reasoning import setup

SAME_GENERATION = "p(?x, ?y) :- e(?z, ?x), e(?z, ?y) . p(?x, ?y) :- e(?a, ?x), p(?a, ?b), e(?b, ?y) ."
MUTUAL = """
up(?x, ?y, ?k) :- first(?x, ?y), kind(?k) .
down(?y, ?x, ?k) :- up(?x, ?z, ?k), e(?z, ?y), ~closed(?y, "yes") .
up(?y, ?x, "turned") :- down(?x, ?z, ?k), e(?y, ?z), ~closed(?k, _) .
up(?x, ?x, ?k) :- down(?y, ?x, ?k), e("7", ?y) .
"""
E, P = Predicate("e", 2), Predicate("p", 2)
TREE: set[Fact] = {(E, (str(i), str(2 * i + j))) for i in range(1, 16) for j in (0, 1)}
ALL_IN_ROUNDS = SparkSettings(local_finish=0)


def mutual_facts() -> set[Fact]:
    random = np.random.default_rng(5)
    edges: set[Fact] = {(E, (str(a), str(b))) for a, b in random.integers(0, 12, (40, 2)).tolist()}
    firsts: set[Fact] = {(Predicate("first", 2), (str(a), str(b))) for a, b in random.integers(0, 12, (4, 2)).tolist()}
    kinds: set[Fact] = {(Predicate("kind", 1), (f'"{kind}"',)) for kind in ("a", "b")}
    closed: set[Fact] = {(Predicate("closed", 2), row) for row in (("3", '"yes"'), ('"b"', "1"))}
    return edges | firsts | kinds | closed


@pytest.mark.parametrize(
    ("text", "facts"),
    [pytest.param(SAME_GENERATION, TREE, marks=pytest.mark.slow), (MUTUAL, mutual_facts())],
    ids=["same", "mutual"],
)
def test_rounds_give_what_follows(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, facts: set[Fact]
) -> None:
    program = parse_program(text)
    expected = knowledge_base(program, facts, modules=False).materialise()
    with setup(spark, tmp_path, program, salt=2) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = ALL_IN_ROUNDS
        found, statistics = seminaive(on_spark.engine, on_spark.program, on_spark.facts(facts))
        assert on_spark.listed(found) == naive.materialise(program, facts)
    assert statistics.instances == expected.instances
    assert any(": rounds:" in record.message for record in caplog.records)


def test_a_long_recursion_keeps_few_files(spark: Any, tmp_path: Path) -> None:
    """A fact a round, and in the end as many directories as a slice needs for sizes that differ by a factor of two."""
    program = parse_program("p(?x, ?y) :- s(?x, ?y) . p(?y, ?x) :- p(?x, ?z), e(?z, ?y) .")
    length = 12
    facts: set[Fact] = {(E, (str(i), str(i + 1))) for i in range(length)} | {(Predicate("s", 2), ("0", "0"))}
    with setup(spark, tmp_path, program) as on_spark:
        (stratum,) = on_spark.program.strata
        given = on_spark.facts(facts | {(P, ("0", "0"))})
        assert isinstance(given, FrameSet)
        assert plan_of(stratum, {}).kind == "rounds"
        heard: list[int] = []
        found = close_in_rounds(on_spark.space, stratum.recursive, (P,), given, slices=2, check=heard.append)
        listed = on_spark.listed(FrameSet.of(on_spark.space, found.stored))
        assert listed[P] == naive.materialise(program, facts)[P]
        assert heard == sorted(heard)
        assert heard[-1] == len(listed[P])
        assert found.rounds == len(heard)
        held = {path.parent for path in on_spark.space.directory.glob("held-*/*.arrow")}
        assert found.rounds > length
        assert len(held) <= 2 * found.rounds
        assert not list(on_spark.space.directory.glob("sent-*"))


def test_more_than_a_task_can_number_is_a_loop() -> None:
    (stratum,) = stratify(check(parse_program(SAME_GENERATION))).strata
    sizes = {E: 60, P: 40}
    plans = [plan_of(stratum, sizes, PlanSettings(shared_facts=limit)) for limit in (100, 99)]
    assert [plan.kind for plan in plans] == ["rounds", "loop"]
    assert "100 facts (shared-facts 100)" in str(plans[0])
    assert "100 facts (shared-facts 99)" in str(plans[1])


def test_limits_count_in_rounds(spark: Any, tmp_path: Path) -> None:
    program = parse_program(SAME_GENERATION)
    with setup(spark, tmp_path, program) as on_spark:
        limits = on_spark.engine.limits
        limits.max_facts = 60
        engine = SparkEngine(on_spark.space, limits=limits, settings=ALL_IN_ROUNDS)
        with pytest.raises(LimitError):
            seminaive(engine, on_spark.program, on_spark.facts(TREE))


@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.integers(0, 30)] * 3)), st.integers(1, 7), st.booleans())
def test_what_is_sent_is_received_once(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]], slices: int, wide: bool
) -> None:
    predicate, universe = Predicate("t", 3), 1 << 30 if wide else 31
    relation = Relation.from_columns([np.array([row[i] for row in rows], np.int64) for i in range(3)], universe)
    sent = send(FactSet({predicate: relation}), [predicate], tmp_path_factory.mktemp("sent"), slices)
    assert (sent is None) == (not rows)
    parts = [part for number in range(slices) if sent for part in received([sent], number, 0)]
    if sent:
        assert sum(sent.counts) == len(relation)
        together = Relation.from_keys(relation.layout, np.concatenate(parts))
        assert together == relation
        assert all(len(set(slots_of(part, slices).tolist())) <= 1 for part in parts)
