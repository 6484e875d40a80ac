"""Class expressions, data ranges and property expressions, read from their triples."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from everlog.owl import axioms
from everlog.owl.axioms import Expression, Property
from everlog.owl.entities import DeclaredEntities
from everlog.owl.graph import NotUnderstoodError, OntologyGraph
from everlog.owl.vocabulary import is_blank, is_iri, is_literal, owl

_NUMBER = re.compile(r'"?\+?(\d+)(?:"\^\^<.*>)?')

_CARDINALITIES = {
    owl("minCardinality"): ("Min", False),
    owl("maxCardinality"): ("Max", False),
    owl("cardinality"): ("Exact", False),
    owl("minQualifiedCardinality"): ("Min", True),
    owl("maxQualifiedCardinality"): ("Max", True),
    owl("qualifiedCardinality"): ("Exact", True),
}

CONSTRUCTORS = frozenset(
    {
        *(owl(name) for name in ("intersectionOf", "unionOf", "complementOf", "datatypeComplementOf", "oneOf")),
        *(owl(name) for name in ("onDatatype", "onProperty", "onProperties")),
    }
)
"""Predicates of constructors: every expression that is not a name has one of them."""


class ExpressionReader:
    """Reads the expressions of one graph; each node is read once."""

    def __init__(self, graph: OntologyGraph, known: DeclaredEntities) -> None:
        self.graph = graph
        self.known = known
        self._read: dict[str, Expression] = {}
        self._reading: set[str] = set()
        self._operators: Mapping[str, Callable[[str, str], Expression]] = {
            owl("intersectionOf"): lambda _, cell: axioms.Intersection(self.expressions(cell)),
            owl("unionOf"): lambda _, cell: axioms.ClassUnion(self.expressions(cell)),
            owl("complementOf"): lambda _, operand: axioms.Complement(self.expression(operand)),
            owl("datatypeComplementOf"): lambda _, operand: axioms.Complement(self.expression(operand)),
            owl("oneOf"): lambda _, cell: axioms.OneOf(graph.members(cell)),
            owl("onDatatype"): self._facets,
            owl("onProperties"): self._of_several,
        }

    def expression(self, node: str) -> Expression:
        """The class expression or data range that a node stands for."""
        if is_literal(node):
            raise NotUnderstoodError("a literal stands where a class is expected")
        if is_iri(node):
            return axioms.Datatype(node) if self.known.is_datatype(node) else axioms.Class(node)
        return self.construct(node)

    def construct(self, node: str) -> Expression:
        """The expression that is described at a node, which may have a name too."""
        if node not in self._read:
            if node in self._reading:
                raise NotUnderstoodError("an expression contains itself")
            self._reading.add(node)
            try:
                self._read[node] = self._construct(node)
            finally:
                self._reading.discard(node)
        return self._read[node]

    def property(self, node: str) -> Property:
        """The property, or the inverse of one, that a node stands for."""
        if is_iri(node):
            return Property(node)
        inverse = self.graph.values(node, owl("inverseOf"))
        if is_blank(node) and len(inverse) == 1 and inverse[0] != node:
            return self.property(inverse[0]).inverse
        raise NotUnderstoodError("a property is a name or the inverse of one")

    def _construct(self, node: str) -> Expression:
        statements = self.graph.about(node)
        found = [name for name in statements if name in CONSTRUCTORS]
        if len(found) != 1:
            what = "nothing says what a class is" if not found else "a class is described in two ways at once"
            raise NotUnderstoodError(what)
        constructor, values = found[0], statements[found[0]]
        if len(values) != 1:
            raise NotUnderstoodError(f"{_short(constructor)} is given twice")
        if constructor == owl("onProperty"):
            return self._restriction(statements, self.property(values[0]))
        return self._operators[constructor](node, values[0])

    def expressions(self, cell: str) -> tuple[Expression, ...]:
        return tuple(self.expression(member) for member in self.graph.members(cell))

    def properties(self, cell: str) -> tuple[Property, ...]:
        return tuple(self.property(member) for member in self.graph.members(cell))

    def _of_several(self, node: str, cell: str) -> Expression:
        raise NotUnderstoodError("restrictions on several data properties at once are not supported")

    def _facets(self, node: str, datatype: str) -> Expression:
        facets = []
        for cell in self.graph.values(node, owl("withRestrictions")):
            for member in self.graph.members(cell):
                facets += [(facet, value) for facet, values in self.graph.about(member).items() for value in values]
        return axioms.Facets(datatype, tuple(facets))

    def _restriction(self, statements: Mapping[str, Sequence[str]], property: Property) -> Expression:
        kinds = [name for name in statements if name in _CARDINALITIES or name in _RESTRICTIONS]
        if len(kinds) != 1 or len(statements[kinds[0]]) != 1:
            raise NotUnderstoodError("a restriction needs exactly one condition on its property")
        kind, value = kinds[0], statements[kinds[0]][0]
        if kind in _CARDINALITIES:
            return self._cardinality(statements, property, kind, value)
        if kind == owl("someValuesFrom"):
            return axioms.SomeValues(property, self.expression(value))
        if kind == owl("allValuesFrom"):
            return axioms.AllValues(property, self.expression(value))
        if kind == owl("hasValue"):
            return axioms.HasValue(property, value)
        if value != "true":
            raise NotUnderstoodError("hasSelf is true or left out")
        return axioms.HasSelf(property)

    def _cardinality(
        self, statements: Mapping[str, Sequence[str]], property: Property, kind: str, value: str
    ) -> Expression:
        name, qualified = _CARDINALITIES[kind]
        number = _NUMBER.fullmatch(value)
        if number is None:
            raise NotUnderstoodError(f"{_short(kind)} is not a number")
        filler = self.known.everything(property.name)
        if qualified:
            given = [*statements.get(owl("onClass"), ()), *statements.get(owl("onDataRange"), ())]
            if len(given) != 1:
                raise NotUnderstoodError("a qualified cardinality needs one onClass or onDataRange")
            filler = given[0]
        assert name in ("Min", "Max", "Exact")
        return axioms.Cardinality(name, int(number[1]), property, self.expression(filler))  # type: ignore[arg-type]


_RESTRICTIONS = frozenset(owl(name) for name in ("someValuesFrom", "allValuesFrom", "hasValue", "hasSelf"))


def _short(name: str) -> str:
    return f"owl:{name[1:-1].rpartition('#')[2]}"
