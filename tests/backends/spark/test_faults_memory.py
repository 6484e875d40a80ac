"""Executors of 1 GB with Python workers of 1 GB: universities are read, materialised and stored."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import everlog
from bench.maintenance import lubm
from bench.measure import ROOT
from bench.spark.universities import SEED
from everlog.host.session import LEAN, WORKER_LIMIT, _lean_environment
from everlog.ingest.room import share_of_room

UNIVERSITIES = 4


@pytest.mark.slow
def test_universities_fit_small_executors() -> None:
    """The job of the benchmark with fewer facts; it would fail if workers exceeded their limited address space."""
    job = json.dumps({"task": "spark.tasks.limited", "universities": UNIVERSITIES})
    command = [sys.executable, "-m", "bench.run_task", job]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    report = json.loads(ran.stdout.strip().splitlines()[-1])
    kb = everlog.KnowledgeBase(lubm.rules())
    for predicate, rows in lubm.universities(UNIVERSITIES, SEED).items():
        kb.insert(predicate, [tuple(row) for row in rows.tolist()])
    assert report["facts"] == kb.materialise().facts
    assert {"driver, Python", "driver, Java", "executor, Java", "worker, Python"} <= report["peaks"].keys()


def test_workers_with_a_limit_are_lean() -> None:
    assert _lean_environment({}) == {}
    assert {name.removeprefix("spark.executorEnv.") for name in _lean_environment({WORKER_LIMIT: "1g"})} == set(LEAN)


def test_less_room_is_a_smaller_share() -> None:
    shares = [share_of_room(limit << 20) for limit in (400, 800, 1024, 2048, 4096)]
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] == share_of_room(None) == 1
