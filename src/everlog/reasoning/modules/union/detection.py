"""Finds the rules that are virtual unions."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from everlog.analysis.modules.edges import Edge
from everlog.analysis.modules.hidden import hidden
from everlog.analysis.modules.module import Detection, Taken
from everlog.analysis.modules.reading import Component, RuleReader
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.modules.union.description import VirtualUnion

NO_USE = "without a closure below it, a relation that is kept does as well"


class UnionDetection(Detection):
    """Takes predicates that contain one of a module and are not recursive, except by symmetry, and all aliases."""

    def of_component(self, component: Component, reader: RuleReader) -> Taken | Sequence[str]:
        if len(component.predicates) > 1 or any(read.edge is None for read in component.recursive):
            return ()
        (predicate,) = component.predicates
        if not any(edge.predicate in reader.generators for edge in component.contained):
            return [NO_USE] * len(component.recursive)
        parts = [*reader.sources(predicate), *(read.edge for read in component.others if read.edge is not None)]
        if any(read.edge == Edge(predicate, True) for read in component.recursive):
            parts += [part.inverse for part in parts]
        reads = [read for read in (*component.recursive, *component.others) if read.edge is not None]
        rules = tuple(read.rule for read in reads if not read.makes_alias)
        external = MappingProxyType({predicate: hidden(predicate)})
        return Taken(VirtualUnion(predicate, tuple(dict.fromkeys(parts)), rules, external))

    def of_alias(self, predicate: Predicate, rules: Sequence[Rule], reader: RuleReader) -> VirtualUnion:
        part = reader.aliases.translate(Edge(predicate))
        return VirtualUnion(predicate, (part,), tuple(rules), MappingProxyType({predicate: hidden(predicate)}))
