"""Reading SWRL rules, which many ontologies have beside their axioms."""

from __future__ import annotations

from everlog.owl.axioms import Implication, Property, RuleAtom
from everlog.owl.expressions import ExpressionReader
from everlog.owl.graph import NotUnderstoodError, OntologyGraph
from everlog.owl.vocabulary import DIFFERENT, SAME, swrl

_BINARY = {
    swrl("IndividualPropertyAtom"): None,
    swrl("DatavaluedPropertyAtom"): None,
    swrl("SameIndividualAtom"): SAME,
    swrl("DifferentIndividualsAtom"): DIFFERENT,
}


def implication(graph: OntologyGraph, read: ExpressionReader, node: str) -> Implication:
    """The rule that a node of type ``swrl:Imp`` stands for."""
    body = tuple(_atom(graph, read, atom) for atom in _list(graph, node, "body"))
    head = tuple(_atom(graph, read, atom) for atom in _list(graph, node, "head"))
    arguments = dict.fromkeys(term for atom in body + head for term in atom.arguments)
    return Implication(body, head, tuple(term for term in arguments if swrl("Variable") in graph.types(term)))


def _list(graph: OntologyGraph, node: str, name: str) -> tuple[str, ...]:
    cells = graph.values(node, swrl(name))
    return graph.members(cells[0]) if cells else ()


def _atom(graph: OntologyGraph, read: ExpressionReader, node: str) -> RuleAtom:
    kinds = set(graph.types(node))
    if swrl("ClassAtom") in kinds:
        return RuleAtom(read.expression(_only(graph, node, "classPredicate")), (_only(graph, node, "argument1"),))
    for kind, name in _BINARY.items():
        if kind in kinds:
            found = read.property(_only(graph, node, "propertyPredicate")) if name is None else Property(name)
            return RuleAtom(found, (_only(graph, node, "argument1"), _only(graph, node, "argument2")))
    raise NotUnderstoodError("atoms of SWRL other than classes, properties and equality are not supported")


def _only(graph: OntologyGraph, node: str, name: str) -> str:
    values = graph.values(node, swrl(name))
    if len(values) != 1:
        raise NotUnderstoodError(f"an atom needs one swrl:{name}")
    return values[0]
