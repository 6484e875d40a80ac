"""Binarised rules, and rules that read partitionings, derive the facts of the original rules."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from everlog.analysis.binary import Unconnected, binarise, shared_variables
from everlog.analysis.partitioning import PartitionedRules, partitioned
from everlog.lang.parser import parse_program
from everlog.lang.printer import print_rule
from everlog.lang.syntax import Atom, Predicate, Program, Rule, Variable
from tests.analysis.recursions import BELOW, recursions
from tests.oracle import naive
from tests.strategies import Case


def derived(case: Case) -> list[Predicate]:
    return [predicate for predicate in case.predicates if predicate not in BELOW]


def copying(found: PartitionedRules) -> list[Rule]:
    """The rules that fill the partitionings."""
    rules = []
    for predicate, copies in found.partitionings.items():
        atom = Atom(predicate, tuple(Variable(f"v{i}") for i in range(predicate.arity)))
        rules += [Rule(copy.atom(atom), (atom,)) for copy in copies]
    return rules


def is_safe(rule: Rule) -> bool:
    bound = {variable for atom in rule.positive for variable in atom.variables()}
    return all(bound.issuperset(atom.variables()) for atom in (rule.head, *rule.negative))


@settings(max_examples=60, deadline=None)
@given(recursions())
def test_steps_derive_the_same(case: Case) -> None:
    steps = binarise(case.program.rules, derived(case))
    assert not isinstance(steps, Unconnected)
    assert all(map(is_safe, steps))
    written = Counter(step.head for step in steps if step.head.predicate not in case.predicates)
    read = Counter(atom for rule in case.program.rules for atom in rule.body)
    assert Counter(atom for step in steps for atom in step.body) == read + written, "each atom is in one step"
    assert len({atom.predicate for atom in written}) == written.total(), "each step has a name of its own"
    found = naive.materialise(Program(steps), case.facts)
    own = {predicate: rows for predicate, rows in found.items() if predicate in case.predicates}
    assert own == naive.materialise(case.program, case.facts)


@settings(max_examples=60, deadline=None)
@given(recursions())
def test_recursive_atoms_meet_in_copies_and_derive_the_same(case: Case) -> None:
    steps = binarise(case.program.rules, derived(case))
    assert not isinstance(steps, Unconnected)
    found = partitioned(steps, derived(case))
    by_name = {copy.name: copy for copies in found.partitionings.values() for copy in copies}
    for rule, step in zip(found.rules, steps, strict=True):
        read = [atom for atom in rule.positive if atom.predicate in by_name]
        assert 1 <= len(read) <= 2
        leads = [atom.terms[: len(by_name[atom.predicate].by)] for atom in read]
        assert len(set(leads)) == 1
        shared = shared_variables(step, found.partitionings)
        assert len(read) == 1 or leads[0] == shared != ()
    copied = naive.materialise(Program((*found.rules, *copying(found))), case.facts)
    own = {predicate: rows for predicate, rows in copied.items() if predicate in case.predicates}
    assert own == naive.materialise(case.program, case.facts)


@pytest.mark.parametrize(
    ("rule", "steps"),
    [
        (
            "p(?a, ?d) :- p(?a, ?b), p(?b, ?c), p(?c, ?d), ~e(?a, ?c), ~e(?a, ?d), ~f(?b, ?d) .",
            "part 1(?a, ?b, ?c) :- p(?a, ?b), p(?b, ?c), ~e(?a, ?c) .\n"
            "p(?a, ?d) :- part 1(?a, ?b, ?c), p(?c, ?d), ~e(?a, ?d), ~f(?b, ?d) .",
        ),
        (
            "p(?a, ?d) :- e(?a, ?d), p(?a, ?b), f(?b, ?d), p(?b, ?c), e(?a, ?c), p(?c, ?d) .",
            "part 1(?a, ?b, ?c) :- p(?a, ?b), p(?b, ?c), e(?a, ?c) .\n"
            "p(?a, ?d) :- part 1(?a, ?b, ?c), e(?a, ?d), f(?b, ?d), p(?c, ?d) .",
        ),
        (
            "p(?a, ?d) :- p(?a, ?w), f(?c, ?d), e(?w, ?b), f(?b, ?c), p(?d, ?x) .",
            "part 1(?a, ?d) :- p(?a, ?w), e(?w, ?b), f(?b, ?c), f(?c, ?d) .\np(?a, ?d) :- part 1(?a, ?d), p(?d, ?x) .",
        ),
    ],
    ids=["negated", "relations", "on the way"],
)
def test_each_atom_is_in_the_first_step_that_binds_it(rule: str, steps: str) -> None:
    found = binarise(parse_program(rule).rules, [Predicate("p", 2)])
    assert not isinstance(found, Unconnected)
    assert "\n".join(map(print_rule, found)) == steps


def test_steps_of_several_rules_have_names_of_their_own() -> None:
    text = "p(?a, ?d) :- p(?a, ?b), p(?b, ?c), p(?c, ?d) . p(?d, ?a) :- p(?a, ?b), p(?c, ?b), p(?c, ?d) ."
    steps = binarise(parse_program(text).rules, [Predicate("p", 2)])
    assert not isinstance(steps, Unconnected)
    assert [step.head.predicate.name for step in steps] == ["part 1", "p", "part 2", "p"]


def test_the_home_is_spread_by_most_arguments() -> None:
    text = "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?y, ?x) :- p(?x, ?y), p(?y, ?x), e(?x, ?y) ."
    found = partitioned(parse_program(text).rules, [Predicate("p", 2)])
    assert [copy.by for copy in found.partitionings[Predicate("p", 2)]] == [(0, 1), (1, 0), (1,), (0,)]


def test_what_nothing_connects() -> None:
    p = Predicate("p", 2)
    texts = ["p(?x, ?y) :- p(?x, ?x), e(?x, ?a), e(?b, ?y), p(?y, ?y) .", "p(?x, ?y) :- p(?x, 1), p(?y, 1) ."]
    for text in texts:
        (rule,) = parse_program(text).rules
        assert binarise([rule], [p]) == Unconnected(rule)


def test_the_same_atom_thrice() -> None:
    p = Predicate("p", 2)
    atom = Atom(p, (Variable("x"), Variable("y")))
    steps = binarise([Rule(Atom(p, (Variable("y"), Variable("x"))), (atom, atom, atom))], [p])
    assert not isinstance(steps, Unconnected)
    assert [sum(p == read.predicate for read in step.positive) for step in steps] == [2, 1]
