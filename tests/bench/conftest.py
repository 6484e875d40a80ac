"""What all tests of the benchmarks share."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True)
def no_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Benchmarks collect garbage before each timed update; among the objects of a test run that takes most of the
    time, and no test looks at times."""
    monkeypatch.setattr(gc, "collect", lambda *_: 0)
