"""Instances of rules with given heads: a rule whose head has all its variables, matched from the facts to prove."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from everlog.engine.accounts import OverBudgetError
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Column
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.codes import Code
from everlog.lang.errors import LimitError
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Variable
from everlog.query.explain.steps import FoundSteps
from everlog.query.explain.subject import Subject
from everlog.query.explain.table import Facts

MOST_INSTANCES = 10_000_000
"""Maximum number of instances in a search; a search with more is given up."""

Wanted = dict[Predicate, Column]
"""The numbers of facts to prove, by predicate."""


def instances(subject: Subject, facts: Facts, wanted: Wanted, rules: Iterable[int]) -> Iterable[FoundSteps]:
    """The instances of rules that derive wanted facts, rule by rule, for all facts at once."""
    goals = {_goal_predicate(p): _relation(facts, p, numbers) for p, numbers in wanted.items()}
    known = subject.facts.replaced(goals)
    for number in rules:
        rule = subject.rules[number]
        columns, size = _matched(subject, known, _goal_predicate(rule.head.predicate), goals, rule)
        if size:
            yield _found(subject, facts, number, columns, size)


def variables_of(atoms: Iterable[Atom]) -> tuple[Variable, ...]:
    """The variables of some atoms, in order."""
    return tuple(dict.fromkeys(v for atom in atoms for v in atom.variables()))


def terms_of(subject: Subject, atom: Atom, values: dict[Variable, Column], size: int) -> list[Column]:
    """The columns of an atom, given those of its variables."""
    return [
        values[t] if isinstance(t, Variable) else np.full(size, subject.engine.constant(t))
        for t in atom.terms
        if isinstance(t, Variable | Constant)
    ]


def _goal_predicate(predicate: Predicate) -> Predicate:
    return Predicate(f"{predicate.name} wanted", predicate.arity)


def _relation(facts: Facts, predicate: Predicate, numbers: Column) -> Relation:
    return Relation.from_columns(facts.columns(predicate, numbers), facts.universe, len(numbers))


@lru_cache(maxsize=4096)
def _goal_rule(rule: Rule) -> tuple[RuleSet, Predicate]:
    """The rule that derives the values of all variables of a rule, from a wanted head and its body."""
    head = Atom(Predicate("instance", len(variables_of(rule.positive))), variables_of(rule.positive))
    wanted = Atom(_goal_predicate(rule.head.predicate), rule.head.terms)
    return RuleSet([Rule(head, (wanted, *rule.positive), rule.negative)]), head.predicate


def _matched(
    subject: Subject, known: FactSet, goal: Predicate, wanted: dict[Predicate, Relation], rule: Rule
) -> tuple[Sequence[Column], int]:
    rules, head = _goal_rule(rule)
    changed = [(FactSet({goal: wanted[goal]}), NONE)]
    engine = subject.engine
    engine.budget = MOST_INSTANCES
    try:
        return engine.match(rules, known, subject.facts, changed, "explain").listed(head, repeated=False)
    except OverBudgetError:
        raise LimitError.of(
            Code.TOO_MANY_DERIVATIONS,
            f"there are more than {MOST_INSTANCES:,} ways to derive what is asked for",
            None,
            "ask for fewer facts at once; with modules on, closures are explained by paths",
        ) from None
    finally:
        engine.budget = None


def _found(subject: Subject, facts: Facts, number: int, columns: Sequence[Column], size: int) -> FoundSteps:
    rule = subject.rules[number]
    values = dict(zip(variables_of(rule.positive), columns, strict=True))
    head = facts.numbers(rule.head.predicate, terms_of(subject, rule.head, values, size), size)
    bodies = [facts.numbers(a.predicate, terms_of(subject, a, values, size), size) for a in rule.positive]
    body = np.stack(bodies, axis=1).ravel() if bodies else np.empty(0, np.int64)
    return FoundSteps(number, head, np.arange(size + 1) * len(bodies), body, tuple(columns))
