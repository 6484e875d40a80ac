"""The newest version is found from the last checkpoint, and cached versions are correct."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from everlog.store import Store
from everlog.store.layout import StoreLayout
from everlog.store.log import contents, newest_version
from tests.store.small import EDGES, MORE, fact, write


def test_the_newest_version(tmp_path: Path) -> None:
    facts = StoreLayout(tmp_path).facts
    assert newest_version(facts) is None
    for number in range(13):
        assert write(tmp_path, [fact("p", f"x{number}")]) == number == newest_version(facts)
    checkpoint = StoreLayout.log(facts) / "_last_checkpoint"
    entry = json.loads(checkpoint.read_text())
    assert 0 < entry["version"] < 12
    for text in (json.dumps({**entry, "version": 2}), json.dumps({**entry, "version": 99}), "{}", "[1", ""):
        checkpoint.write_text(text)
        assert newest_version(facts) == 12
    checkpoint.unlink()
    assert newest_version(facts) == 12


def test_another_store_at_the_same_place(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    write(path, EDGES)
    before = contents(StoreLayout(path).facts, 0)
    assert contents(StoreLayout(path).facts, 0) is before
    shutil.rmtree(path)
    write(path, MORE)
    assert {file.name for file in Store.open(path).files()}.isdisjoint({file.name for file in before.files})
