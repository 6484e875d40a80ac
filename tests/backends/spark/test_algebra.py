"""The algorithms on DataFrames derive the facts that the oracle derives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everlog.reasoning.strata import close_strata
from tests.backends.spark.reasoning import setup
from tests.oracle import naive
from tests.reasoning.test_cases import CASES, facts_of, program_of

QUICK = {"arity-zero", "constants", "journal-example-1", "wildcard-negation", "same-generation"}
"""The others cost ten jobs and more."""


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=[] if case.name in QUICK else [pytest.mark.slow]) for case in CASES],
)
def test_golden_cases(spark: Any, tmp_path: Path, case: Path) -> None:
    program, given = program_of(case), {*facts_of(case), *naive.explicit(program_of(case))}
    with setup(spark, tmp_path, program, [predicate for predicate, _ in given]) as on_spark:
        facts, _ = close_strata(on_spark.engine, on_spark.program, on_spark.facts(given))
        assert on_spark.listed(facts) == naive.materialise(program, given)
    assert not list(tmp_path.iterdir())
