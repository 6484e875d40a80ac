"""Malicious texts (slow to read, long, or with control characters) are refused quickly, with short messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from lark import Token

from everlog.lang import builder, statements
from everlog.lang.codes import Code
from everlog.lang.errors import LONGEST_LINE, Diagnostic, Place, RuleError
from everlog.lang.foreign import sign_at
from everlog.lang.parser import parse_program, parse_query
from everlog.lang.statements import grammar
from everlog.lang.visible import masked, visible


@pytest.mark.parametrize("text", ["(", "p(", "[", "[?x, ", "p(a, q("])
@pytest.mark.parametrize("parse", [parse_program, parse_query])
def test_reading_ends_where_brackets_are_nested_too_deeply(
    text: str, parse: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Token] = []
    real = grammar().lex

    def lex(text: str) -> Iterator[Token]:
        for token in real(text):
            read.append(token)
            yield token

    monkeypatch.setattr(grammar(), "lex", lex)
    with pytest.raises(RuleError) as found:
        parse(text * 20_000)
    assert len(read) < 10 * statements.DEEPEST
    assert len(str(found.value)) < 2000


def test_brackets_of_other_statements_are_not_counted() -> None:
    assert len(parse_program("p(a) . [a, q, b] .\n" * 300).facts) == 600


def test_reading_ends_after_many_mistakes() -> None:
    with pytest.raises(RuleError) as found:
        parse_program("p(a)\n" * 5000)
    assert len(found.value.diagnostics) == builder.MOST_MISTAKES + 1
    assert found.value.diagnostics[-1].code == "too-many-mistakes"
    assert len(str(found.value)) < 50_000


def test_a_sign_has_few_characters() -> None:
    assert sign_at(list(grammar().lex("<" * 1000)), 0) == "<" * 3


@pytest.mark.parametrize("text", ["a.", "a..", "é."])
def test_names_with_dots_are_read_once(text: str) -> None:
    """A quadratic algorithm takes minutes here."""
    with pytest.raises(RuleError):
        parse_program(text * 20_000)


@pytest.mark.long
def test_a_long_line_is_cut_around_its_column() -> None:
    with pytest.raises(RuleError) as found:
        parse_program("p(" + "a, " * 50_000 + "!" + ", a" * 50_000 + ") .")
    lines = str(found.value).splitlines()
    assert all(len(line) <= LONGEST_LINE + 20 for line in lines)
    caret = next(line for line in lines if set(line) == {" ", "|", "^"}).index("^")
    assert lines[3][caret] == "!"
    assert lines[3].startswith(" 1 | ...")
    assert lines[3].endswith("...")


@pytest.mark.parametrize(
    ("text", "column", "width", "marked"),
    [
        ("ab\x1b[31mc", 3, 1, r"\x1b"),
        ("ab\x1b[31mc", 8, 1, "c"),
        ("\u202eab\x9bc", 5, 1, "c"),
        ("\tab", 2, 2, "ab"),
        ("x" * 1000 + "\x1by" + "z" * 1000, 1002, 1, "y"),
        ("x" * 1000, 1000, 5, "x"),
        ("y" + "x" * 1000, 1, 1, "y"),
    ],
)
def test_the_caret_is_below_what_it_marks(text: str, column: int, width: int, marked: str) -> None:
    lines = str(Diagnostic(Code.SYNTAX, "m", Place("f", 1, column, text, width))).splitlines()
    at, end = lines[-1].index("^"), len(lines[-1])
    assert lines[-2][at:end] == marked


def test_a_column_behind_the_text_has_no_caret() -> None:
    assert "^" not in str(Diagnostic(Code.SYNTAX, "m", Place("f", 1, 900, "cut", 1)))


def test_messages_show_no_control_characters_and_stay_short() -> None:
    bad = "\x1b]0;title\x07\u202e\x9b\r\x00"
    said = Diagnostic(Code.SYNTAX, bad + "x" * 10_000, Place(f"{bad}.csv", 1, 1, bad), bad, ((bad, Place(bad)),))
    assert all(char == "\n" or char.isprintable() for char in str(said))
    assert len(str(said)) < 3000


@pytest.mark.parametrize(
    "char", [*map(chr, [*range(32), *range(127, 160), 0x202A, 0x202E, 0x2066, 0x2069, 0x200F, 0x2028])]
)
def test_characters_that_act_on_a_terminal_are_shown_as_escapes(char: str) -> None:
    shown = visible(f"a{char}b")
    assert char not in shown
    assert shown.encode().decode("unicode_escape") == f"a{char}b"


def test_other_characters_are_shown_as_they_are() -> None:
    text = "größe 名前 👩‍👧 é \u00a0 \\x1b"
    assert visible(text) == text


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("s3://key:secret@bucket/kb", "s3://***@bucket/kb"),
        ("s3://key:sec/ret+x@bucket/kb", "s3://***@bucket/kb"),
        ("https://user:pw@h.org/x.csv", "https://***@h.org/x.csv"),
        ("https://token@h.org/x.csv", "https://***@h.org/x.csv"),
        ("abfss://box:key@account.dfs.core.windows.net/x", "abfss://***@account.dfs.core.windows.net/x"),
        (
            "https://h/x?X-Amz-Credential=AK%2F1&X-Amz-Signature=ab",
            "https://h/x?X-Amz-Credential=***&X-Amz-Signature=***",
        ),
        ("https://h/x?sv=2024&sig=a%3D", "https://h/x?sv=2024&sig=***"),
        ("abfss://box@account.dfs.core.windows.net/x", "abfss://box@account.dfs.core.windows.net/x"),
        ("hdfs://host:8020/a@b", "hdfs://host:8020/a@b"),
        ("s3://bucket/a@b?versionId=3", "s3://bucket/a@b?versionId=3"),
    ],
)
def test_secrets_in_addresses_are_masked(address: str, shown: str) -> None:
    assert masked(f"the file {address} is missing") == f"the file {shown} is missing"
    said = str(Diagnostic(Code.SYNTAX, f"cannot read {address}", Place(address), f"try {address}", ((address, None),)))
    assert said.count(shown) == 4
    assert "sec" not in said
    assert "pw" not in said
