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
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.store import Store
from tests.store.verified import verify

PROGRAMS = {
    "rounds": "p(?x, ?y) :- e(?z, ?x), e(?z, ?y) . p(?x, ?y) :- e(?a, ?x), p(?a, ?b), e(?b, ?y) .",
    "joined": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .",
    "loop": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- p(?x, ?x), p(?y, ?y) .",
}
EDGES = [(f"n{i}", f"n{2 * i + j}") for i in range(1, 32) for j in (0, 1)]

LIFE = """
import json, os, signal, sys
from contextlib import suppress
from pathlib import Path
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.jobs.reports import Report
from everlog.host.session import session
from everlog.backends.spark import rounds

report, plain, run, death = {}, rounds._Slice.round, rounds.SparkRunner.run, os.path.abspath("death")
last, done = None, 0

def note(what, value):
    report[what] = value
    Path("report.json").write_text(json.dumps(report))

def dies_once(self):
    found = plain(self)
    if self.held:
        with suppress(FileExistsError), open(death, "x") as mark:
            mark.write(str(os.getpid()))
            mark.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    return found

def between():
    '''Called between two rounds: kill this process if ``last`` rounds are over.'''
    if done == last:
        left = [path.name for path in Path("kb/work").rglob("spark-*/*")]
        running = list(spark.sparkContext.statusTracker().getActiveJobsIds())
        note("killed", {"done": done, "running": running, "left": left})
        os.kill(os.getpid(), signal.SIGKILL)

def over_slices(runner, function, tasks, tally=None):
    '''Run the tasks of a round, or those that list the facts at the end.'''
    global done
    if function is not rounds._Slice.round:
        return run(runner, function, tasks, tally)
    between()
    found = run(runner, function, tasks, tally)
    done += 1
    return found

def over_frames(event):
    '''Called after a round of a loop; the facts before the first round are an event of a round, too.'''
    global done
    if sys.argv[1] == "loop" and event.round > 1:
        done += 1
        between()

def materialised(**more):
    '''The version, and the number of rounds that it took.'''
    global done
    done = 0
    job = MaterialiseJob("rules.rls", ("e.tsv",), "kb", engine="spark", local_finish=0, modules=False, **more)
    return materialise(job, Report(round_done=over_frames)).version, done

spark = session("local[2,4]")
rounds.SparkRunner.run = over_slices
rounds._Slice.round = dies_once
note("first", materialised())
note("alive", [Path("/proc", mark.read_text()).exists() for mark in Path().glob("death")])
rounds._Slice.round = plain
last = 2
materialised(overwrite=True)
note("survived", True)
"""


def lived(directory: Path, kind: str) -> dict[str, Any]:
    """Run two jobs in a process of its own: a worker dies in the first, the process itself in the second."""
    (directory / "rules.rls").write_text(PROGRAMS[kind])
    (directory / "e.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in EDGES))
    environment = {**os.environ, "EVERLOG_SPARK_MEMORY": "600m"}
    command = [sys.executable, "-c", f"exec({LIFE!r})", kind]
    ended = subprocess.run(command, env=environment, cwd=directory, check=False, capture_output=True, timeout=600)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()[-3000:]
    report: dict[str, Any] = json.loads((directory / "report.json").read_text())
    return report


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(PROGRAMS))
def test_the_driver_dies_between_two_rounds(spark: Any, tmp_path: Path, kind: str) -> None:
    report = lived(tmp_path, kind)
    store = tmp_path / "kb"
    kb = everlog.KnowledgeBase(PROGRAMS[kind])
    kb.insert("e", EDGES)

    # A worker died in the second round of its slice, after it had written its files.
    version, rounds = report["first"]
    assert version == 0
    assert report["alive"] == [False] * (kind != "loop")

    # The driver died after two rounds, whose files were left, before the third round began.
    assert "survived" not in report
    assert report["killed"]["done"] == 2 < rounds
    assert report["killed"]["running"] == []
    kinds = {name.split("-")[0] if "-" in name else Path(name).suffix for name in report["killed"]["left"]}
    assert kinds >= ({".parquet"} if kind == "loop" else {"held", "sent"})
    assert Store.open(store).version == 0
    assert verify(Store.open(store)) == []
    assert set(everlog.open(store)["p"]) == set(kb["p"])

    rules, facts = str(tmp_path / "rules.rls"), (str(tmp_path / "e.tsv"),)
    again = MaterialiseJob(rules, facts, str(store), overwrite=True, engine="spark", local_finish=0, modules=False)
    assert materialise(again).version == 1
    assert set(everlog.open(store)["p"]) == set(kb["p"])
    assert {path.name for path in (store / "work").iterdir()} == {"guard"}, "what the killed one left is gone"
