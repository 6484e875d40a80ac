"""Parsing a printed program gives an equal program."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from everlog.ingest.cells import cell_text as text_of_cell
from everlog.lang.parser import parse_program, parse_query
from everlog.lang.printer import cell_text, print_atom, print_program, print_query, print_rule
from everlog.lang.syntax import Atom, Program
from tests.facts import parse_fact
from tests.lang.written import PREFIXES, atoms, constants, programs, texts


@settings(max_examples=300, deadline=None)
@given(programs)
def test_a_printed_program_is_the_same_program(program: Program) -> None:
    assert parse_program(print_program(program)) == program


@settings(max_examples=150, deadline=None)
@given(atoms(constants))
def test_a_printed_fact_is_the_same_fact(fact: Atom) -> None:
    assert parse_fact(print_atom(fact)) == fact
    assert parse_fact(print_atom(fact, PREFIXES), PREFIXES) == fact


def test_prefixes_are_used_where_they_fit() -> None:
    program = parse_program(
        """@prefix ex: <http://e.org/> . @prefix sub: <http://e.org/sub#> .
        <http://e.org/p>(<http://e.org/sub#a>, <http://e.org/a/b>, "1"^^<http://e.org/unit>) ."""
    )
    printed = print_atom(program.facts[0], program.prefixes)
    assert printed == 'ex:p(sub:a, <http://e.org/a/b>, "1"^^ex:unit)'


def test_rules_and_queries_read_like_the_language() -> None:
    rule = 'p(?x, "two words") :- q(?x, _, 1.0), ~r(?x), ~s() .'
    assert print_rule(parse_program(rule).rules[0]) == rule
    assert print_query(parse_query("~s(), p(alice, ?x)")) == "p(alice, ?x), ~s()"


@settings(max_examples=400, deadline=None)
@given(texts.filter(lambda text: not text.startswith("_:")), st.sets(st.sampled_from(sorted(PREFIXES))))
@example('"ex:a"', {"ex"})
@example('"<a>"', set())
@example('""x"^^ex:a"', {"ex"})
@example('""quoted""', set())
@example('"back\\slash"@en', set())
def test_a_cell_reads_back_as_the_same_constant(text: str, names: set[str]) -> None:
    prefixes = {name: PREFIXES[name] for name in names}
    assert text_of_cell(cell_text(text, prefixes), prefixes) == text


@settings(max_examples=300, deadline=None)
@given(st.text())
@example("GO:0000001")
@example("007")
@example("<5 mg")
@example('say "hi"')
@example("_x")
def test_a_string_cell_is_bare_unless_it_would_mean_something_else(string: str) -> None:
    shown = cell_text(f'"{string}"')
    quoted_without_need = shown != string and text_of_cell(string, {}) == f'"{string}"'
    assert not quoted_without_need or string.startswith(("_:", '"', "<"))


@given(texts, texts)
def test_no_two_constants_share_a_cell(one: str, other: str) -> None:
    assert (cell_text(one) == cell_text(other)) == (one == other)
