"""Groups rules of equal join shape, which differ only in predicates and constants; one join matches a group.

The names that differ are columns of a small table with a row for each rule, which is broadcast; the names of a single
rule are literals, without a table. So a thousand subclass axioms are one join with a thousand rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from everlog.engine.plan import PlannedRule
from everlog.lang.syntax import Atom, Predicate, Term, Variable


@dataclass(frozen=True)
class Variant:
    """A rule whose body atom ``pivot`` is matched in the changes; without a pivot all are matched in the facts."""

    rule: PlannedRule
    pivot: int | None = None

    def atom(self, body: int) -> Atom:
        """A body atom as it is matched: if it is negated and the pivot, without its wildcards."""
        positive = len(self.rule.positive)
        return self.rule.shadows[body - positive] if body == self.pivot and body >= positive else self.rule.atom(body)

    @property
    def shape(self) -> Hashable:
        """A value that is equal for variants that one join can match."""
        numbers: dict[Term, int] = {}

        def pattern(atom: Atom) -> tuple[int | str, ...]:
            return tuple(
                numbers.setdefault(term, len(numbers)) if isinstance(term, Variable) else type(term).__name__
                for term in atom.terms
            )

        atoms = (*self.rule.positive, *self.rule.negative, self.rule.rule.head)
        return self.pivot, len(self.rule.positive), *map(pattern, atoms)


@dataclass(frozen=True)
class RuleGroup:
    """Variants of one shape; joins are built from the first."""

    variants: tuple[Variant, ...]

    @property
    def first(self) -> Variant:
        return self.variants[0]

    def predicates(self, body: int) -> list[Predicate]:
        """The different predicates that a body atom has in the variants."""
        return list(dict.fromkeys(variant.rule.atom(body).predicate for variant in self.variants))

    @property
    def heads(self) -> list[Predicate]:
        """The different predicates of the variants' heads."""
        return list(dict.fromkeys(variant.rule.rule.head.predicate for variant in self.variants))


def alike(variants: Sequence[Variant]) -> list[RuleGroup]:
    """Group variants by shape.

    >>> from everlog.lang.parser import parse_program
    >>> rules = parse_program("a(?x) :- b(?x) . c(?y) :- d(?y) . e(?x) :- f(?x, ?x) .").rules
    >>> [len(group.variants) for group in alike([Variant(PlannedRule(rule)) for rule in rules])]
    [2, 1]
    """
    groups: dict[Hashable, list[Variant]] = {}
    for variant in variants:
        groups.setdefault(variant.shape, []).append(variant)
    return [RuleGroup(tuple(group)) for group in groups.values()]
