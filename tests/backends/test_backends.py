"""One suite over all back ends: their facts, changes and stores are those of the naive oracle.

What each back end does not do is declared in :data:`tests.backends.choosing.GAPS`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import everlog
from everlog.cli.run import run
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Atom, Program, Rule
from everlog.lang.terms import text_of
from everlog.settings import EXPAND_BELOW
from everlog.store import Store
from tests.backends.choosing import BACKENDS, GAPS, GapError, Local, Reported
from tests.backends.situations import (
    A_LITTLE,
    ENTANGLED,
    EQUALITY,
    EQUALS,
    EVERYTHING,
    NEGATION_AND_RECURSION,
    UNRELATED,
    Situation,
    combined,
    undone,
)
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.reasoning.modules.test_graphs import quoted
from tests.reasoning.modules.test_updates import module_cases
from tests.running import relation
from tests.store.test_groups import regrouped
from tests.strategies import Case, Change, cases, graph_cases, side_by_side, updates

ALGORITHMS = ("auto", "dredc", "bfc", "dred", "counting", "rematerialise", "fbf")
"""The last option keeps no counters, without which look-ups cannot derive facts that are not listed."""

RANDOM_GAPS = {GAPS["look-up", feature] for feature in ("entangled", "uncounted", "all changes")}
"""The gaps that random programs and changes meet: nearly all facts change, or closures are part of a recursion."""

HEALTH = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
slow = pytest.mark.slow


class World:
    """A store, and the oracle's facts of each of its versions."""

    def __init__(self, backend: Local, work: Path, situation: Situation, **options: Any) -> None:
        self.backend = backend
        self.rules = situation.program.rules
        self.explicit = situation.explicit
        self.facts: list[set[Fact]] = [self._expected()]
        self.store = backend.materialise(work, situation.program, situation.facts, **options)
        self.check()

    def _expected(self) -> set[Fact]:
        return expected(self.rules, self.explicit)

    def update(self, change: Change, algorithm: str = "dredc") -> None:
        """Update, and check the facts, the change, and the report of the back end."""
        self._changed(
            lambda: self.backend.update(self.store, change.insert, change.delete, algorithm),
            (self.explicit - change.delete) | change.insert,
            len(change.delete - self.explicit),
        )

    def change_rules(self, add: Program, remove: Program) -> None:
        """Change the rules, and check the facts, the change, and the report of the back end."""
        rules = self.rules
        self.rules = (*(rule for rule in rules if rule not in remove.rules), *add.rules)
        try:
            self._changed(lambda: self.backend.change_rules(self.store, add, remove), self.explicit, 0)
        except GapError:
            self.rules = rules
            raise

    def _changed(self, change: Callable[[], Reported], explicit: frozenset[Fact], not_explicit: int) -> None:
        before, version = self.explicit, Store.open(self.store).version
        reported = change()
        self.explicit = explicit
        new = self._expected()
        old = self.facts[-1]
        differences = (new - old, old - new, explicit - before, before - explicit)
        sides = ("inserted", "deleted", "explicit_inserted", "explicit_deleted")
        for side, difference in zip(sides, differences, strict=True):
            assert getattr(reported, side) == {p: len(rows) for p, rows in naive.grouped(difference).items()}, side
        assert reported.not_explicit == not_explicit
        newest = Store.open(self.store).version
        if newest != version:
            assert newest <= version + 2, "the table may have got wider in a version of its own"
            self.facts += [*[old] * (newest - version - 1), new]
            written = everlog.changes(self.store, version)
            for side, difference in zip(sides, differences, strict=True):
                assert decoded(getattr(written, side)) == difference, side
        assert new == self.facts[-1]
        self.check()

    def check(self) -> None:
        """The newest version has the facts of the oracle."""
        kb = everlog.open(self.store)
        assert facts_of(kb) == self.facts[-1]
        explicit = {(p, tuple(map(text_of, row))) for p in kb.predicates for row in kb[p.name, p.arity].explicit}
        assert explicit == self.explicit

    def check_versions(self) -> None:
        """Every version is still there, and files, statistics and counters are right."""
        assert run(["verify", str(self.store), "--quiet"]) == 0
        for version, expected in enumerate(self.facts):
            assert facts_of(everlog.open(self.store, version)) == expected


@lru_cache
def expected(rules: tuple[Rule, ...], explicit: frozenset[Fact]) -> set[Fact]:
    """The facts of the oracle, cached because all algorithms and back ends reach equal states."""
    return naive.flat(naive.materialise(Program(rules), explicit))


def facts_of(kb: everlog.KnowledgeBase) -> set[Fact]:
    return naive.flat({predicate: relation(kb, predicate) for predicate in kb.predicates})


def decoded(changed: Any) -> set[Fact]:
    return {(predicate, tuple(map(text_of, row))) for predicate in changed for row in changed[predicate]}


def over(*names: str) -> Any:
    """The test runs over some of the back ends by default, and over the others if slow tests run."""
    return pytest.mark.parametrize(
        "backend", [_param(name, slowly=name not in names) for name in BACKENDS], indirect=True
    )


def _param(name: str, slowly: bool = False) -> Any:
    marks = [*[pytest.mark.spark] * BACKENDS[name].needs_spark, *[slow] * slowly]
    return pytest.param(name, marks=marks)


@pytest.fixture(params=map(_param, BACKENDS))
def backend(request: pytest.FixtureRequest) -> Local:
    """Each back end; those of Spark share the session of all tests."""
    found = BACKENDS[request.param]
    if found.needs_spark:
        request.getfixturevalue("spark")
    return found


# results of every back end ------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(("modules", "listed"), [(True, EXPAND_BELOW), (True, 3), (False, EXPAND_BELOW)])
@over("local", "look-up")
def test_any_algorithm_may_follow_any_other(backend: Local, tmp_path: Path, modules: bool, listed: int) -> None:
    """The changes are made, undone and made again, two by each algorithm and one by the last."""
    world = World(backend, tmp_path, EVERYTHING, modules=modules, expand_below=listed)
    turns = [each for each in ALGORITHMS if (backend.name, each) not in GAPS for _ in range(2)]
    for algorithm, change in zip(turns[:-1], cycle(undone(EVERYTHING).changes), strict=False):
        world.update(change, algorithm)
    world.check_versions()


def test_a_little(backend: Local, tmp_path: Path) -> None:
    world = World(backend, tmp_path, A_LITTLE)
    world.update(A_LITTLE.changes[0])
    world.check_versions()


@pytest.mark.parametrize("listed", [EXPAND_BELOW, 3])
@over("one task")
def test_everything_at_once(backend: Local, tmp_path: Path, listed: int) -> None:
    world = World(backend, tmp_path, EVERYTHING, expand_below=listed)
    for change, algorithm in zip(EVERYTHING.changes, ("dredc", "bfc"), strict=True):
        world.update(change, algorithm)
    world.check_versions()


@pytest.mark.long
@pytest.mark.parametrize("stratification", ["levels", "single"])
@over("local", "look-up")
def test_equals_and_loops_through_closures(backend: Local, tmp_path: Path, stratification: str) -> None:
    """Rules that make a closure depend on itself; without modules they are rules like others."""
    situation = combined([EQUALS, ENTANGLED])
    world = World(backend, tmp_path, situation, modules=False, stratification=stratification)
    for change in undone(situation).changes:
        world.update(change)
    world.check_versions()


@over("local", "look-up")
def test_rules_change(backend: Local, tmp_path: Path) -> None:
    """Between updates a recursion is removed, and negation and a closure over it are added, which the next one uses."""
    world = World(backend, tmp_path, combined([NEGATION_AND_RECURSION, UNRELATED]))
    remove = parse_program("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . none() :- node(_), ~some() .")
    add = parse_program(
        "path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) . far(?x, ?y) :- node(?x), node(?y), ~path(?x, ?y) . "
        "tie(?x, ?y) :- path(?x, ?y) . tie(?y, ?x) :- tie(?x, ?y) . tie(?x, ?z) :- tie(?x, ?y), tie(?y, ?z) ."
    )
    first, second = NEGATION_AND_RECURSION.changes
    world.change_rules(add, remove)
    world.update(first)
    world.change_rules(remove, add)
    world.update(second)
    world.check_versions()


@pytest.mark.long
@given(data=st.data())
@settings(max_examples=20, suppress_health_check=HEALTH)
@over("local", "look-up")
def test_random_programs(backend: Local, data: st.DataObject) -> None:
    check_random(backend, data, data.draw(PROGRAMS))


@slow
@given(data=st.data())
@settings(max_examples=400, suppress_health_check=HEALTH)
@pytest.mark.parametrize("backend", ["local", "look-up"], indirect=True)
def test_many_random_programs(backend: Local, data: st.DataObject) -> None:
    check_random(backend, data, data.draw(PROGRAMS))


@slow
@given(data=st.data())
@settings(max_examples=10, suppress_health_check=HEALTH)
@pytest.mark.parametrize("backend", [_param("one task"), _param("spark")], indirect=True)
def test_random_programs_on_spark(backend: Local, data: st.DataObject) -> None:
    """Several programs at once take Spark as many jobs as the one with most."""
    check_random(backend, data, side_by_side([data.draw(PROGRAMS) for _ in range(3)]))


def in_files(case: Case) -> bool:
    """Whether facts over a case's constants can be in files of any source."""
    return not any(text.startswith("_:") for text in case.domain)


PROGRAMS = st.one_of(cases(), graph_cases(), module_cases().map(quoted)).filter(in_files)


def check_random(backend: Local, data: st.DataObject, case: Case) -> None:
    """A random program and random updates by random algorithms, of a store in row groups of few rows.

    An update that a back end gives up leaves the store unchanged.
    """
    bare = {fact for fact in case.facts if not fact[0].arity}
    written = (*case.program.facts, *(Atom(predicate, ()) for predicate, _ in sorted(bare)))
    program = replace(case.program, facts=written)
    options = {
        "modules": data.draw(st.booleans()),
        "stratification": data.draw(st.sampled_from(["levels", "single"])),
        "maintain": data.draw(st.sampled_from(["dredc", "dredc", "none"])),
        "expand_below": data.draw(st.sampled_from([EXPAND_BELOW, EXPAND_BELOW, 0, 3])),
    }
    with tempfile.TemporaryDirectory() as name:
        situation = Situation(program, case.facts - bare, ())
        world = World(backend, Path(name), situation, **options)
        for change in data.draw(updates(case)):
            insert, delete = (frozenset(f for f in side if f[0].arity) for side in (change.insert, change.delete))
            algorithm = data.draw(st.sampled_from([each for each in ALGORITHMS if (backend.name, each) not in GAPS]))
            if insert or delete:
                regrouped(world.store, data.draw(st.integers(1, 4)))
                try:
                    world.update(Change(insert, delete), algorithm)
                except GapError as error:
                    if str(error) not in RANDOM_GAPS:
                        raise
                    world.check()
        world.check_versions()


# gaps of back ends --------------------------------------------------------------------------------


def by_algorithm(algorithm: str, backend: Local, work: Path) -> None:
    World(backend, work, A_LITTLE).update(A_LITTLE.changes[0], algorithm)


def uncounted(backend: Local, work: Path) -> None:
    World(backend, work, A_LITTLE, maintain="none").update(A_LITTLE.changes[0])


def all_changes(backend: Local, work: Path) -> None:
    World(backend, work, A_LITTLE).update(Change(frozenset(), A_LITTLE.explicit), "auto")


def entangled(backend: Local, work: Path) -> None:
    World(backend, work, ENTANGLED).update(ENTANGLED.changes[0])


def representatives(backend: Local, work: Path) -> None:
    """A store with representatives, which this machine makes."""
    owned = [rule for rule in EQUALS.program.rules if rule not in EQUALITY]
    store = BACKENDS["local"].materialise(work, Program(tuple(owned)), EQUALS.facts, equality="representatives")
    before = naive.flat(naive.materialise(EQUALS.program, EQUALS.explicit))
    assert facts_of(everlog.open(store)) == before
    change = EQUALS.changes[0]
    backend.update(store, change.insert, change.delete, "auto")
    after = naive.flat(naive.materialise(EQUALS.program, (EQUALS.explicit - change.delete) | change.insert))
    assert facts_of(everlog.open(store)) == after
    written = everlog.changes(store, 0)
    assert (decoded(written.inserted), decoded(written.deleted)) == (after - before, before - after)


def rules(backend: Local, work: Path) -> None:
    backend.refuse_rules()
    world = World(backend, work, combined([NEGATION_AND_RECURSION, UNRELATED]))
    remove = parse_program("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
    world.change_rules(parse_program("far(?x, ?y) :- node(?x), node(?y), ~path(?x, ?y) ."), remove)
    world.check_versions()


FEATURES: dict[str, Callable[[Local, Path], None]] = {
    **{algorithm: partial(by_algorithm, algorithm) for algorithm in ("rematerialise", "counting")},
    "uncounted": uncounted,
    "all changes": all_changes,
    "entangled": entangled,
    "representatives": representatives,
    "rules": rules,
}


@pytest.mark.parametrize("feature", FEATURES)
@over("local", "look-up", "one task")
def test_what_a_back_end_does_not_do_is_declared(backend: Local, tmp_path: Path, feature: str) -> None:
    """A back end refuses the features that are declared as its gaps, and has all others."""
    reason = GAPS.get((backend.name, feature))
    if reason is None:
        FEATURES[feature](backend, tmp_path)
        return
    with pytest.raises(GapError) as error:
        FEATURES[feature](backend, tmp_path)
    assert str(error.value) == reason


def test_gaps_are_of_features() -> None:
    assert {feature for _, feature in GAPS} <= set(FEATURES)
    assert {name for name, _ in GAPS} <= set(BACKENDS)
