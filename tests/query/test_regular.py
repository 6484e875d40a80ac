"""Regular expressions of XPath that RE2 can match, and errors with reasons for the others."""

from __future__ import annotations

import pytest

from everlog import KnowledgeBase, RuleError
from everlog.query.sparql.regular import regular
from everlog.query.sparql.terms import ExpressionError


@pytest.mark.parametrize(
    ("pattern", "flags", "matching", "other"),
    [
        ("^abc$", "", ["abc"], ["abc\n", "xabc", "ABC"]),
        ("^abc$", "m", ["x\nabc\ny"], ["xabc"]),
        ("^ABC$", "i", ["abc"], ["abd"]),
        ("GRÖSSE", "i", ["größe".replace("ß", "ss")], ["grosse"]),
        ("a.b", "", ["axb", "aéb", "a😀b"], ["a\nb", "ab"]),
        ("a.b", "s", ["a\nb"], ["ab"]),
        ("a b [ c]", "x", ["ab ", "abc"], ["a b c"]),
        ("a.b*", "q", ["xa.b*"], ["axbb"]),
        (r"^\d+$", "", ["42", "٤٢"], ["4a"]),
        (r"^\D$", "", ["a"], ["4", "٤"]),
        (r"^\s$", "", [" ", "\t", "\n", "\r"], ["\u00a0", "\u2003", "\x0b"]),
        (r"^\S$", "", ["\u00a0", "a", "\x0b"], [" ", "\n"]),
        (r"^\w+$", "", ["aé4$", "名"], ["a_b", "a b", "a-b"]),
        (r"^\W$", "", ["_", " ", "-"], ["a", "4"]),
        (r"^[\w-]+$", "", ["a-b"], ["a_b"]),
        (r"^[^\s]$", "", ["a"], [" "]),
        (r"^[\S]$", "", ["a", "\u00a0"], [" "]),
        (r"^\i\c*$", "", ["a-b.1", "_x", ":y", "é"], ["1a", "-"]),
        (r"^\I\C$", "", ["1 "], ["aa"]),
        (r"^\p{Lu}\P{Lu}$", "", ["Ab", "Éb"], ["AB", "ab"]),
        (r"^\p{Lu}x\P{Lu}$", "i", ["AXb", "Éxb"], ["axb", "AxB"]),
        (r"^\p{Ll}+\p{Lt}x$", "i", ["aéǅX"], ["Aǅx", "aǆx"]),
        (r"^\P{Ll}{2}$", "i", ["AB"], ["ab", "Ab"]),
        (r"^[\w\p{L}\p{Nd}x]+$", "i", ["aB4X"], ["_"]),
        (r"\.\-\\\[\]\{\}\(\)\*\+\?\^\$\|", "", [r".-\[]{}()*+?^$|"], ["x"]),
        (r"^[\]\\^\-a]+$", "", [r"]\^-a"], ["b"]),
        ("^[^a-c]$", "", ["d", "é"], ["b"]),
        ("^(ab|c){2}$", "", ["abc", "cc"], ["ab"]),
        ("^a{2,}$", "", ["aaa"], ["a"]),
        ("^(?:ab)+?$", "", ["abab"], ["aba"]),
        ("", "", ["", "a"], []),
        ("\0", "", ["a\0b"], ["0"]),
    ],
)
def test_patterns_mean_what_xpath_says(pattern: str, flags: str, matching: list[str], other: list[str]) -> None:
    found = regular(pattern, flags)
    assert found.matches(matching) == [True] * len(matching)
    assert found.matches(other) == [False] * len(other)


@pytest.mark.parametrize(
    "pattern", ["(", ")", "[a", "*a", "a**", "a{", "a{,2}", "a{2,1}", "\\", r"\p{L", "[b-a]", "a{1}{2}"]
)
def test_malformed_patterns_are_errors_of_the_expression(pattern: str) -> None:
    with pytest.raises(ExpressionError):
        regular(pattern)


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        (r"(a)\1", r"\1"),
        ("(?=a)", "(?=a"),
        ("(?<!a)b", "(?<!"),
        ("(?i)a", "(?i)"),
        ("(?P<n>a)", "(?P<"),
        (r"\bword\b", r"\b"),
        (r"a\Z", r"\Z"),
        ("[a-z-[aeiou]]", "-["),
        ("[a-z&&[^x]]", "["),
        ("[[]", "["),
        ("[a[:digit:]]", "["),
        ("[]a]", "]"),
        ("[^]a]", "]"),
        (r"\p{IsGreek}", r"\p{IsGreek}"),
        ("a{1001}", "{1001}"),
        ("a{2,99999999999}", "{2,99999999999}"),
        ("((a{900}){900}){900}", "((a{900}){900}){900}"),
    ],
)
def test_what_cannot_be_matched_is_refused_by_name(pattern: str, named: str) -> None:
    with pytest.raises(RuleError) as found:
        regular(pattern)
    (said,) = found.value.diagnostics
    assert said.code == "unsupported-regex"
    assert f"`{named}`" in said.message


@pytest.mark.parametrize("category", [r"\p{Lu}", r"\P{Ll}", r"\p{Lt}"])
def test_cases_of_letters_in_brackets_are_refused_without_case(category: str) -> None:
    assert regular(f"[0{category}]").matches(["0"]) == [True]
    with pytest.raises(RuleError, match="together with the flag `i`"):
        regular(f"[0{category}]", "i")


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "flags", "made"),
    [
        ("abracadabra", "bra", "*", "", "a*cada*"),
        ("abracadabra", "a.*a", "*", "", "*"),
        ("abracadabra", "a.*?a", "*", "", "*c*bra"),
        ("abracadabra", "a(.)", "a$1$1", "", "abbraccaddabbra"),
        ("AAAA", "A+?", "b", "", "bbbb"),
        ("darted", "^(.*?)d(.*)$", "$1c$2", "", "carted"),
        ("xay", "(a)", "[$0]$12", "", "x[a]a2y"),
        ("xay", "a", r"\$1\\", "", r"x$1\y"),
        ("xay", "(a)|(b)", "<$2>", "", "x<>y"),
        ("a.b", ".", "-", "q", "a-b"),
        ("a.b", ".", "$", "q", "a$b"),
        ("a.b", ".", r"\0$0\\", "q", r"a\0$0\\b"),
        ("aXb", "x", r"\$", "iq", r"a\$b"),
        ("xAy", "a", "", "i", "xy"),
        ("é名", "名", "$0$0", "", "é名名"),
    ],
)
def test_replacements_mean_what_xpath_says(text: str, pattern: str, replacement: str, flags: str, made: str) -> None:
    assert regular(pattern, flags).replaced([text, ""], replacement) == [made, ""]


@pytest.mark.parametrize(("pattern", "replacement"), [("a*", "b"), ("a", "$"), ("a", "\\"), ("a", r"\n")])
def test_wrong_replacements_are_errors_of_the_expression(pattern: str, replacement: str) -> None:
    with pytest.raises(ExpressionError):
        regular(pattern).replaced(["a"], replacement)


def test_the_tenth_group_cannot_be_put_into_a_replacement() -> None:
    with pytest.raises(RuleError, match="more than nine groups"):
        regular("(a)" * 10).replaced(["a" * 10], "$10")


def answers(query: str) -> list[tuple[object, ...]]:
    return sorted(KnowledgeBase("p(a) .").sparql(query).rows(), key=str)


def test_patterns_may_differ_by_row() -> None:
    found = answers(
        "SELECT ?t ?p (REGEX(?t, ?p) AS ?m) (REPLACE(?t, ?p, '-') AS ?r) {"
        " VALUES (?t ?p) { ('ab' 'a') ('ab' 'c') ('cd' 'c') ('ab' '(') (1 'a') ('Ab'@en 'b') ('x' UNDEF) } }"
    )
    by_text = {(str(t), p): (m, None if r is None else str(r)) for t, p, m, r in found}
    assert by_text["ab", "a"] == (True, "-b")
    assert by_text["ab", "c"] == (False, "ab")
    assert by_text["cd", "c"] == (True, "-d")
    assert by_text["ab", "("] == (None, None)
    assert by_text["1", "a"] == (None, None)
    assert by_text["x", None] == (None, None)
    assert [m for t, p, m, _ in found if str(p) == "b"] == [True]


def test_a_pattern_that_made_others_search_for_ever_is_matched_at_once() -> None:
    text = "a" * 5000 + "!"
    assert answers(f"SELECT ?t {{ BIND('{text}' AS ?t) FILTER REGEX(?t, '^(a+)+$') }}") == []
    assert len(answers(f"SELECT (REPLACE('{text}', '(a|aa)+$', 'b') AS ?t) {{}}")) == 1
