"""The graphs of closures in snapshots: mapped when a store is opened for an update, and then updated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import everlog
from everlog import KnowledgeBase
from everlog.engine.reach import Reach
from everlog.lang.parser import parse_program
from everlog.lang.printer import print_program
from everlog.lang.syntax import Predicate
from everlog.lang.terms import value_of
from everlog.store import Store
from everlog.store.compaction import compact
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.reasoning.modules.test_updates import module_cases
from tests.running import knowledge_base, relation
from tests.strategies import Case, updates

pytestmark = pytest.mark.usefixtures("closures_in_graphs")

CHAIN = [(i, i + 1) for i in range(300)]
RULES = "above(?x, ?y) :- parent(?x, ?y) . above(?x, ?z) :- above(?x, ?y), parent(?y, ?z) ."

MUTUAL = (
    """p(?x, ?z) :- p(?x, ?y), q(?y, ?z) . q(?x, ?z) :- q(?x, ?y), p(?y, ?z) .
    p(?x, ?y) :- e(?x, ?y) . q(?x, ?y) :- f(?x, ?y) .""",
    """p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . q(?x, ?z) :- q(?x, ?y), q(?y, ?z) .
    p(?x, ?y) :- q(?x, ?y), e(?x, ?y) . q(?x, ?y) :- p(?y, ?x), f(?x, ?y) . u(?x, ?z) :- u(?x, ?y), p(?y, ?z) .""",
    """p(?x, ?z) :- p(?x, ?y), q(?y, ?z) . q(?x, ?z) :- q(?x, ?y), q(?y, ?z) . q(?x, ?y) :- p(?x, ?y), e(?x, ?y) .
    p(?x, ?y) :- f(?x, ?y) . u(?x, ?y) :- p(?y, ?x) . u(?x, ?y) :- q(?x, ?y) .""",
)


@st.composite
def mutual_cases(draw: st.DrawFn) -> Case:
    """Modules in one stratum that read each other, or depend on each other through rules."""
    case = draw(module_cases())
    return replace(case, program=parse_program(draw(st.sampled_from(MUTUAL))))


def refuse(*_: Any) -> NoReturn:
    raise AssertionError("a graph was made anew")


def saved(place: Path) -> KnowledgeBase:
    kb = KnowledgeBase(RULES)
    kb.insert("parent", CHAIN)
    kb.insert("above", [(5, 1)])
    kb.save(place)
    return kb


def test_a_graph_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = saved(tmp_path / "kb")
    monkeypatch.setattr(Reach, "of", refuse)
    for step in range(4):
        change: dict[Any, Any] = {"parent": [(step, "new"), ("new", 5_000 + step)]}
        kb = everlog.open(tmp_path / "kb")
        kb.update(insert=change, delete={"parent": [(200 + step, 201 + step)]})
        mine.update(insert=change, delete={"parent": [(200 + step, 201 + step)]})
        kb.save()
        assert len(kb["above"]) == len(mine["above"]) == len(everlog.open(tmp_path / "kb")["above"])
        assert sorted(kb.query("above(3, ?x)").rows(), key=str) == sorted(mine.query("above(3, ?x)").rows(), key=str)


@pytest.mark.parametrize("wrong", ["absent", "other arrays", "no snapshot"])
def test_without_a_graph_it_is_made_again(tmp_path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "kb")
    for manifest in (tmp_path / "kb" / "snapshot").glob("*/manifest.json"):
        content = json.loads(manifest.read_text())
        if wrong == "absent":
            content["manifest"]["graphs"] = []
        else:
            content["arrays"] = {name: place for name, place in content["arrays"].items() if "graph" not in name}
        manifest.write_text(json.dumps(content))
        if wrong == "no snapshot":
            manifest.unlink()
    kb = everlog.open(tmp_path / "kb")
    kb.update(insert={"parent": [(300, 301)]})
    kb.save()
    assert len(everlog.open(tmp_path / "kb")["above"]) == 301 * 302 // 2 + 5
    if wrong != "other arrays":  # what is made is kept
        monkeypatch.setattr(Reach, "of", refuse)
        everlog.open(tmp_path / "kb").update(insert={"parent": [(301, 302)]})


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(case=module_cases() | mutual_cases(), kind=st.sampled_from(["levels", "single"]), data=st.data())
def test_opened_for_each_update(
    tmp_path_factory: pytest.TempPathFactory, case: Case, kind: str, data: st.DataObject
) -> None:
    """Modules and recursive rules depend on the stratification, so a store records its kind."""
    case, place = quoted(case), tmp_path_factory.mktemp("stores") / "kb"
    knowledge_base(print_program(case.program), case.facts, maintain="dredc", stratification=kind).save(place)
    held: set[Fact] = set(case.facts)
    for change in data.draw(updates(case)):
        kb = everlog.open(place)
        algorithm: Any = data.draw(st.sampled_from(["dredc", "bfc", "fbf", "dred", "counting", "auto"]))
        kb.update(*map(by_name, (change.insert, change.delete)), algorithm=algorithm)
        kb.save()
        if data.draw(st.booleans()):
            compact(Store.open(place))
        held = (held - change.delete) | change.insert
        expected = naive.materialise(case.program, held)
        again = everlog.open(place)
        assert {p: relation(again, p) for p in again.predicates if relation(again, p)} == expected
        fresh = knowledge_base(print_program(case.program), held, maintain="dredc", stratification=kind)
        if again.state().nr is not None:
            assert counters(again) == counters(fresh)


def quoted(case: Case) -> Case:
    """The case with constants in the syntax of rules."""
    facts = frozenset((predicate, tuple(f'"{text}"' for text in row)) for predicate, row in case.facts)
    return replace(case, facts=facts, domain=tuple(f'"{text}"' for text in case.domain))


def by_name(facts: frozenset[Fact]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for predicate, row in facts:
        found.setdefault((predicate.name, predicate.arity), []).append(tuple(map(value_of, row)))
    return found


def counters(kb: KnowledgeBase) -> dict[tuple[str, Predicate], dict[tuple[str, ...], int]]:
    state, found = kb.listed(), {}
    for name, counts in (("nr", state.nr), ("rec", state.rec)):
        for predicate, multiset in (counts or {}).items():
            weights = multiset.whole()[1]
            texts = [state.dictionary.decode(column).to_pylist() for column in multiset.relation().columns()]
            rows = zip(zip(*texts, strict=True), weights.tolist(), strict=True)
            found[name, predicate] = dict(rows)
    return {name: rows for name, rows in found.items() if rows}
