"""The maintenance experiments end to end on tiny workloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.inputs import is_here
from bench.maintenance import lubm
from bench.maintenance.break_even import break_even
from bench.maintenance.example import COLUMNS as EXAMPLE_COLUMNS
from bench.maintenance.example import example
from bench.maintenance.report import break_even_text, large_text, report
from bench.maintenance.robustness import robustness
from bench.maintenance.samples import Sampler
from bench.maintenance.setting import ALGORITHMS, COLUMNS
from bench.maintenance.workloads import WORKLOADS, changed_facts
from bench.measure import start
from bench.report import Run

PATIENCE = {"samples": 1, "fewest": 1, "seconds": 0.0, "slow": 1.5, "cut_off": 30.0}


def chain(length: int) -> dict[str, Any]:
    nodes = np.arange(length)
    return {"edge": np.stack([nodes, nodes + 1], axis=1), "start": nodes[:1, None]}


def results_of(**parts: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"robustness": [], "break_even": [], "example": [], "command": {}}
    return {**empty, **parts}


def test_samples_are_stable_and_distinct() -> None:
    sampler = Sampler(lubm.universities(1, seed=2))
    for sampling in ("uniform", "walk"):
        small, large = (sampler.draw(sampling, count, seed=3) for count in (50, 200))
        assert sum(map(len, large.values())) == 200
        rows = {name: {tuple(row) for row in part.tolist()} for name, part in large.items()}
        assert sum(map(len, rows.values())) == 200
        assert all(tuple(row) in rows[name] for name, part in small.items() for row in part.tolist())


def test_a_walk_goes_along_edges() -> None:
    sampler = Sampler(chain(1_000))
    drawn = np.sort(sampler.draw("walk", 20, seed=1)["edge"][:, 0])
    assert np.count_nonzero(np.diff(drawn) == 1) >= 15


@pytest.mark.long
@pytest.mark.parametrize("workload", ["thesis-example-1", "symmetric-transitive"])
def test_all_algorithms_are_measured_and_reported(workload: str, tmp_path: Path) -> None:
    size = {"symmetric-transitive": 12, "thesis-example-1": 60}[workload]
    measured = [robustness(workload, size, kind, **PATIENCE) for kind in ("levels", "single")]
    records = {(r["sampling"], r["kind"], r["algorithm"]) for r in measured[0]["records"] if r["median"] is not None}
    assert len(records) == 2 * 2 * len(COLUMNS)
    result = report(results_of(robustness=measured))
    assert {target.topic for target in result.targets if target.met is not None} == {"auto"}
    result.write(tmp_path / "tiny", "Tiny", Run("test", 0.0))
    assert json.loads((tmp_path / "tiny.json").read_text())["robustness"][0]["workload"] == workload
    assert "median score" in (tmp_path / "tiny.md").read_text()
    assert (tmp_path / "tiny.png").stat().st_size > 1_000


def test_break_even_is_between_nothing_and_everything() -> None:
    searched = break_even("forest", 1, steps=3, seconds=30.0)
    assert set(searched["points"]) == set(ALGORITHMS) - {"auto"}
    assert all(0 <= point["share"] <= 1 for point in searched["points"].values())
    assert "| forest" in break_even_text([searched])
    assert "| forest" in large_text([searched])


def test_no_instance_of_the_join_is_considered_backwards() -> None:
    small = example(100, cut_off=60.0)["columns"]
    assert set(small) == set(EXAMPLE_COLUMNS)
    for column in ("dredc", "bfc", "counting"):
        assert "backward" not in {phase for phase, count in small[column]["instances"].items() if count}
    assert not small["dred"]["instances"]["backward"]


def test_a_child_process_runs_an_experiment() -> None:
    ran = start({"task": "maintenance.example.example", "n": 20, "cut_off": 30.0, "one_core": True}, 120)
    assert ran.error is None
    assert ran.result is not None
    assert ran.result["n"] == 20


def test_every_workload_has_facts_for_its_rules() -> None:
    for workload in WORKLOADS.values():
        if is_here(workload):
            facts = workload.facts(min(workload.quick, 200 if workload.name != "lubm" else 1))
            assert all(len(rows) for rows in facts.values())
            assert changed_facts(sum(map(len, facts.values()))) >= 1
