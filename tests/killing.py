"""Jobs in other processes, which are killed at a step of a write.

The processes are forked from a server that imports the modules of the jobs once and does nothing else.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["tests.loaded", "tests.store.small", "tests.kb.test_store_updates", "tests.reasoning.modules.test_generated"]
)


def kill_at(step: str, job: Callable[[str], None], path: Path) -> None:
    """Run a job on a store in a process that is killed when it reaches the step."""
    process = PROCESSES.Process(target=_stop_at, args=(step, job, str(path)))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def _stop_at(step: str, job: Callable[[str], None], path: str) -> None:
    os.environ["EVERLOG_STOP_AT"] = step
    job(path)
