"""After every change the state equals materialising the new explicit facts, and the change is the difference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from everlog.analysis.predicates import Key
from everlog.kb.change import ChangedRelations
from everlog.lang.terms import Value, text_of, value_of
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.running import knowledge_base, known, relation
from tests.strategies import Case, cases, graph_cases, updates


def rows_of(facts: Iterable[Fact]) -> dict[Key, list[tuple[Value, ...]]]:
    return {
        (predicate.name, predicate.arity): [tuple(map(value_of, row)) for row in sorted(rows)]
        for predicate, rows in naive.grouped(facts).items()
    }


def decoded(changed: ChangedRelations) -> set[Fact]:
    assert all(len(rows) for rows in changed.values()), "only predicates that changed are keys"
    return {(predicate, tuple(map(text_of, row))) for predicate in changed for row in changed[predicate]}


@given(st.data(), cases(max_rules=5) | graph_cases(max_nodes=6))
def test_updates_report_the_exact_difference(data: st.DataObject, case: Case) -> None:
    kb = knowledge_base(case.program, case.facts)
    rules = replace(case.program, facts=())
    predicates = set(known(case.program, case.facts, case.predicates))
    explicit = {*case.facts, *naive.explicit(case.program)}
    before = naive.flat(naive.materialise(rules, explicit))
    for change in data.draw(updates(case)):
        delete = {fact for fact in change.delete if fact[0] in predicates}
        report = kb.update(insert=rows_of(change.insert), delete=rows_of(delete))
        predicates |= {predicate for predicate, _ in change.insert}
        wanted = (explicit - delete) | change.insert
        after = naive.flat(naive.materialise(rules, wanted))
        assert {(p, row) for p in predicates for row in relation(kb, p)} == after
        assert (decoded(report.inserted), decoded(report.deleted)) == (after - before, before - after)
        assert decoded(report.explicit_inserted) == wanted - explicit
        assert decoded(report.explicit_deleted) == explicit - wanted
        assert report.not_explicit == len(delete - explicit)
        explicit, before = wanted, after


@given(st.data(), cases(max_rules=5))
def test_queued_changes_apply_in_order(data: st.DataObject, case: Case) -> None:
    kb = knowledge_base(case.program, case.facts)
    predicates = set(known(case.program, case.facts, case.predicates))
    explicit = {*case.facts, *naive.explicit(case.program)}
    for change in data.draw(updates(case)):
        delete = {fact for fact in change.delete if fact[0] in predicates}
        for key, rows in rows_of(delete).items():
            kb.delete(key, rows)
        for key, rows in rows_of(change.insert).items():
            kb.insert(key, rows)
        predicates |= {predicate for predicate, _ in change.insert}
        explicit = (explicit - delete) | change.insert
    after = naive.flat(naive.materialise(replace(case.program, facts=()), explicit))
    assert {(p, row) for p in predicates for row in relation(kb, p)} == after
