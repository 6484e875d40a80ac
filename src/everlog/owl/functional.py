"""Axioms as text, for messages and comments."""

from __future__ import annotations

from collections.abc import Mapping

from everlog.lang.printer import NO_PREFIXES, print_text
from everlog.owl import axioms as owl

Node = owl.Axiom | owl.Expression | owl.Property | owl.RuleAtom


def functional(node: Node, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """An axiom or expression in functional-style syntax, without the words Object and Data.

    >>> a, b = owl.Class("<http://e.org/A>"), owl.Class("<http://e.org/B>")
    >>> some = owl.SomeValues(owl.Property("<http://e.org/p>", inverted=True), owl.ClassUnion((a, b)))
    >>> functional(owl.SubClassOf(a, some), {"": "http://e.org/"})
    'SubClassOf(:A SomeValuesFrom(InverseOf(:p) UnionOf(:A :B)))'
    """

    def call(name: str, *parts: Node | tuple[Node, ...] | str | tuple[str, ...] | int) -> str:
        flat: list[str] = []
        for part in parts:
            flat += map(each, part) if isinstance(part, tuple) else [each(part)]
        return f"{name}({' '.join(flat)})"

    def each(part: Node | str | int) -> str:
        if isinstance(part, str):
            return print_text(part, prefixes)
        return str(part) if isinstance(part, int) else functional(part, prefixes)

    match node:
        case owl.Property(name, inverted):
            return call("InverseOf", name) if inverted else each(name)
        case owl.Class(name) | owl.Datatype(name):
            return each(name)
        case owl.Facets(datatype, facets):
            return call("DatatypeRestriction", datatype, tuple(text for facet in facets for text in facet))
        case owl.Intersection(operands):
            return call("IntersectionOf", operands)
        case owl.ClassUnion(operands):
            return call("UnionOf", operands)
        case owl.Complement(operand):
            return call("ComplementOf", operand)
        case owl.OneOf(members):
            return call("OneOf", members)
        case owl.SomeValues(property, filler):
            return call("SomeValuesFrom", property, filler)
        case owl.AllValues(property, filler):
            return call("AllValuesFrom", property, filler)
        case owl.HasValue(property, value):
            return call("HasValue", property, value)
        case owl.HasSelf(property):
            return call("HasSelf", property)
        case owl.Cardinality(kind, number, property, filler):
            return call(f"{kind}Cardinality", number, property, filler)
        case owl.SubClassOf(sub, sup):
            return call("SubClassOf", sub, sup)
        case owl.EquivalentClasses(classes):
            return call("EquivalentClasses", classes)
        case owl.DisjointClasses(classes):
            return call("DisjointClasses", classes)
        case owl.DisjointUnion(defined, classes):
            return call("DisjointUnion", defined, classes)
        case owl.SubPropertyOf(chain, sup_property):
            below = chain[0] if len(chain) == 1 else None
            shown = functional(below, prefixes) if below is not None else call("PropertyChain", chain)
            return f"SubPropertyOf({shown} {each(sup_property)})"
        case owl.EquivalentProperties(properties):
            return call("EquivalentProperties", properties)
        case owl.DisjointProperties(properties):
            return call("DisjointProperties", properties)
        case owl.InverseProperties(first, second):
            return call("InverseProperties", first, second)
        case owl.Domain(property, expression):
            return call("PropertyDomain", property, expression)
        case owl.Range(property, expression):
            return call("PropertyRange", property, expression)
        case owl.Characteristic(kind_, property):
            return call(f"{kind_}Property", property)
        case owl.HasKey(expression, properties):
            return call("HasKey", expression, properties)
        case owl.SameIndividual(individuals):
            return call("SameIndividual", individuals)
        case owl.DifferentIndividuals(individuals):
            return call("DifferentIndividuals", individuals)
        case owl.ClassAssertion(expression, individual):
            return call("ClassAssertion", expression, individual)
        case owl.PropertyAssertion(property, subject, value):
            return call("PropertyAssertion", property, subject, value)
        case owl.NegativePropertyAssertion(property, subject, value):
            return call("NegativePropertyAssertion", property, subject, value)
        case owl.DatatypeDefinition(name, expression):
            return call("DatatypeDefinition", name, expression)
        case owl.AnnotationAxiom(kind__, name, value):
            return call(kind__, name, value)
        case owl.RuleAtom(predicate, arguments):
            return f"{functional(predicate, prefixes)}({' '.join(map(each, arguments))})"
        case owl.Implication(body, head):
            return f"DLSafeRule({call('Body', body)} {call('Head', head)})"
