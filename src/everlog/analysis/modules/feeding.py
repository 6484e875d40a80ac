"""Rules that feed a module: with the hidden predicate, instead of the module's own, in the head."""

from __future__ import annotations

from collections.abc import Iterable

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden
from everlog.lang.syntax import Atom, Predicate, Rule, Term, Variable


def fed(rule: Rule, module: Edge) -> Rule:
    """The rule with the hidden predicate in its head, if its head has the module's predicate or the inverse of that
    one.

    >>> from everlog.lang.parser import parse_program
    >>> rule = parse_program("q(?x, a) :- r(?x) .").rules[0]
    >>> fed(rule, Edge(Predicate("p", 2), inverted=True)).head
    Atom(predicate=Predicate(name='p external', arity=2), terms=(Constant(text='"a"'), Variable(name='x')))
    """
    first, second = rule.head.terms
    terms = (second, first) if module.inverted else (first, second)
    head = Atom(hidden(module.predicate), terms, rule.head.span)
    return Rule(head, rule.positive, rule.negative, rule.span)


def fed_by(edges: Iterable[Edge], predicate: Predicate, like: Rule | None = None) -> tuple[Rule, ...]:
    """Rules that feed the module's predicate from each of the edges, at the place of another rule."""
    x, y = Variable("x"), Variable("y")
    span = None if like is None else like.span
    head = Atom(hidden(predicate), (x, y), None if like is None else like.head.span)
    return tuple(Rule(head, (_along(edge, x, y),), (), span) for edge in edges)


def _along(edge: Edge, start: Term, end: Term) -> Atom:
    return Atom(edge.predicate, (end, start) if edge.inverted else (start, end))
