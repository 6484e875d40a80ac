"""Declarations of the names of an ontology."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from everlog.owl.graph import OntologyGraph
from everlog.owl.vocabulary import (
    BUILT_IN_ANNOTATIONS,
    LITERAL,
    THING,
    TYPE,
    is_blank,
    is_datatype_name,
    owl,
    rdf,
    rdfs,
    swrl,
)

OBJECT_KINDS = frozenset(
    owl(f"{kind}Property")
    for kind in ("Object", "InverseFunctional", "Reflexive", "Irreflexive", "Symmetric", "Asymmetric", "Transitive")
)
"""Types that make a property an object property."""

CLASS_TYPES = frozenset({owl("Class"), rdfs("Class"), owl("DeprecatedClass")})
DATATYPE_TYPES = frozenset({rdfs("Datatype"), owl("DataRange")})
ANNOTATED_TYPES = frozenset({owl("Axiom"), owl("Annotation")})
OTHER_DECLARATIONS = frozenset(
    {
        *(owl(name) for name in ("Restriction", "Ontology", "NamedIndividual", "OntologyProperty")),
        *(owl(name) for name in ("DatatypeProperty", "AnnotationProperty", "DeprecatedProperty", "ObjectProperty")),
        *(rdf(name) for name in ("List", "Property", "Bag", "Seq", "Alt", "Statement")),
        *(swrl(name) for name in ("AtomList", "Variable", "ClassAtom", "IndividualPropertyAtom", "BuiltinAtom")),
        *(swrl(name) for name in ("DatavaluedPropertyAtom", "DataRangeAtom", "SameIndividualAtom", "Builtin")),
        swrl("DifferentIndividualsAtom"),
        rdfs("ContainerMembershipProperty"),
    }
)
DECLARATIONS = CLASS_TYPES | DATATYPE_TYPES | ANNOTATED_TYPES | OTHER_DECLARATIONS
"""Types that only declare a name."""


@dataclass(frozen=True)
class DeclaredEntities:
    """The declared names by their types."""

    classes: frozenset[str]
    datatypes: frozenset[str]
    object_properties: frozenset[str]
    data_properties: frozenset[str]
    annotation_properties: frozenset[str]
    rdf_properties: frozenset[str]
    """Properties of RDF, which may be of any kind."""
    ontologies: frozenset[str]
    annotations: frozenset[str]
    """Blank nodes that stand for an axiom or an annotation that is annotated."""
    individuals: frozenset[str]

    def is_datatype(self, name: str) -> bool:
        return name in self.datatypes or is_datatype_name(name)

    def is_annotation_property(self, name: str) -> bool:
        """Whether a property is for annotations only."""
        return name in BUILT_IN_ANNOTATIONS or (name in self.annotation_properties and not self.is_declared(name))

    def is_declared(self, name: str) -> bool:
        """Whether a name is an object or data property."""
        return name in self.object_properties or name in self.data_properties

    def is_schema(self, name: str) -> bool:
        """Whether a name is a class, property, datatype, ontology or axiom rather than an individual."""
        return name in self.schema and name not in self.individuals

    @cached_property
    def schema(self) -> frozenset[str]:
        """All names that are declared to be something other than an individual."""
        return frozenset().union(*(names for kind, names in vars(self).items() if kind != "individuals"))

    def everything(self, property: str) -> str:
        """The class that has every value of a property: literals or things."""
        return LITERAL if property in self.data_properties else THING


def entities(graph: OntologyGraph) -> DeclaredEntities:
    """The declarations in a graph.

    >>> found = entities(OntologyGraph.of([("<p>", TYPE, owl("DatatypeProperty")), ("<C>", TYPE, owl("Class"))]))
    >>> found.is_schema("<C>"), found.everything("<p>") == LITERAL
    (True, True)
    """
    typed: dict[str, set[str]] = {}
    for subject, predicate, value in graph.triples:
        if predicate == TYPE:
            typed.setdefault(value, set()).add(subject)

    def of(types: Iterable[str]) -> frozenset[str]:
        return frozenset().union(*(typed.get(each, ()) for each in types))

    named = frozenset(name for name in of(CLASS_TYPES) if not is_blank(name))
    return DeclaredEntities(
        classes=named,
        datatypes=of(DATATYPE_TYPES),
        object_properties=of(OBJECT_KINDS),
        data_properties=of([owl("DatatypeProperty")]),
        annotation_properties=of([owl("AnnotationProperty"), owl("OntologyProperty")]),
        rdf_properties=of([rdf("Property")]),
        ontologies=of([owl("Ontology")]),
        annotations=of(ANNOTATED_TYPES),
        individuals=of([owl("NamedIndividual")]),
    )
