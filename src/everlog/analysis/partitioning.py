"""Where the facts of a recursion are kept, so that those that a rule joins are in one place.

Two recursive atoms of a rule are joined where the values of the variables that they share say. So each of them reads
a *copy* of its predicate, spread by the arguments that hold these variables; atoms that share by the same arguments
read the same copy. One copy of each predicate is its *home*: a fact goes there first, and only if it is new there to
the others. The arguments by which a copy is spread come first in it, which is the order in which joins read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from everlog.analysis.binary import shared_variables
from everlog.lang.syntax import Atom, Predicate, Rule


@dataclass(frozen=True)
class Partitioning:
    """The facts of a predicate, spread by some of their arguments, counted from 0.

    >>> copy = Partitioning(Predicate("p", 3), (2,))
    >>> copy.name, copy.order, str(copy)
    (Predicate(name='p by 3', arity=3), (2, 0, 1), 'p by argument 3')
    """

    predicate: Predicate
    by: tuple[int, ...]

    @property
    def name(self) -> Predicate:
        """What rules call it; no predicate that is written has such a name."""
        return Predicate(f"{self.predicate.name} by {' '.join(str(i + 1) for i in self.by)}", self.predicate.arity)

    @property
    def order(self) -> tuple[int, ...]:
        """The predicate's arguments as they come in the copy."""
        return (*self.by, *(i for i in range(self.predicate.arity) if i not in self.by))

    def atom(self, atom: Atom) -> Atom:
        """An atom of the predicate that reads the copy."""
        return Atom(self.name, tuple(atom.terms[i] for i in self.order))

    def __str__(self) -> str:
        some = "argument" if len(self.by) == 1 else "arguments"
        return f"{self.predicate.name} by {some} {' and '.join(str(i + 1) for i in self.by)}"


@dataclass(frozen=True)
class Meeting:
    """Rules whose recursive atoms read copies, and the copies of each predicate, its home first."""

    rules: tuple[Rule, ...]
    copies: Mapping[Predicate, tuple[Partitioning, ...]] = field(hash=False)

    def home(self, predicate: Predicate) -> Partitioning:
        return self.copies[predicate][0]


def meeting(rules: Sequence[Rule], derived: Iterable[Predicate]) -> Meeting:
    """Where the facts of rules with at most two recursive atoms meet, see :func:`everlog.analysis.binary.in_twos`.

    A predicate whose facts meet no others is spread by whole facts; otherwise its home is the copy that is spread by
    most arguments.

    >>> from everlog.lang.parser import parse_program
    >>> from everlog.lang.printer import print_rule
    >>> rules = parse_program("p(?x, ?z) :- p(?x, ?y), s(?y, ?z) . s(?y, ?z) :- p(?y, ?z), e(?y, ?z) .").rules
    >>> found = meeting(rules, [Predicate("p", 2), Predicate("s", 2)])
    >>> [str(copy) for copies in found.copies.values() for copy in copies]
    ['p by argument 2', 's by argument 1']
    >>> print(print_rule(found.rules[0]))
    p(?x, ?z) :- p by 2(?y, ?x), s by 1(?y, ?z) .
    """
    uses: dict[Predicate, dict[Partitioning, None]] = {
        p: {} for p in (*derived, *(rule.head.predicate for rule in rules))
    }
    for rule in rules:
        for copy in _copies(rule, uses).values():
            uses[copy.predicate][copy] = None
    copies = {p: tuple(sorted(some, key=lambda copy: -len(copy.by))) or (_whole(p),) for p, some in uses.items()}
    renamed = []
    for rule in rules:
        own = _copies(rule, uses)
        body = [
            own.get(i, copies[a.predicate][0]).atom(a) if a.predicate in uses else a
            for i, a in enumerate(rule.positive)
        ]
        renamed.append(Rule(rule.head, tuple(body), rule.negative, rule.span))
    return Meeting(tuple(renamed), copies)


def _copies(rule: Rule, derived: Mapping[Predicate, object]) -> dict[int, Partitioning]:
    """What the recursive atoms of a rule read, by their places in the body, if they have to meet."""
    shared = shared_variables(rule, derived)
    return {
        i: Partitioning(atom.predicate, tuple(atom.terms.index(variable) for variable in shared))
        for i, atom in enumerate(rule.positive)
        if shared and atom.predicate in derived
    }


def _whole(predicate: Predicate) -> Partitioning:
    return Partitioning(predicate, tuple(range(predicate.arity)))
