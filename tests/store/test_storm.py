"""Many kills at random moments: every acknowledged version exists completely, and no files are left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import everlog
from everlog.store import Store, locking
from everlog.store.vacuum import vacuum
from tests.kb.test_store_updates import check_store
from tests.running import SOURCES

KILLS = 25


WRITER = """
import sys
from everlog.store import states as snapshots
from everlog.store import Store, compaction
from everlog.jobs.changed import changed

path, number = sys.argv[1], int(sys.argv[2])
compaction.MOST_SMALL_FILES = 3
snapshots.WHOLE_SHARE, snapshots.SMALL = 0, 10
for step in range(1000):
    name = f"w{number} {step}"
    kind = step % 7
    if kind == 5:
        compact(Store.open(path), wait=60)
    elif kind == 6:
        vacuum(Store.open(path), keep_versions=5)
    else:
        version, _ = changed(path, lambda kb: kb.update(insert={"edge": [("a", name), (name, f"to {name}")]}))
        print(name, version, flush=True)
"""


@pytest.mark.slow
def test_a_storm_of_kills_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Processes write, compact and vacuum one after the other, each until it is killed at a random moment."""
    path = tmp_path / "kb"
    made = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    made.insert("edge", [("b", "a")])
    made.save(path)
    chosen, acknowledged = random.Random(5), dict[str, int]()
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    for number in range(KILLS):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(number)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(chosen.uniform(0, 1.5))
        writer.send_signal(signal.SIGKILL)
        out, errors = writer.communicate()
        assert writer.returncode == -signal.SIGKILL, errors
        for line in [first, *out.splitlines()]:
            name, _, version = line.rpartition(" ")
            acknowledged[name] = int(version)
        found = everlog.open(path)
        there = {row[0] for row in found.query("edge(a, ?x), path(b, ?x)").rows()}
        assert there >= acknowledged.keys()
        assert len(there) <= len(acknowledged) + number + 1, "at most one of each writer is not acknowledged"
        assert Store.open(path).version >= max(acknowledged.values(), default=0)
    assert len(acknowledged) >= KILLS
    with_nothing_left = everlog.open(path)
    with_nothing_left.insert("edge", [("end", "end")])
    with_nothing_left.save(wait=0)
    check_store(path)
    store = Store.open(path)
    vacuum(store, keep_versions=1)
    check_store(path)
    assert {entry.name for entry in (path / "work").iterdir()} == {"guard"}
    assert not locking.writers(store.layout)
    assert not list((path / "snapshot").glob(".making-*"))
    files = {file.name for file in store.files()} | {file.name for file in store.term_files()}
    kept = {entry.name for table in ("facts", "terms") for entry in (path / table).glob("*.parquet")}
    assert kept == files
