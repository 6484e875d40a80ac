"""Rules in steps of two recursive atoms, and reading copies, derive what they did before."""

from __future__ import annotations

from hypothesis import given, settings

from everlog.analysis.binary import Apart, in_twos, shared_variables
from everlog.analysis.meeting import Meeting, meeting
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Atom, Predicate, Program, Rule, Variable
from tests.analysis.recursions import BELOW, recursions
from tests.oracle import naive
from tests.strategies import Case


def derived(case: Case) -> list[Predicate]:
    return [predicate for predicate in case.predicates if predicate not in BELOW]


def copying(found: Meeting) -> list[Rule]:
    """What the copies have, as rules."""
    rules = []
    for predicate, copies in found.copies.items():
        atom = Atom(predicate, tuple(Variable(f"v{i}") for i in range(predicate.arity)))
        rules += [Rule(copy.atom(atom), (atom,)) for copy in copies]
    return rules


@settings(max_examples=60, deadline=None)
@given(recursions())
def test_steps_derive_the_same(case: Case) -> None:
    steps = in_twos(case.program.rules, derived(case))
    assert not isinstance(steps, Apart)
    found = naive.materialise(Program(steps), case.facts)
    own = {predicate: rows for predicate, rows in found.items() if predicate in case.predicates}
    assert own == naive.materialise(case.program, case.facts)


@settings(max_examples=60, deadline=None)
@given(recursions())
def test_recursive_atoms_meet_in_copies_and_derive_the_same(case: Case) -> None:
    steps = in_twos(case.program.rules, derived(case))
    assert not isinstance(steps, Apart)
    found = meeting(steps, derived(case))
    by_name = {copy.name: copy for copies in found.copies.values() for copy in copies}
    for rule, step in zip(found.rules, steps, strict=True):
        read = [atom for atom in rule.positive if atom.predicate in by_name]
        assert 1 <= len(read) <= 2
        leads = [atom.terms[: len(by_name[atom.predicate].by)] for atom in read]
        assert len(set(leads)) == 1
        shared = shared_variables(step, found.copies)
        assert len(read) == 1 or leads[0] == shared != ()
    copied = naive.materialise(Program((*found.rules, *copying(found))), case.facts)
    own = {predicate: rows for predicate, rows in copied.items() if predicate in case.predicates}
    assert own == naive.materialise(case.program, case.facts)


def test_what_nothing_connects() -> None:
    p = Predicate("p", 2)
    texts = ["p(?x, ?y) :- p(?x, ?x), e(?x, ?a), e(?b, ?y), p(?y, ?y) .", "p(?x, ?y) :- p(?x, 1), p(?y, 1) ."]
    for text in texts:
        (rule,) = parse_program(text).rules
        assert in_twos([rule], [p]) == Apart(rule)


def test_the_same_atom_thrice() -> None:
    p = Predicate("p", 2)
    atom = Atom(p, (Variable("x"), Variable("y")))
    steps = in_twos([Rule(Atom(p, (Variable("y"), Variable("x"))), (atom, atom, atom))], [p])
    assert not isinstance(steps, Apart)
    assert [sum(p == read.predicate for read in step.positive) for step in steps] == [2, 1]
