"""A change by any algorithm is the exact difference of two materialisations, and consecutive changes add up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from everlog.engine.difference import counts_changed
from everlog.engine.factset import NONE
from everlog.engine.multiset import Counts
from everlog.reasoning.change import SignedChange
from everlog.reasoning.materialisation import Materialisation
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.strata import close_strata
from tests.reasoning.test_maintenance import same
from tests.reasoning.test_update_properties import EVERY, Given, each_algorithm, fewer, situations, subset


def assert_difference(change: SignedChange, old: Materialisation) -> None:
    """Check that the change is the difference between the old materialisation and its own."""
    new = change.materialisation
    assert same(change.inserted, new.facts - old.facts)
    assert same(change.deleted, old.facts - new.facts)
    assert same(change.explicit_inserted, new.explicit - old.explicit)
    assert same(change.explicit_deleted, old.explicit - new.explicit)
    for found, before, after in ((change.nr, old.nr, new.nr), (change.rec, old.rec, new.rec)):
        if before is None or after is None:
            assert found is None
        else:
            assert found == counts_changed(before, after)
            assert before + (found or Counts()) == after


@st.composite
def with_and_without_modules(draw: st.DrawFn) -> Given:
    """A situation; half of them have modules if the program allows them."""
    found = draw(situations())
    if draw(st.booleans()):
        return found
    program = with_modules(found.program)
    explicit = found.old.explicit.renamed(program.external)
    facts, _ = close_strata(found.ids.engine(), program, explicit)
    found = replace(found, program=program)
    return replace(found, old=found.with_bookkeeping(Materialisation(explicit, facts)))


def changed(data: st.DataObject, situation: Given, how: Any, old: Materialisation) -> SignedChange:
    delete, insert = subset(data, situation.explicit), subset(data, (*situation.others, *situation.explicit))
    less, more = (situation.ids.facts(facts).renamed(situation.program.external) for facts in (delete, insert))
    return situation.update(old, less, more, how)


@each_algorithm
@fewer
@given(st.data(), with_and_without_modules())
def test_a_change_is_the_difference(how: Any, data: st.DataObject, situation: Given) -> None:
    assert_difference(changed(data, situation, how, situation.old), situation.old)


@each_algorithm
@fewer
@given(st.data(), with_and_without_modules())
def test_nothing_is_said_of_counters_that_were_not_kept(how: Any, data: st.DataObject, situation: Given) -> None:
    bare = replace(situation.old, nr=None, rec=None, trace=None)
    assert_difference(changed(data, situation, how, bare), bare)


@given(st.data(), with_and_without_modules())
def test_consecutive_changes_are_the_difference_of_the_first_and_the_last(
    data: st.DataObject, situation: Given
) -> None:
    change = changed(data, situation, data.draw(st.sampled_from(EVERY)), situation.old)
    for _ in range(data.draw(st.integers(1, 3))):
        later = changed(data, situation, data.draw(st.sampled_from(EVERY)), change.materialisation)
        change = change.then(later)
        if later.nr_summands is None or change.nr_summands is None:
            break
    if change.nr_summands is None:
        assert change.nr is None
        old = replace(situation.old, nr=None, rec=None)
        assert_difference(change, old)
    else:
        assert_difference(change, situation.old)


def test_changes_that_cancel_out_leave_nothing() -> None:
    """Two updates that cancel out have summed statistics and an empty change."""

    @fewer
    @given(st.data(), situations())
    def check(data: st.DataObject, situation: Given) -> None:
        delete = situation.ids.facts(subset(data, situation.explicit))
        there = situation.update(situation.old, delete, NONE, ("dredc", "never"))
        back = situation.update(there.materialisation, NONE, delete, ("bfc", "never"))
        both = there.then(back)
        assert not both.inserted
        assert not both.deleted
        assert not both.explicit_inserted
        assert not both.explicit_deleted
        assert both.nr == Counts() == both.rec
        assert both.statistics.total_instances == there.statistics.total_instances + back.statistics.total_instances

    check()
