"""Changes to a program that must not change the derived facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from everlog.lang.syntax import Atom, Predicate, Program, Rule, Term, Variable
from tests.oracle.naive import Row
from tests.running import materialised
from tests.strategies import Case, cases, graph_cases

any_case = cases() | graph_cases()
orders = st.randoms(use_true_random=False)


def result(case: Case, program: Program) -> dict[Predicate, set[Row]]:
    return materialised(program, case.facts, case.predicates)


def with_rules(case: Case, change: Callable[[Rule], Rule]) -> Program:
    return replace(case.program, rules=tuple(map(change, case.program.rules)))


@given(any_case, orders)
def test_the_order_of_rules_does_not_matter(case: Case, order: Random) -> None:
    shuffled = order.sample(case.program.rules, len(case.program.rules))
    assert result(case, replace(case.program, rules=tuple(shuffled))) == result(case, case.program)


@given(any_case, orders)
def test_the_order_of_atoms_does_not_matter(case: Case, order: Random) -> None:
    def shuffled(rule: Rule) -> Rule:
        positive = order.sample(rule.positive, len(rule.positive))
        return Rule(rule.head, tuple(positive), tuple(order.sample(rule.negative, len(rule.negative))))

    assert result(case, with_rules(case, shuffled)) == result(case, case.program)


@given(any_case)
def test_repeating_rules_and_atoms_does_not_matter(case: Case) -> None:
    def doubled(rule: Rule) -> Rule:
        return Rule(rule.head, rule.positive + rule.positive[:1], rule.negative + rule.negative[:1])

    doubled_program = with_rules(case, doubled)
    assert result(case, replace(doubled_program, rules=doubled_program.rules * 2)) == result(case, case.program)


@given(any_case, st.permutations("xyzvw"))
def test_the_names_of_variables_do_not_matter(case: Case, names: list[str]) -> None:
    renaming = dict(zip("xyzvw", names, strict=True))

    def renamed_term(term: Term) -> Term:
        return Variable(renaming[term.name]) if isinstance(term, Variable) else term

    def renamed(atom: Atom) -> Atom:
        return replace(atom, terms=tuple(map(renamed_term, atom.terms)))

    assert result(case, with_rules(case, lambda rule: on_atoms(rule, renamed))) == result(case, case.program)


@given(any_case)
def test_the_names_of_predicates_do_not_matter(case: Case) -> None:
    """Reversing the names also reverses whatever is sorted by them."""
    fresh = {p: Predicate(f"z{len(case.predicates) - i}", p.arity) for i, p in enumerate(case.predicates)}

    def renamed(atom: Atom) -> Atom:
        return replace(atom, predicate=fresh[atom.predicate])

    program = replace(
        with_rules(case, lambda rule: on_atoms(rule, renamed)), facts=tuple(map(renamed, case.program.facts))
    )
    facts = {(fresh[predicate], row) for predicate, row in case.facts}
    found = materialised(program, facts, fresh.values())
    expected = result(case, case.program)
    assert found == {fresh[predicate]: rows for predicate, rows in expected.items()}


@given(any_case)
def test_splitting_a_rule_does_not_matter(case: Case) -> None:
    """The positive body moves to an auxiliary predicate over up to four of its variables."""
    rules: list[Rule] = []
    for index, rule in enumerate(case.program.rules):
        rules += split(rule, f"aux{index}")
    assert result(case, replace(case.program, rules=tuple(rules))) == result(case, case.program)


def split(rule: Rule, name: str) -> list[Rule]:
    """``h :- b, ~n`` as ``aux(x, ...) :- b`` and ``h :- aux(x, ...), ~n``."""
    needed = dict.fromkeys(v for atom in (rule.head, *rule.negative) for v in atom.variables())
    if not rule.positive:
        return [rule]
    auxiliary = Atom(Predicate(name, len(needed)), tuple(needed))
    return [Rule(auxiliary, rule.positive), Rule(rule.head, (auxiliary,), rule.negative)]


def on_atoms(rule: Rule, change: Callable[[Atom], Atom]) -> Rule:
    return Rule(change(rule.head), tuple(map(change, rule.positive)), tuple(map(change, rule.negative)))
