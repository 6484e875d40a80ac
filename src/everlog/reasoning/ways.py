"""Closing a stratum: the engine chooses a way before the stratum is evaluated (:class:`everlog.engine.algebra.Way`).

This module has the plain ways, which all engines have in common; an engine may have others, such as one task of Spark.
Plain ways repair a stratum by the algorithm of the update.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import Stratum
from everlog.engine.algebra import AnyEngine, AnyFactSet, Observer, Repairing, TooLargeError, Way
from everlog.engine.factset import as_local
from everlog.reasoning.modules.kinds import implementation
from everlog.reasoning.modules.loops import close_with_modules
from everlog.reasoning.rule_sets import rule_sets
from everlog.reasoning.seminaive import close_by_rules, found_at_once


def close(
    engine: AnyEngine,
    stratum: Stratum,
    facts: AnyFactSet,
    explicit: AnyFactSet,
    observer: Observer,
    without: Collection[str] = (),
) -> AnyFactSet:
    """Add to ``facts`` those that a stratum derives, its explicit facts included, by the way that the engine chooses.

    If that turns out to be too large, the engine chooses again without it.
    """
    while True:
        way = engine.way(stratum, facts, explicit, without) or plain_way(engine, stratum)
        try:
            return way.close(facts, explicit, observer)
        except TooLargeError as error:
            without = (*without, error.way)


def plain_way(engine: AnyEngine, stratum: Stratum) -> Way:
    """The way to close a stratum by matching round by round, and by the implementations of modules in this process."""
    if stratum.alone is not None:
        return ModuleAlone(engine, stratum.alone)
    return Rounds(engine, stratum)


@dataclass(frozen=True)
class Rounds:
    """Ordinary rules, matched in rounds (journal paper, Algorithm 1), and modules that depend on them or on each other
    (thesis, Algorithm 6).
    """

    engine: AnyEngine
    stratum: Stratum

    def close(self, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer) -> AnyFactSet:
        engine, rules, given = self.engine, rule_sets(self.stratum), explicit.restricted(self.stratum.predicates)
        if not self.stratum.special:
            return close_by_rules(engine, rules, facts, given, observer)
        new = found_at_once(engine, rules, facts, given)
        return close_with_modules(engine, self.stratum.special, rules.recursive, facts, new, observer)

    def repair(self, update: Repairing) -> None:
        update.by_algorithm()


@dataclass(frozen=True)
class ModuleAlone:
    """A special module that reads nothing of its own stratum: it derives everything at once."""

    engine: AnyEngine
    module: SpecialModule

    def close(self, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer) -> AnyFactSet:
        known = as_local(facts)
        derived = implementation(self.module).derive(known, lambda: self.engine.limits.check(self.engine.held))
        observer(sum(map(len, derived.values())))
        return known.replaced(derived)

    def repair(self, update: Repairing) -> None:
        update.by_algorithm()
