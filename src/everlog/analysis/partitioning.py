"""Partitionings of the facts of a recursion, such that the facts that a rule joins are in one partition.

Two recursive atoms of a rule are joined in the partition of the values of the variables that they share. Each of them
therefore reads a *partitioning* of its predicate: a copy of the facts that is partitioned by the arguments that hold
these variables. Atoms with the same arguments read the same partitioning. One partitioning of each predicate is its
*home*: a fact goes there first, and only if it is new there to the others. The arguments of a partitioning come first
in its facts, which is the order in which joins read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from everlog.analysis.binary import shared_variables
from everlog.lang.syntax import Atom, Predicate, Rule


@dataclass(frozen=True)
class Partitioning:
    """The facts of a predicate, partitioned by some of their arguments, counted from 0.

    >>> by_last = Partitioning(Predicate("p", 3), (2,))
    >>> by_last.name, by_last.order, str(by_last)
    (Predicate(name='p by 3', arity=3), (2, 0, 1), 'p by argument 3')
    """

    predicate: Predicate
    by: tuple[int, ...]

    @property
    def name(self) -> Predicate:
        """The predicate by which rules read the partitioning; no written predicate has such a name."""
        return Predicate(f"{self.predicate.name} by {' '.join(str(i + 1) for i in self.by)}", self.predicate.arity)

    @property
    def order(self) -> tuple[int, ...]:
        """The predicate's arguments in the order of the partitioning."""
        return (*self.by, *(i for i in range(self.predicate.arity) if i not in self.by))

    def atom(self, atom: Atom) -> Atom:
        """An atom of the predicate, rewritten to read the partitioning."""
        return Atom(self.name, tuple(atom.terms[i] for i in self.order))

    def __str__(self) -> str:
        some = "argument" if len(self.by) == 1 else "arguments"
        return f"{self.predicate.name} by {some} {' and '.join(str(i + 1) for i in self.by)}"


@dataclass(frozen=True)
class PartitionedRules:
    """Rules whose recursive atoms read partitionings, and the partitionings of each predicate, its home first."""

    rules: tuple[Rule, ...]
    partitionings: Mapping[Predicate, tuple[Partitioning, ...]] = field(hash=False)

    def home(self, predicate: Predicate) -> Partitioning:
        return self.partitionings[predicate][0]


def partitioned(rules: Sequence[Rule], derived: Iterable[Predicate]) -> PartitionedRules:
    """Rules with at most two recursive atoms, with their partitionings; see :func:`everlog.analysis.binary.binarise`.

    A predicate whose facts are not joined with each other is partitioned by whole facts; otherwise its home is the
    partitioning by most arguments.

    >>> from everlog.lang.parser import parse_program
    >>> from everlog.lang.printer import print_rule
    >>> rules = parse_program("p(?x, ?z) :- p(?x, ?y), s(?y, ?z) . s(?y, ?z) :- p(?y, ?z), e(?y, ?z) .").rules
    >>> found = partitioned(rules, [Predicate("p", 2), Predicate("s", 2)])
    >>> [str(each) for partitionings in found.partitionings.values() for each in partitionings]
    ['p by argument 2', 's by argument 1']
    >>> print(print_rule(found.rules[0]))
    p(?x, ?z) :- p by 2(?y, ?x), s by 1(?y, ?z) .
    """
    uses: dict[Predicate, dict[Partitioning, None]] = {
        p: {} for p in (*derived, *(rule.head.predicate for rule in rules))
    }
    for rule in rules:
        for each in _partitionings(rule, uses).values():
            uses[each.predicate][each] = None
    partitionings = {p: tuple(sorted(some, key=lambda each: -len(each.by))) or (_whole(p),) for p, some in uses.items()}
    renamed = []
    for rule in rules:
        own = _partitionings(rule, uses)
        body = [
            own.get(i, partitionings[a.predicate][0]).atom(a) if a.predicate in uses else a
            for i, a in enumerate(rule.positive)
        ]
        renamed.append(Rule(rule.head, tuple(body), rule.negative, rule.span))
    return PartitionedRules(tuple(renamed), partitionings)


def _partitionings(rule: Rule, derived: Mapping[Predicate, object]) -> dict[int, Partitioning]:
    """The partitionings that the recursive atoms of a rule read, by their indexes in the body; none if it has one."""
    shared = shared_variables(rule, derived)
    return {
        i: Partitioning(atom.predicate, tuple(atom.terms.index(variable) for variable in shared))
        for i, atom in enumerate(rule.positive)
        if shared and atom.predicate in derived
    }


def _whole(predicate: Predicate) -> Partitioning:
    return Partitioning(predicate, tuple(range(predicate.arity)))
