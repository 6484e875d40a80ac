"""The allocator reuses working memory, and leaves what the user has set."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COUNT_FAULTS = """
import resource
import numpy as np
from everlog.engine.allocator import reuse_freed_memory

reuse_freed_memory()
np.ones(1 << 20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    np.ones(1 << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
"""Print the page faults of 20 arrays of 8 MB, each freed before the next is made, after a first one."""


def faults(**environment: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", COUNT_FAULTS], env={**os.environ, **environment}, capture_output=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_freed_arrays_are_used_again() -> None:
    assert faults() < 200


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_the_settings_of_the_user_take_precedence() -> None:
    assert faults(MALLOC_MMAP_THRESHOLD_="131072") > 10 * faults()
