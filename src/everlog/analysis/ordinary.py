"""Ordinary rules instead of special modules, for an engine that does not know these."""

from __future__ import annotations

from dataclasses import replace

from everlog.analysis.stratify import Stratum
from everlog.lang.syntax import Atom, Predicate, Rule, Variable


def without_modules(stratum: Stratum) -> Stratum:
    """The stratum with ordinary rules only, including those that its special modules took.

    Hidden predicates of the stratum are renamed to the visible ones; those below it are copied by a rule.
    """
    external = {name: p for module in stratum.special for p, name in module.external.items()}
    within = {name: p for name, p in external.items() if name in stratum.predicates}
    rules = [*(_seen(rule, within) for rule in stratum.rules), *(r for module in stratum.special for r in module.rules)]
    rules += [_copied(name, p) for name, p in external.items() if name not in within]
    predicates = tuple(shown(stratum))
    recursive = tuple(rule for rule in rules if any(atom.predicate in predicates for atom in rule.positive))
    nonrecursive = tuple(rule for rule in rules if rule not in recursive)
    return Stratum.of_rules(stratum.index, recursive, nonrecursive, predicates)


def shown(stratum: Stratum) -> list[Predicate]:
    """The predicates of a stratum without those that only its special modules read."""
    hidden = {name for module in stratum.special for name in module.external.values()}
    return [predicate for predicate in stratum.predicates if predicate not in hidden]


def _seen(rule: Rule, names: dict[Predicate, Predicate]) -> Rule:
    """The rule with the predicate that users see in its head."""
    head = rule.head
    return replace(rule, head=replace(head, predicate=names.get(head.predicate, head.predicate)))


def _copied(source: Predicate, target: Predicate) -> Rule:
    terms = tuple(Variable(f"x{column}") for column in range(target.arity))
    return Rule(Atom(target, terms), (Atom(source, terms),))
