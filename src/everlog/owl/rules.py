"""Translation of axioms to rules: the lower and the upper bound programs of an ontology.

The bounds are those of section 10 of the journal paper. *Lower*: clauses that are not datalog rules, because they
contain a disjunction or an existential, are deleted; every derived fact follows from the ontology. *Upper*: every
existentially quantified variable becomes a fresh constant and every disjunction a conjunction; every fact that follows
from the ontology is derived, and possibly more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, count
from typing import Literal

from everlog.engine.hashing import short_digest
from everlog.lang.internal import EVERLOG
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Term, Variable, Wildcard
from everlog.owl import axioms as owl
from everlog.owl.axiom_clauses import axiom_clauses
from everlog.owl.clauses import (
    ROOT,
    AtLeastValues,
    Clause,
    Equal,
    Head,
    InRange,
    TooManyClausesError,
    class_atom,
    clauses,
    property_atom,
)
from everlog.owl.functional import functional
from everlog.owl.vocabulary import BOTTOM_PROPERTIES, DIFFERENT, SAME, THING, TOP_PROPERTIES, VIOLATION

Bound = Literal["lower", "upper"]

_NAMES = "xyzuvw"
MOST_CONSTANTS = 100
"""Maximum number of new individuals for one minimum cardinality."""

MOST_PAIRS = 100_000
"""Maximum square of the number of individuals that an axiom makes pairwise equal or different."""

DISJUNCTION = "a disjunction follows, and which part of it holds is not known"
EXISTENTIAL = "something unnamed follows to exist"
EQUALITY = "individuals follow to be equal, and equality is off"
LITERALS = "it compares or tests the values of literals, which rules see as terms only"
EVERYTHING = "its condition relates everything to everything"
ANNOTATION = "annotations have no meaning in OWL; the profiles rdfs and rl make use of it"
CONTRADICTION = "it is a contradiction by itself"


@dataclass(frozen=True, slots=True)
class Untranslated:
    """An axiom that the rules do not express, or not wholly, and why."""

    axiom: owl.Axiom | owl.Unread
    reason: str
    partly: bool = False
    """Whether a part of the axiom is expressed."""


@dataclass(frozen=True, slots=True)
class Translated:
    """The rules and facts of an axiom, and the reasons why they do not express all of it."""

    axiom: owl.Axiom
    rules: tuple[Rule, ...] = ()
    facts: tuple[Atom, ...] = ()
    reasons: tuple[str, ...] = ()

    def untranslated(self) -> Iterator[Untranslated]:
        for reason in self.reasons:
            yield Untranslated(self.axiom, reason, bool(self.rules or self.facts))


@dataclass
class _Output:
    rules: dict[Rule, None] = field(default_factory=dict)
    facts: dict[Atom, None] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Translator:
    """Translates axioms to rules, one by one.

    With ``equality`` the rules also derive ``owl:sameAs``; :mod:`everlog.owl.equality` has the rules for its
    consequences. ``prefixes`` are for the texts of violations.
    """

    bound: Bound = "lower"
    equality: bool = False
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def translate(self, axiom: owl.Axiom) -> Translated:
        """The rules of an axiom.

        >>> a, b = owl.Class("<A>"), owl.Class("<B>")
        >>> some = owl.SubClassOf(a, owl.Intersection((b, owl.SomeValues(owl.Property("<p>"), b))))
        >>> lower, upper = (Translator(bound).translate(some) for bound in ("lower", "upper"))
        >>> len(lower.rules), lower.reasons, len(upper.rules)
        (1, ('something unnamed follows to exist',), 3)
        """
        output = _Output()
        match axiom:
            case owl.ClassAssertion(owl.Class(name), individual):
                output.facts[class_atom(name, Constant(individual))] = None
            case owl.PropertyAssertion(property, subject, value):
                output.facts[property_atom(property, Constant(subject), Constant(value))] = None
            case owl.SameIndividual(individuals) | owl.DifferentIndividuals(individuals):
                self._pairs(axiom, individuals, output)
            case owl.DatatypeDefinition():
                output.reasons[LITERALS] = None
            case owl.AnnotationAxiom():
                output.reasons[ANNOTATION] = None
            case owl.Characteristic("Functional", _, data=True):
                output.reasons[LITERALS] = None
            case _:
                self._clauses(axiom, output)
        return Translated(axiom, tuple(output.rules), tuple(output.facts), tuple(output.reasons))

    def _pairs(self, axiom: owl.Axiom, individuals: tuple[str, ...], output: _Output) -> None:
        same = isinstance(axiom, owl.SameIndividual)
        if len(individuals) ** 2 > MOST_PAIRS:
            output.reasons[f"it would take {len(individuals) * (len(individuals) - 1) // 2:,} facts"] = None
            return
        for one, other in combinations(individuals, 2):
            name = owl.Property(SAME if same else DIFFERENT)
            output.facts[property_atom(name, Constant(one), Constant(other))] = None
        if not self.equality:
            output.reasons["it is kept as facts, but nothing follows from them because equality is off"] = None

    def _clauses(self, axiom: owl.Axiom, output: _Output) -> None:
        try:
            found = axiom_clauses(axiom)
        except TooManyClausesError as error:
            output.reasons[str(error)] = None
            return
        making = _AxiomTranslation(self, axiom, output)
        for clause in found:
            making.clause(clause)


@dataclass(frozen=True)
class _AxiomTranslation:
    translator: Translator
    axiom: owl.Axiom
    output: _Output
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def upper(self) -> bool:
        return self.translator.bound == "upper"

    def clause(self, clause: Clause) -> None:
        names = {atom.predicate.name for atom in clause.body}
        if names & BOTTOM_PROPERTIES:
            return
        if names & TOP_PROPERTIES:
            self._reason(EVERYTHING)
        elif clause.conditions and not self.upper:
            self._reason(LITERALS)
        elif not clause.heads:
            self._violation(clause.body)
        elif len(clause.heads) > 1 and not self.upper:
            self._reason(DISJUNCTION)
        else:
            for head in clause.heads:
                self._head(head, clause.body)

    def _reason(self, reason: str) -> None:
        self.output.reasons[reason] = None

    def _head(self, head: Head, body: tuple[Atom, ...]) -> None:
        match head:
            case Atom():
                self._rule(head, body)
            case Equal(left, right):
                if self.translator.equality:
                    self._rule(property_atom(owl.Property(SAME), left, right), body)
                else:
                    self._reason(EQUALITY)
            case AtLeastValues() if self.upper:
                self._fresh(head, body)
            case AtLeastValues():
                self._reason(EXISTENTIAL)
            case InRange():
                self._reason(LITERALS)

    def _fresh(self, exists: AtLeastValues, body: tuple[Atom, ...]) -> None:
        """Add rules that give the term fresh constants as values of the property."""
        if exists.number > MOST_CONSTANTS:
            self._reason(f"it would take {exists.number:,} new individuals")
            return
        constants = [self._constant() for _ in range(exists.number)]
        for constant in constants:
            if exists.property.name not in TOP_PROPERTIES:
                self._rule(property_atom(exists.property, exists.term, constant), body)
            for clause in clauses([replace(exists.value, term=constant)], body):
                heads = tuple(head for head in clause.heads if not isinstance(head, InRange))
                if heads or not clause.heads:
                    self.clause(Clause(clause.body, heads))
        if self.translator.equality:
            for one, other in combinations(constants, 2):
                self._rule(property_atom(owl.Property(DIFFERENT), one, other), body)

    def _constant(self) -> Constant:
        """A new constant, whose name is made from the axiom and a number."""
        digest = short_digest(functional(self.axiom))
        return Constant(f"<{EVERLOG}some:{digest}-{next(self.numbers)}>")

    def _violation(self, body: tuple[Atom, ...]) -> None:
        text = Constant(f'"{functional(self.axiom, self.translator.prefixes)}"')
        if not body:
            self._reason(CONTRADICTION)
            return
        variables = [variable for atom in body for variable in atom.variables()]
        who = ROOT if ROOT in variables else variables[0] if variables else body[0].terms[0]
        self._rule(Atom(Predicate(VIOLATION, 2), (who, text)), body)

    def _rule(self, head: Atom, body: tuple[Atom, ...]) -> None:
        """Add a rule, or a fact if the body is empty; variables that the body does not bind are restricted to
        things."""
        if head.predicate.name in TOP_PROPERTIES:
            return
        if head.predicate.name in BOTTOM_PROPERTIES:
            self._violation(body)
            return
        bound = {variable for atom in body for variable in atom.variables()}
        free = dict.fromkeys(variable for variable in head.variables() if variable not in bound)
        positive = (*body, *(class_atom(THING, variable) for variable in free))
        if positive:
            self.output.rules[_renamed(Rule(head, positive))] = None
        else:
            self.output.facts[head] = None


def _renamed(rule: Rule) -> Rule:
    """The rule with its variables named in the order of their appearance, so that equal rules are equal.

    A variable that occurs only once is a wildcard.
    """
    atoms = (rule.head, *rule.positive)
    uses = Counter(variable for atom in atoms for variable in atom.variables())
    names: dict[Variable, Term] = {}
    for variable, number in uses.items():
        once = number == 1 and variable not in rule.head.terms
        names[variable] = Wildcard() if once else Variable(_name(len(names)))

    return Rule(rule.head.put(names), tuple(atom.put(names) for atom in rule.positive))


def _name(number: int) -> str:
    return _NAMES[number] if number < len(_NAMES) else f"x{number}"
