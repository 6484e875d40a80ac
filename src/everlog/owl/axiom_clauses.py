"""Translation of axioms to clauses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, permutations

from everlog.lang.syntax import Atom, Constant, Term, Variable
from everlog.owl import axioms as owl
from everlog.owl.clauses import ROOT, Clause, Equal, Signed, clauses, property_atom
from everlog.owl.vocabulary import DIFFERENT, SAME

_Y, _Z = Variable("y"), Variable("z")


def axiom_clauses(axiom: owl.Axiom) -> list[Clause]:
    """The clauses of an axiom; none for assertions and for axioms that are not about individuals.

    >>> p = owl.Property("<p>")
    >>> [clause.heads[0] for clause in axiom_clauses(owl.Characteristic("Functional", p))]
    [Equal(left=Variable(name='y'), right=Variable(name='z'))]
    """
    match axiom:
        case owl.SubClassOf(sub, sup):
            return _implies(sub, sup)
        case owl.EquivalentClasses(classes):
            return [clause for one, other in permutations(classes, 2) for clause in _implies(one, other)]
        case owl.DisjointClasses(classes):
            return _disjoint(classes)
        case owl.DisjointUnion(name, classes):
            union = owl.ClassUnion(classes)
            return [*_implies(name, union), *_implies(union, name), *_disjoint(classes)]
        case owl.Domain(property, expression):
            return clauses([Signed(expression, ROOT)], [property_atom(property, ROOT, _Y)])
        case owl.Range(property, expression):
            return clauses([Signed(expression, _Y)], [property_atom(property, ROOT, _Y)])
        case owl.HasKey(expression, properties):
            return _key(expression, properties)
        case owl.ClassAssertion(expression, individual):
            return clauses([Signed(expression, Constant(individual))])
        case owl.NegativePropertyAssertion(property, subject, value):
            return [Clause((property_atom(property, Constant(subject), Constant(value)),), ())]
        case owl.Implication():
            return list(_implication(axiom))
    return list(_property_clauses(axiom))


def _implies(sub: owl.Expression, sup: owl.Expression) -> list[Clause]:
    return clauses([Signed(sub, ROOT, holds=False), Signed(sup, ROOT)])


def _disjoint(classes: Iterable[owl.Expression]) -> list[Clause]:
    pairs = combinations(classes, 2)
    return [
        clause
        for one, other in pairs
        for clause in clauses([Signed(one, ROOT, holds=False), Signed(other, ROOT, holds=False)])
    ]


def _key(expression: owl.Expression, properties: tuple[owl.Property, ...]) -> list[Clause]:
    both = [Signed(expression, ROOT, holds=False), Signed(expression, _Y, holds=False)]
    shared = [(property, Variable(f"z{number}")) for number, property in enumerate(properties, 1)]
    body = [property_atom(property, who, value) for property, value in shared for who in (ROOT, _Y)]
    return [Clause(c.body, (*c.heads, Equal(ROOT, _Y)), c.conditions) for c in clauses(both, body)]


def _property_clauses(axiom: owl.Axiom) -> Iterator[Clause]:
    match axiom:
        case owl.SubPropertyOf(chain, sup):
            terms = [ROOT, *(Variable(f"y{number}") for number in range(1, len(chain) + 1))]
            body = tuple(property_atom(p, terms[i], terms[i + 1]) for i, p in enumerate(chain))
            yield from _unless_trivial(Clause(body, (property_atom(sup, terms[0], terms[-1]),)))
        case owl.EquivalentProperties(properties):
            for one, other in permutations(properties, 2):
                yield from _unless_trivial(Clause((property_atom(one, ROOT, _Y),), (property_atom(other, ROOT, _Y),)))
        case owl.DisjointProperties(properties):
            for one, other in combinations(properties, 2):
                yield Clause((property_atom(one, ROOT, _Y), property_atom(other, ROOT, _Y)), ())
        case owl.InverseProperties(first, second):
            here, there = property_atom(first, ROOT, _Y), property_atom(second, _Y, ROOT)
            yield from _unless_trivial(Clause((here,), (there,)))
            yield from _unless_trivial(Clause((there,), (here,)))
        case owl.Characteristic(kind, property):
            yield _characteristic(kind, property)


def _characteristic(kind: owl.Kind, property: owl.Property) -> Clause:
    def atom(subject: Term, value: Term) -> Atom:
        return property_atom(property, subject, value)

    match kind:
        case "Functional":
            return Clause((atom(ROOT, _Y), atom(ROOT, _Z)), (Equal(_Y, _Z),))
        case "InverseFunctional":
            return Clause((atom(ROOT, _Y), atom(_Z, _Y)), (Equal(ROOT, _Z),))
        case "Reflexive":
            return Clause((), (atom(ROOT, ROOT),))
        case "Irreflexive":
            return Clause((atom(ROOT, ROOT),), ())
        case "Symmetric":
            return Clause((atom(ROOT, _Y),), (atom(_Y, ROOT),))
        case "Asymmetric":
            return Clause((atom(ROOT, _Y), atom(_Y, ROOT)), ())
        case "Transitive":
            return Clause((atom(ROOT, _Y), atom(_Y, _Z)), (atom(ROOT, _Z),))


def _implication(rule: owl.Implication) -> Iterator[Clause]:
    """The clauses of a rule, at least one for each atom of its head."""
    names = {name: Variable(f"v{number}") for number, name in enumerate(rule.variables, 1)}

    def terms(atom: owl.RuleAtom) -> list[Term]:
        return [names.get(argument) or Constant(argument) for argument in atom.arguments]

    body: list[Atom] = []
    signed: list[Signed] = []
    for atom in rule.body:
        if isinstance(atom.predicate, owl.Property):
            body.append(property_atom(atom.predicate, *terms(atom)))
        else:
            signed.append(Signed(atom.predicate, terms(atom)[0], holds=False))
    for atom in rule.head:
        if not isinstance(atom.predicate, owl.Property):
            yield from clauses([*signed, Signed(atom.predicate, terms(atom)[0])], body)
            continue
        for clause in clauses(signed, body):
            yield from _head(clause, atom.predicate, *terms(atom))


def _head(clause: Clause, property: owl.Property, left: Term, right: Term) -> Iterator[Clause]:
    """A clause with one more head: an equality, an inequality or a property."""
    if property.name == SAME:
        yield Clause(clause.body, (*clause.heads, Equal(left, right)), clause.conditions)
    elif property.name == DIFFERENT:
        same = property_atom(owl.Property(SAME), left, right)
        yield Clause((*clause.body, same), clause.heads, clause.conditions)
    else:
        head = property_atom(property, left, right)
        yield from _unless_trivial(Clause(clause.body, (*clause.heads, head), clause.conditions))


def _unless_trivial(clause: Clause) -> Iterator[Clause]:
    """The clause, unless it is trivial because its body has one of its heads."""
    if not any(head in clause.body for head in clause.heads):
        yield clause
