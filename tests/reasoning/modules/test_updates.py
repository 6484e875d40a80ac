"""Modules derive the facts of their rules, also after updates by any algorithm."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram, stratify
from everlog.engine.factset import FactSet
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.materialisation import Materialisation, with_counters, with_trace
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.strata import close_strata
from everlog.reasoning.update import update
from tests.oracle import naive
from tests.reasoning.test_maintenance import ALGORITHMS, Ids, same
from tests.strategies import Case, cases, graph_cases, updates

pytestmark = pytest.mark.usefixtures("closures_in_graphs")

CLOSURES = (
    "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .",
    "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- p(?y, ?x) .",
    "p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "p(?x, ?z) :- e(?x, ?y), p(?y, ?z) .",
    "p(?x, ?z) :- p(?x, ?y), e(?z, ?y) .",
    "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- e(?x, ?y), p(?y, ?z) .",
    "p(?x, ?z) :- q(?x, ?y), e(?y, ?z) . q(?x, ?z) :- p(?x, ?y), f(?y, ?z) .",
    "p(?x, ?z) :- e(?x, ?y), q(?y, ?z) . q(?x, ?z) :- f(?x, ?y), p(?y, ?z) . q(?x, ?y) :- p(?x, ?y) .",
    "p(?x, ?z) :- p(?x, ?y), e(?y, ?w), f(?w, ?z) .",
    "p(a, ?z) :- p(a, ?y), e(?y, ?z) . p(a, ?z) :- f(?z, ?y), p(a, ?y) .",
    "p(?x, a) :- e(?x, ?y), p(?y, a) .",
)
OTHERS = (
    "p(?x, ?y) :- e(?x, ?y) .",
    "p(?x, ?y) :- e(?y, ?x) .",
    "p(?x, ?y) :- e(?x, ?y), ~f(?x, ?y) .",
    "p(a, ?y) :- f(?y, ?y) .",
    "u(?x, ?y) :- p(?x, ?y) . u(?x, ?y) :- f(?y, ?x) .",
    "u(?x, ?z) :- u(?x, ?y), u(?y, ?z) . u(?x, ?y) :- p(?x, ?y) .",
    "u(?x, ?z) :- u(?x, ?y), p(?y, ?z) . u(?x, ?y) :- f(?x, ?y) .",
    "s(?x) :- p(?x, ?x) .",
    "s(?y) :- p(?x, ?y), s(?x) .",
    "t(?x, ?z) :- p(?x, ?y), p(?y, ?z), ~e(?x, ?z) .",
    "t(?x, ?y) :- u(?x, ?y), ~p(?x, ?y) .",
    "t(?x, ?y) :- p(?x, ?y), ~p(?y, _) .",
    "t(?x, ?y) :- u(?x, ?y), ~u(_, ?x) .",
    "t(a, ?y) :- p(a, ?y) . t(?x, b) :- p(?x, b) .",
    "e(?x, ?y) :- f(?y, ?x), ~f(?x, ?y) .",
    "p(?x, ?y) :- q(?x, ?y) . q(?x, ?y) :- p(?y, ?x), f(?x, ?y) .",
    "e(?x, ?y) :- p(?x, ?y), f(?y, ?x) .",
    "p(?x, ?z) :- e(?x, ?y), p(?y, ?w), f(?w, ?z) .",
    "q(?x, ?z) :- q(?x, ?y), p(?y, ?z) . e(?x, ?y) :- q(?x, ?y), s(?x) .",
)
BINARY = [Predicate(name, 2) for name in "efpqu"]
DOMAIN = ("a", "b", "c", "d", "g", "h")


@st.composite
def module_cases(draw: st.DrawFn) -> Case:
    """A closure, other rules around it, and facts."""
    texts = [draw(st.sampled_from(CLOSURES)), *draw(st.lists(st.sampled_from(OTHERS), unique=True, max_size=5))]
    rules = parse_program("\n".join(texts)).rules
    rows = st.tuples(st.sampled_from(DOMAIN), st.sampled_from(DOMAIN))
    facts = draw(st.sets(st.tuples(st.sampled_from(BINARY), rows), max_size=14))
    marks = draw(st.sets(st.tuples(st.just(Predicate("s", 1)), st.tuples(st.sampled_from(DOMAIN))), max_size=2))
    return Case(Program(rules), frozenset({*facts, *marks}), (*BINARY, Predicate("s", 1)), DOMAIN)


def visible(program: StratifiedProgram, facts: FactSet) -> FactSet:
    hidden = set(program.external.values())
    return facts.restricted(p for p in facts if p not in hidden)


def run(case: Case, kind: Any, data: st.DataObject, algorithms: Any) -> None:
    checked = check(Program(case.program.rules))
    plain = stratify(checked, kind)
    program, ids = with_modules(plain), Ids(case)
    explicit = ids.facts({*case.facts, *naive.explicit(case.program)})
    expected, _ = close_strata(ids.engine(), plain, explicit)
    inner = explicit.renamed(program.external)
    facts, _ = close_strata(ids.engine(), program, inner)
    assert same(visible(program, facts), expected)
    state = Materialisation(inner, facts)
    for change in data.draw(updates(case)):
        delete, insert = ids.facts(change.delete), ids.facts(change.insert)
        algorithm, strategy = data.draw(st.sampled_from(algorithms))
        names = program.external
        done = update(ids.engine(), program, state, delete.renamed(names), insert.renamed(names), algorithm, strategy)
        explicit = (explicit - delete) | insert
        after, _ = close_strata(ids.engine(), plain, explicit)
        found = visible(program, done.materialisation.facts)
        assert same(found, after)
        assert found.count == after.count
        assert same(visible(program, done.inserted), after - expected)
        assert visible(program, done.inserted).count == (after - expected).count
        assert same(visible(program, done.deleted), expected - after)
        fresh = Materialisation(done.materialisation.explicit, done.materialisation.facts)
        if done.materialisation.nr is not None:
            counted = with_counters(ids.engine(), program, fresh)
            assert done.materialisation.nr == counted.nr
            assert done.materialisation.rec == counted.rec
        if done.materialisation.trace is not None:
            assert done.materialisation.trace == with_trace(ids.engine(), program, fresh).trace
        state, expected = done.materialisation, after


@pytest.mark.parametrize("how", ALGORITHMS, ids=lambda how: f"{how[0]}-{how[1]}")
@given(case=module_cases(), kind=st.sampled_from(["levels", "single"]), data=st.data())
def test_modules_equal_rules(how: Any, case: Case, kind: Any, data: st.DataObject) -> None:
    run(case, kind, data, [how])


@given(case=graph_cases(max_nodes=7) | cases(max_rules=6), kind=st.sampled_from(["levels", "single"]), data=st.data())
def test_programs_of_the_maintenance_tests(case: Case, kind: Any, data: st.DataObject) -> None:
    run(case, kind, data, ALGORITHMS)


@given(case=module_cases(), kind=st.sampled_from(["levels", "single"]), data=st.data())
def test_algorithms_mixed(case: Case, kind: Any, data: st.DataObject) -> None:
    run(case, kind, data, ALGORITHMS)
