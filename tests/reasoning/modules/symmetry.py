"""A kind of modules in one file, as CONTRIBUTING.md asks for it: symmetry without transitivity.

``p(?x, ?y) :- p(?y, ?x) .`` makes p the union of what comes from elsewhere and its inverse. Only what a kind has to
have is here; all else is by default. :data:`SYMMETRY` is the line of registration.
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
from everlog.reasoning.modules.kinds import Kind


@dataclass(frozen=True)
class Symmetric(SpecialModule):
    """The predicate is what comes from elsewhere, and the inverse of that."""

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
    """Takes the one recursive rule of a predicate if that is symmetry."""

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
    """Lists both directions."""

    def derive(self, facts: FactSet, check: Check = unlimited) -> Relations:
        given = facts.relation(self.module.inputs[0])
        first, second = given.columns()
        return {self.module.predicate: given.plain() | Relation.from_columns([second, first])}


SYMMETRY = Kind(Symmetric, SymmetricDetection(), SymmetricImplementation)
