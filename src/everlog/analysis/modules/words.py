"""Rules over binary predicates read as words: the edges along the body from one end of the head to the other.

``p(?x, ?z) :- q(?x, ?y), e(?z, ?y)`` is the word q e⁻. A word does not depend on the names of variables
or on the order of atoms, and every shape that a module takes is a word.
"""

from __future__ import annotations

from collections.abc import Sequence

from everlog.analysis.modules.edges import Edge
from everlog.lang.syntax import Atom, Rule, Variable

Word = tuple[Edge, ...]


def word(rule: Rule) -> Word | None:
    """The word of a rule, None if its body is not a path from the first to the second argument of the head.

    >>> from everlog.lang.parser import parse_program
    >>> rule = parse_program("p(?x, ?z) :- e(?z, ?y), p(?x, ?y) .").rules[0]
    >>> [(edge.predicate.name, edge.inverted) for edge in word(rule)]
    [('p', False), ('e', True)]
    """
    if flaw(rule) is not None:
        return None
    here, end = rule.head.terms
    edges: list[Edge] = []
    rest: Sequence[Atom] = rule.positive
    while rest and here != end:
        met = [atom for atom in rest if here in atom.terms]
        if not met or any(atom != met[0] for atom in met[1:]):
            return None
        step = met[0]
        rest = [atom for atom in rest if here not in atom.terms]
        inverted = step.terms[1] == here
        edges.append(Edge(step.predicate, inverted))
        here = step.terms[0 if inverted else 1]
    return None if rest or here != end else tuple(edges)


def single(rule: Rule) -> Edge | None:
    """The edge of a rule ``p(?x, ?y) :- q(?x, ?y)`` or ``p(?x, ?y) :- q(?y, ?x)``, None for other rules."""
    if len(rule.positive) != 1 or rule.negative or rule.head.predicate.arity != 2:
        return None
    atom = rule.positive[0]
    if not (_is_edge(rule.head) and atom.predicate.arity == 2 and _is_edge(atom)):
        return None
    if atom.terms == rule.head.terms:
        return Edge(atom.predicate)
    return Edge(atom.predicate, True) if atom.terms == rule.head.terms[::-1] else None


def flaw(rule: Rule) -> str | None:
    """The reason why a rule is not made of edges, None if it is."""
    if rule.negative:
        return "it has a negated atom"
    for atom in (rule.head, *rule.positive):
        if atom.predicate.arity != 2:
            return "not all of its predicates have two arguments"
        if not _is_edge(atom):
            same = atom.terms[0] == atom.terms[1] and isinstance(atom.terms[0], Variable)
            return "a variable stands twice in one atom" if same else "it contains a constant"
    return None


def inverse(path: Word) -> Word:
    """The word read backwards."""
    return tuple(edge.inverse for edge in reversed(path))


def _is_edge(atom: Atom) -> bool:
    first, second = atom.terms
    return isinstance(first, Variable) and isinstance(second, Variable) and first != second
