"""Concurrent writers and readers, without synchronisation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from everlog.lang.errors import AnotherWriterError
from everlog.store import Store
from tests.store.small import EDGES, Fact, fact, read, write
from tests.store.verified import verify

WRITERS = 4
WRITES = 5


def write_until_done(path: Path, one: Fact) -> int:
    """Write one fact, with retries while another writer is active; return the number of failures."""
    failures = 0
    while True:
        try:
            write(path, [one])
            return failures
        except AnotherWriterError:
            failures += 1


@pytest.mark.long
def test_no_write_is_lost_and_no_reader_disturbed(tmp_path: Path) -> None:
    write(tmp_path, EDGES)
    facts = [fact("new", f"w{writer}", f"n{number}") for writer in range(WRITERS) for number in range(WRITES)]
    with ThreadPoolExecutor(WRITERS + 1) as pool:
        writing = [
            pool.submit(lambda part: [write_until_done(tmp_path, one) for one in part], facts[i::WRITERS])
            for i in range(WRITERS)
        ]
        while not all(job.done() for job in writing):
            version = Store.open(tmp_path).version
            assert len(read(tmp_path, version)) == len(EDGES) + version
        for job in writing:
            job.result()
    store = Store.open(tmp_path)
    assert store.version == len(facts)
    assert read(tmp_path) == {*EDGES, *facts}
    assert verify(store) == []
    assert {path.name for path in (tmp_path / "work").iterdir()} == {"guard"}


def test_only_one_creates(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    facts = [fact("new", f"w{writer}") for writer in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda one: write_until_done(path, one), facts))
    assert read(path) == set(facts)
    assert verify(Store.open(path)) == []
