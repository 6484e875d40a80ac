"""Expressions and axioms of ontologies, as in the structural specification of OWL 2.

Names of classes, properties and individuals are texts of constants (see :mod:`everlog.lang.terms`). Object and data
properties have one type, and so do the restrictions on them: where the difference matters, it follows from the filler,
which is a class or a data range. All types are frozen and compare by content.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Name = str
"""The text of an IRI."""

Individual = str
"""The text of an individual or a literal."""


@dataclass(frozen=True, slots=True)
class Property:
    """A property or the inverse of one."""

    name: Name
    inverted: bool = False

    @property
    def inverse(self) -> Property:
        return Property(self.name, not self.inverted)


@dataclass(frozen=True, slots=True)
class Expression:
    """A class expression or a data range."""


@dataclass(frozen=True, slots=True)
class Class(Expression):
    """A class by its name."""

    name: Name


@dataclass(frozen=True, slots=True)
class Datatype(Expression):
    """A datatype by its name."""

    name: Name


@dataclass(frozen=True, slots=True)
class Facets(Expression):
    """A datatype with facets: each the name of a facet and a literal."""

    datatype: Name
    facets: tuple[tuple[Name, Individual], ...]


@dataclass(frozen=True, slots=True)
class Intersection(Expression):
    """An intersection ``C1 and ... and Cn``."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ClassUnion(Expression):
    """A union ``C1 or ... or Cn``."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Complement(Expression):
    """A complement ``not C``."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class OneOf(Expression):
    """An enumeration of individuals or literals."""

    members: tuple[Individual, ...]


@dataclass(frozen=True, slots=True)
class SomeValues(Expression):
    """An existential restriction ``p some C``."""

    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class AllValues(Expression):
    """A universal restriction ``p only C``."""

    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class HasValue(Expression):
    """A restriction to a value, ``p value a``."""

    property: Property
    value: Individual


@dataclass(frozen=True, slots=True)
class HasSelf(Expression):
    """A restriction to reflexive pairs, ``p Self``."""

    property: Property


@dataclass(frozen=True, slots=True)
class Cardinality(Expression):
    """A cardinality restriction ``p min n C``, ``p max n C`` or ``p exactly n C``."""

    kind: Literal["Min", "Max", "Exact"]
    number: int
    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class Axiom:
    """An axiom, or a rule among the axioms."""


@dataclass(frozen=True, slots=True)
class SubClassOf(Axiom):
    """Every instance of the first class is an instance of the second."""

    sub: Expression
    sup: Expression


@dataclass(frozen=True, slots=True)
class EquivalentClasses(Axiom):
    """The classes have the same instances."""

    classes: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class DisjointClasses(Axiom):
    """No two of the classes share an instance."""

    classes: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class DisjointUnion(Axiom):
    """A class is the union of others, no two of which share an instance."""

    name: Expression
    classes: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class SubPropertyOf(Axiom):
    """A chain of properties, usually of one, implies another property."""

    chain: tuple[Property, ...]
    sup: Property


@dataclass(frozen=True, slots=True)
class EquivalentProperties(Axiom):
    """The properties relate the same pairs."""

    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class DisjointProperties(Axiom):
    """No two of the properties relate the same pair."""

    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class InverseProperties(Axiom):
    """Each property is the inverse of the other."""

    first: Property
    second: Property


@dataclass(frozen=True, slots=True)
class Domain(Axiom):
    """Every individual that has the property is in the class."""

    property: Property
    expression: Expression


@dataclass(frozen=True, slots=True)
class Range(Axiom):
    """The values of the property are in the class or data range."""

    property: Property
    expression: Expression


Kind = Literal["Functional", "InverseFunctional", "Reflexive", "Irreflexive", "Symmetric", "Asymmetric", "Transitive"]


@dataclass(frozen=True, slots=True)
class Characteristic(Axiom):
    """A property is functional, transitive and so on. ``data`` is whether its values are literals."""

    kind: Kind
    property: Property
    data: bool = False


@dataclass(frozen=True, slots=True)
class HasKey(Axiom):
    """Instances of the class with equal values of all the properties are equal."""

    expression: Expression
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class SameIndividual(Axiom):
    """All names stand for one individual."""

    individuals: tuple[Individual, ...]


@dataclass(frozen=True, slots=True)
class DifferentIndividuals(Axiom):
    """No two of the names stand for one individual."""

    individuals: tuple[Individual, ...]


@dataclass(frozen=True, slots=True)
class ClassAssertion(Axiom):
    """An individual is in a class."""

    expression: Expression
    individual: Individual


@dataclass(frozen=True, slots=True)
class PropertyAssertion(Axiom):
    """An individual has a value of a property."""

    property: Property
    subject: Individual
    value: Individual


@dataclass(frozen=True, slots=True)
class NegativePropertyAssertion(Axiom):
    """An individual does not have a value of a property."""

    property: Property
    subject: Individual
    value: Individual


@dataclass(frozen=True, slots=True)
class DatatypeDefinition(Axiom):
    """A datatype is defined by a data range."""

    name: Name
    expression: Expression


AnnotationKind = Literal["SubAnnotationPropertyOf", "AnnotationPropertyDomain", "AnnotationPropertyRange"]


@dataclass(frozen=True, slots=True)
class AnnotationAxiom(Axiom):
    """A hierarchy, domain or range of annotation properties."""

    kind: AnnotationKind
    property: Name
    value: Name


@dataclass(frozen=True, slots=True)
class RuleAtom:
    """An atom of a rule: a class of one argument, or a property, ``owl:sameAs`` or ``owl:differentFrom`` of two.

    Arguments are texts of constants, or variables as their IRI in ``variables`` of the rule.
    """

    predicate: Expression | Property
    arguments: tuple[Individual, ...]


@dataclass(frozen=True, slots=True)
class Implication(Axiom):
    """A SWRL rule: if all atoms of the body hold, so do those of the head."""

    body: tuple[RuleAtom, ...]
    head: tuple[RuleAtom, ...]
    variables: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Unread:
    """Triples in the vocabulary of OWL that are not an axiom, and the reason."""

    text: str
    reason: str


@dataclass(frozen=True)
class Ontology:
    """The axioms of some files, in their order, with triples that could not be read, annotations and imports."""

    axioms: tuple[Axiom, ...]
    unread: tuple[Unread, ...] = ()
    annotations: int = 0
    """The number of annotations of classes, properties, axioms and ontologies."""
    missing_imports: tuple[Name, ...] = ()
    """Ontologies that are imported and were not given."""
    data_properties: frozenset[Name] = frozenset()
