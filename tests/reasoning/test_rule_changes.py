"""Rules are added and removed between updates of the facts: the state equals materialising with the new rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.engine.factset import NONE, FactSet
from everlog.kb.reasoner import arranged
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Program, Rule
from everlog.reasoning.change import ExplicitChange
from everlog.reasoning.materialisation import Materialisation, with_counters, with_trace
from everlog.reasoning.modules.boundary import outward
from everlog.reasoning.rule_changes import RuleChange, change_rules
from everlog.reasoning.strata import close_strata
from everlog.reasoning.update import update
from tests.oracle import naive
from tests.reasoning.modules.test_updates import CLOSURES, OTHERS, module_cases, visible
from tests.reasoning.test_maintenance import ALGORITHMS, Ids, same
from tests.strategies import Case, cases, domains, fact_sets, graph_cases, predicate_lists, rules, updates

EVERY = [*ALGORITHMS, ("auto", "never")]


@dataclass(frozen=True)
class Pools:
    """Pools of rules, and the case with all of them. Any rules of one pool form a valid program."""

    case: Case
    pools: tuple[tuple[Rule, ...], ...]


@st.composite
def closures(draw: st.DrawFn) -> Pools:
    case = draw(module_cases())
    more = draw(st.lists(st.sampled_from([*CLOSURES, *OTHERS]), unique=True, max_size=3))
    pool = tuple(dict.fromkeys([*case.program.rules, *parse_program("\n".join(more)).rules]))
    return Pools(Case(Program(pool), case.facts, case.predicates, case.domain), (pool,))


@st.composite
def others(draw: st.DrawFn) -> Pools:
    case = draw(graph_cases(max_nodes=5) | cases())
    return Pools(case, (case.program.rules,))


@st.composite
def opposites(draw: st.DrawFn) -> Pools:
    """Two programs over common predicates whose union may not be stratifiable."""
    predicates, domain = draw(predicate_lists()), draw(domains())
    pools = []
    for _ in range(2):
        levels = draw(st.tuples(*[st.integers(0, 2) for _ in predicates]))
        pools.append(tuple(draw(st.lists(rules(predicates, levels, domain), min_size=1, max_size=5))))
    facts = frozenset(draw(fact_sets(predicates, domain)))
    return Pools(Case(Program((*pools[0], *pools[1])), facts, predicates, domain), tuple(pools))


@dataclass
class Run:
    """A materialisation that follows changes of rules and facts."""

    ids: Ids
    kind: Kind
    modules: bool
    rules: tuple[Rule, ...]
    explicit: FactSet

    def __post_init__(self) -> None:
        self.program = self.arranged(self.rules)
        inner = self.explicit.renamed(self.program.external)
        facts, _ = close_strata(self.ids.engine(), self.program, inner)
        self.state = Materialisation(inner, facts)
        self.facts = visible(self.program, facts)

    def arranged(self, rules: tuple[Rule, ...]) -> StratifiedProgram:
        return arranged(check(Program(rules)), self.kind, self.modules)

    def add_bookkeeping(self) -> None:
        """Compute all missing bookkeeping."""
        counted = with_counters(self.ids.engine(), self.program, self.state)
        self.state = with_trace(self.ids.engine(), self.program, counted)

    def change_rules(self, new: tuple[Rule, ...], delete: FactSet, insert: FactSet, how: Any) -> None:
        program = self.arranged(new)
        removed = {*self.program.program.rules}.difference(program.program.rules)
        added = {*program.program.rules}.difference(self.program.program.rules)
        arrange = partial(arranged, kind=self.kind, modules=self.modules)
        change = RuleChange(self.program, program, frozenset(removed), frozenset(added), arrange)
        explicit = ExplicitChange.of(self.explicit, delete, insert)
        before = outward(self.program, self.state)
        done = change_rules(self.ids.engine(), change, self.state, explicit, *how)
        after = outward(program, done.materialisation)
        assert same(done.explicit_inserted, after.explicit - before.explicit)
        assert same(done.explicit_deleted, before.explicit - after.explicit)
        for changed, old, now in ((done.nr, before.nr, after.nr), (done.rec, before.rec, after.rec)):
            assert (changed is None) == (old is None or now is None)
            assert changed is None or (old is not None and old + changed == now)
        self.program, self.rules = program, new
        self.check(done, delete, insert)

    def update(self, delete: FactSet, insert: FactSet, how: Any) -> None:
        names = self.program.external
        engine = self.ids.engine()
        done = update(engine, self.program, self.state, delete.renamed(names), insert.renamed(names), *how)
        self.check(done, delete, insert)

    def check(self, done: Any, delete: FactSet, insert: FactSet) -> None:
        """Check that facts, reported changes and bookkeeping equal those of materialising from scratch."""
        self.explicit = (self.explicit - delete) | insert
        plain = stratify(check(Program(self.rules)), self.kind)
        expected, _ = close_strata(self.ids.engine(), plain, self.explicit)
        self.state = found = done.materialisation
        assert same(found.explicit, self.explicit.renamed(self.program.external))
        whole, _ = close_strata(self.ids.engine(), self.program, found.explicit)
        assert same(found.facts, whole)
        assert same(visible(self.program, found.facts), expected)
        assert found.facts.count == whole.count
        inserted, deleted = (visible(self.program, part) for part in (done.inserted, done.deleted))
        assert same(inserted, expected - self.facts)
        assert same(deleted, self.facts - expected)
        assert inserted.count == (expected - self.facts).count
        self.facts = expected
        fresh = Materialisation(found.explicit, found.facts)
        if found.nr is not None:
            counted = with_counters(self.ids.engine(), self.program, fresh)
            assert found.nr == counted.nr
            assert found.rec == counted.rec
            assert set(found.nr) == set(counted.nr)
        if found.trace is not None:
            assert found.trace == with_trace(self.ids.engine(), self.program, fresh).trace


def subset(data: st.DataObject, pool: tuple[Rule, ...]) -> tuple[Rule, ...]:
    chosen = data.draw(st.integers(0, 2 ** len(pool) - 1))
    return tuple(rule for at, rule in enumerate(pool) if chosen >> at & 1)


def follow(data: st.DataObject, drawn: Pools, how: Any) -> None:
    case, ids = drawn.case, Ids(drawn.case)
    kind: Kind = data.draw(st.sampled_from(["levels", "single"]))
    modules = data.draw(st.booleans())
    first = data.draw(st.sampled_from(drawn.pools))
    run = Run(ids, kind, modules, subset(data, first), ids.facts(case.facts | naive.explicit(case.program)))
    for change in (*data.draw(updates(case, max_size=2)), None):
        if data.draw(st.booleans()):
            run.add_bookkeeping()
        delete, insert = (NONE, NONE) if change is None else (ids.facts(change.delete), ids.facts(change.insert))
        if change is not None and data.draw(st.booleans()):
            run.update(delete, insert, how)
        else:
            run.change_rules(subset(data, data.draw(st.sampled_from(drawn.pools))), delete, insert, how)


how_to = st.sampled_from(EVERY)


@given(data=st.data(), drawn=others(), how=how_to)
def test_any_rules(data: st.DataObject, drawn: Pools, how: Any) -> None:
    follow(data, drawn, how)


@given(data=st.data(), drawn=closures(), how=how_to)
def test_rules_of_closures(data: st.DataObject, drawn: Pools, how: Any) -> None:
    follow(data, drawn, how)


@given(data=st.data(), drawn=opposites(), how=how_to)
def test_rules_that_cannot_be_together(data: st.DataObject, drawn: Pools, how: Any) -> None:
    follow(data, drawn, how)


@pytest.mark.slow
@pytest.mark.parametrize("how", EVERY, ids=lambda how: f"{how[0]}-{how[1]}")
@given(data=st.data(), drawn=others() | closures() | opposites())
def test_each_algorithm(how: Any, data: st.DataObject, drawn: Pools) -> None:
    follow(data, drawn, how)
