"""Recursion that does not decompose: rounds over slices whose facts stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everlog.analysis.binary import Unconnected, binarise
from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.backends.spark.engine import SparkEngine
from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.plans import PlanSettings, plan_of
from everlog.backends.spark.rounds import close_in_rounds
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.slices import SliceFacts, Spread, received, send, slots_of
from everlog.engine.factset import FactSet
from everlog.engine.keys import columns_of, layout_for, unpack
from everlog.engine.relation import Relation
from everlog.lang.errors import LimitError
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Program, Rule
from everlog.reasoning.statistics import Listener, RoundEvent
from everlog.reasoning.strata import close_strata
from tests.analysis.recursions import DERIVED, recursions
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.oracle.naive import Fact, Facts
from tests.running import knowledge_base
from tests.strategies import side_by_side

SAME_GENERATION = "p(?x, ?y) :- e(?z, ?x), e(?z, ?y) . p(?x, ?y) :- e(?a, ?x), p(?a, ?b), e(?b, ?y) ."
NONLINEAR = "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) ."
MUTUAL = """
up(?x, ?y, ?k) :- first(?x, ?y), kind(?k) .
down(?y, ?x, ?k) :- up(?x, ?z, ?k), e(?z, ?y), ~closed(?y, "yes") .
up(?y, ?x, "turned") :- down(?x, ?z, ?k), e(?y, ?z), ~closed(?k, _) .
up(?x, ?x, ?k) :- down(?y, ?x, ?k), e("7", ?y) .
"""
JOINED = """
p(?x, ?y) :- e(?x, ?y) .
p(?x, ?z) :- p(?x, ?y), s(?y, ?z), ~closed(?z, "yes") .
s(?y, ?z) :- p(?y, ?z), e(?y, ?z) .
t(?x, ?y, 5) :- p(?x, ?x), s(?x, ?y) .
s(?z, ?x) :- t(?x, ?y, ?z), p(?y, ?z), t(_, ?y, 5) .
p(?x, ?y) :- t(?x, ?a, _), e(?a, ?b), t(?b, ?y, ?y) .
"""
E, P = Predicate("e", 2), Predicate("p", 2)
TREE: set[Fact] = {(E, (str(i), str(2 * i + j))) for i in range(1, 16) for j in (0, 1)}
ALL_IN_ROUNDS = SparkSettings(local_finish=0)
SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def mutual_facts() -> set[Fact]:
    random = np.random.default_rng(5)
    edges: set[Fact] = {(E, (str(a), str(b))) for a, b in random.integers(0, 12, (40, 2)).tolist()}
    firsts: set[Fact] = {(Predicate("first", 2), (str(a), str(b))) for a, b in random.integers(0, 12, (4, 2)).tolist()}
    kinds: set[Fact] = {(Predicate("kind", 1), (f'"{kind}"',)) for kind in ("a", "b")}
    closed: set[Fact] = {(Predicate("closed", 2), row) for row in (("3", '"yes"'), ('"b"', "1"))}
    return edges | firsts | kinds | closed


@pytest.mark.slow
@pytest.mark.parametrize(("text", "facts"), [(SAME_GENERATION, TREE), (MUTUAL, mutual_facts())], ids=["same", "mutual"])
def test_rounds_give_what_follows(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, facts: set[Fact]
) -> None:
    program = parse_program(text)
    expected = knowledge_base(program, facts, modules=False).materialise()
    with setup(spark, tmp_path, program, salt=2) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = ALL_IN_ROUNDS
        events: list[RoundEvent] = []
        given = on_spark.facts(facts)
        found, statistics = close_strata(on_spark.engine, on_spark.program, given, Listener(events.append))
        assert on_spark.listed(found) == naive.materialise(program, facts)
    assert statistics.instances == expected.instances
    assert len(events) == statistics.rounds > 2
    assert sum(event.new_facts for event in events) == statistics.derived
    assert events[-1].facts == statistics.facts
    assert any(": rounds:" in record.message for record in caplog.records)


def counted(rules: Sequence[Rule], derived: Sequence[Predicate], known: Facts) -> int:
    """The instances of rules over all facts, those of the last step where a rule is applied in steps."""
    recursive = [rule for rule in rules if any(atom.predicate in derived for atom in rule.positive)]
    steps = binarise(recursive, derived)
    assert not isinstance(steps, Unconnected)
    between = tuple(step for step in steps if step.head.predicate not in derived)
    last = [rule for rule in rules if rule not in recursive] + [step for step in steps if step not in between]
    whole = naive.materialise(Program(between), naive.flat(known))
    return naive.heads(last, whole, whole).total()


def at_most(rounds: int, events: list[Any]) -> Callable[..., None]:
    """An observer that keeps its events, and fails after a maximum number of rounds."""

    def hear(*event: Any) -> None:
        events.append(event if len(event) > 1 else event[0])
        assert len(events) <= rounds, "known facts are new again and again"

    return hear


@pytest.mark.parametrize("text", [JOINED, pytest.param(NONLINEAR, marks=pytest.mark.slow)], ids=["joined", "closure"])
def test_facts_that_rules_join_meet(spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str) -> None:
    program, facts = parse_program(text), mutual_facts()
    events: list[RoundEvent] = []
    with setup(spark, tmp_path, program, salt=2) as on_spark, caplog.at_level("INFO", "everlog"):
        on_spark.engine.settings = ALL_IN_ROUNDS
        (stratum,) = on_spark.program.strata
        given, listener = on_spark.facts(facts), Listener(at_most(40, events))
        found, statistics = close_strata(on_spark.engine, on_spark.program, given, listener)
        known = naive.materialise(program, facts)
        assert on_spark.listed(found) == known
    assert any(": rounds: facts that a rule joins" in record.message for record in caplog.records)
    assert statistics.instances == counted(program.rules, stratum.predicates, known)
    assert sum(event.new_facts for event in events) == statistics.derived
    assert events[-1].facts == statistics.facts


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=SHARED)
@given(st.data())
def test_random_recursions(spark: Any, tmp_path: Path, data: st.DataObject) -> None:
    case = side_by_side([data.draw(recursions()) for _ in range(4)])
    rules = case.program.rules
    derived = tuple(p for p in case.predicates if p.name[0] in {predicate.name for predicate in DERIVED})
    steps = binarise(rules, derived)
    assert not isinstance(steps, Unconnected)
    with setup(spark, tmp_path, case.program, case.predicates) as on_spark:
        given = on_spark.facts(case.facts)
        if not isinstance(given, FrameSet):
            return
        found = close_in_rounds(on_spark.space, rules, derived, given, slices=data.draw(st.integers(1, 4)))
        known = naive.materialise(case.program, case.facts)
        listed = on_spark.listed(FrameSet.of(on_spark.space, found.stored))
        assert listed == {predicate: known[predicate] for predicate in derived if known.get(predicate)}
        whole = naive.materialise(Program(steps), case.facts)
        last = [step for step in steps if step.head.predicate in derived]
        assert found.instances == naive.heads(last, whole, whole).total()


def test_a_long_recursion_keeps_few_files(spark: Any, tmp_path: Path) -> None:
    """Each round derives one fact; at the end the sizes of a slice's directories differ by a factor of two."""
    program = parse_program("p(?x, ?y) :- s(?x, ?y) . p(?y, ?x) :- p(?x, ?z), e(?z, ?y) .")
    length = 12
    facts: set[Fact] = {(E, (str(i), str(min(i + 1, length)))) for i in range(length + 1)}
    facts |= {(Predicate("s", 2), ("0", "0"))}
    with setup(spark, tmp_path, program) as on_spark:
        (stratum,) = on_spark.program.strata
        given = on_spark.facts(facts | {(P, ("0", "0"))})
        assert isinstance(given, FrameSet)
        assert plan_of(stratum, {}).kind == "rounds"
        events: list[tuple[int, int]] = []
        observer = at_most(3 * length, events)
        found = close_in_rounds(on_spark.space, stratum.recursive, (P,), given, slices=2, observer=observer)
        listed = on_spark.listed(FrameSet.of(on_spark.space, found.stored))
        known = naive.materialise(program, facts)
        assert listed[P] == known[P]
        numbers = [*accumulate(new for new, _ in events)]
        assert numbers == [*range(1, len(listed[P]) + 1), len(listed[P])], "the last fact is derived again"
        assert found.instances == sum(instances for _, instances in events)
        assert found.instances == counted(stratum.recursive, [P], known)
        assert found.rounds == len(events)
        held = {path.parent for path in on_spark.space.directory.glob("held-*/*.arrow")}
        assert found.rounds > length
        assert len(held) <= 2 * len(listed[P]).bit_length()
        assert not list(on_spark.space.directory.glob("sent-*"))


def test_a_slice_may_have_nothing_when_facts_come_from_a_home(spark: Any, tmp_path: Path) -> None:
    """There are far more slices than facts, and two facts arrive in one round in the slice where they are joined."""
    program = parse_program("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- e(?x, ?y), p(?y, ?z) .")
    facts: set[Fact] = {(E, ("0", "1")), (P, ("1", "2"))}
    with setup(spark, tmp_path, program) as on_spark:
        given = on_spark.facts(facts)
        assert isinstance(given, FrameSet)
        events: list[tuple[int, int]] = []
        observer = at_most(20, events)
        found = close_in_rounds(on_spark.space, program.rules, (P,), given, slices=32, observer=observer)
        listed = on_spark.listed(FrameSet.of(on_spark.space, found.stored))
    known = naive.materialise(program, facts)
    assert listed == {P: known[P]}
    assert found.instances == counted(program.rules, [P], known)
    assert sum(new for new, _ in events) == len(listed[P]), "copies do not count"


def test_more_than_a_task_can_number_is_a_loop() -> None:
    (stratum,) = stratify(check(parse_program(SAME_GENERATION))).strata
    sizes = {E: 60, P: 40}
    plans = [plan_of(stratum, sizes, PlanSettings(shared_facts=limit)) for limit in (100, 99)]
    assert [plan.kind for plan in plans] == ["rounds", "loop"]
    assert "100 facts (shared-facts 100)" in str(plans[0])
    assert "100 facts (shared-facts 99)" in str(plans[1])


@pytest.mark.parametrize(
    ("rule", "kind", "says"),
    [
        ("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .", "rounds", "spreads p by argument 2, p by argument 1"),
        (
            "p(?x, ?z) :- p(?x, ?a), f(?a, ?b), p(?b, ?z) .",
            "rounds",
            "applies part 1(?x, ?b) :- p(?x, ?a), f(?a, ?b) .\n"
            "  applies p(?x, ?z) :- part 1(?x, ?b), p(?b, ?z) .\n"
            "  spreads p by argument 1, part 1 by argument 2",
        ),
        ("p(?x, ?y) :- p(?x, 1), p(?y, 1) .", "loop", "nothing connects the recursive atoms of p(?x, ?y) :-"),
        ("q() :- p(?x, ?x) . p(?x, ?z) :- p(?z, ?x), q() .", "loop", "no rounds over slices: q has no arguments"),
    ],
)
def test_plans_say_why(rule: str, kind: str, says: str) -> None:
    (stratum,) = stratify(check(parse_program(f"p(?x, ?y) :- e(?x, ?y) . {rule}"))).strata
    plan = plan_of(stratum, {})
    assert plan.kind == kind
    assert says in str(plan)
    assert ("(spread-facts 500,000)" in str(plan)) == (kind == "loop")


def test_limits_count_in_rounds(spark: Any, tmp_path: Path) -> None:
    program = parse_program(SAME_GENERATION)
    with setup(spark, tmp_path, program) as on_spark:
        limits = on_spark.engine.limits
        limits.max_facts = 60
        engine = SparkEngine(on_spark.space, limits=limits, settings=ALL_IN_ROUNDS)
        with pytest.raises(LimitError):
            close_strata(engine, on_spark.program, on_spark.facts(TREE))


@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.integers(0, 30)] * 3)), st.integers(1, 7), st.integers(1, 3), st.booleans())
def test_what_is_sent_is_received_once(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]], slices: int, leading: int, wide: bool
) -> None:
    predicate, universe = Predicate("t", 3), 1 << 30 if wide else 31
    relation = Relation.from_columns([np.array([row[i] for row in rows], np.int64) for i in range(3)], universe)
    spread = Spread({predicate: leading}, slices)
    sent = send({predicate: relation.keys()}, spread, universe, tmp_path_factory.mktemp("sent"))
    assert (sent is None) == (not rows)
    parts = [part for number in range(slices) if sent for part in received([sent], number, 0)]
    if sent:
        assert sum(sent.counts) == len(relation)
        together = Relation.from_keys(relation.layout, np.concatenate(parts))
        assert together == relation
        assert all(len(set(slots_of(relation.layout, part, leading, slices).tolist())) <= 1 for part in parts)
        leads = [{row[:leading] for row in zip(*columns_of(relation.layout, part), strict=True)} for part in parts]
        assert sum(map(len, leads)) == len(set.union(*leads)), "facts that agree are in one slice"


@pytest.mark.parametrize("universe", [100, 1 << 30], ids=["narrow", "wide"])
def test_facts_of_any_predicates_meet_by_all_that_they_share(tmp_path: Path, universe: int) -> None:
    """Facts with one leading argument, and facts with two."""
    rows, slices = np.arange(100), 3
    columns = {1: [rows], 2: [rows, 0 * rows], 3: [rows, 99 - rows, 0 * rows], 4: [rows, rows, rows, rows]}
    for leading in (1, 2):
        leads = [rows] if leading == 1 else [7 + 0 * rows, rows]
        facts = {
            Predicate(f"{name}", arity): [*leads, *rest[leading:]]
            for arity, rest in columns.items()
            for name in ("p", "q")
            if arity >= leading
        }
        keys = {predicate: Relation.from_columns(some, universe).keys() for predicate, some in facts.items()}
        spread = Spread(dict.fromkeys(facts, leading), slices)
        sent = send(keys, spread, universe, tmp_path)
        assert sent
        layouts = list(spread.layouts(universe).values())
        for number in range(slices):
            there = [received([sent], number, tag) for tag in range(len(facts))]
            met = {
                tuple(unpack(layout, keys, leading - 1).tolist())
                for layout, (keys,) in zip(layouts, there, strict=True)
            }
            assert len(met) == 1, "the same values are in the same slice"
            assert len(met.pop()) > 100 / slices / 2, "each slice has its share"


@settings(max_examples=30)
@given(st.lists(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1), max_size=12), st.booleans())
def test_a_slice_keeps_what_is_new_in_few_parts(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[tuple[int, int, int]]], wide: bool
) -> None:
    predicate, other, universe = Predicate("t", 3), Predicate("u", 3), 1 << 30 if wide else 10
    layouts = Spread({predicate: 1, other: 1}, 1).layouts(universe)
    work, whole = tmp_path_factory.mktemp("kept"), Relation(layout_for(3, universe))
    kept = SliceFacts((), layouts)
    for rows in batches:
        columns = [np.array([row[i] for row in rows], np.int64) for i in range(3)]
        new = Relation.from_columns(columns, universe) - kept.relation(predicate)
        whole |= new
        assert kept.with_new(predicate, new.settled()) == whole
        assert kept.with_new(other, Relation.empty(3)).layout == layouts[other]
        if new:
            kept = SliceFacts(kept.extended(FactSet({predicate: new.settled()}), work), layouts)
        assert kept.relation(predicate) == whole
        counts = [held.count for held in kept.held]
        assert sum(counts) == len(whole)
        assert all(older > 2 * newer for older, newer in pairwise(counts))
