"""Reads the axioms in an RDF graph (W3C, OWL 2 Mapping to RDF Graphs).

Files that do not follow the specification are read with some tolerance: a declaration may be missing, a class with a
name may be defined by a constructor itself as in OWL 1, and vocabulary of RDF Schema is understood where it is
equivalent. Triples in the vocabulary of OWL that cannot be understood are kept with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import get_args

from everlog.lang.printer import print_text
from everlog.owl import axioms as owl_axioms
from everlog.owl.axioms import Axiom, Kind, Ontology, Property, Unread
from everlog.owl.entities import DECLARATIONS, entities
from everlog.owl.expressions import CONSTRUCTORS, ExpressionReader, NotUnderstoodError
from everlog.owl.graph import BrokenListError, OntologyGraph, Triple
from everlog.owl.swrl import implication
from everlog.owl.vocabulary import (
    DIFFERENT,
    NOTHING,
    OWL,
    PREFIXES,
    SAME,
    SWRL,
    THING,
    TYPE,
    XSD,
    is_iri,
    owl,
    rdf,
    rdfs,
    swrl,
)

Found = Iterator[Axiom]
Handler = Callable[[str, str], Found]

CHARACTERISTICS: Mapping[str, Kind] = {owl(f"{kind}Property"): kind for kind in get_args(Kind)}

_STRUCTURE = CONSTRUCTORS | {
    *(rdf(name) for name in ("first", "rest", "langRange")),
    *(owl(name) for name in ("someValuesFrom", "allValuesFrom", "hasValue", "hasSelf", "onClass", "onDataRange")),
    *(owl(name) for name in ("minCardinality", "maxCardinality", "cardinality", "withRestrictions")),
    *(owl(name) for name in ("minQualifiedCardinality", "maxQualifiedCardinality", "qualifiedCardinality")),
    *(owl(name) for name in ("members", "distinctMembers", "annotatedSource", "annotatedProperty", "annotatedTarget")),
    *(owl(name) for name in ("sourceIndividual", "assertionProperty", "targetIndividual", "targetValue")),
    *(owl(name) for name in ("imports", "versionIRI")),
}
"""Predicates that describe a part of an axiom; these triples are read together with the axiom."""

AXIOM_PREDICATES = _STRUCTURE | {
    TYPE,
    SAME,
    DIFFERENT,
    *(rdfs(name) for name in ("subClassOf", "subPropertyOf", "domain", "range")),
}
"""Predicates of axioms about classes and properties, besides those of OWL itself."""


def ontology_of(graph: OntologyGraph) -> Ontology:
    """The axioms of a graph.

    >>> graph = OntologyGraph.of([("<A>", rdfs("subClassOf"), "<B>"), ("<a>", TYPE, "<A>")])
    >>> [type(axiom).__name__ for axiom in ontology_of(graph).axioms]
    ['SubClassOf', 'ClassAssertion']
    """
    return _Mapping(graph).run()


class _Mapping:
    """Reads the axioms in one pass over the triples of a graph."""

    def __init__(self, graph: OntologyGraph) -> None:
        self.graph = graph
        self.known = entities(graph)
        self.read = ExpressionReader(graph, self.known)
        self.annotations = 0
        self.handlers: Mapping[str, Handler] = {
            TYPE: self._type,
            rdfs("subClassOf"): self._sub_class,
            owl("equivalentClass"): self._equivalent_class,
            owl("disjointWith"): self._disjoint,
            owl("disjointUnionOf"): self._disjoint_union,
            rdfs("subPropertyOf"): self._sub_property,
            owl("propertyChainAxiom"): self._chain,
            owl("equivalentProperty"): self._equivalent_property,
            owl("propertyDisjointWith"): self._disjoint_property,
            owl("inverseOf"): self._inverse,
            rdfs("domain"): self._domain,
            rdfs("range"): self._range,
            owl("hasKey"): self._key,
            SAME: lambda one, other: iter([owl_axioms.SameIndividual((one, other))]),
            DIFFERENT: lambda one, other: iter([owl_axioms.DifferentIndividuals((one, other))]),
        }

    def run(self) -> Ontology:
        found: dict[Axiom, None] = {}
        unread: dict[Unread, None] = {}
        for triple in self.graph.triples:
            try:
                found.update(dict.fromkeys(self._axioms(*triple)))
            except (NotUnderstoodError, BrokenListError) as error:
                unread[Unread(_shown(triple), str(error))] = None
        return Ontology(
            tuple(found), tuple(unread), self.annotations, tuple(self._missing_imports()), self.known.data_properties
        )

    def _axioms(self, subject: str, predicate: str, value: str) -> Found:
        handler = self.handlers.get(predicate)
        if handler is not None:
            return handler(subject, value)
        if predicate in _STRUCTURE:
            return self._definition(subject) if predicate in CONSTRUCTORS and is_iri(subject) else iter(())
        if predicate.startswith((f"<{SWRL}", f"<{XSD}")):  # parts of rules, and facets of datatypes
            return iter(())
        return self._assertion(subject, predicate, value)

    # classes ------------------------------------------------------------------------------------

    def _sub_class(self, sub: str, sup: str) -> Found:
        yield owl_axioms.SubClassOf(self.read.expression(sub), self.read.expression(sup))

    def _equivalent_class(self, one: str, other: str) -> Found:
        if self.known.is_datatype(one) and is_iri(one):
            yield owl_axioms.DatatypeDefinition(one, self.read.expression(other))
        else:
            yield owl_axioms.EquivalentClasses((self.read.expression(one), self.read.expression(other)))

    def _definition(self, name: str) -> Found:
        """The axiom of a name that is described by a constructor directly."""
        expression = self.read.construct(name)
        if self.known.is_datatype(name):
            yield owl_axioms.DatatypeDefinition(name, expression)
        else:
            yield owl_axioms.EquivalentClasses((owl_axioms.Class(name), expression))

    def _disjoint(self, one: str, other: str) -> Found:
        yield owl_axioms.DisjointClasses((self.read.expression(one), self.read.expression(other)))

    def _disjoint_union(self, name: str, cell: str) -> Found:
        yield owl_axioms.DisjointUnion(self.read.expression(name), self.read.expressions(cell))

    def _key(self, name: str, cell: str) -> Found:
        yield owl_axioms.HasKey(self.read.expression(name), self.read.properties(cell))

    # properties ---------------------------------------------------------------------------------

    def _sub_property(self, sub: str, sup: str) -> Found:
        if self.known.is_annotation_property(sub):
            yield owl_axioms.AnnotationAxiom("SubAnnotationPropertyOf", sub, sup)
        else:
            yield owl_axioms.SubPropertyOf((self.read.property(sub),), self.read.property(sup))

    def _chain(self, name: str, cell: str) -> Found:
        yield owl_axioms.SubPropertyOf(self.read.properties(cell), self.read.property(name))

    def _equivalent_property(self, one: str, other: str) -> Found:
        yield owl_axioms.EquivalentProperties((self.read.property(one), self.read.property(other)))

    def _disjoint_property(self, one: str, other: str) -> Found:
        yield owl_axioms.DisjointProperties((self.read.property(one), self.read.property(other)))

    def _inverse(self, one: str, other: str) -> Found:
        if is_iri(one):  # otherwise it describes the inverse of a property
            yield owl_axioms.InverseProperties(Property(one), self.read.property(other))

    def _domain(self, name: str, expression: str) -> Found:
        if self.known.is_annotation_property(name):
            yield owl_axioms.AnnotationAxiom("AnnotationPropertyDomain", name, expression)
        else:
            yield owl_axioms.Domain(self.read.property(name), self.read.expression(expression))

    def _range(self, name: str, expression: str) -> Found:
        if self.known.is_annotation_property(name):
            yield owl_axioms.AnnotationAxiom("AnnotationPropertyRange", name, expression)
        else:
            yield owl_axioms.Range(self.read.property(name), self.read.expression(expression))

    # types --------------------------------------------------------------------------------------

    def _type(self, subject: str, kind: str) -> Found:
        if kind in DECLARATIONS:
            return
        if kind in CHARACTERISTICS:
            data = subject in self.known.data_properties
            yield owl_axioms.Characteristic(CHARACTERISTICS[kind], self.read.property(subject), data)
        elif kind in (THING, NOTHING) or not kind.startswith((f"<{OWL}", f"<{SWRL}")):
            yield owl_axioms.ClassAssertion(self.read.expression(kind), subject)
        elif kind == swrl("Imp"):
            yield implication(self.graph, self.read, subject)
        else:
            yield self._node(subject, kind)

    def _node(self, node: str, kind: str) -> Axiom:
        """The axiom that a node of its own stands for."""
        if kind == owl("NegativePropertyAssertion"):
            subject, name = self._only(node, "sourceIndividual"), self._only(node, "assertionProperty")
            value = self._only(node, "targetIndividual", "targetValue")
            return owl_axioms.NegativePropertyAssertion(self.read.property(name), subject, value)
        if kind == owl("AllDifferent"):
            cell = self._only(node, "members", "distinctMembers")
            return owl_axioms.DifferentIndividuals(self.graph.members(cell))
        if kind == owl("AllDisjointClasses"):
            return owl_axioms.DisjointClasses(self.read.expressions(self._only(node, "members")))
        if kind == owl("AllDisjointProperties"):
            return owl_axioms.DisjointProperties(self.read.properties(self._only(node, "members")))
        raise NotUnderstoodError("nothing is known about this type")

    def _only(self, node: str, *names: str) -> str:
        values = list(chain.from_iterable(self.graph.values(node, owl(name)) for name in names))
        if len(values) != 1:
            raise NotUnderstoodError(f"there must be one owl:{' or owl:'.join(names)}, not {len(values)}")
        return values[0]

    # assertions ---------------------------------------------------------------------------------

    def _assertion(self, subject: str, predicate: str, value: str) -> Found:
        if self._is_annotation(subject, predicate):
            self.annotations += 1
        elif predicate.startswith(f"<{OWL}") and not self.known.is_annotation_property(predicate):
            raise NotUnderstoodError("this is not vocabulary of OWL 2")
        else:
            yield owl_axioms.PropertyAssertion(Property(predicate), subject, value)

    def _is_annotation(self, subject: str, predicate: str) -> bool:
        """Whether a triple annotates the ontology rather than describes its individuals."""
        return self.known.is_schema(subject) and not self.known.is_declared(predicate)

    def _missing_imports(self) -> Iterator[str]:
        names = self.known.ontologies
        given = names | {version for name in names for version in self.graph.values(name, owl("versionIRI"))}
        imported = [value for _, predicate, value in self.graph.triples if predicate == owl("imports")]
        return (name for name in dict.fromkeys(imported) if name not in given)


def _shown(triple: Triple) -> str:
    return " ".join(print_text(term, PREFIXES) for term in triple)
