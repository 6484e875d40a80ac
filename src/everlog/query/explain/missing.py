"""Reasons why a fact does not hold: for each rule that could derive it, how far its body can be satisfied."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from operator import eq

from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Term, Variable, Wildcard
from everlog.query.explain.classes import Classes
from everlog.query.explain.instances import variables_of
from everlog.query.explain.subject import Subject

CONSIDERED = 1000
"""Maximum number of bindings that are searched for."""

CLOSEST = "closest"
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(E-?[0-9]+)?$")
Values = dict[Variable, Term]


@dataclass(frozen=True)
class Reason:
    """The reason why a rule does not derive a fact: ``failed`` is the first atom of its body that fails for all
    bindings that satisfy the atoms before it. The body is read in an order in which atoms share variables.
    """

    rule: int
    """The position of the rule in the program, from 0."""
    held: tuple[tuple[Atom, bool], ...]
    """The atoms before the failing one, and whether each is negated."""
    failed: Atom
    negated: bool
    """Whether the failing atom is negated, so that it fails because such facts hold."""
    bindings: tuple[tuple[tuple[str, Constant], ...], ...] = ()
    """Examples of values of the variables with which all atoms before the failing one hold."""
    count: int = 0
    """The number of such values, as far as they were counted."""


def reasons(subject: Subject, goal: Atom, limit: int, classes: Classes | None = None) -> Iterator[Reason]:
    """The reasons of all rules whose head fits the goal, in the order of the rules.

    If there are classes of equal terms, an equality may be derived either way round.
    """
    either_way = classes is not None and goal.predicate == classes.same
    goals = [goal, Atom(goal.predicate, goal.terms[::-1])] if either_way else [goal]
    same = eq if classes is None else classes.are_equal
    for number in subject.by_head.get(goal.predicate, ()):
        rule = subject.written[number]
        fitting = (values for each in goals if (values := unified(rule.head, each, same)) is not None)
        found = (_reason(subject, number, rule, values, limit) for values in fitting)
        yield from dict.fromkeys(reason for reason in found if reason is not None)


def unified(head: Atom, goal: Atom, same: Callable[[Term, Term], bool] = eq) -> Values | None:
    """The values of variables with which a head equals the goal, None if there are none. ``same`` compares constants.

    >>> x, y, p = Variable("x"), Variable("y"), Predicate("p", 2)
    >>> unified(Atom(p, (x, y)), Atom(p, (Constant("1"), Constant("2"))))
    {Variable(name='x'): Constant(text='1'), Variable(name='y'): Constant(text='2')}
    >>> unified(Atom(p, (x, x)), Atom(p, (Constant("1"), Constant("2")))) is None
    True
    """
    values: Values = {}
    goals: Values = {}

    def final(term: Term) -> Term:
        while isinstance(term, Variable) and term in values:
            term = values[term]
        return term

    for mine, theirs in zip(head.terms, goal.terms, strict=True):
        if isinstance(theirs, Wildcard):
            continue
        one = final(mine)
        other = final(goals.setdefault(theirs, mine) if isinstance(theirs, Variable) else theirs)
        if one == other or same(one, other):
            continue
        if isinstance(one, Variable):
            values[one] = other
        elif isinstance(other, Variable):
            values[other] = one
        else:
            return None
    return {variable: final(variable) for variable in values}


def _reason(subject: Subject, number: int, rule: Rule, values: Values, limit: int) -> Reason | None:
    order = _ordered([a.put(values) for a in rule.positive], [a.put(values) for a in rule.negative])
    for length, (atom, negated) in enumerate(order):
        if not _matches(subject, order[: length + 1]).any():
            bindings, count = _closest(subject, order[:length], limit)
            return Reason(number, tuple(order[:length]), atom, negated, bindings, count)
    return None


def _ordered(positive: Sequence[Atom], negative: Sequence[Atom]) -> list[tuple[Atom, bool]]:
    """The order in which atoms are tried, with a mark for negated ones: negated atoms last, bound atoms first, else as
    written. An atom is bound if it has a constant or a variable of an earlier atom, or no terms.
    """
    bound: set[Term] = set()
    order: list[tuple[Atom, bool]] = []
    waiting = list(positive)
    while waiting:

        def loose(atom: Atom) -> bool:
            return bool(atom.terms) and not any(isinstance(t, Constant) or t in bound for t in atom.terms)

        following = min(waiting, key=loose)
        waiting.remove(following)
        order.append((following, False))
        bound.update(following.variables())
    return [*order, *((atom, True) for atom in negative)]


def _matches(subject: Subject, atoms: Sequence[tuple[Atom, bool]]):  # type: ignore[no-untyped-def]
    rule = _rule(atoms)
    return subject.engine.match(RuleSet([rule]), subject.facts, subject.facts, phase="explain")


def _rule(atoms: Sequence[tuple[Atom, bool]]) -> Rule:
    positive = tuple(atom for atom, negated in atoms if not negated)
    variables = variables_of(positive)
    negative = tuple(atom for atom, negated in atoms if negated)
    return Rule(Atom(Predicate(CLOSEST, len(variables)), variables), positive, negative)


def _closest(
    subject: Subject, atoms: Sequence[tuple[Atom, bool]], limit: int
) -> tuple[tuple[tuple[tuple[str, Constant], ...], ...], int]:
    """Bindings that satisfy the atoms, the first ones by value, and the number found."""
    head = _rule(atoms).head
    if not head.terms:
        return (), 0
    columns, count = _matches(subject, atoms).listed(head.predicate, CONSIDERED)
    shown = columns if subject.partition is None else [subject.usual[column] for column in columns]
    texts = [subject.dictionary.decode(column[:CONSIDERED]).to_pylist() for column in shown]
    rows = nsmallest(limit, zip(*texts, strict=True), key=lambda row: [_by_value(text) for text in row])
    names = [v.name for v in head.variables()]
    return tuple(tuple(zip(names, map(Constant, row), strict=True)) for row in rows), min(count, CONSIDERED)


def _by_value(text: str) -> tuple[bool, float, str]:
    """A key that sorts numbers first, by value."""
    number = NUMBER.match(text)
    return number is None, float(number.group()) if number else 0.0, text
