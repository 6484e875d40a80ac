"""The page of errors equals the registry. ``EVERLOG_GOLDEN=write`` writes the page."""

from __future__ import annotations

import os

import pytest

from everlog.lang.codes import Code, Topic
from tests.docs.pages import DOCS

PAGE = DOCS / "errors.md"

HEAD = """# Errors and warnings

Every message begins with a code: `error[unsafe-variable]: ...`. After an error nothing is changed, unless the message
says otherwise; a warning reports something that is allowed and probably not meant; a note is information for the log.
In Python an error is an `everlog.EverlogError` with `diagnostics`, and a warning an `everlog.EverlogWarning` with a
`diagnostic`; each diagnostic has `code`, `message`, `place` and `hint`. With `--warnings error` warnings end a command.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *("\n".join(section(topic)) for topic in Topic)])


def section(topic: Topic) -> list[str]:
    """The lines about one topic, with its codes sorted by name."""
    codes = sorted(code for code in Code if code.topic is topic)
    rows = [f"| `{code}` | {' or '.join(code.severities)} | {code.meaning} | {code.remedy} |" for code in codes]
    return [f"## {topic}", "", "| code | | what it means | what to do |", "| --- | --- | --- | --- |", *rows, ""]


def test_the_page_is_made_from_the_registry() -> None:
    if os.environ.get("EVERLOG_GOLDEN") == "write":
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("code", Code)
def test_every_code_is_explained_in_one_line(code: Code) -> None:
    for text in (code.meaning, code.remedy):
        assert text.endswith(".")
        assert text[0].isupper() or text.startswith("`")
        assert not set("|\n") & set(text)
    assert code == code.name.lower().replace("_", "-")
