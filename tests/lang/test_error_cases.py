"""Golden messages: the errors, otherwise the warnings, of ``tests/cases/errors/<name>/program.rls`` are its
``expected.txt``.

``EVERLOG_ACCEPT=1`` writes the current messages.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.lang.errors import RuleError
from everlog.lang.parser import parse_program

CASES = Path(__file__).parents[1] / "cases" / "errors"


def said_about(text: str) -> str:
    try:
        program = check(parse_program(text, "program.rls"))
        stratify(program)
    except RuleError as error:
        return f"{error}\n"
    return "\n\n".join(map(str, program.warnings)) + "\n"


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_message(case: str) -> None:
    expected = CASES / case / "expected.txt"
    said = said_about((CASES / case / "program.rls").read_text(encoding="utf-8"))
    if os.environ.get("EVERLOG_ACCEPT"):
        expected.write_text(said, encoding="utf-8")
    assert said == expected.read_text(encoding="utf-8")
