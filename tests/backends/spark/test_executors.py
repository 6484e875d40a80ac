"""Golden cases and random programs with their updates, on executors that are processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from everlog.backends.spark.plans import PlanKind
from tests.backends.spark.on_executors import ARBITRARY, GRAPHS, ROUNDS
from tests.reasoning.test_cases import CASES

MASTER = "local-cluster[2,1,1024]"


@pytest.mark.slow
def test_both_engines_have_the_same_facts_and_counters_after_every_step(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.backends.spark.on_executors", MASTER, str(tmp_path)]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3_000, check=False, cwd=root)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["master"] == MASTER
    assert report["programs"] == len(CASES) + ROUNDS * (ARBITRARY + GRAPHS)
    steps = [[step["step"] for step in steps] for steps in report["compared"]]
    assert steps[:2] == [["materialise", "dredc"], ["materialise", "bfc"]]
    assert steps[2:] == [["materialise", "dredc", "bfc"]] * ROUNDS
    assert {kind for plans in report["plans"] for plan in plans for kind in plan.split(", ")} == set(get_args(PlanKind))
    assert all(step["rows"] > 50 for steps in report["compared"] for step in steps)
    updates = [step for steps in report["compared"] for step in steps if step["step"] != "materialise"]
    assert any(step["looked_up"] for step in updates), "by default"
