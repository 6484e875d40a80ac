"""Rules for equality: ``owl:sameAs`` is symmetric and transitive, and equal terms replace each other in facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Term, Variable
from everlog.owl.vocabulary import DIFFERENT, SAME, VIOLATION

_X, _Y, _Z = Variable("x"), Variable("y"), Variable("z")


def equality_rules(predicates: Iterable[Predicate]) -> Iterator[Rule]:
    """The axioms of equality for the facts of some predicates.

    >>> from everlog.lang.printer import print_rule
    >>> print(print_rule(list(equality_rules([Predicate("p", 1)]))[-1], {"owl": "http://www.w3.org/2002/07/owl#"}))
    p(?same) :- p(?x0), owl:sameAs(?x0, ?same) .
    """
    yield Rule(_same(_Y, _X), (_same(_X, _Y),))
    yield Rule(_same(_X, _Z), (_same(_X, _Y), _same(_Y, _Z)))
    yield difference_rule()
    for predicate in predicates:
        if predicate.name not in (SAME, VIOLATION):
            yield from _replacements(predicate)


def difference_rule() -> Rule:
    """The rule for violations by terms that are both equal and different."""
    different = Atom(Predicate(DIFFERENT, 2), (_X, _Y))
    who = Atom(Predicate(VIOLATION, 2), (_X, Constant('"SameIndividual and DifferentIndividuals"')))
    return Rule(who, (_same(_X, _Y), different))


def _replacements(predicate: Predicate) -> Iterator[Rule]:
    """The rules that replace equal terms in facts of a predicate, one for each argument."""
    terms: list[Term] = [Variable(f"x{i}") for i in range(predicate.arity)]
    for i, term in enumerate(terms):
        other = Variable("same")
        head = Atom(predicate, tuple(other if i == j else each for j, each in enumerate(terms)))
        yield Rule(head, (Atom(predicate, tuple(terms)), _same(term, other)))


def _same(left: Term, right: Term) -> Atom:
    return Atom(Predicate(SAME, 2), (left, right))
