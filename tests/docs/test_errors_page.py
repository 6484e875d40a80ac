"""The page of errors explains every code of the registry."""

from __future__ import annotations

import re

import pytest

from everlog.lang.codes import Code
from tests.docs.pages import DOCS

PAGE = (DOCS / "errors.md").read_text(encoding="utf-8")
SECTIONS = re.split(r"^## .+\n\n\| code \| \| what it means \| what to do \|\n(?:\| --- )+\|\n", PAGE, flags=re.M)[1:]
ROWS = [tuple(line.split(" | ")) for section in SECTIONS for line in section.split("\n\n")[0].splitlines()]


def test_the_page_has_a_row_for_each_code_with_its_severities() -> None:
    assert all(len(row) == 4 for row in ROWS)
    explained = [(code.removeprefix("| ").strip("`"), severities) for code, severities, *_ in ROWS]
    assert sorted(explained) == sorted((str(code), " or ".join(code.severities)) for code in Code)


def test_the_page_is_tables_only() -> None:
    assert PAGE.count("\n| `") == len(ROWS) == len(Code)
    assert len(SECTIONS) == PAGE.count("\n## ")


@pytest.mark.parametrize("section", SECTIONS)
def test_codes_are_in_alphabetical_order(section: str) -> None:
    codes = re.findall(r"^\| `(\S+)` ", section, re.M)
    assert codes == sorted(codes)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip("| `"))
def test_every_code_is_explained_in_whole_sentences(row: tuple[str, ...]) -> None:
    for text in (row[2], row[3].removesuffix(" |")):
        assert text.endswith(".")
        assert text[0].isupper() or text.startswith("`")
        assert "|" not in text


@pytest.mark.parametrize("code", Code)
def test_members_are_named_like_their_codes(code: Code) -> None:
    assert code == code.name.lower().replace("_", "-")
