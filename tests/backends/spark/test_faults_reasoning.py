"""Processes die, tasks fail and disks are full where Spark reasons: the job is done, or the store is unchanged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import everlog
from bench.measure import ROOT
from everlog.backends.spark.sharing import new_directory
from everlog.store import Store
from tests.backends.spark.struck import ALONE, POINTS, STORES, UPDATED
from tests.store.verified import verify

pytestmark = pytest.mark.spark

RULES = {
    "made": """
        two(?x, ?z) :- e(?x, ?y), e(?y, ?z) .
        far(?x, ?y) :- e(?x, ?y) .
        far(?x, ?z) :- far(?x, ?y), e(?y, ?z), open(?z) .
        same(?x, ?y) :- e(?z, ?x), e(?z, ?y) .
        same(?x, ?y) :- e(?a, ?x), same(?a, ?b), e(?b, ?y) .
        path(?x, ?y) :- e(?x, ?y) .
        path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
        near(?x, ?y) :- f(?x, ?y) .
        near(?y, ?x) :- near(?x, ?y) .
        near(?x, ?z) :- near(?x, ?y), near(?y, ?z) .
    """,
    "updated": """
        two(?x, ?z) :- e(?x, ?y), e(?y, ?z) .
        path(?x, ?y) :- e(?x, ?y) .
        path(?x, ?z) :- path(?x, ?y), two(?y, ?z) .
    """,
}
RULES["looked-up"] = RULES["updated"]
TREE: list[tuple[str, ...]] = [(f"n{i}", f"n{2 * i + j}") for i in range(1, 32) for j in (0, 1)]
FACTS: dict[str, list[tuple[str, ...]]] = {
    "e": TREE,
    "f": [(f"m{i}", f"m{7 * i % 40}") for i in range(40)],
    "open": [(f"n{i}",) for i in range(1, 60)],
    "insert": [("n5", "n63"), ("n63", "k1"), ("k1", "k2"), ("n40", "k1")],
    "delete": TREE[::5],
}
LIVES = {
    "workers": ("local[2,4]", []),
    "executors": ("local-cluster[2,1,1024]", ["nonrecursive", "rounds"]),
    "disk": ("local[2,4]", ["nonrecursive", "rounds", "components"]),  # only a real disk makes Java's writes fail
}
"""For each kind of faults the master of the cluster, and the plans at which the disk is full."""
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of the JVM that halve the time of short jobs."""


@dataclass(frozen=True)
class Life:
    """The report of the jobs, and the disk with their stores."""

    report: dict[str, Any]
    disk: Path
    full_at: tuple[str, ...]


@pytest.fixture(
    scope="module", params=[n if n == "workers" else pytest.param(n, marks=pytest.mark.slow) for n in LIVES]
)
def life(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """The jobs in a process of its own."""
    work = tmp_path_factory.mktemp("struck")
    (work / "disk").mkdir()
    for name, rules in RULES.items():
        (work / f"{name}.rls").write_text(rules)
    for name, rows in FACTS.items():
        (work / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    with mounted(work / "disk") if request.param == "disk" else nullcontext():
        yield lived(work, *LIVES[request.param])


@contextmanager
def mounted(disk: Path) -> Iterator[None]:
    """A small disk in memory."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "everlog", str(disk)]
    ran = subprocess.run(mount, capture_output=True, text=True, check=False) if shutil.which("mount") else None
    if ran is None or ran.returncode:
        pytest.skip(f"no disk can be mounted here: {ran.stderr if ran else 'there is no mount'}")
    yield
    subprocess.run(["umount", str(disk)], check=True)


def lived(work: Path, master: str, plans: list[str]) -> Life:
    command = [sys.executable, "-m", "tests.backends.spark.struck", master, str(work), *plans]
    environment = {**os.environ, "EVERLOG_SPARK_MEMORY": "600m", "JAVA_TOOL_OPTIONS": JAVA}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert ran.returncode == 0, ran.stderr[-5000:]
    report = json.loads(ran.stdout.splitlines()[-1])
    assert report["master"] == master
    return Life(report, work / "disk", (*plans, "update", "look-ups"))


@pytest.mark.parametrize("point", [*POINTS, *UPDATED])
def test_a_process_dies_and_a_task_fails_in_the_middle_of_a_stage(life: Life, point: str) -> None:
    """The third attempt of the struck task succeeded; before, at least one other task of its stage was done."""
    job = life.report["update" if point in UPDATED else "materialise"]
    dead, failed = job[point]["struck"]
    cluster = life.report["master"].startswith("local-cluster")
    assert (dead["fault"], failed["fault"]) == ("executor" if cluster else "worker", "raise")
    assert dead["where"] == failed["where"]
    assert job[point]["died"] == [True] * len(dead["processes"])
    assert len(dead["processes"]) == 1 + cluster
    assert f"done-{dead['where']}" not in [*dead["done"], *failed["done"]]
    assert 1 <= len(dead["done"]) < job[point]["done"]
    assert (["dredc"] if point in UPDATED else list(POINTS)) == job["how"]
    if point in POINTS:  # the joins of the first stratum are stored first
        assert job["nonrecursive"]["struck"][0]["stage"] <= dead["stage"]


@pytest.mark.parametrize("point", ALONE)
def test_a_process_dies_and_a_task_fails_that_is_the_whole_stage(life: Life, point: str) -> None:
    """The third attempt succeeded; the first had written its file when it died."""
    job = life.report[point]
    dead, failed = job[point]["struck"]
    cluster = life.report["master"].startswith("local-cluster")
    assert (dead["fault"], failed["fault"]) == ("executor" if cluster else "worker", "raise")
    assert dead["where"] == failed["where"]
    assert job[point]["died"] == [True] * len(dead["processes"])
    assert job[point]["done"] == 1
    assert Store.open(life.disk / "looked-up").info().statistics["update"]["looked_up"] > 0
    assert len(Store.open(life.disk / "looked-up").files()) == 2


def test_a_full_disk_ends_the_job_and_leaves_the_store_as_it_was(life: Life) -> None:
    for at in life.full_at:
        job = life.report[f"full at {at}"]
        (struck,) = job[at]["struck"]
        assert bool(struck["done"]) == (at not in ALONE), "another task of the stage had written its file"
        assert "version" not in job
        assert job["is_ours"]
        assert "no space left" in job["error"].lower()
        made = 0 if at in (*UPDATED, *ALONE) else None
        assert job["versions"] == {"made": made, "updated": int(at in ALONE), "looked-up": 0}
        assert job["left"] == []


def test_the_same_jobs_without_faults_on_this_machine_have_the_same_facts(life: Life) -> None:
    disk, jobs = life.disk, life.report
    assert [jobs[name]["version"] for name in ("materialise", "update", "look-ups")] == [0, 1, 1]
    changed = {**FACTS, "e": sorted({*TREE, *FACTS["insert"]} - {*FACTS["delete"]})}
    updates = [(store, number, facts) for store in STORES[1:] for number, facts in enumerate((FACTS, changed))]
    for store, version, facts in (("made", 0, FACTS), *updates):
        kb = everlog.KnowledgeBase(RULES[store])
        for name in ("e", "f", "open"):
            kb.insert(name, facts[name])
        kept = everlog.open(disk / store, version)
        for predicate in kb.predicates:
            if store == "made" or predicate.name not in ("f", "open"):
                assert set(kept[predicate.name]) == set(kb[predicate.name]), predicate
    assert all(verify(Store.open(disk / store)) == [] for store in RULES)
    assert all([path.name for path in (disk / store / "work").iterdir()] == ["guard"] for store in RULES)


def test_a_task_that_outlives_its_job_does_not_bring_the_store_back(tmp_path: Path) -> None:
    """Spark ends a job at the fourth failure of a task, and others of the stage may still be running."""
    with pytest.raises(FileNotFoundError):
        new_directory(tmp_path / "kb" / "work", "held")
    assert list(tmp_path.iterdir()) == []
