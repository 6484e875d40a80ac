"""Workers that die, disks that are full, drivers that are killed: a job completes, or the store is as it was."""

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

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
EDGES = [(f"n{i}", f"n{(7 * i + 1) % 60}") for i in range(60)]
MORE = [("n0", "n2"), ("m", "n0")]

LIFE = """
import json, os, resource, signal, sys
from pathlib import Path
from everlog.lang.errors import DataError
from everlog.ingest import stage as module
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.jobs.reports import Report
from everlog.host.session import session
from everlog.jobs.update import UpdateJob, update

plain = module._ReadTask
module.SMALLEST_TASK = 100
told = {}

def note(what, value):
    told[what] = value
    Path("told.json").write_text(json.dumps(told))

class DiesTwice(plain):
    '''The task that has the beginning of the file, after it has written its files.'''

    def __call__(self, splits):
        part = super().__call__(splits)
        if any(split.start == 0 for split in splits):
            attempts = len(list(Path(DEATHS).glob("worker-*")))
            if attempts < 2:
                Path(DEATHS, f"worker-{os.getpid()}").touch()
                if CLUSTER and attempts == 0:  # the executor: worker, daemon, JVM
                    executor = int(Path("/proc", str(os.getppid()), "stat").read_text().rpartition(")")[2].split()[1])
                    Path(DEATHS, f"executor-{executor}").touch()
                    os.kill(executor, signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
        return part

class DiskIsFull(plain):
    '''The same with no room for more than a few bytes.'''

    def __call__(self, splits):
        if any(split.start == 0 for split in splits):
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))
        try:
            return super().__call__(splits)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

CLUSTER = sys.argv[1].startswith("local-cluster")
DEATHS = os.path.abspath("deaths")
os.mkdir(DEATHS)
spark = session(sys.argv[1])
job = MaterialiseJob("rules.rls", ("edge.tsv",), "kb", master=sys.argv[1])

module._ReadTask = DiesTwice
note("version", materialise(job).version)
note("deaths", sorted(os.listdir(DEATHS)))

module._ReadTask = DiskIsFull
try:
    update(UpdateJob("kb", insert=("edge=more.tsv",), engine="spark"))
except DataError as error:
    note("full", str(error))
module._ReadTask = plain
note("updated", update(UpdateJob("kb", insert=("edge=more.tsv",), engine="spark")).version)

def between_stages(phase):
    if phase == "reason":
        work = [path.name for path in Path("kb/work").rglob("*.parquet")]
        note("killed", {"phase": phase, "staged": len(work)})
        os.kill(os.getpid(), signal.SIGKILL)

again = MaterialiseJob("rules.rls", ("edge.tsv",), "kb", overwrite=True, master=sys.argv[1])
materialise(again, Report(phase=between_stages))
note("survived", True)
"""


def lived(directory: Path, master: str) -> dict[str, Any]:
    """Run a job whose parts fail in a process of its own, which is killed in the end; returns its report."""
    (directory / "rules.rls").write_text(RULES)
    (directory / "edge.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in EDGES))
    (directory / "more.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in MORE))
    environment = {**os.environ, "EVERLOG_SPARK_MEMORY": "600m"}
    command = [sys.executable, "-c", f"exec({LIFE!r})", master]
    ended = subprocess.run(command, env=environment, cwd=directory, check=False, capture_output=True, timeout=400)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    told: dict[str, Any] = json.loads((directory / "told.json").read_text())
    return told


def closure(edges: list[tuple[str, str]]) -> set[tuple[Any, ...]]:
    kb = everlog.KnowledgeBase(RULES)
    kb.insert("edge", edges)
    return set(kb["path"])


@pytest.mark.parametrize("master", ["local[2,4]", pytest.param("local-cluster[2,1,1024]", marks=pytest.mark.slow)])
def test_a_life_of_faults(spark: Any, tmp_path: Path, master: str) -> None:
    told = lived(tmp_path, master)
    store = tmp_path / "kb"

    # A worker died twice, each time with its files written, once with its executor; a third one did the task.
    died = sorted(name.split("-") for name in told["deaths"])
    assert [kind for kind, _ in died] == ["executor"] * master.startswith("local-cluster") + ["worker"] * 2
    assert not any(Path("/proc", process).exists() for _, process in died)
    assert told["version"] == 0
    assert set(everlog.open(store, 0)["path"]) == closure(EDGES)

    # A disk was full in one worker: an error that says so, and the same job again made the next version.
    assert "input-output" in told["full"]
    assert "too large" in told["full"]
    assert told["updated"] == 1
    assert set(everlog.open(store, 1)["path"]) == closure([*EDGES, *MORE])

    # The driver was killed when the workers had written everything and nothing was committed.
    assert told["killed"]["staged"] > 0
    assert "survived" not in told
    assert Store.open(store).version == 1
    assert verify(Store.open(store)) == []
    job = MaterialiseJob(str(tmp_path / "rules.rls"), (str(tmp_path / "edge.tsv"),), str(store), overwrite=True)
    assert materialise(job).version == 2
    assert set(everlog.open(store)["path"]) == closure(EDGES)
    assert verify(Store.open(store)) == []
    assert {path.name for path in (store / "work").iterdir()} == {"guard"}, "what the killed one left is gone"
