"""Linear recursion from one constant: ``p(c, ?z) :- p(c, ?y), e(?y, ?z)``.

The rules say p = X | X_c / e+, where X are the pairs of p from elsewhere, and X_c those of them that have the constant.
The module has a state for pairs that are extended by edges, besides the state of p, whose pairs are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden, intermediate
from everlog.analysis.modules.module import Taken
from everlog.analysis.modules.reading import Component, ReadRule, RuleReader
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Variable
from everlog.reasoning.modules.closure.description import Closure, Transition
from everlog.reasoning.modules.closure.shapes import Linear, Misfit, flaw_of, shape_of

GOING_ON, ENDED = 1, 0

ANY = Variable(" any")
"""Takes the place of the constant; no variable of a program has this name."""


def bound_closure(component: Component, reader: RuleReader) -> Taken | None:
    """The closure of a component whose recursive rules all keep one constant, with the rule for the pairs that are
    extended; None if there is no such closure."""
    if len(component.predicates) > 1 or component.predicates[0] in reader.aliases.others:
        return None
    (predicate,) = component.predicates
    kept = {_kept(read.rule, predicate) for read in component.recursive}
    if len(kept) != 1 or None in kept:
        return None
    (column, constant) = next(each for each in kept if each is not None)
    reads = [reader.read(_freed(read.rule, predicate, column), component.inside) for read in component.recursive]
    edges = _edges(reads, component, "right" if column else "left")
    if edges is None:
        return None
    going = intermediate(predicate)
    steps = dict.fromkeys(edge for first in edges for edge in reader.generated(first))
    transitions = tuple(Transition(GOING_ON, edge, state) for edge in steps for state in (GOING_ON, ENDED))
    external = MappingProxyType({each: hidden(each) for each in (predicate, going)})
    rules = tuple(read.rule for read in component.recursive)
    module = Closure("linear", (predicate, going), rules, external, transitions, mirrored=column == 1)
    terms = (Variable("y"), constant) if column else (constant, Variable("y"))
    return Taken(module, (Rule(Atom(hidden(going), terms), (Atom(hidden(predicate), terms),)),))


def _kept(rule: Rule, predicate: Predicate) -> tuple[int, Constant] | None:
    """The column and the constant that the head and the recursive atom have in common; None if there are none."""
    own = [atom for atom in rule.positive if atom.predicate == predicate]
    if len(own) != 1 or rule.negative:
        return None
    for column, term in enumerate(rule.head.terms):
        if isinstance(term, Constant) and own[0].terms[column] == term:
            return column, term
    return None


def _freed(rule: Rule, predicate: Predicate, column: int) -> Rule:
    """The rule with a variable in place of the constant."""

    def freed(atom: Atom) -> Atom:
        terms = tuple(ANY if at == column else term for at, term in enumerate(atom.terms))
        return replace(atom, terms=terms) if atom.predicate == predicate else atom

    return Rule(freed(rule.head), tuple(map(freed, rule.positive)), rule.negative, rule.span)


def _edges(reads: Sequence[ReadRule], component: Component, side: str) -> list[Edge] | None:
    """The repeated edges, if the rules are linear on this side with one edge each; otherwise None."""
    words = [read.word for read in reads if read.word is not None and flaw_of(read.word, component.inside) is None]
    if len(words) < len(reads):
        return None
    try:
        shape = shape_of(component.inside, [(component.predicates[0], word) for word in words], frozenset())
    except Misfit:
        return None
    if not isinstance(shape, Linear) or shape.again or shape.side != side:
        return None
    return [arm.edges[0] for arm in shape.arms] if all(len(arm.edges) == 1 for arm in shape.arms) else None
