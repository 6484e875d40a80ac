"""Fixtures and hypothesis profiles for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

SLOW_TO_DRAW = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("random", deadline=None, max_examples=60, suppress_health_check=SLOW_TO_DRAW)
settings.register_profile("default", settings.get_profile("random"), derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=2000, suppress_health_check=SLOW_TO_DRAW)
settings.register_profile("long", deadline=None, max_examples=10_000, suppress_health_check=SLOW_TO_DRAW)
settings.load_profile(os.environ.get("EVERLOG_HYPOTHESIS", "default"))


@pytest.fixture(autouse=True, scope="session")
def small_closures_in_their_graphs() -> Iterator[None]:
    """Closures are kept in their graphs however small they are; the tests of plain pairs say so."""
    from everlog.reasoning.modules.closure import plain

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "PAIRS_BY_EDGE", 0)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory of real data sets beside the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the shared data sets are not at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One Spark session for all tests that need one; tasks are tried again, as on a cluster."""
    from everlog.host.session import session

    started = session("local[2,4]")
    yield started
    started.stop()
