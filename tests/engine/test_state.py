"""States: ranked and as arrays they say the same."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings

import everlog
from everlog.engine.hashing import hash_text
from everlog.engine.keys import layout_for
from everlog.engine.state import State, from_arrays, to_arrays
from everlog.lang.syntax import Predicate
from tests.oracle import naive
from tests.running import knowledge_base
from tests.strategies import Case, cases


def texts(state: State) -> tuple[set[naive.Fact], set[naive.Fact]]:
    def of(part: str) -> set[naive.Fact]:
        facts = set()
        for predicate, relation in getattr(state, part).items():
            columns = [state.dictionary.decode(column).to_pylist() for column in relation.columns()]
            facts |= {(predicate, tuple(column[i] for column in columns)) for i in range(len(relation))}
        return facts

    return of("facts"), of("explicit")


def through_a_file(state: State) -> State:
    """As a snapshot does it: arrays that may not be written to."""
    arrays, manifest = to_arrays(state)
    read = {}
    for name, array in arrays.items():
        file = io.BytesIO()
        np.save(file, array)
        file.seek(0)
        read[name] = np.load(file)
        read[name].flags.writeable = False
    return from_arrays(read, manifest)


@settings(max_examples=30)
@given(cases())
def test_ranked_and_stored_states_say_the_same(case: Case) -> None:
    state = knowledge_base(case.program, case.facts).state()
    ranked = state.ranked()
    assert texts(ranked) == texts(state)
    hashes = [hash_text(text) for text in ranked.dictionary.decode(np.arange(len(ranked.dictionary))).to_pylist()]
    assert hashes == sorted(hashes)
    assert texts(through_a_file(ranked)) == texts(state)
    assert ranked.ranked() is ranked


def test_a_stored_state_can_be_changed() -> None:
    """Arrays are read-only and shared; adding, deleting and other orders work all the same."""
    kb = everlog.KnowledgeBase("r(?x, ?z) :- e(?x, ?y), t(?z, ?y, ?x) . s(?y) :- t(_, ?y, _), ~e(?y, _) .")
    kb.insert("e", [(i % 20, i) for i in range(400)])
    kb.insert("t", [(i, i % 40, i % 20) for i in range(400)])
    kb.update(delete={"e": [(3, 3), (4, 24)]})
    state = through_a_file(kb.state().ranked())
    again = everlog.KnowledgeBase.restored(kb._written, state, kb.statistics)
    for change in (
        {"delete": {"e": [(5, 5)], "t": [(1, 1, 1)]}},
        {"insert": {"t": [(0, "new", 0)], "e": [("new", 1)]}},
    ):
        one, other = kb.update(**change), again.update(**change)  # type: ignore[arg-type]
        for part in ("inserted", "deleted", "explicit_inserted", "explicit_deleted"):
            mine, its = getattr(one, part), getattr(other, part)
            assert {str(p): mine[p].rows() for p in mine} == {str(p): its[p].rows() for p in its}
        assert texts(kb.state()) == texts(again.state())


def test_nothing_at_all() -> None:
    state = everlog.KnowledgeBase().state()
    assert texts(through_a_file(state.ranked())) == (set(), set())


@pytest.mark.parametrize("terms", [(1 << 12) - 1, 1 << 12])
def test_layouts_at_a_boundary(terms: int) -> None:
    """Arity five packs below 4,096 terms; what is written must be read with the same layout."""
    kb = everlog.KnowledgeBase()
    kb.insert("wide", [(i, i + 1, i + 2, i + 3, i + 4) for i in range(terms - 4)])
    state = kb.state().ranked()
    assert len(state.dictionary) == terms
    found = through_a_file(state)
    wide = Predicate("wide", 5)
    assert found.facts[wide].layout == state.facts[wide].layout == layout_for(5, terms)
    assert texts(found) == texts(kb.state())
