"""Properties of updates by any algorithm: updates can be split, cancel out, and leave the old state unchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.factset import NONE, FactSet
from everlog.reasoning.change import SignedChange
from everlog.reasoning.materialisation import Materialisation, with_counters, with_trace
from everlog.reasoning.names import Algorithm, Strategy
from everlog.reasoning.strata import close_strata
from everlog.reasoning.update import update
from tests.conftest import few
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.reasoning.horn import horn
from tests.reasoning.test_maintenance import ALGORITHMS, Ids, same, start
from tests.strategies import cases, fact_sets, facts, graph_cases, lists

How = tuple[Algorithm, Strategy]
EVERY: list[How] = [*ALGORITHMS, ("auto", "never")]
fewer = settings(max_examples=settings().max_examples // 4)
each_algorithm = pytest.mark.parametrize("how", EVERY, ids=lambda how: f"{how[0]}-{how[1]}")


@dataclass(frozen=True)
class Given:
    """A materialised program with all bookkeeping, its explicit facts, and other facts to insert."""

    program: StratifiedProgram
    ids: Ids
    old: Materialisation
    explicit: tuple[Fact, ...]
    others: tuple[Fact, ...]

    def update(self, state: Materialisation, delete: FactSet, insert: FactSet, how: How) -> SignedChange:
        return update(self.ids.engine(), self.program, state, delete, insert, *how)

    def fresh(self, explicit: FactSet) -> Materialisation:
        """A new materialisation with all bookkeeping."""
        return self.with_bookkeeping(
            Materialisation(explicit, close_strata(self.ids.engine(), self.program, explicit)[0])
        )

    def with_bookkeeping(self, state: Materialisation) -> Materialisation:
        counted = with_counters(self.ids.engine(), self.program, state)
        return with_trace(self.ids.engine(), self.program, counted)


@st.composite
def situations(draw: st.DrawFn) -> Given:
    case = draw(graph_cases(max_nodes=6) | cases(max_rules=6))
    program, ids, old = start(case, draw(st.sampled_from(["levels", "single"])))
    explicit = {*case.facts, *naive.explicit(case.program)}
    others = {*draw(lists(facts(case.predicates, case.domain), max_size=5))}
    if draw(st.integers(0, 4)) == 4:
        others |= draw(fact_sets(case.predicates, case.domain))
    found = Given(program, ids, old, tuple(sorted(explicit)), tuple(sorted(others)))
    return replace(found, old=found.with_bookkeeping(old))


def subset(data: st.DataObject, found: tuple[Fact, ...]) -> set[Fact]:
    """A random subset of the facts."""
    number = data.draw(st.integers(0, 2 ** len(found) - 1))
    return {fact for place, fact in enumerate(found) if number >> place & 1}


def assert_same(found: Materialisation, expected: Materialisation) -> None:
    """Check that facts are equal, and bookkeeping where there is any."""
    assert same(found.explicit, expected.explicit)
    assert same(found.facts, expected.facts)
    for kept in ("nr", "rec", "trace"):
        if getattr(found, kept) is not None:
            assert getattr(found, kept) == getattr(expected, kept)


def assert_keeps(how: How, found: Materialisation) -> None:
    """Check that an algorithm keeps the bookkeeping that it promises to keep."""
    if how[0] in ("dred", "dredc", "bfc", "counting"):
        assert found.nr is not None
        assert found.rec is not None
    if how[0] in ("counting", "rematerialise"):
        assert found.trace is not None


@given(st.data(), situations())
def test_any_split_ends_in_the_same_state(data: st.DataObject, situation: Given) -> None:
    """The changes may be split into any steps, each by any algorithm; the changes of the steps add up."""
    delete = subset(data, situation.explicit)
    insert = set(situation.others) - delete
    steps = data.draw(st.integers(1, 4))
    numbers = st.integers(0, steps - 1)
    place = {fact: data.draw(numbers) for fact in sorted(delete | insert)}
    state, inserted, deleted = situation.old, NONE, NONE
    for step in range(steps):
        part = [situation.ids.facts({f for f in some if place[f] == step}) for some in (delete, insert)]
        done = situation.update(state, part[0], part[1], data.draw(st.sampled_from(EVERY)))
        state = done.materialisation
        inserted, deleted = (
            (inserted - done.deleted) | (done.inserted - deleted),
            (deleted - done.inserted) | (done.deleted - inserted),
        )
    once = situation.update(
        situation.old, situation.ids.facts(delete), situation.ids.facts(insert), data.draw(st.sampled_from(EVERY))
    )
    assert_same(situation.with_bookkeeping(once.materialisation), situation.with_bookkeeping(state))
    assert same(inserted, once.inserted)
    assert same(deleted, once.deleted)


@each_algorithm
@fewer
@given(st.data(), situations())
def test_an_inverse_update_restores_everything(how: Any, data: st.DataObject, situation: Given) -> None:
    delete = situation.ids.facts(subset(data, situation.explicit))
    insert = situation.ids.facts(set(situation.others)) - situation.old.explicit
    there = situation.update(situation.old, delete, insert, how)
    back = situation.update(there.materialisation, insert - situation.old.explicit, delete, how)
    assert_keeps(how, back.materialisation)
    assert_same(back.materialisation, situation.old)
    assert same(back.inserted, there.deleted)
    assert same(back.deleted, there.inserted)


@each_algorithm
@fewer
@given(situation=situations())
def test_deleting_everything_leaves_what_follows_from_nothing(how: Any, situation: Given) -> None:
    done = situation.update(situation.old, situation.old.explicit, NONE, how)
    assert_keeps(how, done.materialisation)
    assert_same(done.materialisation, situation.fresh(NONE))


@each_algorithm
@fewer
@given(situation=situations())
def test_everything_is_replaced(how: Any, situation: Given) -> None:
    others = situation.ids.facts(set(situation.others))
    done = situation.update(situation.old, situation.old.explicit, others, how)
    assert_same(done.materialisation, situation.fresh(others))


@each_algorithm
@fewer
@given(situation=situations())
def test_nothing_changes_nothing(how: Any, situation: Given) -> None:
    """Deleting facts that are not explicit, and inserting facts that are, changes nothing either."""
    derived = situation.old.facts - situation.old.explicit
    unknown = situation.ids.facts(set(situation.others)) - situation.old.explicit
    for delete, insert in ((NONE, NONE), (derived | unknown, NONE), (NONE, situation.old.explicit)):
        done = situation.update(situation.old, delete, insert, how)
        assert not done.inserted
        assert not done.deleted
        assert_keeps(how, done.materialisation)
        assert_same(done.materialisation, situation.old)
        if done.statistics.algorithm != "rematerialise":
            assert done.statistics.total_instances == 0


@each_algorithm
@fewer
@given(st.data(), situations())
def test_what_is_deleted_and_inserted_is_inserted(how: Any, data: st.DataObject, situation: Given) -> None:
    delete = situation.ids.facts(subset(data, situation.explicit))
    both = situation.ids.facts(subset(data, situation.explicit) | set(situation.others))
    done = situation.update(situation.old, delete | both, both, how)
    assert_same(done.materialisation, situation.fresh((situation.old.explicit - delete) | both))


@each_algorithm
@fewer
@given(st.data(), situations())
def test_derived_facts_may_become_explicit_and_stop_being_so(how: Any, data: st.DataObject, situation: Given) -> None:
    """The facts do not change; the counters and the trace do, and are restored in the end."""
    derived = situation.old.facts - situation.old.explicit
    if data.draw(st.booleans()):
        derived = derived.restricted(
            data.draw(st.lists(st.sampled_from(sorted(derived)), max_size=2)) if derived else ()
        )
    there = situation.update(situation.old, NONE, derived, how)
    assert (there.inserted.count, there.deleted.count) == (0, 0)
    assert_same(there.materialisation, situation.fresh(situation.old.explicit | derived))
    back = situation.update(there.materialisation, derived, NONE, how)
    assert (back.inserted.count, back.deleted.count) == (0, 0)
    assert_keeps(how, back.materialisation)
    assert_same(back.materialisation, situation.old)


@each_algorithm
@fewer
@given(st.data(), situations())
def test_the_old_state_is_left_as_it_is(how: Any, data: st.DataObject, situation: Given) -> None:
    """Materialisations are immutable: repeating an update on one has an equal result."""
    delete = situation.ids.facts(subset(data, situation.explicit))
    insert = situation.ids.facts(set(situation.others))
    first, second = (situation.update(situation.old, delete, insert, how) for _ in range(2))
    assert same(first.materialisation.facts, second.materialisation.facts)
    assert first.statistics.instances == second.statistics.instances
    assert_same(situation.old, situation.fresh(situation.old.explicit))


SEARCHING: list[How] = [
    *((algorithm, strategy) for algorithm in ("bfc", "fbf") for strategy in ("never", 1, 2, 3)),
    ("dredc", "never"),
]


def check_horn(seed: int) -> None:
    case = horn(seed)
    expected, _ = close_strata(case.ids.engine(), case.program, (case.old.explicit - case.delete) | case.insert)
    for how in SEARCHING:
        done = update(case.ids.engine(), case.program, case.old, case.delete, case.insert, *how)
        assert same(done.materialisation.facts, expected), (seed, how)


@pytest.mark.parametrize("hundred", range(3))
def test_cyclic_proofs(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * hundred + few(100)):
        check_horn(seed)


@pytest.mark.slow
@pytest.mark.parametrize("thousand", range(1, 11))
def test_many_cyclic_proofs(thousand: int) -> None:
    for seed in range(1000 * thousand, 1000 * (thousand + 1)):
        check_horn(seed)
