"""Negation through recursion: a program with a predicate that depends on its own negation cannot be stratified."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from everlog.analysis.places import atom_place, position
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, Place, RuleError
from everlog.lang.printer import print_name, print_rule
from everlog.lang.syntax import Atom, Predicate, Rule

Step = tuple[Rule, Atom]
"""A rule, and the atom of its body that leads to the next rule."""


def reject_negative_cycles(
    rules: Iterable[Rule], components: Sequence[Collection[Predicate]], prefixes: Mapping[str, str]
) -> None:
    """Raise a :class:`RuleError` with one cycle for each component that negates a predicate of its own."""
    component_of = {predicate: index for index, component in enumerate(components) for predicate in component}
    rules_of: dict[int, list[Rule]] = {}
    wrong: set[int] = set()
    for rule in rules:
        index = component_of[rule.head.predicate]
        rules_of.setdefault(index, []).append(rule)
        if any(component_of.get(atom.predicate) == index for atom in rule.negative):
            wrong.add(index)
    if wrong:
        cycles = [negative_cycle(rules_of[index], frozenset(components[index])) for index in sorted(wrong)]
        raise RuleError(sorted((_message(cycle, prefixes) for cycle in cycles), key=position))


def negative_cycle(rules: Sequence[Rule], component: Collection[Predicate]) -> list[Step]:
    """A shortest cycle that starts with the first negated atom of the component."""
    start, negated = next((rule, atom) for rule in rules for atom in rule.negative if atom.predicate in component)
    return [(start, negated), *_path(negated.predicate, start.head.predicate, rules)]


def _path(start: Predicate, goal: Predicate, rules: Iterable[Rule]) -> list[Step]:
    """A shortest path of dependencies from ``start`` to ``goal``, by breadth-first search."""
    by_head: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        by_head.setdefault(rule.head.predicate, []).append(rule)
    reached: dict[Predicate, Step] = {}
    waiting = deque([start])
    while goal != start and goal not in reached:
        for rule in by_head.get(waiting[0], ()):
            for atom in rule.body:
                if atom.predicate not in reached and atom.predicate != start:
                    reached[atom.predicate] = (rule, atom)
                    waiting.append(atom.predicate)
        waiting.popleft()
    path: list[Step] = []
    while goal != start:
        path.append(reached[goal])
        goal = reached[goal][0].head.predicate
    return path[::-1]


def _message(cycle: Sequence[Step], prefixes: Mapping[str, str]) -> Diagnostic:
    first = print_name(cycle[0][0].head.predicate.name, prefixes)
    chain = " <- ".join([first, *(_used(step, prefixes) for step in cycle)])
    return Diagnostic(
        Code.NEGATION_CYCLE,
        f"`{first}` depends on its own negation: {chain}",
        atom_place(cycle[0][1]),
        "what is negated must be complete before it is used: break the cycle at one of these rules",
        tuple(_note(step, prefixes) for step in cycle),
    )


def _note(step: Step, prefixes: Mapping[str, str]) -> tuple[str, Place | None]:
    rule = step[0]
    head = print_name(rule.head.predicate.name, prefixes)
    text = f"`{head}` depends on `{_used(step, prefixes)}` by `{print_rule(rule, prefixes)}`"
    return text, rule.span.place if rule.span is not None else None


def _used(step: Step, prefixes: Mapping[str, str]) -> str:
    rule, used = step
    negated = any(atom is used for atom in rule.negative)
    return f"{'~' if negated else ''}{print_name(used.predicate.name, prefixes)}"
