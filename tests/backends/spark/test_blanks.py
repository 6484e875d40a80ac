"""Facts with blank nodes that Spark deletes: the nodes and the errors are those of a deletion on this machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.ingest.rdf import blank_prefix
from everlog.jobs.update import UpdateJob, update
from everlog.lang.errors import DataError
from everlog.store import Store

DATA = "<x:a> <x:p> _:b .\n_:b <x:q> _:c .\n<x:a> <x:p> _:c .\n_:d <x:p> _:b .\n"
STORED = blank_prefix("data.nt")

IN_ONE_TASK, DISTRIBUTED = 1_000, 0


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    """A directory with two stores into which data.nt was loaded."""
    everlog.KnowledgeBase("seen(?x) :- <x:p>(?y, ?x), ~<x:q>(?y, ?x) .").save(tmp_path / "local")
    (tmp_path / "data.nt").write_text(DATA)
    update(UpdateJob(str(tmp_path / "local"), (str(tmp_path / "data.nt"),)))
    shutil.copytree(tmp_path / "local", tmp_path / "spark")
    return tmp_path


def delete(stores: Path, engine: str, text: str, finish: int, **options: Any) -> Any:
    """Delete by an engine; returns the change or the message of the error."""
    (stores / "deleted.nt").write_text(text)
    given = {**options, "engine": engine, "local_finish": finish, "algorithm": "dredc"}
    job = UpdateJob(str(stores / engine), delete=(str(stores / "deleted.nt"),), **given)
    try:
        change = update(job).change
    except DataError as error:
        return str(error)
    return {p: len(rows) for p, rows in change.deleted.items()}, change.not_explicit


@pytest.mark.parametrize("finish", [IN_ONE_TASK, pytest.param(DISTRIBUTED, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("text", "options"),
    [
        pytest.param(f"<x:a> <x:p> {STORED}b .\n{STORED}b <x:q> {STORED}b .\n<x:a> <x:p> <x:z> .\n", {}, id="label"),
        pytest.param("<x:a> <x:p> _:b .\n", {"source": "data.nt"}, id="source", marks=pytest.mark.slow),
        pytest.param(f"{STORED}d <x:p> {STORED}b .\n<x:a> <x:p> _:z .\n", {}, id="unknown", marks=pytest.mark.slow),
        pytest.param(f"{STORED}d <x:p> {STORED}b .\n_:z <x:p> _:y .\n", {"on_error": "skip"}, id="skipped"),
    ],
)
def test_the_same_nodes(spark: Any, stores: Path, text: str, options: dict[str, Any], finish: int) -> None:
    found = [delete(stores, engine, text, finish, **options) for engine in ("local", "spark")]
    assert found[0] == found[1]
    tables = [[b.to_pylist() for b in Store.open(stores / engine).facts()] for engine in ("local", "spark")]
    assert tables[0] == tables[1]
    seen = len(everlog.open(stores / "spark")["seen"])
    if isinstance(found[0], str):
        assert "unknown-blank-nodes" in found[0]
        assert "_:z" in found[0]
        assert "--source NAME" in found[0]
        assert seen == 2
    else:
        assert found[0][0]
