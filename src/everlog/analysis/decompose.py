"""Decomposition of recursion: facts with different values of one argument are never joined.

A component of mutually recursive predicates decomposes if each of them has an argument, the *carried* one, such that
every recursive rule has the same variable there in its head and in every recursive atom of its body. Then the
consequences of facts with one value in that argument do not depend on the facts with another value, and the recursion
can be closed for each value separately, in any number of partitions at once, without exchanging facts.

An atom of a lower stratum that has the carried variable is only matched with facts that have the value there: its
relation can be partitioned in the same way (*co-partitioned*). Every other relation is needed in every partition
(*shared*). This holds for negated atoms, too. A relation may be co-partitioned by several arguments; if some atom needs
all of it, it is shared.

Linear closure decomposes by the argument that is passed on, nonlinear transitivity by none; nor does a rule
whose head has a constant in the carried argument.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from everlog.analysis.dependencies import dependencies, strong_components
from everlog.analysis.stratify import Stratum
from everlog.lang.printer import print_rule, print_term
from everlog.lang.syntax import Atom, Predicate, Rule, Variable

Choices = dict[Predicate, frozenset[int]]
"""The arguments of each predicate that may be the carried one."""

Position = tuple[int, int]
"""A level within a stratum, and the form of its recursion (see :func:`_form`)."""


@dataclass(frozen=True)
class Decomposition:
    """The carried argument of each predicate, counted from 0, and how the relations below are distributed."""

    carried: Mapping[Predicate, int] = field(hash=False)
    copartitioned: tuple[tuple[Predicate, int], ...]
    """Relations to be partitioned by one of their arguments."""
    shared: tuple[Predicate, ...]
    """Relations that every partition needs in full."""

    def __str__(self) -> str:
        parts = [f"by {', '.join(_argument(p, i) for p, i in self.carried.items())}"]
        if self.copartitioned:
            parts.append(f"with {', '.join(_argument(p, i) for p, i in self.copartitioned)}")
        if self.shared:
            parts.append(f"sharing {', '.join(p.name for p in self.shared)}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Obstacle:
    """A rule that prevents a decomposition in which a predicate carries an argument (None: any argument)."""

    predicate: Predicate
    argument: int | None
    rule: Rule | None
    reason: str

    def __str__(self) -> str:
        what = "" if self.argument is None else f"{_argument(self.predicate, self.argument)}: "
        rule = "" if self.rule is None else f" in {print_rule(self.rule)}"
        return f"{what}{self.reason}{rule}"


class _Stuck(Exception):
    """Raised when a rule has no variable left that it could carry."""

    def __init__(self, rule: Rule, reason: str) -> None:
        super().__init__(reason)
        self.rule, self.reason = rule, reason


def decompose(stratum: Stratum, sizes: Mapping[Predicate, int] | None = None) -> Decomposition | tuple[Obstacle, ...]:
    """The decomposition of the recursion of a stratum, or the obstacles if there is none.

    Predicates that no recursive rule connects are independent of each other. Of several decompositions the one that
    shares the fewest facts is returned; ``sizes`` has the number of facts of each predicate. The cost is linear in the
    rules for each argument of a predicate.

    >>> from everlog.analysis.check import check
    >>> from everlog.analysis.stratify import stratify
    >>> from everlog.lang.parser import parse_program
    >>> def strata(text): return stratify(check(parse_program(text))).strata
    >>> print(decompose(strata("p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .")[0]))
    by argument 1 of p; sharing e
    >>> for each in decompose(strata("p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .")[0]):
    ...     print(each)
    argument 1 of p: ?x, ?x, ?y are not one variable in p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .
    argument 2 of p: ?z, ?y, ?z are not one variable in p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .
    """
    found: list[Decomposition] = []
    obstacles: list[Obstacle] = []
    for component, rules in _components(stratum):
        options = list(_decompositions(component, rules))
        possible = [option for option in options if isinstance(option, Decomposition)]
        if possible:
            found.append(min(possible, key=lambda one: sum((sizes or {}).get(p, 0) for p in one.shared)))
        else:
            obstacles += [option for option in options if isinstance(option, Obstacle)]
    return tuple(obstacles) if obstacles else _joined(found)


def parts_of(stratum: Stratum) -> tuple[Stratum, ...]:
    """The stratum split into strata, each of which is nonrecursive, decomposes, or has only components that do not
    decompose.

    They have to be evaluated in this order. Predicates that do not depend on each other stay together, so that there
    are few strata. A stratum with special modules is left as it is.
    """
    if stratum.special or not stratum.recursive:
        return (stratum,)
    graph, by_head = dependencies(stratum.rules), _by_head(stratum.rules)
    level: dict[Predicate, int] = {}
    positions: dict[Predicate, Position] = {}
    for component in graph.components():
        below = [level[other] for each in component for other in graph.of(each) if other in level]
        level.update(dict.fromkeys(component, 1 + max(below, default=0)))
        inside = frozenset(component)
        rules = [rule for each in component for rule in by_head[each] if _recursive_atoms(rule, inside)]
        positions.update(dict.fromkeys(component, (level[component[0]], _form(component, rules))))
    return tuple(_part(stratum, position, positions) for position in sorted(set(positions.values())))


def _form(component: Sequence[Predicate], rules: Sequence[Rule]) -> int:
    """The form of the recursion of a component: 0 without recursion, 1 if it decomposes, 2 if it does not."""
    if not rules:
        return 0
    return 1 if any(isinstance(option, Decomposition) for option in _decompositions(component, rules)) else 2


def _part(stratum: Stratum, position: Position, positions: Mapping[Predicate, Position]) -> Stratum:
    predicates = tuple(predicate for predicate in stratum.predicates if positions[predicate] == position)
    inside = frozenset(predicates)
    rules = [rule for rule in stratum.rules if rule.head.predicate in inside]
    recursive = tuple(rule for rule in rules if _recursive_atoms(rule, inside))
    nonrecursive = tuple(rule for rule in rules if not _recursive_atoms(rule, inside))
    return Stratum.of_rules(stratum.index, recursive, nonrecursive, predicates)


def _components(stratum: Stratum) -> Iterator[tuple[tuple[Predicate, ...], list[Rule]]]:
    """The sets of predicates connected by recursive rules, each with these rules."""
    inside, by_head = frozenset(stratum.predicates), _by_head(stratum.recursive)
    beside: dict[Predicate, dict[Predicate, None]] = {}
    for rule in stratum.recursive:
        for atom in _recursive_atoms(rule, inside):
            beside.setdefault(rule.head.predicate, {})[atom.predicate] = None
            beside.setdefault(atom.predicate, {})[rule.head.predicate] = None
    for component in strong_components(beside, lambda predicate: beside[predicate]):
        yield component, [rule for predicate in component for rule in by_head.get(predicate, ())]


def _by_head(rules: Iterable[Rule]) -> dict[Predicate, list[Rule]]:
    found: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.head.predicate, []).append(rule)
    return found


def _decompositions(component: Sequence[Predicate], rules: Sequence[Rule]) -> Iterator[Decomposition | Obstacle]:
    """For each argument of the first predicate, the decomposition of the component by it, or the obstacle."""
    first = component[0]
    bare = next((predicate for predicate in component if not predicate.arity), None)
    if bare is not None:
        yield Obstacle(bare, None, None, f"{bare.name} has no arguments")
        return
    every: Choices = {predicate: frozenset(range(predicate.arity)) for predicate in component}
    for argument in range(first.arity):
        try:
            carried = _assigned({**every, first: frozenset([argument])}, rules)
            yield _distributed(carried, rules)
        except _Stuck as stuck:
            yield Obstacle(first, argument, stuck.rule, stuck.reason)


def _assigned(choices: Choices, rules: Sequence[Rule]) -> dict[Predicate, int]:
    """One possible argument for each predicate; backtracks where a variable is repeated in an atom."""
    left = _possible(choices, rules)
    open_one = next((predicate for predicate, arguments in left.items() if len(arguments) > 1), None)
    if open_one is None:
        return {predicate: next(iter(arguments)) for predicate, arguments in left.items()}
    last: _Stuck | None = None
    for argument in sorted(left[open_one]):
        try:
            return _assigned({**left, open_one: frozenset([argument])}, rules)
        except _Stuck as stuck:
            last = stuck
    assert last is not None
    raise last


def _possible(choices: Choices, rules: Sequence[Rule]) -> Choices:
    """The possible arguments with which every rule has a variable that all its recursive atoms can carry."""
    left, changed = dict(choices), True
    while changed:
        changed = False
        for rule in rules:
            atoms = [rule.head, *_recursive_atoms(rule, choices)]
            common = frozenset.intersection(*(_variables(atom, left[atom.predicate]) for atom in atoms))
            if not common:
                raise _Stuck(rule, _reason(atoms, left))
            for atom in atoms:
                kept = frozenset(i for i in left[atom.predicate] if atom.terms[i] in common)
                if not kept:
                    raise _Stuck(rule, _reason(atoms, left))
                changed = changed or kept != left[atom.predicate]
                left[atom.predicate] = kept
    return left


def _variables(atom: Atom, arguments: Iterable[int]) -> frozenset[Variable]:
    return frozenset(term for i in arguments if isinstance(term := atom.terms[i], Variable))


def _reason(atoms: Sequence[Atom], left: Choices) -> str:
    terms = [" or ".join(print_term(atom.terms[i]) for i in sorted(left[atom.predicate])) for atom in atoms]
    constants = [atom for atom in atoms if not any(isinstance(atom.terms[i], Variable) for i in left[atom.predicate])]
    if constants:
        where = "the head" if constants[0] is atoms[0] else "the body"
        return f"{terms[atoms.index(constants[0])]} in {where} is no variable"
    return f"{', '.join(terms)} are not one variable"


def _distributed(carried: Mapping[Predicate, int], rules: Iterable[Rule]) -> Decomposition:
    """The decomposition for given carried arguments: how the relations of lower strata are distributed."""
    along: dict[tuple[Predicate, int], None] = {}
    shared: dict[Predicate, None] = {}
    for rule in rules:
        variable = rule.head.terms[carried[rule.head.predicate]]
        for atom in (atom for atom in rule.body if atom.predicate not in carried):
            if variable in atom.terms:
                along[atom.predicate, atom.terms.index(variable)] = None
            else:
                shared[atom.predicate] = None
    copartitioned = tuple(each for each in along if each[0] not in shared)
    return Decomposition(dict(carried), copartitioned, tuple(shared))


def _joined(parts: Sequence[Decomposition]) -> Decomposition:
    """The decomposition of several independent components."""
    shared = dict.fromkeys(predicate for part in parts for predicate in part.shared)
    along = dict.fromkeys(each for part in parts for each in part.copartitioned)
    carried = {predicate: argument for part in parts for predicate, argument in part.carried.items()}
    return Decomposition(carried, tuple(each for each in along if each[0] not in shared), tuple(shared))


def _recursive_atoms(rule: Rule, component: Container[Predicate]) -> list[Atom]:
    return [atom for atom in rule.positive if atom.predicate in component]


def _argument(predicate: Predicate, argument: int) -> str:
    return f"argument {argument + 1} of {predicate.name}"
