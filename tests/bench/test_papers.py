"""The experiments on the papers' programs: what they read and generate, and the papers' figures beside ours."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.maintenance.robustness import interval
from bench.maintenance.setting import COLUMNS, Setting
from bench.maintenance.workloads import Facts
from bench.papers import experiments, prepared, sequential
from bench.papers.compared import UNEXPLAINED, Compared, PaperTable
from bench.papers.datasets import DATASETS
from bench.papers.figures import EXPLANATIONS, FIGURES, explanation, row
from bench.papers.generated import CLUSTER, clustered_facts, layered_facts, layered_rules
from bench.papers.growth import growth
from bench.papers.materialising import materialising
from bench.papers.records import Record
from bench.papers.report import papers_text, report
from bench.papers.scaling import scaling
from bench.papers.sequential import sequential_instances
from bench.papers.sweep import graph, share_in_form
from bench.papers.updating import updating
from bench.report import Run
from everlog.analysis.check import check
from everlog.analysis.stratify import StratifiedProgram, stratify
from everlog.lang.parser import parse_program

RULES = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
seen(?y, "new") :- path(?x, ?y) .
seen(?x, ?z) :- path(?x, ?y), seen(?y, ?z) .
"""
"""A closure, and a recursion with a constant."""

LIMITS: dict[str, Any] = {"samples": 1, "fewest": 1, "seconds": 0.0, "slow": 60.0, "cut_off": 60.0}


def chain(length: int = 30) -> Facts:
    nodes = np.arange(length)
    return {"edge": np.stack([nodes, nodes + 1], axis=1)}


def stratified(rules: str) -> StratifiedProgram:
    return stratify(check(parse_program(rules)))


def levels(rules: str) -> list[list[int]]:
    return [[len(stratum.recursive), len(stratum.rules)] for stratum in stratified(rules).strata]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of a run on a tiny dataset that is called UOBM-U."""
    directory = tmp_path_factory.mktemp("dataset")
    prepared.write(directory, RULES, chain())
    path = str(directory)
    made = [
        {"modules": modules, "maintain": maintain, **materialising(path, modules, maintain, 60.0)}
        for modules in (False, True)
        for maintain in ("none", "dredc", "counting")
    ]
    variants: list[dict[str, Any]] = [{"stratification": "levels", "modules": used} for used in (False, True)]
    updates = [{**each, **updating(path, samplings=["uniform"], large=True, **each, **LIMITS)} for each in variants]
    named = {"name": "UOBM-U", "paper": "UOBM-U", "source": "a chain"}
    dataset = {**named, "materialise": made, "updates": updates, "scaling": scaling(path, 2, 30.0, 2)}
    shares = [
        {"share": 25, "form": form, **share_in_form(4_000, 25, form, 60.0, False)} for form in ("compact", "plain")
    ]
    return {"datasets": [dataset], "sweep": shares, "growth": growth(60, 3)}


@pytest.mark.long
def test_every_algorithm_is_measured_with_and_without_modules(measured: dict[str, Any]) -> None:
    record = Record(measured["datasets"][0])
    for modules in (False, True):
        assert {one["algorithm"] for one in record.update(modules=modules)["records"] if one["median"]} == set(COLUMNS)
    assert len({record.made(modules, kept)["facts"] for modules in (False, True) for kept in ("none", "dredc")}) == 1
    assert record.made(True)["instances"] < record.made(False)["instances"]
    assert record.made(False, "counting")["held"] > record.made(False)["held"]
    assert record.made(True)["found"]["transitive"] == 1
    assert record.instances("dred")["backward"] > 0
    assert not record.update(stratification="single")


@pytest.mark.long
def test_the_report_has_the_papers_figures_beside_ours(measured: dict[str, Any], tmp_path: Path) -> None:
    result = report(measured)
    result.write(tmp_path / "tiny", "Tiny", Run("test", 0.0))
    page = (tmp_path / "tiny.md").read_text()
    theirs = row("thesis-4.2", "UOBM-U")
    assert f"{theirs['dred s'] / theirs['dredc s']:.3g} / " in page
    assert (tmp_path / "tiny.png").stat().st_size > 1_000
    again = json.loads((tmp_path / "tiny.json").read_text())
    assert papers_text(again) == papers_text(measured)
    judged = {target.topic for target in result.targets if target.met is not None}
    assert judged >= {"counters", "auto", "growth", "papers"}


def test_the_report_of_nothing() -> None:
    assert {target.met for target in report({"datasets": [], "sweep": [], "growth": {}}).targets} == {None}


def test_a_difference_without_a_reason_is_seen() -> None:
    pairs = {"a": (10.0, 1.0), "b": (1.0, 1.9), "c": (None, 5.0)}
    compared = PaperTable(
        "thesis-4.2", "Title", [Compared("no such input", pairs), Compared("empty", {"a": (1.0, None)})]
    )
    assert [column for _, column, reason in compared.differences() if reason is None] == ["a"]
    assert "| 10 / **1** | 1 / 1.9 | - / 5 |" in compared.text()
    assert UNEXPLAINED in compared.text()
    assert "empty" not in compared.text()


def test_explanations_are_about_tables_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {key.split("/")[0] for key in EXPLANATIONS} <= set(FIGURES)
    monkeypatch.setitem(EXPLANATIONS, "thesis-4.2/x", "of the input")
    monkeypatch.setitem(EXPLANATIONS, "thesis-4.2/*/c/more", "of the column")
    assert explanation("thesis-4.2", "x", "d", more=True) == "of the input"
    assert explanation("thesis-4.2", "y", "c", more=True) == "of the column"
    assert explanation("thesis-4.2", "y", "c", more=False) is None


@pytest.mark.parametrize("name", ["ChEMBL-R", "UOBM-R"])
def test_generated_programs_have_the_published_numbers_of_rules(name: str) -> None:
    assert levels(DATASETS[name].rules()) == FIGURES["journal-2"]["rows"][name]


def test_generated_programs_derive_something() -> None:
    setting = Setting(layered_rules([(6, 8), (0, 3)], seed=1), layered_facts(200), "levels")
    derived = setting.bare.facts - setting.bare.explicit
    assert {"c1_1", "s2_0"} <= {predicate.name for predicate in derived}


@pytest.mark.parametrize("name", ["Claros-L", "Claros-LE"])
def test_published_programs_are_those_of_the_papers(name: str, shared_data: Path) -> None:
    """But for a rule or two, the published files have the rules of the journal's table 2 in each stratum."""
    published = FIGURES["journal-2"]["rows"][name]
    ours = levels(DATASETS[name].rules())
    assert len(ours) == len(published)
    assert sum(r for r, _ in ours) == sum(r for r, _ in published)
    assert abs(sum(every for _, every in ours) - sum(every for _, every in published)) <= 2


@pytest.mark.long
def test_published_facts_are_read_whole(shared_data: Path) -> None:
    dataset = DATASETS["UOBM-U"]
    facts = dataset.facts("", 1 << 40)
    assert sum(map(len, facts.values())) == 1_926_879
    wanted = {p.name: p.arity for p in stratified(dataset.rules()).program.predicates}
    assert all(rows.shape[1] == wanted.get(name, rows.shape[1]) for name, rows in facts.items())


def test_universities_use_the_vocabulary_of_their_program(shared_data: Path) -> None:
    dataset = DATASETS["LUBM-LE-1"]
    facts = dataset.facts("", 20)
    known = {p.name for p in stratified(dataset.rules()).program.predicates}
    assert len(known & set(facts)) > 20


def test_facts_follow_the_recipe() -> None:
    facts = clustered_facts("p(?x) :- r(?x, ?y), q(?x) .", 1 << 40)
    assert set(facts) == {"p", "q", "r"}
    assert (facts["r"][:, 0] // CLUSTER == facts["r"][:, 1] // CLUSTER).all()
    assert 140 < len(facts["r"]) <= 150


def test_shares_of_a_graph() -> None:
    sizes = [len(graph(2_000, share)["broader"]) for share in (25, 50, 100)]
    assert sizes[0] == sizes[2] // 4
    assert sizes[1] == sizes[2] // 2


def test_an_interval() -> None:
    mean, half = interval([1.0, 3.0])
    assert mean == 2.0
    assert half == pytest.approx(1.96)


def test_backward_instances_are_close_to_those_of_the_sequential_search(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(RULES, chain(8), "levels")
    delete = setting.encoded({"edge": np.array([[3, 4]])})
    ours = setting.run("fbf", setting.state("fbf"), delete=delete).figures()["instances"]["backward"]
    theirs = sequential_instances(setting, delete)["fbf"]["backward"]
    assert 0 < ours <= 2 * theirs
    monkeypatch.setattr(sequential, "ORACLE", "tests.oracle.nothing")
    assert sequential_instances(setting, delete) == {}


def test_an_interrupted_run_is_resumed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(experiments, "SAVED", tmp_path)
    runs = iter(range(10))
    first, later = (argparse.Namespace(quick=False, resume=resume) for resume in (False, True))
    quick = argparse.Namespace(quick=True, resume=True)
    got = [experiments._saved("part", lambda: next(runs), options) for options in (later, later, first, quick, later)]
    assert got == [0, 0, 1, 2, 1]
