"""Patterns whose solutions only need to be counted, because one of their variables is used nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from everlog.engine.relation import Relation
from everlog.lang.syntax import Variable
from everlog.query.sparql.algebra import Names, Term
from everlog.query.sparql.graphs import Option, TripleGraph


class Dangling(NamedTuple):
    """A pattern of which one variable is used nowhere else, so that only its number of values matters."""

    number: int
    relation: Relation
    column: int
    term: Term


def dangling(graph: TripleGraph, options: Sequence[Sequence[Option]], needed: Names, known: Names) -> list[Dangling]:
    """The patterns with a variable that is used nowhere else, over relations that count without listing.

    ``known`` are variables that have values already. The other term of such a pattern has a value, or gets it from the
    remaining patterns.
    """
    uses: dict[Variable, int] = {}
    for choice in options:
        for variable in {v for option in choice for v in (*option.atom.variables(), *option.fixed)}:
            uses[variable] = uses.get(variable, 0) + 1
    found = []
    for number, choice in enumerate(options):
        relation = graph.facts.relation(choice[0].atom.predicate)
        if len(choice) > 1 or relation.base is None:
            continue
        first, second = choice[0].atom.terms
        for column, (term, free) in enumerate(((first, second), (second, first))):
            if not isinstance(free, Variable) or free == term or uses[free] > 1 or free.name in needed | known:
                continue
            if not isinstance(term, Variable) or uses[term] > 1 or term.name in known:
                found.append(Dangling(number, relation, column, term))  # type: ignore[arg-type]
                break
    return _independent(found, options, known)


def _independent(found: list[Dangling], options: Sequence[Sequence[Option]], known: Names) -> list[Dangling]:
    """The counted patterns whose other term has a value when all of these are left out of the join."""
    left = {each.number for each in found}
    bound = {v for i, c in enumerate(options) if i not in left for o in c for v in (*o.atom.variables(), *o.fixed)}
    return [e for e in found if not isinstance(e.term, Variable) or e.term in bound or e.term.name in known]
