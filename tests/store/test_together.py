"""Concurrent writers and readers of one store, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import everlog
from everlog.store import Store
from tests.kb.test_store_updates import check_store
from tests.running import SOURCES

WRITERS, READERS, CHANGES = 3, 2, 25


COMMON = """
import sys, time
from pathlib import Path
import everlog
from everlog.store import states as snapshots
from everlog.store import Store, compaction
from everlog.jobs.changed import changed

compaction.MOST_SMALL_FILES = 4
snapshots.WHOLE_SHARE, snapshots.SMALL = 0, 10
path, number, changes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
"""

WRITER = """
for step in range(changes):
    def change(kb):
        gone = [("a", f"{number} {step - 3}")]
        return kb.update(insert={"edge": [("a", f"{number} {step}")]}, delete={"edge": gone})
    changed(path, change)
    if step % 10 == 9:
        compaction.compact(Store.open(path), wait=60)
"""

READER = """
last, reads = 0, 0
while not Path(path + ".over").exists() or not reads:
    kb = everlog.open(path)
    version = kb.saved.version
    assert version >= last, (version, last)
    edges, paths = kb.query("edge(a, ?x)").rows(), kb.query("path(b, ?x), edge(a, ?x)").rows()
    assert sorted(edges) == sorted(paths), version
    older = everlog.open(path, max(0, version - 2))
    assert len(older["path"]) == 2 * len(older["edge"]) - 1, older.saved.version
    steps = {}
    for row in edges:
        writer, step = map(int, row[0].split())
        steps.setdefault(writer, []).append(step)
    for writer, found in steps.items():
        assert sorted(found) == list(range(min(found), max(found) + 1)), (version, writer, found)
        assert len(found) == min(3, max(found) + 1), (version, writer, found)
    last, reads = version, reads + 1
print(reads)
"""


def started(code: str, path: Path, number: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    return subprocess.Popen(
        [sys.executable, "-c", COMMON + code, str(path), str(number), str(CHANGES)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_writers_take_turns_and_readers_see_whole_versions(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    made = everlog.KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) .")
    made.insert("edge", [("b", "a")])
    made.save(path)
    readers = [started(READER, path, number) for number in range(READERS)]
    writers = [started(WRITER, path, number) for number in range(WRITERS)]
    for writer in writers:
        _, errors = writer.communicate(timeout=600)
        assert writer.returncode == 0, errors
    Path(f"{path}.over").touch()
    for reader in readers:
        out, errors = reader.communicate(timeout=120)
        assert reader.returncode == 0, errors
        assert int(out) > 0
    expected = {("b", "a"), *(("a", f"{w} {s}") for w in range(WRITERS) for s in range(CHANGES - 3, CHANGES))}
    assert set(everlog.open(path)["edge"].rows()) == expected
    updates = [info for info in Store.open(path).versions() if info.operation == "update"]
    assert len(updates) == WRITERS * CHANGES
    check_store(path)
