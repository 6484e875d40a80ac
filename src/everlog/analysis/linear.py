"""Linear recursion: rules with exactly one recursive body atom each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from everlog.lang.syntax import Predicate, Rule


def is_linear(rules: Iterable[Rule], derived: Sequence[Predicate]) -> bool:
    """Whether each rule has exactly one body atom of the derived predicates.

    >>> from everlog.lang.parser import parse_program
    >>> rules = parse_program("p(?x, ?y) :- e(?a, ?x), p(?a, ?b), e(?b, ?y) .").rules
    >>> is_linear(rules, [Predicate("p", 2)]), is_linear(rules, [Predicate("p", 2), Predicate("e", 2)])
    (True, False)
    """
    found = frozenset(derived)
    counts = (sum(atom.predicate in found for atom in rule.body) for rule in rules)
    return all(count == 1 for count in counts)


def other_predicates(rules: Iterable[Rule], derived: Sequence[Predicate]) -> list[Predicate]:
    """The predicates that rules read but do not derive.

    >>> from everlog.lang.parser import parse_program
    >>> rules = parse_program("p(?x, ?y) :- e(?a, ?x), p(?a, ?b), e(?b, ?y) .").rules
    >>> other_predicates(rules, [Predicate("p", 2)])
    [Predicate(name='e', arity=2)]
    """
    read = dict.fromkeys(atom.predicate for rule in rules for atom in rule.body)
    return [predicate for predicate in read if predicate not in derived]
