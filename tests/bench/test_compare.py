"""The harness end to end on tiny graphs: all available systems have equal counts."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bench import generators
from bench.compare import Comparison, Row, compare, disagreements, ratio
from bench.general import report, wrong
from bench.inputs import read, table_of, write
from bench.measure import run_python
from bench.peers import SYSTEMS, NotExpressibleError, Outcome
from bench.programs import LINEAR, NONLINEAR, PROGRAMS, SAME_GENERATION
from bench.report import Run
from bench.targets import targets
from bench.workloads import WORKLOADS, Workload, chosen

HAS_EVERLOG = hasattr(import_module("everlog"), "KnowledgeBase")
IN_PROCESS = ("sort kernel", "stamp kernel", "duckdb", "duckdb loop", "clingo", "nemo")


@pytest.fixture
def graph() -> Any:
    return table_of(generators.random_dag(30, 60, seed=4))


def counts(program: str, directory: Path) -> dict[str, int | None]:
    """The number of answers by every available system that can express the program."""
    found = {}
    for name in IN_PROCESS:
        if SYSTEMS[name].available():
            try:
                found[name] = SYSTEMS[name].run(PROGRAMS[program], read(directory)).facts
            except NotExpressibleError:
                continue
    return found


@pytest.mark.parametrize("program", [LINEAR.name, NONLINEAR.name])
@pytest.mark.parametrize("textual", [False, True])
def test_peers_agree_on_closure(program: str, textual: bool, graph: Any, tmp_path: Path) -> None:
    if textual:
        graph = pa.table({name: pa.array([f"n:{i}" for i in graph[name].to_pylist()]) for name in ("x", "y")})
    write({"edge": graph}, tmp_path)
    found = counts(program, tmp_path)
    assert len(found) >= 2
    assert len(set(found.values())) == 1
    assert found["clingo"] == SYSTEMS["sort kernel"].run(LINEAR, read(tmp_path)).facts


def test_peers_agree_on_same_generation(tmp_path: Path) -> None:
    write({"arc": table_of(generators.generations(12, 4))}, tmp_path)
    found = counts(SAME_GENERATION.name, tmp_path)
    assert len(found) >= 2
    assert len(set(found.values())) == 1


@pytest.mark.long
def test_a_workload_is_measured_in_processes_and_reported(graph: Any, tmp_path: Path) -> None:
    workload = replace(WORKLOADS["dag-s-linear"], tables=lambda: {"edge": graph}, facts=None)
    workload = replace(workload, systems=("sort kernel", "duckdb", *(["everlog"] if HAS_EVERLOG else [])))
    comparison = compare(workload, 1)
    assert comparison.disagreements == ()
    assert all(row.outcome and row.outcome.peak_mb and row.outcome.peak_mb > 10 for row in comparison.rows)
    report([comparison], None, {}, {}, {}).write(tmp_path / "tiny", "Tiny", Run("test", 0.0))
    assert json.loads((tmp_path / "tiny.json").read_text())["comparisons"][0]["workload"] == "dag-s-linear"
    assert "| sort kernel" in (tmp_path / "tiny.md").read_text()
    assert (tmp_path / "tiny.png").stat().st_size > 1_000


def outcome(seconds: float, facts: int = 5, instances: int | None = None) -> Outcome:
    return Outcome(facts, seconds, seconds, instances, peak_mb=100.0)


def comparison(**rows: Outcome | float) -> Comparison:
    """A comparison of systems with their outcomes; a number is the time after which a system was stopped."""
    made = [
        Row(name.replace("_", " "), value, 1) if isinstance(value, Outcome) else Row(name, None, 1, ">", value)
        for name, value in rows.items()
    ]
    return Comparison("w", "linear", tuple(made), ())


def test_disagreement_is_told() -> None:
    workload = Workload("w", LINEAR, dict, ("everlog", "duckdb"), facts=5)
    rows = comparison(everlog=outcome(1, instances=9), sort_kernel=outcome(1, instances=8), duckdb=outcome(1, 6)).rows
    assert disagreements(workload, rows) == ["duckdb: 6 facts, not 5", "everlog: 9 rule instances, not 8"]


def test_a_stopped_peer_counts_with_the_time_it_had() -> None:
    assert ratio(comparison(everlog=outcome(2), nemo=60.0), "nemo") == 30


def verdicts(comparisons: dict[str, Comparison]) -> list[str]:
    return [target.verdict for target in targets(comparisons, {}, None, {}, {})]


def test_targets_are_met_missed_or_not_measured() -> None:
    fast = comparison(everlog=outcome(1, instances=9), sort_kernel=outcome(1, instances=9), duckdb=outcome(3))
    slow = comparison(everlog=outcome(2, instances=9), sort_kernel=outcome(1, instances=9), duckdb=outcome(3))
    assert verdicts({"dag-r-linear": fast})[:3] == ["met", "met", "not measured"]
    assert verdicts({"dag-r-linear": slow})[:2] == ["missed", "missed"]


def test_everlog_failing_is_a_missed_target() -> None:
    failed = Comparison("chain2500-linear", "linear", (Row("everlog", None, 1, "ValueError: no"),), ())
    assert verdicts({"chain2500-linear": failed})[3] == "missed"
    assert wrong([failed]) == ["chain2500-linear: everlog: ValueError: no"]


def test_a_process_out_of_time_is_stopped() -> None:
    ran = run_python(["-c", "import time; time.sleep(60)"], timeout=0.3)
    assert ran.timed_out
    assert ran.error == ">0.3 s"


def test_a_failing_process_gives_its_reason() -> None:
    assert run_python(["-c", "raise ValueError('no')"], timeout=30).error == "ValueError: no"


def test_long_workloads_run_only_when_asked() -> None:
    default = {workload.name for workload in chosen([], quick=False, full=False)}
    full = {workload.name for workload in chosen([], quick=False, full=True)}
    assert {workload.name for workload in chosen([], quick=True, full=False)} < default < full == set(WORKLOADS)


def test_kernels_refuse_programs_they_do_not_know(graph: Any, tmp_path: Path) -> None:
    write({"edge": graph}, tmp_path)
    with pytest.raises(NotExpressibleError):
        SYSTEMS["sort kernel"].run(NONLINEAR, read(tmp_path))


@pytest.mark.skipif(not HAS_EVERLOG, reason="the engine is not installed")
@pytest.mark.parametrize("seed", range(3))
def test_everlog_counts_instances_as_the_definition_does(seed: int, tmp_path: Path) -> None:
    write({"edge": table_of(generators.random_dag(30, 80, seed=seed))}, tmp_path)
    inputs = read(tmp_path)
    linear, nonlinear = (SYSTEMS["everlog"].run(program, inputs) for program in (LINEAR, NONLINEAR))
    kernel = SYSTEMS["sort kernel"].run(LINEAR, inputs)
    assert (linear.facts, linear.instances) == (kernel.facts, kernel.instances)
    reach = np.zeros((30, 30), np.int64)
    edges = inputs.tables["edge"]
    reach[edges["x"].to_numpy(), edges["y"].to_numpy()] = 1
    for _ in range(30):
        reach = np.minimum(reach + reach @ reach, 1)
    assert nonlinear.facts == reach.sum()
    assert nonlinear.instances == edges.num_rows + (reach @ reach).sum()


def held(accounted: float, one_order: float, both: float, counters: float = 0.0) -> dict[str, float]:
    found = {"facts": 10, "accounted": accounted, "resident_one_order": one_order, "resident": both}
    return {**found, "counters": counters}


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (None, ["met", "not measured"]),
        (held(15.5, 8.5, 16.5), ["met", "not measured"]),
        (held(15.5, 16.0, 24.0, 12.0), ["met", "met"]),
        (held(15.5, 24.0, 34.0, 16.0), ["met", "missed"]),
    ],
)
def test_counters_are_judged_only_if_they_are_kept(counted: dict[str, float] | None, expected: list[str]) -> None:
    figures = {"none": held(15.5, 8.5, 16.5)} | ({"dredc": counted} if counted else {})
    assert [target.verdict for target in targets({}, figures, None, {}, {})[4:6]] == expected


def test_one_order_says_nothing_about_two() -> None:
    assert targets({}, {"none": held(8.0, 8.5, 8.5)}, None, {}, {})[4].verdict == "not measured"
