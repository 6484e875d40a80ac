"""Recursion on Spark while processes die: a worker in the middle of a round, the driver between two rounds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.pipeline.jobs import MaterialiseJob, materialise
from everlog.store import Store

PROGRAMS = {
    "rounds": "p(?x, ?y) :- e(?z, ?x), e(?z, ?y) . p(?x, ?y) :- e(?a, ?x), p(?a, ?b), e(?b, ?y) .",
    "joined": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .",
    "loop": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- p(?x, ?x), p(?y, ?y) .",
}
EDGES = [(f"n{i}", f"n{2 * i + j}") for i in range(1, 32) for j in (0, 1)]

LIFE = """
import json, os, signal, sys
from pathlib import Path
from everlog.pipeline.jobs import MaterialiseJob, materialise
from everlog.pipeline.reports import Report
from everlog.pipeline.session import session
from everlog.spark import rounds

told, plain, death = {}, rounds._Slice.round, os.path.abspath("death")

def note(what, value):
    told[what] = value
    Path("told.json").write_text(json.dumps(told))

def dies_once(self):
    found = plain(self)
    if self.held and not os.path.exists(death):
        Path(death).write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return found

def job(**more):
    options = {"engine": "spark", "local_finish": 0, "modules": False, **more}
    return MaterialiseJob("rules.rls", ("e.tsv",), "kb", **options)

session("local[2,4]")
rounds._Slice.round = dies_once
note("version", materialise(job()).version)
rounds._Slice.round = plain

done = []

def die_between():
    done.append(len(list(Path("kb/work").rglob("spark-*/*"))))
    if len(done) == 3:
        note("killed", done)
        os.kill(os.getpid(), signal.SIGKILL)

run = rounds.run_tasks

def run_tasks(*arguments):
    die_between()
    return run(*arguments)

rounds.run_tasks = run_tasks
materialise(job(overwrite=True), Report(round_done=lambda event: die_between()))
note("survived", True)
"""


def lived(directory: Path, kind: str) -> dict[str, Any]:
    """Run two jobs in a process of its own: a worker dies in the first, the process itself in the second."""
    (directory / "rules.rls").write_text(PROGRAMS[kind])
    (directory / "e.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in EDGES))
    environment = {**os.environ, "EVERLOG_SPARK_MEMORY": "600m"}
    command = [sys.executable, "-c", f"exec({LIFE!r})"]
    ended = subprocess.run(command, env=environment, cwd=directory, check=False, capture_output=True, timeout=600)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()[-3000:]
    told: dict[str, Any] = json.loads((directory / "told.json").read_text())
    return told


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(PROGRAMS))
def test_the_driver_dies_between_two_rounds(spark: Any, tmp_path: Path, kind: str) -> None:
    told = lived(tmp_path, kind)
    store = tmp_path / "kb"
    kb = everlog.KnowledgeBase(PROGRAMS[kind])
    kb.insert("e", EDGES)

    # A worker died in the second round of its slice, after it had written its files.
    assert (tmp_path / "death").exists() == (kind != "loop")
    assert told["version"] == 0

    # The driver died when two rounds had left their files, and nothing was committed.
    assert "survived" not in told
    assert len(told["killed"]) == 3
    assert told["killed"][-1] > 0
    assert Store.open(store).version == 0
    assert Store.open(store).verify() == []
    assert set(everlog.open(store)["p"]) == set(kb["p"])

    rules, facts = str(tmp_path / "rules.rls"), (str(tmp_path / "e.tsv"),)
    again = MaterialiseJob(rules, facts, str(store), overwrite=True, engine="spark", local_finish=0, modules=False)
    assert materialise(again).version == 1
    assert set(everlog.open(store)["p"]) == set(kb["p"])
    assert {path.name for path in (store / "work").iterdir()} == {"guard"}, "what the killed one left is gone"
