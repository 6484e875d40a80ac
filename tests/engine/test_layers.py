"""States in layers of arrays: read again they are equal, and shared arrays are written once."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import everlog
from everlog import KnowledgeBase
from everlog.engine import layers
from everlog.engine.hashing import hash_text
from everlog.engine.keys import layout_for
from everlog.engine.layers import LayeredState
from everlog.engine.state import State
from everlog.lang.syntax import Predicate
from tests.kb.test_store_updates import everything, rows_of
from tests.oracle import naive
from tests.running import knowledge_base
from tests.strategies import Case, cases, graph_cases, updates


@dataclass(frozen=True)
class Layer:
    """A layer as a snapshot has it: arrays that may not be written to."""

    arrays: dict[str, NDArray[Any]]
    manifest: dict[str, Any]

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]], manifest: dict[str, Any]) -> Layer:
        read = {}
        for name, array in arrays.items():
            file = io.BytesIO()
            np.save(file, array)
            file.seek(0)
            read[name] = np.load(file)
            read[name].flags.writeable = False
        return cls(read, manifest)


def whole(state: State) -> tuple[Layer, LayeredState]:
    settled = state.ranked().settled()
    arrays, manifest, placed = layers.layer(LayeredState(settled, {}), sorted(settled.facts))
    return Layer.of(arrays, manifest), placed


def through_a_file(state: State) -> State:
    return layers.read([whole(state)[0]]).state


@settings(max_examples=30)
@given(cases())
def test_a_whole_state(case: Case) -> None:
    state = knowledge_base(case.program, case.facts).listed()
    ranked = state.ranked()
    assert everything(ranked) == everything(state)
    hashes = [hash_text(text) for text in ranked.dictionary.decode(np.arange(len(ranked.dictionary))).to_pylist()]
    assert hashes == sorted(hashes)
    assert everything(through_a_file(ranked)) == everything(state)
    assert ranked.ranked() is ranked


@settings(max_examples=40)
@given(data=st.data())
def test_changes_on_top(data: st.DataObject) -> None:
    """Layers put on each other, some taking in those below, some after the state was read again."""
    case: Case = data.draw(graph_cases(max_nodes=7) | cases(max_rules=5))
    kb = knowledge_base(case.program, case.facts, maintain="dredc")
    first, placed = whole(kb.listed())
    kb.adopt(placed.state, None)
    held = [first]
    for change in data.draw(updates(case, max_size=5)):
        known = set(kb.predicates)
        delete = {fact for fact in change.delete if fact[0] in known}
        kb.update(insert=rows_of(change.insert), delete=rows_of(delete), algorithm="dredc")
        new = kb.listed()
        changed = layers.changed(placed.state, new)
        placed = placed.followed_by(new, changed)
        for _ in range(data.draw(st.integers(0, len(held) - 1))):
            changed |= {Predicate.parse(text) for text in held.pop().manifest["predicates"]}
        size = placed.size(changed, len(held))
        terms = held[-1].manifest["universe"]
        arrays, manifest, placed = layers.layer(placed, sorted(changed), len(held), terms)
        assert manifest["size"] == size + len(new.dictionary) - terms
        held.append(Layer.of(arrays, manifest))
        again = layers.read(held)
        assert everything(again.state) == everything(new)
        assert set(placed.places) >= {id(part) for p in new.facts for _, part in layers._parts(new, p)}
        if data.draw(st.booleans()):
            placed = again
            kb.adopt(again.state, None)


def test_what_did_not_change_is_not_written() -> None:
    kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .", modules=False)
    kb.insert("edge", [(3 * i, 3 * i + 1) for i in range(5000)])
    kb.insert("other", [(i,) for i in range(5000)])
    first, _ = whole(kb.listed())
    assert first.manifest["size"] == 5000 * 4 + len(kb.listed().dictionary), "explicit facts are not there twice"
    placed = layers.read([first])
    before = placed.state.facts[Predicate("edge", 2)].runs[0]
    kb.adopt(placed.state, None)
    kb.update(insert={"edge": [(1, 2)]}, delete={"edge": [(30, 31)]}, algorithm="dredc")
    changed = layers.changed(placed.state, kb.listed())
    assert {p.name for p in changed} == {"edge", "path"}
    placed = placed.followed_by(kb.listed(), changed)
    arrays, manifest, _ = layers.layer(placed, sorted(changed), 1, first.manifest["universe"])
    assert manifest["size"] < 20
    again = layers.read([first, Layer.of(arrays, manifest)]).state
    (large, *_) = again.facts[Predicate("edge", 2)].runs
    assert np.array_equal(large.keys(), before.keys())
    assert large.keys().base is not None, "it is a part of the lowest layer"


def test_facts_that_are_all_explicit_are_one_relation() -> None:
    kb = KnowledgeBase("q(?x) :- p(?x) . q(b) .")
    kb.insert("p", [("a",), ("b",)])
    state = through_a_file(kb.listed())
    p, q = Predicate("p", 1), Predicate("q", 1)
    assert state.explicit[p] is state.facts[p]
    assert (len(state.explicit[q]), len(state.facts[q])) == (1, 2)


def test_a_stored_state_can_be_changed() -> None:
    """Arrays are read-only and shared; adding, deleting and other orders work all the same."""
    kb = everlog.KnowledgeBase("r(?x, ?z) :- e(?x, ?y), t(?z, ?y, ?x) . s(?y) :- t(_, ?y, _), ~e(?y, _) .")
    kb.insert("e", [(i % 20, i) for i in range(400)])
    kb.insert("t", [(i, i % 40, i % 20) for i in range(400)])
    kb.update(delete={"e": [(3, 3), (4, 24)]})
    again = everlog.KnowledgeBase.restored(kb._written, through_a_file(kb.listed()), kb.statistics)
    for change in (
        {"delete": {"e": [(5, 5)], "t": [(1, 1, 1)]}},
        {"insert": {"t": [(0, "new", 0)], "e": [("new", 1)]}},
    ):
        one, other = kb.update(**change), again.update(**change)  # type: ignore[arg-type]
        for part in ("inserted", "deleted", "explicit_inserted", "explicit_deleted"):
            mine, its = getattr(one, part), getattr(other, part)
            assert {str(p): mine[p].rows() for p in mine} == {str(p): its[p].rows() for p in its}
        assert everything(kb.listed()) == everything(again.listed())


def test_nothing_at_all() -> None:
    empty: set[naive.Fact] = set()
    assert everything(through_a_file(KnowledgeBase().listed()))[:2] == (empty, empty)


@pytest.mark.parametrize("terms", [(1 << 12) - 1, 1 << 12])
def test_layouts_at_a_boundary(terms: int) -> None:
    """Arity five packs below 4,096 terms; what is written must be read with the same layout."""
    kb = everlog.KnowledgeBase()
    kb.insert("wide", [(i, i + 1, i + 2, i + 3, i + 4) for i in range(terms - 4)])
    state = kb.listed().ranked()
    assert len(state.dictionary) == terms
    found = through_a_file(state)
    wide = Predicate("wide", 5)
    assert found.facts[wide].layout == state.facts[wide].layout == layout_for(5, terms)
    assert everything(found) == everything(kb.listed())


def test_a_layout_that_grows() -> None:
    """Facts that no longer fit in a word are written again, in several."""
    kb = everlog.KnowledgeBase("wide(?x, ?x, ?x, ?x, ?x) :- p(?x) .")
    kb.insert("p", [(i,) for i in range(4090)])
    first, placed = whole(kb.listed())
    kb.adopt(placed.state, None)
    kb.update(insert={"p": [(f"n{i}",) for i in range(10)]}, algorithm="dredc")
    changed = layers.changed(placed.state, kb.listed())
    placed = placed.followed_by(kb.listed(), changed)
    arrays, manifest, _ = layers.layer(placed, sorted(changed), 1, first.manifest["universe"])
    assert manifest["size"] > 4100
    assert everything(layers.read([first, Layer.of(arrays, manifest)]).state) == everything(kb.listed())
