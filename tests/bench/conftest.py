"""Fixtures for the tests of the benchmarks."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True)
def no_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch off garbage collection before timed updates: with the objects of a test run it takes most of the time,
    and no test depends on times."""
    monkeypatch.setattr(gc, "collect", lambda *_: 0)
