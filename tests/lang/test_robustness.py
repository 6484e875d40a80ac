"""Parsing any text gives a program or a :class:`RuleError` whose places exist."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.lang.errors import Diagnostic, RuleError
from everlog.lang.parser import parse_program, parse_query, resolve_predicate_name

PIECES = (
    *("p", "q", "ex:r", "<http://e.org/s>", "(", ")", "[", "]", ",", ".", "~", ":-", "?x", "?y", "_", "a", "true"),
    *("42", "1.5", "1e5", '"s"', "'s'", '"""', '"', "'", "@en", "^^", "@prefix", "ex:", "<-", "not", "%", "#"),
    *("_:b", "?", "@", "\\", "<", ">", "-", "+", "$", "é", "😀", ":", ";", "!=", "<=", "=", "or", "and", "#count", "|"),
)

soups = st.lists(st.sampled_from([*PIECES, " ", "\n", "\r\n", "\t"]), max_size=25).map("".join)
spaced_soups = st.lists(st.sampled_from([*PIECES, "\n"]), max_size=25).map(" ".join)


def assert_shown_well(diagnostic: Diagnostic, text: str) -> None:
    assert str(diagnostic)
    place = diagnostic.place
    if place is None or place.line is None or place.column is None:
        return
    lines = [line.rstrip("\r") for line in text.split("\n")]
    assert place.text == lines[place.line - 1]
    assert 1 <= place.column <= len(place.text) + 1


@settings(max_examples=500, deadline=None)
@given(st.one_of(soups, spaced_soups, st.text(max_size=30)))
@example("p(a) .\r\np(b\r\n")
@example('p("""a\nb')
@example('p("""a\nb""", ?x) .')
def test_any_text_is_a_program_or_a_located_error(text: str) -> None:
    try:
        program = check(parse_program(text))
        found = program.warnings
        stratify(program)
    except RuleError as error:
        found = error.diagnostics
        assert found
    for diagnostic in found:
        assert_shown_well(diagnostic, text)


@settings(max_examples=200, deadline=None)
@given(st.one_of(soups, spaced_soups, st.text(max_size=30)))
def test_any_text_is_a_query_or_an_error(text: str) -> None:
    for read in (parse_query, resolve_predicate_name):
        try:
            read(text)
        except RuleError as error:
            assert str(error)  # noqa: PT017
