"""Facts of many predicates in a few arrays equal those in relations of their own."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.engine import grouped
from everlog.engine.grouped import Group, renumbered_counts, renumbered_relations
from everlog.engine.keys import layout_for, pack
from everlog.engine.multiset import Counts, Multiset
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate

Rows = list[tuple[int, ...]]
FEW, MANY = 12, 10_000_000
"""Numbers of terms with which five arguments fit into one word, and need several."""


@st.composite
def predicates(draw: st.DrawFn, arity: int) -> dict[Predicate, Rows]:
    row = st.tuples(*[st.integers(0, FEW - 1)] * arity)
    rows = draw(st.lists(st.lists(row, max_size=6), min_size=1, max_size=6))
    return {Predicate(f"p{number}", arity): found for number, found in enumerate(rows)}


def group_of(rows: dict[Predicate, Rows], arity: int, universe: int) -> Group:
    every = [row for found in rows.values() for row in found]
    layout = layout_for(arity, universe)
    columns = [np.array([row[i] for row in every], np.int64) for i in range(arity)]
    starts = np.cumsum([0, *map(len, rows.values())])
    return Group(list(rows), layout, starts, pack(layout, columns, len(every)))


def listed(relation: Relation) -> Rows:
    columns = [column.tolist() for column in relation.columns()]
    return list(zip(*columns, strict=True)) if columns else [()] * len(relation)


cases = st.integers(0, 5).flatmap(lambda arity: st.tuples(predicates(arity), st.just(arity)))


@settings(max_examples=60)
@given(cases, st.sampled_from([FEW, MANY]))
def test_relations_and_some_of_their_facts(case: tuple[dict[Predicate, Rows], int], universe: int) -> None:
    rows, arity = case
    group = group_of(rows, arity, universe)
    mask = np.random.default_rng(len(group.keys)).random(len(group.keys)) < 0.5
    some, start = {}, 0
    for predicate, found in rows.items():
        some[predicate] = [row for row, chosen in zip(found, mask[start : start + len(found)], strict=True) if chosen]
        start += len(found)
    kept = {p: listed(relation) for p, relation in group.where(mask).relations()}
    assert kept == {p: sorted(set(found)) for p, found in some.items() if found}
    every = {p: listed(relation) for p, relation in group.relations()}
    assert every == {p: sorted(set(found)) for p, found in rows.items() if found}


@settings(max_examples=40)
@given(cases, st.sampled_from([FEW, MANY]))
def test_multisets(case: tuple[dict[Predicate, Rows], int], universe: int) -> None:
    rows = {p: list(dict.fromkeys(found)) for p, found in case[0].items()}
    group = group_of(rows, case[1], universe)
    weights = np.arange(1, len(group.keys) + 1, dtype=np.int32)
    numbers = iter(weights.tolist())
    expected = {p: sorted((row, next(numbers)) for row in found) for p, found in rows.items() if found}
    found = {}
    for predicate, multiset in group.multisets(weights):
        found[predicate] = list(zip(listed(multiset.relation()), multiset.whole()[1].tolist(), strict=True))
    assert found == expected


@settings(max_examples=40)
@given(cases, st.sampled_from([(FEW, FEW), (FEW, MANY)]), st.sampled_from([1, 2, 100]))
def test_renumbering(case: tuple[dict[Predicate, Rows], int], universes: tuple[int, int], many: int) -> None:
    """Each predicate of a group is renumbered as it would be alone, also into another layout."""
    rows, arity = case
    before, after = universes
    ids = np.random.default_rng(len(rows)).permutation(FEW)
    relations = dict(group_of(rows, arity, before).relations())
    counts = Counts({p: Multiset.once(relation) + Multiset.once(relation) for p, relation in relations.items()})
    held, grouped.MANY = grouped.MANY, many
    try:
        found = dict(renumbered_relations(relations, ids, after))
        numbers = renumbered_counts(counts, ids, after)
    finally:
        grouped.MANY = held
    assert found == {p: relation.renumbered(ids, after) for p, relation in relations.items()}
    assert numbers == counts.renumbered(ids, after)
