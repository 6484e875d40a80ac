"""Plans: each step uses only what is bound before it, and every plan of a rule gives the same facts."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.engine import execute, plan
from everlog.engine.factset import FactSet
from everlog.engine.match import Engine
from everlog.engine.plan import Lead, Plan, PlannedRule
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Constant, Predicate, Rule, Term, Variable
from tests.strategies import Case, cases


def rule(text: str) -> Rule:
    return check(parse_program(text)).rules[0]


def plan_of(text: str, sizes: list[int], pivot: int | None = None) -> Plan:
    return PlannedRule(rule(text)).plan(pivot, sizes)


# printing -----------------------------------------------------------------------------------------


def test_a_plan_prints() -> None:
    found = plan_of("p(?x, ?z) :- p(?x, ?y), e(?y, ?z), ~q(?x, _), r(?z, a) .", [10, 100, 5, 5], pivot=0)
    assert str(found).splitlines()[-1].startswith("head   p(?x, ?z)")
    assert [line.split()[0] for line in str(found).splitlines()] == ["scan", "absent", "join", "check", "head"]
    assert "(changed)" in str(found).splitlines()[0]
    assert "~q(?x, _)" in str(found)


def test_a_grouped_plan_says_so() -> None:
    assert str(plan_of("p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .", [10, 100])).endswith("head   p(?x, ?z) (grouped)")


def test_a_turned_order_is_printed() -> None:
    assert str(plan_of("p(?z) :- q(?y), e(?z, ?y) .", [1, 100])).splitlines()[1] == "join   e(?z, ?y) by (1, 0)"


def test_plans_go_by_size() -> None:
    steps = plan_of("p(?x) :- big(?x), small(?x) .", [1000, 3]).steps
    assert [str(step) for step in steps] == ["scan   small(?x)", "check  big(?x)"]
    steps = plan_of("q(?x) :- big(?x), ~small(?x) .", [1000, 3]).steps
    assert [str(step) for step in steps] == ["scan   big(?x)", "absent ~small(?x)"]


# every plan is sound ------------------------------------------------------------------------------


def assert_sound(found: Plan, planned: PlannedRule) -> None:
    known: set[Variable] = set()
    for number, step in enumerate(found.steps):
        assert {t for t in step.bound if isinstance(t, Variable)} <= known, "a step uses what is not bound"
        assert sorted(step.order) == list(range(len(step.atom.terms)))
        assert not known & {v for _, v in step.binds}, "a variable is bound twice"
        assert (step.kind == "scan") == (bool(step.binds) and not known)
        assert (step.kind == "join") == (bool(step.binds) and bool(known))
        known |= {v for _, v in step.binds}
        later = {t for s in found.steps[number + 1 :] for t in s.bound if isinstance(t, Variable)}
        assert (later | set(found.rule.head.variables())) & known <= set(step.keep), "something is forgotten too early"
        assert set(step.keep) <= known
    bodies = [step.body for step in found.steps]
    positive = range(len(planned.positive))
    assert sorted(b for b in bodies if b in positive) == list(positive)
    assert set(range(len(planned.positive), len(found.rule.body))) <= set(bodies), "a negation is missing"
    absent = [(n, step) for n, step in enumerate(found.steps) if step.kind == "absent"]
    for n, step in absent:
        before = {v for s in found.steps[:n] for _, v in s.binds}
        earlier = {v for s in found.steps[: n - 1] for _, v in s.binds} if n else None
        assert set(step.atom.variables()) <= before
        if earlier is not None and found.steps[n - 1].kind != "absent":
            assert not set(step.atom.variables()) <= earlier, "a negation could have come earlier"


@given(cases(empty_bodies=True), st.data())
def test_steps_bind_what_they_use(case: Case, data: st.DataObject) -> None:
    for each in case.program.rules:
        planned = PlannedRule(each)
        sizes = data.draw(st.lists(st.integers(1, 1000), min_size=len(each.body), max_size=len(each.body)))
        for pivot in [None, *range(len(each.body))]:
            assert_sound(planned.plan(pivot, sizes), planned)
            everything = planned.plan(pivot, sizes, keep_all=True)
            bound = {v for step in everything.steps for _, v in step.binds}
            assert not everything.grouped
            assert not everything.steps or set(everything.steps[-1].keep) == bound


def greedy(planned: PlannedRule, start: tuple[int, ...], pivot: int | None, sizes: list[int]) -> tuple[int, ...]:
    """The order of matching by its definition: each time the atom that agrees with the fewest facts."""
    order = list(start)
    waiting = [i for i in range(len(planned.positive)) if i not in start]
    if pivot is not None and pivot >= len(planned.positive) and pivot not in start:
        waiting.append(pivot)
    while waiting:
        known = {term for i in order for term in planned._pattern(i, pivot).terms}

        def cost(i: int, known: set[Term] = known) -> tuple[bool, float, int]:
            terms = planned._pattern(i, pivot).terms
            bound = sum(isinstance(term, Constant) or term in known for term in terms)
            return not bound and bool(terms), plan._fanout(sizes[i], bound, len(terms)), i

        order.append(min(waiting, key=cost))
        waiting.remove(order[-1])
    return tuple(order)


@given(cases(empty_bodies=True), st.data())
def test_atoms_are_arranged_greedily(case: Case, data: st.DataObject) -> None:
    for each in case.program.rules:
        planned = PlannedRule(each)
        sizes = data.draw(st.lists(st.integers(1, 50), min_size=len(each.body), max_size=len(each.body)))
        for pivot in [None, *range(len(each.body))]:
            for start in [(), *((i,) for i in range(len(each.positive)))]:
                assert planned._arranged(start, pivot, sizes) == greedy(planned, start, pivot, sizes)


@given(cases(empty_bodies=True))
def test_steps_keep_only_what_is_needed_later(case: Case) -> None:
    for each in case.program.rules:
        steps = PlannedRule(each).plan(None, [10] * len(each.body)).steps
        for number, step in enumerate(steps):
            later = {term for s in steps[number + 1 :] for term in s.bound} | set(each.head.variables())
            assert set(step.keep) <= later


@pytest.mark.parametrize(
    "atom", ["e(?x{0}, ?x{1})", "e(?x0, ?y{0})", "e(?x{0}, ?y{0})"], ids=["chain", "star", "pairs"]
)
@pytest.mark.parametrize("lead", Lead)
def test_the_cost_of_planning_grows_with_the_body(atom: str, lead: Lead, monkeypatch: pytest.MonkeyPatch) -> None:
    def cost(atoms: int) -> int:
        """The number of estimates of atoms and of steps made while a body is planned."""
        calls: list[str] = []

        def counted(name: str, real: Any) -> Any:
            def called(*arguments: Any) -> Any:
                calls.append(name)
                return real(*arguments)

            return called

        with monkeypatch.context() as patched:
            for name in ("_fanout", "_step"):
                patched.setattr(plan, name, counted(name, getattr(plan, name)))
            body = ", ".join(atom.format(i, i + 1) for i in range(atoms))
            PlannedRule(rule(f"p(?x0) :- {body} .")).plan(None, [10] * atoms, lead=lead)
        return len(calls)

    assert cost(80) < 5 * cost(40)
    assert cost(80) < 60 * 80


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("h(?x, ?z) :- p(?x, ?y), e(?y, ?z) .", True),
        ("h(?z, ?x) :- p(?x, ?y), e(?y, ?z) .", True),
        ("h(?x, ?x, ?z) :- p(?x, ?y), e(?y, ?z) .", True),
        ("h(?x, a, ?z) :- p(?x, ?y), e(?y, ?z) .", True),
        ("h(?z) :- p(?x, ?y), e(?y, ?z) .", True),
        ("h(?x, ?z) :- p(?x, ?y), e(?y, ?w), e(?w, ?z) .", True),
        ("h(?x, ?z, a) :- p(?x, ?y), e(?y, ?z) .", False),
        ("h(?x, ?z, ?x) :- p(?x, ?y), e(?y, ?z) .", False),
        ("h(?x, ?y, ?z) :- p(?x, _), p(_, ?y), e(?y, ?z) .", False),
        ("h(?x, ?z) :- p(?x, ?y), e(?y, ?z, ?w) .", False),
        ("h(?x, ?z) :- p(?x, ?y), e(?y, ?z), ~e(?z, ?x) .", False),
    ],
)
def test_which_heads_come_grouped(text: str, grouped: bool) -> None:
    found = rule(text)
    assert plan_of(text, [10] * len(found.body)).grouped == grouped


# grouped or not, threads or not -------------------------------------------------------------------

GROUPED_RULES = [
    "h(?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "h(?z, ?x) :- p(?x, ?y), e(?y, ?z) .",
    "h(?x, ?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "h(?x, c, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "h(?z) :- p(?x, ?y), e(?y, ?z) .",
    "h(?x, ?z) :- p(?x, ?y), e(?y, ?w), e(?w, ?z) .",
    "h(?x, ?z) :- p(?x, ?x), e(?x, ?z) .",
    "h(?x, ?z) :- p(c, ?x), e(?x, ?z) .",
    "h(?x, ?z) :- p(?x, ?y), e(?z, ?y), ~p(?x, ?y) .",
    "h(?x, ?y, ?z) :- t(?x, ?y, ?w), t(?w, ?x, ?z) .",
    "h(?x, ?z) :- p(?x, _), e(_, ?z) .",
]


def random_facts(seed: int, size: int, universe: int, layout_universe: int, pieces: int, holes: bool) -> FactSet:
    random = np.random.default_rng(seed)
    found, gone = FactSet(), FactSet()
    for piece in range(pieces):
        for name, arity in (("p", 2), ("e", 2), ("t", 3), ("h", 1), ("h", 2), ("h", 3)):
            columns = [random.integers(0, universe, size // (piece + 1)) for _ in range(arity)]
            new = FactSet({Predicate(name, arity): Relation.from_columns(columns, layout_universe)})
            found |= new
            if holes:
                gone |= FactSet({p: Relation.from_columns([c[::9] for c in columns], layout_universe) for p in new})
    return found - gone


@pytest.mark.parametrize("setting", ["plain", "holes", "threads", "small-blocks", "wide"])
@pytest.mark.parametrize("text", GROUPED_RULES)
def test_grouped_and_ungrouped_agree(text: str, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    universe = 40
    ids = (1 << 22) if setting == "wide" else universe
    facts = random_facts(7, 150, universe, ids, 3, holes=setting == "holes")
    if setting == "threads":
        monkeypatch.setattr(execute, "THREAD_MATCHES", 3)
    if setting == "small-blocks":
        monkeypatch.setattr(execute, "SCAN", 7)
    rules = [rule(text)]

    def found() -> tuple[FactSet, int]:
        block = 5 if setting == "small-blocks" else 1 << 20
        engine = Engine(ids, {'"c"': 5}, block=block, threads=4 if setting == "threads" else 1)
        new = engine.match(RuleSet(rules), facts, facts).facts(without=facts)
        return new, engine.work.instances["forward"]

    new, instances = found()
    with mock.patch.object(plan, "_is_grouped", return_value=False):
        plain, plain_instances = found()
    assert instances == plain_instances
    assert {p: r.keys().tolist() for p, r in new.items()} == {p: r.keys().tolist() for p, r in plain.items()}
    assert not new & facts
