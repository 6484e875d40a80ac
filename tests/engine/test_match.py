"""Matching equals its definition, instance by instance, for any layout, runs and blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.engine.factset import FactSet
from everlog.engine.keys import Column, columns_of
from everlog.engine.match import Engine, Matches
from everlog.engine.multiset import Multiset
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Term, Variable, Wildcard
from tests.oracle import naive
from tests.oracle.naive import Fact, Facts, Row
from tests.strategies import Case, cases, fact_sets, facts, lists, rule_from

UNIVERSES = (64, 1 << 16, 1 << 22)
"""Arity 3 and 4 packed; only arity 3 packed; neither."""


@dataclass(frozen=True)
class Setting:
    """The ids of texts, and the size of blocks."""

    universe: int
    block: int
    ids: dict[str, int]

    def engine(self) -> Engine:
        return Engine(self.universe, self.ids, block=self.block)

    def relation(self, arity: int, rows: Sequence[Row]) -> Relation:
        columns = [np.array([self.ids[row[c]] for row in rows], np.int64) for c in range(arity)]
        return Relation.from_columns(columns, self.universe, len(rows))

    def texts(self, columns: Sequence[Column], size: int) -> list[Row]:
        named = {number: text for text, number in self.ids.items()}
        return [tuple(named[int(column[i])] for column in columns) for i in range(size)]

    def decoded(self, found: FactSet) -> set[Fact]:
        return {(p, row) for p, relation in found.items() for row in self.texts(relation.columns(), len(relation))}

    def counted(self, predicate: Predicate, found: Multiset) -> Counter[Fact]:
        keys, weights = found.whole()
        rows = self.texts(columns_of(found.layout, keys), len(keys))
        return Counter({(predicate, row): int(n) for row, n in zip(rows, weights, strict=True)})

    def counts(self, matches: Matches) -> Counter[Fact]:
        return sum((self.counted(p, found) for p, found in matches.counts().items()), Counter())


@st.composite
def settings_for(draw: st.DrawFn, case: Case) -> Setting:
    """Ids spread over the universe up to its last one, for every constant that facts and heads may have."""
    universe = draw(st.sampled_from(UNIVERSES))
    texts = sorted({*case.domain, "42"})
    step = draw(st.sampled_from([1, (universe - 1) // max(1, len(texts) - 1)]))
    block = draw(st.sampled_from([1 << 20, 1, 2, 5]))
    return Setting(universe, block, {text: i * step for i, text in enumerate(texts)})


@st.composite
def built(draw: st.DrawFn, case: Case, setting: Setting, wanted: set[Fact]) -> FactSet:
    """The facts as the engine holds them: added in pieces, with others added and taken out again."""
    pieces = draw(st.integers(1, 3))
    found = FactSet()
    for number in range(pieces):
        found |= encoded(setting, sorted(wanted)[number::pieces])
    others = [fact for fact in draw(lists(facts(case.predicates, case.domain), max_size=3)) if fact not in wanted]
    noise = encoded(setting, others)
    return (found | noise) - noise


def encoded(setting: Setting, found: Sequence[Fact]) -> FactSet:
    by_predicate = naive.grouped(found)
    return FactSet({p: setting.relation(p.arity, sorted(rows)) for p, rows in by_predicate.items()})


Conditions = tuple[Facts, Facts, list[tuple[Facts, Facts]]]
EngineConditions = tuple[FactSet, FactSet, list[tuple[FactSet, FactSet]]]
Problem = tuple[Case, Setting, Conditions, EngineConditions]


@st.composite
def problems(draw: st.DrawFn, max_conditions: int = 2) -> Problem:
    """Rules, facts and change conditions (P, N) with P within the positive and N outside the negative facts."""
    case = draw(cases(empty_bodies=True, max_rules=4, max_predicates=3))
    setting = draw(settings_for(case))
    some = fact_sets(case.predicates, case.domain)

    def both(wanted: set[Fact]) -> tuple[Facts, FactSet]:
        return naive.grouped(wanted), draw(built(case, setting, wanted))

    positive = draw(some)
    negative = draw(st.one_of(st.just(positive), some))
    (pos, engine_pos), (neg, engine_neg) = both(positive), both(negative)
    changed, engine_changed = [], []
    for _ in range(draw(st.integers(0, max_conditions))):
        (inside, engine_inside), (outside, engine_outside) = both(draw(some) & positive), both(draw(some) - negative)
        changed.append((inside, outside))
        engine_changed.append((engine_inside, engine_outside))
    return case, setting, (pos, neg, changed), (engine_pos, engine_neg, engine_changed)


@given(problems())
def test_facts_and_counts(problem: Problem) -> None:
    case, setting, given_facts, engine_facts = problem
    rules = case.program.rules
    expected = naive.heads(rules, *given_facts)
    engine = setting.engine()
    assert setting.counts(engine.match(RuleSet(rules), *engine_facts)) == expected
    assert engine.work.instances.total() == expected.total()
    assert setting.decoded(setting.engine().match(RuleSet(rules), *engine_facts).facts()) == set(expected)


@given(problems(max_conditions=1))
def test_facts_without_known_ones(problem: Problem) -> None:
    case, setting, given_facts, engine_facts = problem
    rules = case.program.rules
    engine = setting.engine()
    found = engine.match(RuleSet(rules), *engine_facts).facts(without=engine_facts[0])
    expected = naive.heads(rules, *given_facts)
    assert setting.decoded(found) == set(expected) - naive.flat(given_facts[0])
    assert engine.work.instances.total() == expected.total()


@given(problems())
def test_each_instance_once(problem: Problem) -> None:
    """With heads that spell out the whole substitution, every count is one."""
    case, setting, given_facts, engine_facts = problem
    rules = [spelled(index, rule) for index, rule in enumerate(case.program.rules)]
    engine = setting.engine()
    found = setting.counts(engine.match(RuleSet(rules), *engine_facts))
    assert found == dict.fromkeys(naive.heads(rules, *given_facts), 1)
    by_rule = Counter(index for index, _ in naive.instances(case.program.rules, *given_facts))
    assert {rules.index(rule): n for rule, n in engine.work.by_rule.items() if n} == by_rule


def spelled(index: int, rule: Rule) -> Rule:
    """The rule with a head that has each variable of its body, wildcards of positive atoms included."""
    positive = tuple(replace(atom, terms=tuple(named(atom, i))) for i, atom in enumerate(rule.positive))
    variables = tuple(dict.fromkeys(variable for atom in positive for variable in atom.variables()))
    return Rule(Atom(Predicate(f"instance{index}", len(variables)), variables), positive, rule.negative)


def named(atom: Atom, number: int) -> list[Term]:
    return [Variable(f"any{number}-{c}") if isinstance(t, Wildcard) else t for c, t in enumerate(atom.terms)]


DENSE = tuple(
    map(
        rule_from,
        (
            "p x z <- q x y, q y z",
            "p x z <- q x y, q y z, q z x",
            "p x y <- q x y, p y x, ~r x, ~r y",
            "p x y <- q x y, ~p x _, ~p _ y",
            "p x y <- r x, r y, ~q x y, ~q y x",
            "p x y <- r x, r y, ~q x y, ~p y x, ~r y",
            "r x <- t x y z, t z y x, ~q x z",
            "r x <- t x x _, ~t _ x x, ~t x _ _",
            "t x y z <- t x y _, t _ y z, ~u x y z _",
            "u x y z w <- t x y z, t y z w, ~u w z y x",
            "u x y z w <- u z w x y, q x y, ~u x _ _ w, ~t y z _",
            "s <- q x x, ~s",
            "r x <- r x, ~s, ~u _ _ _ _",
        ),
    )
)
"""Heads are of any level: a single application of rules needs no stratification."""


@pytest.mark.long
@pytest.mark.parametrize("seed", range(48))
def test_dense_facts(seed: int) -> None:
    """Facts that are each there or not with even chances, so that conditions often hold and often fail."""
    random = Random(seed)
    domain = [str(n) for n in range(3)]
    universe = random.choice(UNIVERSES)
    setting = Setting(universe, random.choice([1, 7, 1 << 20]), {text: int(text) * (universe // 3) for text in domain})
    predicates = sorted({atom.predicate for rule in DENSE for atom in (rule.head, *rule.body)})

    def some() -> set[Fact]:
        share = random.choice([0.1, 0.3, 0.5])
        return {(p, row) for p in predicates for row in product(domain, repeat=p.arity) if random.random() < share}

    def both(wanted: set[Fact]) -> tuple[Facts, FactSet]:
        return naive.grouped(wanted), encoded(setting, sorted(wanted))

    pos = some()
    neg = pos if seed % 2 else some()
    conditions = [(both(some() & pos), both(some() - neg)) for _ in range(seed % 4)]
    for index, rule in enumerate(DENSE):
        for changed_rule in (rule, spelled(index, rule)):
            expected = naive.heads(
                [changed_rule], both(pos)[0], both(neg)[0], [(inside[0], outside[0]) for inside, outside in conditions]
            )
            engine = setting.engine()
            matches = engine.match(
                RuleSet([changed_rule]),
                both(pos)[1],
                both(neg)[1],
                [(inside[1], outside[1]) for inside, outside in conditions],
            )
            assert setting.counts(matches) == expected
            assert engine.work.instances.total() == expected.total()
            assert setting.decoded(matches.facts(both(pos)[1])) == set(expected) - pos


def test_a_constant_that_no_fact_has_matches_nothing() -> None:
    p, q = Predicate("p", 1), Predicate("q", 1)
    setting = Setting(64, 1 << 20, {'"a"': 0})
    known = encoded(setting, [(p, ('"a"',))])
    unknown = Constant('"nowhere"')
    x = Variable("x")
    positive = RuleSet([Rule(Atom(q, (x,)), (Atom(p, (x,)), Atom(p, (unknown,))))])
    negative = RuleSet([Rule(Atom(q, (x,)), (Atom(p, (x,)),), (Atom(p, (unknown,)),))])
    assert not setting.engine().match(positive, known, known).facts()
    assert setting.decoded(setting.engine().match(negative, known, known).facts()) == {(q, ('"a"',))}
