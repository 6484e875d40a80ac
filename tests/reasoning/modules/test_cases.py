"""Golden cases: ``cases/modules/NAME.rls`` is a program, and ``NAME.txt`` lists the modules that take its rules.

To add a case, add a program, run the test, and copy its output into the other file once it is correct.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from everlog.analysis.check import check
from everlog.analysis.modules.printing import print_module
from everlog.analysis.stratify import StratifiedProgram, stratify
from everlog.lang.parser import parse_file
from everlog.lang.printer import print_rule
from everlog.reasoning.modules.kinds import with_modules

CASES = sorted((Path(__file__).parents[2] / "cases/modules").glob("*.rls"))


def described(program: StratifiedProgram) -> Iterator[str]:
    prefixes = program.program.prefixes
    for stratum in program.strata:
        yield f"stratum {stratum.index}"
        yield from (f"  {print_rule(rule, prefixes)}" for rule in stratum.rules)
        for module in stratum.special:
            yield f"  module {print_module(module, prefixes)}"
            yield from (f"    {print_rule(rule, prefixes)}" for rule in module.rules)
    for each in program.untaken:
        yield f"no module takes {print_rule(each.rule, prefixes)}"
        yield f"  {each.reason}"


def test_there_are_cases() -> None:
    assert len(CASES) >= 12
    assert {path.stem for path in CASES} == {path.stem for path in CASES[0].parent.glob("*.txt")}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_detection(case: Path) -> None:
    found = with_modules(stratify(check(parse_file(str(case)))))
    assert "".join(f"{line}\n" for line in described(found)) == case.with_suffix(".txt").read_text(encoding="utf-8")
