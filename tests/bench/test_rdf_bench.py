"""The RDF benchmark reads its data and judges its measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.rdf.data import RdfWorkload
from bench.rdf.query_times import everlog as asked_by_everlog
from bench.rdf.query_times import pyoxigraph as asked_by_pyoxigraph
from bench.rdf.reasoners import REASONERS, ReasonerOutcome
from bench.rdf.report import asked_text, reasoned_text
from bench.rdf.targets import targets


@pytest.fixture(scope="module")
def published(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("published")
    assert RdfWorkload("lubm-1", 1).write(directory) == 100_545
    return directory


@pytest.mark.parametrize(
    ("name", "triples", "employees"), [("everlog lower", 137_933, 540), ("everlog rl", 194_770, 1_087)]
)
def test_everlog(published: Path, name: str, triples: int, employees: int) -> None:
    """With scm-svf1, 547 more individuals are employees."""
    outcome = REASONERS[name].run(published)
    assert (outcome.triples, outcome.employees) == (triples, employees)


@pytest.mark.slow
def test_reasonable_finds_no_more_employees_than_lower(published: Path) -> None:
    assert REASONERS["reasonable"].run(published).employees == 540


@pytest.mark.long
def test_both_systems_have_the_same_answers(published: Path) -> None:
    ours, theirs = asked_by_everlog(str(published)), asked_by_pyoxigraph(str(published))
    assert ours["triples"] == theirs["triples"] == 137_933
    assert [each["answers"] for each in ours["queries"].values()] == [
        each["answers"] for each in theirs["queries"].values()
    ]
    text = asked_text({"workload": "lubm-1", "everlog": ours, "pyoxigraph": theirs})
    assert "| Q14 " in text


def record(workload: str, system: str, reason: float) -> dict[str, Any]:
    outcome = ReasonerOutcome(1.0, reason, reason, 1_000, 10, 100.0)
    return {"workload": workload, "system": system, "given": 100, **outcome.__dict__}


def test_targets() -> None:
    stopped = {"workload": "lubm-10", "system": "reasonable", "given": 100, "error": ">9 s", "stopped": 9.0}
    kept = [
        record("lubm-1", "everlog rl", 0.5),
        record("lubm-1", "owlrl", 80),
        record("lubm-10", "everlog rl", 3),
        stopped,
    ]
    faster, much, *_ = targets(kept, [])
    assert (faster.met, much.met) == (True, True)
    assert "at least 3.0 times" in faster.measured
    missed = targets([record("lubm-1", "everlog rl", 1), record("lubm-1", "owlrl", 80)], [])
    assert (missed[0].met, missed[1].met) == (None, False)
    assert ">3.0" in reasoned_text(kept[2:])
