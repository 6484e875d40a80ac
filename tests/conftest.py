"""Fixtures and hypothesis profiles for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

QUICK_EXAMPLES = 5
"""Examples of each random test in ``make check``."""

SLOW_TO_DRAW = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("random", deadline=None, max_examples=60, suppress_health_check=SLOW_TO_DRAW)
settings.register_profile("default", settings.get_profile("random"), derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=2000, suppress_health_check=SLOW_TO_DRAW)
settings.register_profile("long", deadline=None, max_examples=10_000, suppress_health_check=SLOW_TO_DRAW)
settings.register_profile("quick", settings.get_profile("default"), max_examples=QUICK_EXAMPLES)
PROFILE = os.environ.get("EVERLOG_HYPOTHESIS", "default")
settings.load_profile(PROFILE)


def few(cases: int) -> int:
    """The number of cases of a test that draws random ones itself; ``make check`` draws few."""
    return min(cases, QUICK_EXAMPLES) if PROFILE == "quick" else cases


@pytest.fixture(scope="module")
def closures_in_graphs() -> Iterator[None]:
    """Closures are kept in their graphs however small they are, in the modules of tests that use this."""
    from everlog.reasoning.modules.closure import plain

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "PAIRS_BY_EDGE", 0)
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that use the session of Spark are marked ``spark``; ``make check`` leaves them out and has no Java."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        if PROFILE == "quick":
            _draw_few(getattr(item, "obj", None))


def _draw_few(test: Any) -> None:
    """Limit the examples of a random test, also of one that asks for more than the profile."""
    used = getattr(test, "_hypothesis_internal_use_settings", None)
    if used is not None and used.max_examples > QUICK_EXAMPLES:
        test._hypothesis_internal_use_settings = settings(used, max_examples=QUICK_EXAMPLES)


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
