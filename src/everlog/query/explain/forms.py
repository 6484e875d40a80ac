"""Rewriting proofs over representatives with the requested terms and those of given facts.

A fact about a term holds for all equal terms, so a rule can be applied to any of them. Here the terms are chosen from
the top down: those of the head are the requested ones, others are taken from given facts of the body, and the rest are
the usual ones of their classes. Where a fact is needed with other terms than it has, a step replaces terms by equal
ones. Their equality is not proved here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from everlog.lang.syntax import Atom, Constant, Rule, Term, Variable
from everlog.query.explain.classes import Classes
from everlog.query.explain.proof import Proof, ProofStep


def in_terms(classes: Classes, written: Sequence[Rule], proof: Proof, goal: Atom) -> Proof:
    """The proof of the requested fact. Its ``equal`` steps have the one premise that they change, and its ``same``
    steps, which say that two terms are equal, have none.

    ``written`` are the rules; the last one is that of the query, if the proof is of an answer.
    """
    if not any(classes.is_shared(term) for step in proof.steps for term in step.fact.terms):
        return proof
    return _TermChooser(classes, written, proof).proof(goal)


class _TermChooser:
    def __init__(self, classes: Classes, written: Sequence[Rule], proof: Proof) -> None:
        self._classes, self._written, self._steps = classes, written, proof.steps
        self._wanted: list[dict[Atom, None]] = [{} for _ in proof.steps]
        """The forms in which each fact is needed, in the order of their first use."""
        self._values: dict[int, Mapping[Term, Constant]] = {}
        """The terms to which the rule of a step is applied."""
        self._bodies: dict[int, list[Atom]] = {}
        """The facts to which the rule of a step is applied."""
        self._made: list[ProofStep] = []
        self._place: dict[Atom, int] = {}

    def proof(self, goal: Atom) -> Proof:
        self._wanted[-1][goal] = None
        for at in reversed(range(len(self._steps))):
            if self._wanted[at] and self._by_rule(at):
                self._choose(at)
        for at, wanted in enumerate(self._wanted):
            for form in wanted:
                self._write(at, form)
        return Proof(tuple(self._made))

    def _by_rule(self, at: int) -> bool:
        step = self._steps[at]
        return step.kind != "given" and not self._classes.is_equality(step.fact)

    def _rule(self, step: ProofStep) -> Rule:
        return self._written[step.rules[0] if step.rules else -1]

    def _choose(self, at: int) -> None:
        """Choose the terms to which a rule is applied, and with them the forms of its body."""
        step = self._steps[at]
        rule, form = self._rule(step), next(iter(self._wanted[at]))
        values: dict[Term, Constant] = {}
        _bind(values, rule.head, form)
        body = [
            (atom, self._steps[premise], premise) for atom, premise in zip(rule.positive, step.premises, strict=True)
        ]
        given: dict[int, Atom] = {}
        for number, (atom, below, _) in enumerate(body):
            if below.kind == "given":
                given[number] = self._classes.given(below.fact, [_put(term, values) for term in atom.terms])
                _bind(values, atom, given[number])
        for name, constant in step.bindings:
            values.setdefault(Variable(name), self._classes.usual_of(constant) or constant)
        self._values[at], self._bodies[at] = values, []
        for number, (atom, below, premise) in enumerate(body):
            instead = given.get(number) or self._usual(below.fact)
            terms = [_put(term, values) or other for term, other in zip(atom.terms, instead.terms, strict=True)]
            form = Atom(atom.predicate, tuple(terms))
            self._wanted[premise][form] = None
            self._bodies[at].append(form)

    def _usual(self, fact: Atom) -> Atom:
        constants = (term for term in fact.terms if isinstance(term, Constant))
        return Atom(fact.predicate, tuple(self._classes.usual_of(each) or each for each in constants))

    def _write(self, at: int, form: Atom) -> None:
        """Add the steps that prove a fact in the form in which it is needed."""
        if form in self._place:
            return
        step = self._steps[at]
        if self._classes.is_equality(step.fact):
            self._add(ProofStep(form, "same"))
            return
        base = self._given(step, form) if step.kind == "given" else self._applied(at)
        if base != form:
            self._add(ProofStep(form, "equal", premises=(self._place[base],), equal=_pairs(form, base)))

    def _given(self, step: ProofStep, form: Atom) -> Atom:
        base = self._classes.given(step.fact, form.terms)
        self._add(ProofStep(base, "given"))
        return base

    def _applied(self, at: int) -> Atom:
        """Add the step by the rule with the chosen terms; returns its fact."""
        step, values = self._steps[at], self._values[at]
        rule, head = self._rule(step), _ground(self._rule(step).head, values)
        premises = tuple(self._place[form] for form in self._bodies[at])
        bindings = tuple((name, values[Variable(name)]) for name, _ in step.bindings)
        absent = tuple(_ground(atom, values) for atom in rule.negative)
        self._add(ProofStep(head, step.kind, step.rules, bindings, premises, absent))
        return head

    def _add(self, step: ProofStep) -> None:
        if step.fact not in self._place:
            self._place[step.fact] = len(self._made)
            self._made.append(step)


def _bind(values: dict[Term, Constant], atom: Atom, fact: Atom) -> None:
    """Bind the unbound variables of an atom to the terms of a fact."""
    for term, constant in zip(atom.terms, fact.terms, strict=True):
        if isinstance(term, Variable) and isinstance(constant, Constant):
            values.setdefault(term, constant)


def _put(term: Term, values: Mapping[Term, Constant]) -> Term | None:
    """The value of a term, None if it is unbound."""
    return term if isinstance(term, Constant) else values.get(term)


def _ground(atom: Atom, values: Mapping[Term, Constant]) -> Atom:
    return Atom(atom.predicate, tuple(_put(term, values) or term for term in atom.terms))


def _pairs(one: Atom, other: Atom) -> tuple[tuple[Constant, Constant], ...]:
    """The terms in which two facts differ, each pair once."""
    found: dict[frozenset[Term], tuple[Constant, Constant]] = {}
    for a, b in zip(one.terms, other.terms, strict=True):
        if isinstance(a, Constant) and isinstance(b, Constant) and a != b:
            found.setdefault(frozenset((a, b)), (a, b))
    return tuple(found.values())
