"""The replacement that a message suggests is equivalent to the original text."""

from __future__ import annotations

import re

import pytest

from everlog import KnowledgeBase
from everlog.lang.errors import RuleError
from everlog.lang.parser import parse_program, parse_stored
from everlog.lang.printer import print_program

DATA = "q(a) . q(b) . r(c) . s(a, d, d) . s(b, d, e) ."


def remedy(text: str) -> str:
    """The hint of the only mistake in a program."""
    with pytest.raises(RuleError) as raised:
        KnowledgeBase(text)
    (found,) = raised.value.diagnostics
    assert found.hint is not None
    return found.hint


def quoted(hint: str) -> list[str]:
    """The texts between backquotes in a hint."""
    return re.findall("`([^`]*)`", hint)


def derived(text: str, query: str = "p(?x)") -> list[tuple[object, ...]]:
    return sorted(KnowledgeBase(text + DATA).query(query).rows())


@pytest.mark.parametrize("sign", [";", "|", "||", "∨", "or"])
def test_or_is_answered_with_a_rule_for_each_alternative(sign: str) -> None:
    rules = quoted(remedy(f"p(?x) :- q(?x), s(?x, _, _) {sign} r(?x) ."))
    assert rules == ["p(?x) :- q(?x), s(?x, _, _) .", "p(?x) :- r(?x) ."]
    assert derived("\n".join(rules)) == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize("sign", ["!=", "<>", "\\=", "≠"])
def test_a_difference_is_answered_with_negation(sign: str) -> None:
    _, rule, negated = quoted(remedy(f"p(?x, ?y) :- q(?x), q(?y), ?x {sign} ?y ."))
    assert derived(f"{rule} p(?x, ?y) :- q(?x), q(?y), {negated} .", "p(?x, ?y)") == [("a", "b"), ("b", "a")]
    _, fact, negated = quoted(remedy(f"p(?x) :- q(?x), ?x {sign} a ."))
    assert derived(f"{fact} p(?x) :- q(?x), {negated} .") == [("b",)]


def test_an_equality_is_answered_with_one_term_in_both_places() -> None:
    assert quoted(remedy("p(?x) :- q(?x), s(?x, ?y, ?z), ?y = ?z ."))[1:] == ["?z", "?y"]
    assert derived("p(?x) :- q(?x), s(?x, ?z, ?z) .") == [("a",)]


@pytest.mark.parametrize("comparison", ["?x < ?y", "?x <= b", "b => ?x", "?x = ?y + 1", "LCASE(?x) = ?y"])
def test_other_comparisons_are_not_answered_with_another_meaning(comparison: str) -> None:
    assert "FILTER" in remedy(f"p(?x) :- s(?x, ?y, _), {comparison} .")


def test_an_aggregate_is_no_comment() -> None:
    assert "GROUP BY" in remedy("p(?x, #count(?y)) :- s(?x, ?y, _) .")
    assert "`%`" in remedy("#count what is there\np(a) .")


def test_a_repeated_variable_of_a_negated_atom_is_answered_with_another_predicate() -> None:
    rule, negated = quoted(remedy("p(?x) :- q(?x), ~s(?x, ?p, ?p) ."))[:2]
    assert derived(f"{rule} p(?x) :- q(?x), {negated} .") == [("b",)]


@pytest.mark.parametrize("term", ["?x-1", "?x - 1", "?x-?y", "?first-name"])
def test_a_hyphen_is_no_part_of_a_variable(term: str) -> None:
    assert "arithmetic" in remedy(f"p({term}) :- q(?x), q(?y) .")


def test_programs_of_stores_may_have_hyphens_in_variables() -> None:
    program = parse_stored('p(?a-b, ?a_b) :- q(?a-b, "?a-b", <http://e.org/?a-b>), r(?a_b) .', "rules")
    expected = 'p(?a·b, ?a_b) :- q(?a·b, "?a-b", <http://e.org/?a-b>), r(?a_b) .'
    assert program == parse_program(expected)
    assert parse_stored(print_program(program), "rules") == program
