"""The module experiments end to end on tiny workloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.generators import category_graph, clustered_dag
from bench.inputs import is_here
from bench.measure import start
from bench.modules.extras import component
from bench.modules.forms import measure_form
from bench.modules.programs import relations_rules
from bench.modules.queries import queries
from bench.modules.report import components_text, materialising_text, report
from bench.modules.setting import FORMS, Setting
from bench.modules.targets import targets
from bench.modules.workloads import WORKLOADS
from bench.report import Run
from bench.suites import SUITES
from everlog.engine.kernels import graphs, search

PATIENCE = {"samples": 1, "singles": 2, "seconds": 0.0, "longest": 60.0, "cut_off": 60.0}
TINY = (
    pytest.param("dag-r-nonlinear", marks=pytest.mark.long),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("relations", "categories-small")),
    pytest.param("categories", marks=pytest.mark.long),
)


def results_of(**parts: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"forms": [], "components": [], "sizes": {}, "columns": {}, "held": {}}
    return {**empty, **parts}


@pytest.mark.parametrize("name", TINY)
def test_all_forms_are_measured_and_reported(name: str, tmp_path: Path) -> None:
    workload = WORKLOADS[name]
    forms = [measure_form(name, 60, form, **PATIENCE) for form in workload.forms]
    assert len({one["facts"] for one in forms}) == 1
    assert len({one["pairs"] for one in forms}) == 1
    for family in ("closure", "union") if workload.union else ("closure",):
        answers = [[one["answers"] for one in form["queries"][family]] for form in forms]
        assert all(each == answers[0] for each in answers)
        assert len(answers[0]) == 11
    assert ("delete_one" in forms[-1]) == workload.single
    assert all(one[kind]["runs"] == 1 for one in forms for kind in ("delete", "insert", "large"))
    report(results_of(forms=forms)).write(tmp_path / "tiny", "Tiny", Run("test", 0.0))
    assert json.loads((tmp_path / "tiny.json").read_text())["forms"][0]["workload"] == name
    assert f"| {name}" in (tmp_path / "tiny.md").read_text()
    assert (tmp_path / "tiny.png").stat().st_size > 1_000


def test_what_is_cut_off_is_told() -> None:
    stopped = {"seconds": None, "cut_off": 60.0}
    whole = {"seconds": 0.02, "cut_off": None}
    forms = [
        {"workload": "dag-r-nonlinear", "form": "standard", "peak_mb": 900.0, "materialise": stopped},
        {"workload": "dag-r-nonlinear", "form": "compact", "peak_mb": 200.0, "materialise": whole, "held": 8,
         "pairs": 22_405_629, "facts": 1, "explicit": 1, "rules": 2, "modules": {}, "delete": {"median": 0.5}},
    ]  # fmt: skip
    verdicts = {target.promise: target for target in targets(results_of(forms=forms))}
    faster = next(target for promise, target in verdicts.items() if "1,000 times faster" in promise)
    assert (faster.met, faster.measured.split(" (")[0]) == (True, "at least 3,000 times")
    deleted = next(target for promise, target in verdicts.items() if "deleted in less than 20" in promise)
    assert deleted.met is False
    assert ">60" in materialising_text(forms)


def test_an_error_misses_its_target() -> None:
    results = results_of(forms=[{"workload": "categories", "form": "compact", "error": "MemoryError"}])
    missed = [target for target in targets(results) if target.met is False]
    assert {target.topic for target in missed} == {"categories"}
    assert "MemoryError" in missed[0].measured
    assert "MemoryError" in report(results).page("Modules", Run("test", 0.0))
    assert report(results).wrong == ["MemoryError"]


def test_components_lose_an_edge_in_either_form() -> None:
    records = [component(12, form, **PATIENCE) for form in ("standard", "compact")]
    assert all(one["facts"] >= 144 for one in records)
    assert records[0]["delete"]["facts"] == records[1]["delete"]["facts"]
    assert "| 12 " in components_text(records)


@pytest.mark.long
@pytest.mark.parametrize("task", ["columns", "held_memory"])
def test_child_processes_run_the_extras(task: str) -> None:
    ran = start({"task": f"modules.extras.{task}", "size": 30, "one_core": True}, 120)
    assert ran.error is None
    assert ran.result is not None
    assert ran.result["pairs"] > 30 if task == "columns" else ran.result["dredc"]["modules"]["pairs"] > 30


@pytest.mark.long
def test_the_command_runs_what_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SUITES["modules"].measure(["--quick", "categories"], tmp_path) == 0
    assert "| categories" in (tmp_path / "selected-modules.md").read_text()
    assert "| categories" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        SUITES["modules"].measure(["no-such-thing"], tmp_path)


def test_queries_say_what_the_paper_asks() -> None:
    rules = [query.rule() for query in queries("p", 100)]
    assert rules[0] == "answer(?x, ?y) :- p(?x, ?y) ."
    assert rules[1] == "answer(?x, ?y) :- concept(?x), p(?x, ?y) ."
    assert rules[2] == "answer(?x, ?y) :- subject(?x, 100), p(?x, ?y) ."
    assert rules[10] == "answer(?x, ?y) :- subject(?y, 103), p(?x, ?y) ."


def test_relations_have_the_modules_they_promise() -> None:
    rules = relations_rules(130, 30, seed=5)
    assert rules.count(":-") == 130
    facts = {f"r{i}": clustered_dag(40, 20, 10, seed=i) for i in range(130)}
    modules = Setting(rules, facts, "compact").modules()
    assert modules["transitive"] == 30
    assert modules["union"] > 10


def test_categories_have_small_components_and_several_parents() -> None:
    edges = category_graph(20_000, 77_000)
    keys = edges[:, 0] << 32 | edges[:, 1]
    offsets = search.leading_offsets(keys, 32, 20_001).astype(np.int64)
    component_of, _ = graphs.strong_components(offsets, keys & 0xFFFFFFFF)
    sizes = np.bincount(component_of)
    assert 2 <= sizes.max() < 1_000
    assert np.count_nonzero(sizes > 1) > 100
    assert 3 < np.bincount(edges[:, 0]).mean() < 5
    assert len(np.unique(edges)) == 20_000
    assert np.array_equal(edges, category_graph(20_000, 77_000))


def test_every_workload_has_facts_for_its_rules() -> None:
    for workload in WORKLOADS.values():
        if is_here(workload):
            facts, more = workload.inputs(workload.quick)
            assert any(len(rows) for rows in facts.values())
            assert bool(more) == workload.asked
            assert set(workload.forms) <= set(FORMS)
