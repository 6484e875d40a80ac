"""Axioms as text, for messages and comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, fields
from typing import Any

from everlog.lang.printer import NO_PREFIXES, print_text
from everlog.owl import axioms as owl

Node = owl.Axiom | owl.Expression | owl.Property | owl.RuleAtom

WORDS: Mapping[type, str] = {
    owl.Intersection: "IntersectionOf",
    owl.ClassUnion: "UnionOf",
    owl.Complement: "ComplementOf",
    owl.SomeValues: "SomeValuesFrom",
    owl.AllValues: "AllValuesFrom",
    owl.Domain: "PropertyDomain",
    owl.Range: "PropertyRange",
}
"""The names of axioms and expressions that differ from the names of their classes."""


def functional(node: Node, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """An axiom or expression in functional-style syntax, without the words Object and Data.

    >>> a, b = owl.Class("<http://e.org/A>"), owl.Class("<http://e.org/B>")
    >>> some = owl.SomeValues(owl.Property("<http://e.org/p>", inverted=True), owl.ClassUnion((a, b)))
    >>> functional(owl.SubClassOf(a, some), {"": "http://e.org/"})
    'SubClassOf(:A SomeValuesFrom(InverseOf(:p) UnionOf(:A :B)))'
    """

    def call(name: str, *parts: Any) -> str:
        return f"{name}({' '.join(each(part) for part in _flat(parts))})"

    def each(part: Any) -> str:
        if isinstance(part, str):
            return print_text(part, prefixes)
        return str(part) if isinstance(part, int) else functional(part, prefixes)

    match node:
        case owl.Property(name, inverted):
            return call("InverseOf", name) if inverted else each(name)
        case owl.Class(name) | owl.Datatype(name):
            return each(name)
        case owl.Facets():
            return call("DatatypeRestriction", *astuple(node))
        case owl.Cardinality(kind=kind):
            return call(f"{kind}Cardinality", node.number, node.property, node.filler)
        case owl.SubPropertyOf(chain, above):
            shown = each(chain[0]) if len(chain) == 1 else call("PropertyChain", chain)
            return f"SubPropertyOf({shown} {each(above)})"
        case owl.Characteristic(kind, property):
            return call(f"{kind}Property", property)
        case owl.AnnotationAxiom(kind, name, value):
            return call(kind, name, value)
        case owl.RuleAtom(predicate, arguments):
            return call(each(predicate), arguments)
        case owl.Implication(body, head):
            return f"DLSafeRule({call('Body', body)} {call('Head', head)})"
    return call(WORDS.get(type(node), type(node).__name__), *(getattr(node, field.name) for field in fields(node)))


def _flat(parts: Any) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, tuple):
            yield from _flat(part)
        else:
            yield part
