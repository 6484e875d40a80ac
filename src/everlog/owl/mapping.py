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
from everlog.owl import axioms
from everlog.owl.axioms import AnnotationKind, Axiom, Kind, Ontology, Property, Unread
from everlog.owl.entities import DECLARATIONS, entities
from everlog.owl.expressions import CONSTRUCTORS, ExpressionReader
from everlog.owl.graph import NotUnderstoodError, OntologyGraph, Triple
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

Handler = Callable[[str, str], Axiom | None]

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


ANNOTATION_AXIOMS: Mapping[str, AnnotationKind] = {
    rdfs("subPropertyOf"): "SubAnnotationPropertyOf",
    rdfs("domain"): "AnnotationPropertyDomain",
    rdfs("range"): "AnnotationPropertyRange",
}
"""The axioms of properties that have another meaning for annotation properties."""


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
        expression, expressions = self.read.expression, self.read.expressions
        property, properties = self.read.property, self.read.properties
        self.handlers: Mapping[str, Handler] = {
            TYPE: self._type,
            SAME: lambda one, other: axioms.SameIndividual((one, other)),
            DIFFERENT: lambda one, other: axioms.DifferentIndividuals((one, other)),
            rdfs("subClassOf"): lambda sub, sup: axioms.SubClassOf(expression(sub), expression(sup)),
            owl("equivalentClass"): self._equivalent_class,
            owl("disjointWith"): lambda one, other: axioms.DisjointClasses((expression(one), expression(other))),
            owl("disjointUnionOf"): lambda name, cell: axioms.DisjointUnion(expression(name), expressions(cell)),
            owl("hasKey"): lambda name, cell: axioms.HasKey(expression(name), properties(cell)),
            rdfs("subPropertyOf"): lambda sub, sup: axioms.SubPropertyOf((property(sub),), property(sup)),
            owl("propertyChainAxiom"): lambda name, cell: axioms.SubPropertyOf(properties(cell), property(name)),
            owl("equivalentProperty"): lambda one, other: axioms.EquivalentProperties((property(one), property(other))),
            owl("propertyDisjointWith"): lambda one, other: axioms.DisjointProperties((property(one), property(other))),
            owl("inverseOf"): self._inverse,
            rdfs("domain"): lambda name, of: axioms.Domain(property(name), expression(of)),
            rdfs("range"): lambda name, of: axioms.Range(property(name), expression(of)),
        }

    def run(self) -> Ontology:
        found: dict[Axiom, None] = {}
        unread: dict[Unread, None] = {}
        for triple in self.graph.triples:
            try:
                axiom = self._axiom(*triple)
            except NotUnderstoodError as error:
                unread[Unread(_shown(triple), str(error))] = None
                continue
            if axiom is not None:
                found[axiom] = None
        return Ontology(
            tuple(found), tuple(unread), self.annotations, tuple(self._missing_imports()), self.known.data_properties
        )

    def _axiom(self, subject: str, predicate: str, value: str) -> Axiom | None:
        """The axiom that a triple stands for, None if it is a part of one, a declaration or an annotation."""
        if predicate in ANNOTATION_AXIOMS and self.known.is_annotation_property(subject):
            return axioms.AnnotationAxiom(ANNOTATION_AXIOMS[predicate], subject, value)
        handler = self.handlers.get(predicate)
        if handler is not None:
            return handler(subject, value)
        if predicate in _STRUCTURE:
            return self._definition(subject) if predicate in CONSTRUCTORS and is_iri(subject) else None
        if predicate.startswith((f"<{SWRL}", f"<{XSD}")):  # parts of rules, and facets of datatypes
            return None
        return self._assertion(subject, predicate, value)

    # classes and properties ---------------------------------------------------------------------

    def _equivalent_class(self, one: str, other: str) -> Axiom:
        if self.known.is_datatype(one) and is_iri(one):
            return axioms.DatatypeDefinition(one, self.read.expression(other))
        return axioms.EquivalentClasses((self.read.expression(one), self.read.expression(other)))

    def _definition(self, name: str) -> Axiom:
        """The axiom of a name that is described by a constructor directly."""
        expression = self.read.construct(name)
        if self.known.is_datatype(name):
            return axioms.DatatypeDefinition(name, expression)
        return axioms.EquivalentClasses((axioms.Class(name), expression))

    def _inverse(self, one: str, other: str) -> Axiom | None:
        """The axiom for ``owl:inverseOf``, which for a blank node describes the inverse of a property instead."""
        return axioms.InverseProperties(Property(one), self.read.property(other)) if is_iri(one) else None

    # types --------------------------------------------------------------------------------------

    def _type(self, subject: str, kind: str) -> Axiom | None:
        if kind in DECLARATIONS:
            return None
        if kind in CHARACTERISTICS:
            data = subject in self.known.data_properties
            return axioms.Characteristic(CHARACTERISTICS[kind], self.read.property(subject), data)
        if kind in (THING, NOTHING) or not kind.startswith((f"<{OWL}", f"<{SWRL}")):
            return axioms.ClassAssertion(self.read.expression(kind), subject)
        if kind == swrl("Imp"):
            return implication(self.graph, self.read, subject)
        return self._node(subject, kind)

    def _node(self, node: str, kind: str) -> Axiom:
        """The axiom that a node of its own stands for."""
        if kind == owl("NegativePropertyAssertion"):
            subject, name = self._only(node, "sourceIndividual"), self._only(node, "assertionProperty")
            value = self._only(node, "targetIndividual", "targetValue")
            return axioms.NegativePropertyAssertion(self.read.property(name), subject, value)
        if kind == owl("AllDifferent"):
            cell = self._only(node, "members", "distinctMembers")
            return axioms.DifferentIndividuals(self.graph.members(cell))
        if kind == owl("AllDisjointClasses"):
            return axioms.DisjointClasses(self.read.expressions(self._only(node, "members")))
        if kind == owl("AllDisjointProperties"):
            return axioms.DisjointProperties(self.read.properties(self._only(node, "members")))
        raise NotUnderstoodError("nothing is known about this type")

    def _only(self, node: str, *names: str) -> str:
        values = list(chain.from_iterable(self.graph.values(node, owl(name)) for name in names))
        if len(values) != 1:
            raise NotUnderstoodError(f"there must be one owl:{' or owl:'.join(names)}, not {len(values)}")
        return values[0]

    # assertions ---------------------------------------------------------------------------------

    def _assertion(self, subject: str, predicate: str, value: str) -> Axiom | None:
        if self._is_annotation(subject, predicate):
            self.annotations += 1
            return None
        if predicate.startswith(f"<{OWL}") and not self.known.is_annotation_property(predicate):
            raise NotUnderstoodError("this is not vocabulary of OWL 2")
        return axioms.PropertyAssertion(Property(predicate), subject, value)

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
