"""A module kind in one file, as CONTRIBUTING.md describes it: symmetry without transitivity.

``p(?x, ?y) :- p(?y, ?x) .`` makes p the union of its external facts and their inverse. The file has only what a kind
must have; everything else is inherited. :data:`SYMMETRY` is the line of registration.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden
from everlog.analysis.modules.module import Detection, Shown, SpecialModule, Taken
from everlog.analysis.modules.reading import Component, RuleReader
from everlog.analysis.modules.words import single
from everlog.engine.factset import FactSet
from everlog.engine.reach import Check, unlimited
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.modules.implementation import ModuleImplementation, Relations
from everlog.reasoning.modules.kind import ModuleKind


@dataclass(frozen=True)
class Symmetric(SpecialModule):
    """The predicate is the union of its external facts and their inverse."""

    predicate: Predicate
    rules: tuple[Rule, ...]
    external: Mapping[Predicate, Predicate] = field(hash=False)
    kind = "symmetric"

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        return (self.predicate,)

    @property
    def inputs(self) -> tuple[Predicate, ...]:
        return (self.external[self.predicate],)

    @property
    def identity(self) -> Hashable:
        return self.kind, self.predicate

    def path(self, shown: Shown) -> str:
        outside = Edge(self.inputs[0])
        return f"{shown(outside)} | {shown(outside.inverse)}"


class SymmetricDetection(Detection):
    """Takes the only recursive rule of a predicate if it is symmetry."""

    def of_component(self, component: Component, reader: RuleReader) -> Taken | Sequence[str]:
        rules = [read.rule for read in component.recursive]
        if len(component.predicates) > 1 or not rules or component.predicates[0] in reader.aliases.others:
            return ()
        found = self.inside(component.predicates[0], rules)
        return Taken(found) if found is not None and len(found.rules) == len(rules) else ()

    def inside(self, predicate: Predicate, rules: Sequence[Rule]) -> Symmetric | None:
        taken = tuple(rule for rule in rules if single(rule) == Edge(predicate, True))
        return Symmetric(predicate, taken, MappingProxyType({predicate: hidden(predicate)})) if taken else None


class SymmetricImplementation(ModuleImplementation[Symmetric]):
    """Lists the facts in both directions."""

    def derive(self, facts: FactSet, check: Check = unlimited) -> Relations:
        given = facts.relation(self.module.inputs[0])
        first, second = given.columns()
        return {self.module.predicate: given.plain() | Relation.from_columns([second, first])}


SYMMETRY = ModuleKind(Symmetric, SymmetricDetection(), SymmetricImplementation)
