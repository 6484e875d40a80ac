"""Modules of a kind that Spark has no plan for are evaluated by the rules that they replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everlog.analysis.check import check
from everlog.analysis.stratify import stratify
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.modules import kinds
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.strata import close_strata
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.reasoning.modules.symmetry import SYMMETRY

PROGRAM = """
knows(?x, ?y) :- knows(?y, ?x) .
knows(?x, ?y) :- met(?x, ?y), ~enemy(?x) .
trusts(?x, ?y) :- knows(?x, ?z), knows(?z, ?y) .
near(?x, ?y) :- near(?y, ?x) .
near(?x, ?z) :- trusts(?x, ?y), near(?y, ?z), ~enemy(?z) .
"""


def test_what_follows_is_the_same(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "MODULE_KINDS", (*kinds.MODULE_KINDS, SYMMETRY))
    rules = parse_program(PROGRAM)
    pairs = [("1", "2"), ("2", "3"), ("3", "3"), ("4", "1"), ("5", "4")]
    facts: set[naive.Fact] = {(Predicate(name, 2), row) for name in ("met", "near") for row in pairs}
    facts |= {(Predicate("enemy", 1), ("5",)), (Predicate("knows", 2), ("6", "1"))}
    program = with_modules(stratify(check(rules)))
    assert [module.kind for module in program.special] == ["symmetric", "symmetric"]
    assert [stratum.alone is None for stratum in program.strata if stratum.special] == [False, True]
    with setup(spark, tmp_path, rules, {*program.external.values(), *(p for p, _ in facts)}) as on_spark:
        found, _ = close_strata(on_spark.engine, program, on_spark.facts(facts).renamed(program.external))
        seen = found.restricted(p for p in found if p not in program.external.values())
        assert on_spark.listed(seen) == naive.materialise(rules, facts)
