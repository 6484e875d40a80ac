"""Rewriting of rules into rules with at most two recursive atoms, which share a variable.

Where the facts of a recursion are spread over many partitions, two facts can be brought to one partition by the value
that they share. A rule that joins three recursive atoms, or two that only other relations connect, is therefore applied
in steps: each joins the result of the steps before it with one more recursive atom, or with the relations on the way to
one, and keeps in an *auxiliary* predicate, with a name that no rule can write, the variables that later steps need. The
facts of all other predicates are unchanged.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

from everlog.lang.syntax import Atom, Predicate, Rule, Variable


@dataclass(frozen=True)
class Unconnected:
    """A rule whose recursive atoms are not connected by other atoms."""

    rule: Rule


def binarise(rules: Iterable[Rule], derived: Container[Predicate]) -> tuple[Rule, ...] | Unconnected:
    """The rules split into steps with at most two recursive atoms; ``derived`` are the predicates of the recursion.

    A rule that is one step already is unchanged. Relations and negated atoms are matched in the first step that
    binds all their variables. Instances of the last steps are fewer than those of the rules where a variable that is
    not kept had several values.

    >>> from everlog.lang.parser import parse_program
    >>> from everlog.lang.printer import print_rule
    >>> def show(text):
    ...     for rule in binarise(parse_program(text).rules, [Predicate("p", 2)]):
    ...         print(print_rule(rule))
    >>> show("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?a, ?d) :- p(?a, ?b), p(?b, ?c), p(?c, ?d), ~e(?b, ?c) .")
    p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .
    part 1(?a, ?c) :- p(?a, ?b), p(?b, ?c), ~e(?b, ?c) .
    p(?a, ?d) :- part 1(?a, ?c), p(?c, ?d) .
    >>> show("p(?x, ?y) :- p(?x, ?a), e(?a, ?b), p(?b, ?y) .")
    part 1(?x, ?b) :- p(?x, ?a), e(?a, ?b) .
    p(?x, ?y) :- part 1(?x, ?b), p(?b, ?y) .
    >>> binarise(parse_program("p(?x, ?y) :- p(?x, ?x), p(?y, ?y) .").rules, [Predicate("p", 2)]).rule.head.terms
    (Variable(name='x'), Variable(name='y'))
    """
    found: list[Rule] = []
    for rule in rules:
        steps = _steps(rule, derived, sum(other.head.predicate not in derived for other in found))
        if steps is None:
            return Unconnected(rule)
        found += steps
    return tuple(found)


def _steps(rule: Rule, derived: Container[Predicate], numbered: int) -> list[Rule] | None:
    """The steps of a rule, None if its recursive atoms are not connected."""
    positive = [replace(atom) for atom in rule.positive]
    current = next(atom for atom in positive if atom.predicate in derived)
    left, negative = _without(positive, [current]), list(rule.negative)
    steps: list[Rule] = []
    while True:
        others = [atom for atom in left if atom.predicate in derived]
        partner = next((atom for atom in others if _share_variable(current, atom)), None)
        if not others or (partner is not None and len(others) == 1):
            return [*steps, Rule(rule.head, (current, *left), tuple(negative), rule.span)] if steps else [rule]
        joined = [partner] if partner is not None else _connecting_atoms(current, left, others)
        if joined is None:
            return None
        left = _without(left, joined)
        bound = {variable for atom in (current, *joined) for variable in atom.variables()}
        checked = [atom for atom in left if atom.predicate not in derived and bound.issuperset(atom.variables())]
        absent = [atom for atom in negative if bound.issuperset(atom.variables())]
        left, negative = _without(left, checked), _without(negative, absent)
        needed = {variable for atom in (rule.head, *left, *negative) for variable in atom.variables()}
        body = (current, *joined, *checked)
        kept = tuple(dict.fromkeys(v for atom in body for v in atom.variables() if v in needed))
        current = Atom(Predicate(f"part {numbered + len(steps) + 1}", len(kept)), kept)
        steps.append(Rule(current, body, tuple(absent)))


def _connecting_atoms(start: Atom, left: Sequence[Atom], ends: Sequence[Atom]) -> list[Atom] | None:
    """The fewest atoms that connect the start with one of the ends, if there are any."""
    between = _without(left, ends)
    ways: list[list[Atom]] = [[start]]
    for way in ways:
        for atom in [atom for atom in between if _share_variable(way[-1], atom)]:
            if any(_share_variable(atom, end) for end in ends):
                return [*way[1:], atom]
            between = _without(between, [atom])
            ways.append([*way, atom])
    return None


def _share_variable(one: Atom, other: Atom) -> bool:
    return not set(one.variables()).isdisjoint(other.variables())


def _without(atoms: Iterable[Atom], taken: Iterable[Atom]) -> list[Atom]:
    """The atoms except the given objects, compared by identity, since equal atoms may occur twice."""
    gone = {id(atom) for atom in taken}
    return [atom for atom in atoms if id(atom) not in gone]


def shared_variables(rule: Rule, derived: Container[Predicate]) -> tuple[Variable, ...]:
    """The variables that the two recursive atoms of a step share; empty if it has one recursive atom."""
    recursive = [atom for atom in rule.positive if atom.predicate in derived]
    if len(recursive) < 2:
        return ()
    first, second = recursive
    return tuple(dict.fromkeys(variable for variable in first.variables() if variable in second.terms))
