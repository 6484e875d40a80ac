"""Class axioms as clauses: implications from a conjunction of atoms to a disjunction.

An axiom says that for every individual one of some signed expressions holds: ``C SubClassOf D`` is *not C, or D*.
Expressions are decomposed until only clauses are left. A conjunction (an intersection that holds, a union that does
not) makes several clauses; a disjunction stays in one. Atoms that must not hold become the body. What remains besides
atoms are equalities, existentials, and conditions on literals, which :mod:`everlog.owl.rules` handles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, count

from everlog.lang.syntax import Atom, Constant, Predicate, Term, Variable
from everlog.owl import axioms
from everlog.owl.axioms import Expression, Property
from everlog.owl.vocabulary import BOTTOM_PROPERTIES, LITERAL, NOTHING, SAME, THING, TOP_PROPERTIES, is_literal

ROOT = Variable("x")
"""The individual that a class axiom is about."""


@dataclass(frozen=True, slots=True)
class Signed:
    """A claim that an expression holds, or does not hold, of a term."""

    expression: Expression
    term: Term
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Equal:
    """Two terms are equal."""

    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class AtLeastValues:
    """A term has at least ``number`` different values of a property for which an expression holds."""

    property: Property
    term: Term
    value: Signed
    number: int = 1


@dataclass(frozen=True, slots=True)
class InRange:
    """A literal is in a data range."""

    range: Expression
    term: Term


Head = Atom | Equal | AtLeastValues | InRange


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: if all atoms of the body hold, one of the heads holds; without a head, they cannot all hold.

    ``conditions`` are on literals, and part of the body.
    """

    body: tuple[Atom, ...]
    heads: tuple[Head, ...]
    conditions: tuple[InRange, ...] = ()


class TooManyClausesError(ValueError):
    """An axiom stands for more clauses than the limit."""


MOST_CLAUSES = 4096
"""Maximum number of clauses that an axiom may stand for."""


def clauses(signed: Sequence[Signed], body: Sequence[Atom] = ()) -> list[Clause]:
    """The clauses of the implication: if the body holds, one of the signed expressions holds.

    >>> a, b, p = axioms.Class("<A>"), axioms.Class("<B>"), Property("<p>")
    >>> found = clauses([Signed(axioms.SomeValues(p, axioms.ClassUnion((a, b))), ROOT, holds=False), Signed(b, ROOT)])
    >>> [" ".join(atom.predicate.name for atom in clause.body) for clause in found]
    ['<p> <A>', '<p> <B>']
    """
    found: dict[Clause, None] = {}
    for clause in _Decomposition().run(_PartialClause(tuple(signed), tuple(body))):
        found[clause] = None
        if len(found) > MOST_CLAUSES:
            raise TooManyClausesError(f"it would take more than {MOST_CLAUSES:,} rules")
    return list(found)


def class_atom(name: str, term: Term) -> Atom:
    """The atom ``C(t)``."""
    return Atom(Predicate(name, 1), (term,))


def property_atom(property: Property, subject: Term, value: Term) -> Atom:
    """The atom ``p(s, v)``, or ``p(v, s)`` for the inverse of p."""
    terms = (value, subject) if property.inverted else (subject, value)
    return Atom(Predicate(property.name, 2), terms)


@dataclass(frozen=True, slots=True)
class _PartialClause:
    """A partial clause: the expressions that are still to be decomposed, and the finished parts."""

    waiting: tuple[Signed, ...]
    body: tuple[Atom, ...] = ()
    heads: tuple[Head, ...] = ()
    conditions: tuple[InRange, ...] = ()

    def more(self, *signed: Signed) -> _PartialClause:
        return replace(self, waiting=(*signed, *self.waiting))

    def given(self, *atoms: Atom) -> _PartialClause:
        return replace(self, body=(*self.body, *atoms))

    def or_(self, *heads: Head) -> _PartialClause:
        return replace(self, heads=(*self.heads, *heads))

    def where(self, variable: Variable, value: Constant) -> _PartialClause:
        """The clause for one value of a variable."""

        def term(old: Term) -> Term:
            return value if old == variable else old

        def head(old: Head) -> Head:
            match old:
                case Atom():
                    return atom(old)
                case Equal(left, right):
                    return Equal(term(left), term(right))
                case AtLeastValues():
                    signed = replace(old.value, term=term(old.value.term))
                    return replace(old, term=term(old.term), value=signed)
                case InRange():
                    return replace(old, term=term(old.term))

        def atom(old: Atom) -> Atom:
            return Atom(old.predicate, tuple(map(term, old.terms)))

        return _PartialClause(
            tuple(replace(signed, term=term(signed.term)) for signed in self.waiting),
            tuple(map(atom, self.body)),
            tuple(map(head, self.heads)),
            tuple(replace(condition, term=term(condition.term)) for condition in self.conditions),
        )


@dataclass(frozen=True)
class _Decomposition:
    """Decomposes expressions, from the left."""

    fresh: Iterator[int] = field(default_factory=lambda: count(1))

    def run(self, state: _PartialClause) -> Iterator[Clause]:
        if not state.waiting:
            yield from _finished(state)
            return
        first, rest = state.waiting[0], replace(state, waiting=state.waiting[1:])
        for following in self._step(first.expression, first.term, first.holds, rest):
            yield from self.run(following)

    def _variable(self) -> Variable:
        return Variable(f"y{next(self.fresh)}")

    def _step(self, expression: Expression, term: Term, holds: bool, state: _PartialClause) -> Iterator[_PartialClause]:
        """The states in which the expression holds of the term (or does not), or another part of the clause holds."""
        match expression:
            case axioms.Class(name):
                always, never = (THING, NOTHING) if holds else (NOTHING, THING)
                if name == never:
                    yield state
                elif name != always:
                    yield state.or_(class_atom(name, term)) if holds else state.given(class_atom(name, term))
            case axioms.Intersection(operands) | axioms.ClassUnion(operands):
                signed = [Signed(operand, term, holds) for operand in operands]
                if isinstance(expression, axioms.Intersection) == holds:
                    yield from (state.more(each) for each in signed)
                else:
                    yield state.more(*signed)
            case axioms.Complement(operand):
                yield state.more(Signed(operand, term, not holds))
            case axioms.OneOf(members) if holds:
                yield state.or_(*(Equal(term, Constant(member)) for member in members))
            case axioms.OneOf(members):
                for member in members:
                    yield from _is(term, Constant(member), state)
            case axioms.SomeValues(property, filler) | axioms.AllValues(property, filler):
                if isinstance(expression, axioms.SomeValues) == holds:
                    yield from self._some(1, property, filler, holds, term, state)
                else:
                    yield from self._all(property, filler, holds, term, state)
            case axioms.HasValue(property, value):
                yield from (_either if holds else _given)(state, [property_atom(property, term, Constant(value))])
            case axioms.HasSelf(property):
                yield from (_either if holds else _given)(state, [property_atom(property, term, term)])
            case axioms.Cardinality():
                yield from self._cardinality(expression, term, holds, state)
            case axioms.Datatype() | axioms.Facets():
                if expression == axioms.Datatype(LITERAL):
                    yield from () if holds else (state,)
                elif holds:
                    yield state.or_(InRange(expression, term))
                else:
                    yield replace(state, conditions=(*state.conditions, InRange(expression, term)))

    def _cardinality(
        self, expression: axioms.Cardinality, term: Term, holds: bool, state: _PartialClause
    ) -> Iterator[_PartialClause]:
        """The states for a cardinality restriction, whose negation is one with another number."""
        number, property, filler = expression.number, expression.property, expression.filler
        if expression.kind == "Exact":
            both = [Signed(replace(expression, kind=kind), term, holds) for kind in ("Min", "Max")]
            yield from (state.more(each) for each in both) if holds else (state.more(*both),)
        elif (expression.kind == "Min") == holds:
            yield from self._some(number if holds else number + 1, property, filler, True, term, state)
        elif holds or number > 0:
            yield from self._at_most(number if holds else number - 1, property, filler, term, state)
        else:
            yield state

    def _all(
        self, property: Property, filler: Expression, holds: bool, term: Term, state: _PartialClause
    ) -> Iterator[_PartialClause]:
        """The states in which every value (or no value) of the property is in the filler."""
        value = self._variable()
        yield from _given(state.more(Signed(filler, value, holds)), [property_atom(property, term, value)])

    def _some(
        self, number: int, property: Property, filler: Expression, holds: bool, term: Term, state: _PartialClause
    ) -> Iterator[_PartialClause]:
        """The states in which at least ``number`` values of the property are in the filler, or outside of it."""
        if number == 0 or (filler == axioms.Class(NOTHING) and holds):
            yield from [state] if number else []
        elif number == 1 and holds and isinstance(filler, axioms.OneOf):
            yield from _either(state, [property_atom(property, term, Constant(value)) for value in filler.members])
        elif property.name not in BOTTOM_PROPERTIES:
            yield state.or_(AtLeastValues(property, term, Signed(filler, Variable("value"), holds), number))
        else:
            yield state

    def _at_most(
        self, number: int, property: Property, filler: Expression, term: Term, state: _PartialClause
    ) -> Iterator[_PartialClause]:
        """The states in which, of ``number + 1`` values of the property, two are equal or one is outside of the filler.

        Three values stand for more than three: the clause is a disjunction in any case, and if it is
        made a conjunction, all values are equal.
        """
        values = [self._variable() for _ in range(min(number + 1, 3))]
        outside = [Signed(filler, value, holds=False) for value in values]
        equal = [Equal(left, right) for left, right in combinations(values, 2)]
        atoms = [property_atom(property, term, value) for value in values]
        yield from _given(state.more(*outside).or_(*equal), atoms)


def _either(state: _PartialClause, atoms: Sequence[Atom]) -> Iterator[_PartialClause]:
    """The state in which one of the atoms holds, or another part of the clause; none if the clause is trivial then."""
    names = {atom.predicate.name for atom in atoms}
    if not names & TOP_PROPERTIES:
        yield state.or_(*(atom for atom in atoms if atom.predicate.name not in BOTTOM_PROPERTIES))


def _given(state: _PartialClause, atoms: Sequence[Atom]) -> Iterator[_PartialClause]:
    """The state with the atoms in the body; none if one of them never holds."""
    if not any(atom.predicate.name in BOTTOM_PROPERTIES for atom in atoms):
        yield state.given(*atoms)


def _is(term: Term, member: Constant, state: _PartialClause) -> Iterator[_PartialClause]:
    """The state with the condition that the term is a given constant."""
    if isinstance(term, Variable):
        yield state.where(term, member)
    elif term == member:
        yield state
    elif not is_literal(member.text):
        yield state.given(property_atom(Property(SAME), term, member))


def _finished(state: _PartialClause) -> Iterator[Clause]:
    """The clause without repeated atoms; none if it is trivial."""
    body, heads = tuple(dict.fromkeys(state.body)), tuple(dict.fromkeys(state.heads))
    always = any(isinstance(head, Equal) and head.left == head.right for head in heads)
    if not always and not any(head in body for head in heads if isinstance(head, Atom)):
        yield Clause(body, heads, tuple(dict.fromkeys(state.conditions)))
