"""Where Spark reasons, the driver warns of rules and facts without matches, by the kinds of facts in tasks' results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.jobs.reports import Report
from everlog.jobs.update import UpdateJob, update
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, EverlogError
from everlog.store import Store

RULES = "path(?x, ?y) :- edge(?x, ?y) .\nheavy(?x) :- edge(?x, _), weight(?x, 7) .\n"


def test_jobs_on_spark_warn_and_remember_kinds(tmp_path: Path, spark: Any) -> None:
    (tmp_path / "r.rls").write_text(RULES)
    for name, text in (("edge", "1,2\n2,3\n"), ("wieght", "1,7\n"), ("weight", "1.5,a\n"), ("edgee", "a,b\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    store, warnings = str(tmp_path / "kb"), list[Diagnostic]()
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("edge", "wieght", "weight", "edgee")}
    job = MaterialiseJob(str(tmp_path / "r.rls"), (paths["edge"], paths["wieght"]), store, engine="spark")
    materialise(job, Report(warning=warnings.append))
    assert [(found.code, found.place and found.place.line) for found in warnings] == [("no-facts", 2)]
    kinds: dict[str, list[int]] = {"edge/2": [8, 8], "wieght/2": [8, 8]}
    assert Store.open(store).info().statistics["kinds"] == kinds

    warnings.clear()
    update(UpdateJob(store, (paths["weight"], paths["edgee"]), engine="spark"), Report(warning=warnings.append))
    assert sorted(found.code for found in warnings) == ["never-joined", "never-joined", "unread-facts"]
    kinds |= {"weight/2": [16, 2], "edgee/2": [2, 2]}
    assert Store.open(store).info().statistics["kinds"] == kinds

    warnings.clear()
    (tmp_path / "egde.csv").write_text("1,2\n")
    update(
        UpdateJob(store, (), (str(tmp_path / "egde.csv"), paths["edgee"]), engine="spark", dry_run=True),
        Report(warning=warnings.append),
    )
    assert [found.message for found in warnings] == ["there is no predicate `egde` with 2 arguments"]

    warnings.clear()
    (tmp_path / "weight.csv").write_text("2.5,b\n")
    update(UpdateJob(store, (paths["weight"],), engine="spark"), Report(warning=warnings.append))
    assert (warnings, Store.open(store).version) == ([], 2)


def test_a_job_on_spark_may_end_before_it_writes(tmp_path: Path, spark: Any) -> None:
    (tmp_path / "r.rls").write_text(RULES)
    (tmp_path / "edge.csv").write_text("1,2\n")

    def stop() -> None:
        raise EverlogError.of(Code.WARNINGS, "there were warnings")

    job = MaterialiseJob(str(tmp_path / "r.rls"), (str(tmp_path / "edge.csv"),), str(tmp_path / "kb"), engine="spark")
    with pytest.raises(EverlogError, match="there were warnings"):
        materialise(job, Report(warning=lambda found: None, loaded=stop))
    assert not (tmp_path / "kb").exists()
