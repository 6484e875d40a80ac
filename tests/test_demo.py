"""The demo runs, twice over the same store, and shows rules, counts and answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everlog import demo


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], spark: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert demo.main() == 0
    first = capfd.readouterr().out
    assert "kind_of(?x, ?z) :- kind_of(?x, ?y), subclass_of(?y, ?z) ." in first
    assert "facts      6,931: 1,540 explicit, 5,391 derived" in first
    assert "DOID:1495     cystic echinococcosis" in first
    assert "6,931 facts follow from 1,540 explicit ones, as stored" in first
    assert demo.main() == 0
    assert "demo-store, version 1" in capfd.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["demo-store"]


def test_the_demo_stops_at_the_first_command_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo-store").mkdir()
    (tmp_path / "demo-store" / "mine").touch()
    assert demo.main() == 1
    captured = capfd.readouterr()
    assert "not-a-store" in captured.err
    assert "query" not in captured.out
