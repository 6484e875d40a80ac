"""Automatic updates: every branch of the choice is reached, gives its reason, and ends in the right state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog import KnowledgeBase
from everlog.engine.accounts import OverBudgetError
from everlog.engine.factset import NONE
from everlog.engine.match import Engine
from everlog.lang.errors import LimitError
from everlog.lang.syntax import Program
from everlog.reasoning import choose
from everlog.reasoning.materialisation import with_counters, with_trace
from everlog.reasoning.statistics import UpdateStatistics
from everlog.reasoning.update import update
from tests.reasoning.test_maintenance import check_update, start
from tests.strategies import EDGE, MARK, Case, cases, graph_cases, rule_from, updates

STEP = rule_from("mark y <- edge x y, mark x")

REACH = "mark(?y) :- edge(?x, ?y), mark(?x) ."
N = 400
WORK = N + N + (N + 1)
"""The work of materialising a chain: an instance for each step, plus the facts (edges and marks)."""


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make budgets fractions of the work of materialising, without a minimum."""
    monkeypatch.setattr(choose, "SMALLEST_BUDGET", 0)


def chain(*marks: int, rules: str = REACH, maintain: Any = "dredc") -> KnowledgeBase:
    """A path of nodes 0 to N along which marks spread, by N instances."""
    kb = KnowledgeBase(rules, maintain=maintain)
    kb.insert("edge", [(i, i + 1) for i in range(N)])
    kb.insert("mark", [(mark,) for mark in marks])
    kb.materialise()
    return kb


def delete(kb: KnowledgeBase, *marks: int) -> UpdateStatistics:
    """Delete marks that are also derived: nothing changes, but an algorithm must find that out."""
    change = kb.update(delete={"mark": [(mark,) for mark in marks]})
    assert len(kb["mark"]) == N + 1
    assert len(change.explicit_deleted["mark"]) == len(marks)
    assert not change.inserted
    assert not change.deleted
    return change.stats


def test_a_large_change_is_computed_anew() -> None:
    kb = chain(0)
    stats = kb.update(delete={"edge": [(i, i + 1) for i in range(240)]}).stats
    assert (stats.algorithm, stats.reason) == ("rematerialise", "240 of 401 explicit facts change")
    assert stats.budget is None
    assert len(kb["mark"]) == 1


def test_half_of_the_facts_is_not_yet_large() -> None:
    kb = KnowledgeBase("p(?x) :- e(?x) .")
    kb.insert("e", [(i,) for i in range(10)])
    kb.materialise()
    assert kb.update(delete={"e": [(i,) for i in range(5)]}).stats.algorithm == "dredc"
    assert kb.update(delete={"e": [(i,) for i in range(5, 8)]}).stats.algorithm == "rematerialise"


@pytest.mark.parametrize(("maintain", "algorithm"), [("dredc", "dredc"), ("bfc", "dredc"), ("none", "dred")])
def test_nothing_is_deleted(maintain: str, algorithm: str) -> None:
    kb = chain(0, maintain=maintain)
    stats = kb.update(insert={"edge": [(N, N + 1)]}).stats
    assert (stats.algorithm, stats.reason, stats.budget) == (algorithm, "nothing is deleted", None)
    assert stats.instances == {"forward": 1} | ({"delete": 0} if "delete" in stats.instances else {})
    assert len(kb["mark"]) == N + 2


BESIDE = REACH + " label(?x) :- name(?x, _) . unnamed(?x) :- mark(?x), ~label(?x) ."


@pytest.mark.parametrize(("maintain", "algorithm"), [("dredc", "dredc"), ("none", "dred")])
def test_no_recursive_rule_is_affected(maintain: str, algorithm: str) -> None:
    kb = chain(0, rules=BESIDE, maintain=maintain)
    for change in ({"insert": {"name": [(3, "c")]}}, {"delete": {"name": [(3, "c")]}}):
        stats = kb.update(**change).stats  # type: ignore[arg-type]
        assert (stats.algorithm, stats.reason, stats.budget) == (algorithm, "no recursive rule is affected", None)
    assert len(kb["unnamed"]) == N + 1


def test_an_insertion_may_delete_by_negation() -> None:
    """With negation, deletions may spread even if nothing is deleted explicitly."""
    kb = chain(0, rules="mark(?y) :- edge(?x, ?y), mark(?x) . open(?x, ?y) :- edge(?x, ?y), ~shut(?x) .")
    stats = kb.update(insert={"edge": [(N, N + 1)]}).stats
    assert stats.reason == "a recursive rule is affected"
    assert kb.update(insert={"shut": [(4,)]}).stats.reason == "no recursive rule is affected"
    through = chain(0, rules="mark(?y) :- open(?x, ?y), mark(?x) . open(?x, ?y) :- edge(?x, ?y), ~shut(?x) .")
    assert through.update(insert={"shut": [(4,)]}).stats.reason == "a recursive rule is affected"
    assert len(through["mark"]) == 5


def test_small_budgets_are_never_exceeded_by_small_data() -> None:
    stats = delete(chain(0, 1), 1)
    assert (stats.algorithm, stats.reason) == ("dredc", "a recursive rule is affected")
    assert stats.budget == choose.SMALLEST_BUDGET


@pytest.mark.usefixtures("tight")
def test_deletion_that_stays_small() -> None:
    stats = delete(chain(0, N - 1), N - 1)
    assert (stats.algorithm, stats.reason) == ("dredc", "a recursive rule is affected")
    assert stats.budget == WORK // 8
    assert stats.total_instances == 2


@pytest.mark.usefixtures("tight")
def test_overdeletion_that_goes_too_far() -> None:
    kb = chain(0, 1)
    stats = delete(kb, 1)
    assert stats.algorithm == "bfc"
    assert stats.reason == f"dredc given up after {WORK // 8 + 1} instances; overdeletion went too far"
    assert stats.budget == WORK // 64
    assert stats.total_instances == 3, "only those of the attempt that was not given up"
    assert kb.state().nr is not None, "the counters are still there"
    assert delete(chain(0, 2), 2).algorithm == "bfc"


@pytest.mark.usefixtures("tight")
def test_proofs_that_are_hard_to_find() -> None:
    kb = chain(0, N // 2)
    stats = delete(kb, N // 2)
    assert stats.algorithm == "rematerialise"
    first, second, reason = stats.reason.split("; ")
    assert first == f"dredc given up after {WORK // 8 + 1} instances"
    assert second == f"bfc given up after {WORK // 64 + 1} instances"
    assert reason == "proofs are hard to find, too"
    assert stats.budget is None
    assert stats.instances == {"forward": N}
    assert kb.state().rec is not None, "with the bookkeeping there was before"


@pytest.mark.usefixtures("tight")
def test_without_counters() -> None:
    near = delete(chain(0, N - 1, maintain="none"), N - 1)
    assert (near.algorithm, near.reason) == ("dred", "a recursive rule is affected, no counters are kept")
    assert near.budget == WORK // 4
    kb = chain(0, 1, maintain="none")
    far = delete(kb, 1)
    assert far.algorithm == "rematerialise"
    given_up, reason = far.reason.split("; ")
    assert given_up == f"dred given up after {WORK // 4 + 1} instances"
    assert reason == "overdeletion went too far, and no counters are kept"
    assert kb.state().nr is None


@pytest.mark.usefixtures("tight")
def test_the_next_update_is_as_good_as_any() -> None:
    """After a switch to another algorithm the state is complete: later deletions are correct."""
    for marks in ((0, 1), (0, N // 2), (0, N - 1)):
        kb = chain(*marks)
        delete(kb, marks[1])
        change = kb.update(delete={"edge": [(10, 11)]})
        assert len(change.deleted["mark"]) == N - 10
        assert set(kb["mark"]) == {(i,) for i in range(11)}
        assert len(kb.update(insert={"edge": [(10, 11)]}).inserted["mark"]) == N - 10


def test_a_budget_is_for_one_attempt() -> None:
    """The budget is removed after the update, and after an error; an error does not cause a switch."""
    marks = {(MARK, ("0",)), (MARK, ("1",))}
    edges = {(EDGE, (str(i), str(i + 1))) for i in range(9)}
    case = Case(Program((STEP,)), frozenset(edges | marks), (EDGE, MARK), tuple(map(str, range(10))))
    program, ids, old = start(case, "levels")
    old, gone = with_counters(ids.engine(), program, old), ids.facts({(MARK, ("1",))})
    engine = ids.engine()
    assert update(engine, program, old, gone, NONE, "auto").statistics.budget is not None
    assert engine.budget is None
    engine.limits.max_facts = 0
    with pytest.raises(LimitError):
        update(engine, program, old, gone, NONE, "auto")
    assert engine.budget is None


def test_a_budget_is_for_all_phases_and_rules() -> None:
    engine = Engine(8, {})
    engine.budget = 3
    engine.note(STEP, "delete", 2)
    engine.note(rule_from("p x <- q x"), "delete", 1)
    with pytest.raises(OverBudgetError):
        engine.note(STEP, "forward", 1)


@given(st.data())
def test_wherever_it_switches_the_state_is_right(data: st.DataObject) -> None:
    """Random programs and updates with budgets so small that attempts are given up at every point."""
    case = data.draw(graph_cases(max_nodes=7) | cases(max_rules=6))
    program, ids, state = start(case, data.draw(st.sampled_from(["levels", "single"])))
    if data.draw(st.booleans()):
        state = with_counters(ids.engine(), program, state)
    if data.draw(st.booleans()):
        state = with_trace(ids.engine(), program, state)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choose, "SMALLEST_BUDGET", data.draw(st.integers(0, 20)))
        patch.setattr(choose, "LARGE_CHANGE", 0)
        for change in data.draw(updates(case)):
            state = check_update(program, ids, state, change, ("auto", "never"))
