"""Finite interpretations: the meaning of expressions, axioms and clauses, computed from the definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from everlog.lang.syntax import Atom, Constant, Rule, Term, Variable, Wildcard
from everlog.owl import axioms as owl
from everlog.owl.clauses import AtLeastValues, Clause, Equal, Head, Signed
from everlog.owl.vocabulary import NOTHING, SAME, THING, VIOLATION

Element = int
Bindings = Mapping[Term, Element]


@dataclass(frozen=True)
class Interpretation:
    """Elements, and the meanings of the names of classes, properties and individuals."""

    size: int
    classes: Mapping[str, frozenset[Element]]
    properties: Mapping[str, frozenset[tuple[Element, Element]]]
    individuals: Mapping[str, Element]

    @property
    def elements(self) -> range:
        return range(self.size)

    def pairs(self, property: owl.Property) -> frozenset[tuple[Element, Element]]:
        pairs = self.properties[property.name]
        return frozenset((y, x) for x, y in pairs) if property.inverted else pairs

    def values(self, property: owl.Property, element: Element) -> frozenset[Element]:
        return frozenset(y for x, y in self.pairs(property) if x == element)

    def holds(self, expression: owl.Expression, x: Element) -> bool:
        """Whether an element is in a class expression, by the definition of OWL's direct semantics."""
        match expression:
            case owl.Class(name):
                return name == THING or (name != NOTHING and x in self.classes[name])
            case owl.Intersection(operands):
                return all(self.holds(each, x) for each in operands)
            case owl.ClassUnion(operands):
                return any(self.holds(each, x) for each in operands)
            case owl.Complement(operand):
                return not self.holds(operand, x)
            case owl.OneOf(members):
                return x in {self.individuals[member] for member in members}
            case owl.SomeValues(property, filler):
                return any(self.holds(filler, y) for y in self.values(property, x))
            case owl.AllValues(property, filler):
                return all(self.holds(filler, y) for y in self.values(property, x))
            case owl.HasValue(property, value):
                return self.individuals[value] in self.values(property, x)
            case owl.HasSelf(property):
                return x in self.values(property, x)
            case owl.Cardinality(kind, number, property, filler):
                count = sum(self.holds(filler, y) for y in self.values(property, x))
                return {"Min": count >= number, "Max": count <= number, "Exact": count == number}[kind]
        raise NotImplementedError(expression)

    def satisfies(self, axiom: owl.SubClassOf) -> bool:
        return all(self.holds(axiom.sup, x) for x in self.elements if self.holds(axiom.sub, x))

    # clauses and rules --------------------------------------------------------------------------

    def satisfies_clause(self, clause: Clause) -> bool:
        terms = [*(t for atom in clause.body for t in atom.terms), *(t for h in clause.heads for t in _terms(h))]
        return all(
            any(self._head(head, bindings) for head in clause.heads)
            for bindings in self._bindings(terms)
            if all(self._atom(atom, bindings) for atom in clause.body)
        )

    def satisfies_rule(self, rule: Rule) -> bool:
        """Whether a rule holds in an interpretation without violations."""
        terms = [t for atom in (rule.head, *rule.body) for t in atom.terms]
        return all(
            rule.head.predicate.name != VIOLATION and self._atom(rule.head, bindings)
            for bindings in self._bindings(terms)
            if all(self._atom(atom, bindings) for atom in rule.positive)
        )

    def _bindings(self, terms: list[Term]) -> Iterator[Bindings]:
        variables = list(dict.fromkeys(term for term in terms if isinstance(term, Variable)))
        for values in product(self.elements, repeat=len(variables)):
            yield dict(zip(variables, values, strict=True))

    def _value(self, term: Term, bindings: Bindings) -> Element:
        return self.individuals[term.text] if isinstance(term, Constant) else bindings[term]

    def _atom(self, atom: Atom, bindings: Bindings) -> bool:
        if any(isinstance(term, Wildcard) for term in atom.terms):
            at = next(i for i, term in enumerate(atom.terms) if isinstance(term, Wildcard))
            fresh = Variable(f"_{at}")
            filled = Atom(atom.predicate, (*atom.terms[:at], fresh, *atom.terms[at + 1 :]))
            return any(self._atom(filled, {**bindings, fresh: x}) for x in self.elements)
        values = tuple(self._value(term, bindings) for term in atom.terms)
        name = atom.predicate.name
        if name == SAME:
            return values[0] == values[1]
        if atom.predicate.arity == 1:
            return name == THING or values[0] in self.classes[name]
        return (values[0], values[1]) in self.properties[name]

    def _head(self, head: Head, bindings: Bindings) -> bool:
        match head:
            case Atom():
                return self._atom(head, bindings)
            case Equal(left, right):
                return self._value(left, bindings) == self._value(right, bindings)
            case AtLeastValues(property, term, Signed(expression, _, holds), number):
                found = self.values(property, self._value(term, bindings))
                return sum(self.holds(expression, y) == holds for y in found) >= number
        raise NotImplementedError(head)


def _terms(head: Head) -> tuple[Term, ...]:
    match head:
        case Atom():
            return head.terms
        case Equal(left, right):
            return left, right
        case AtLeastValues() | _:
            return (head.term,)
