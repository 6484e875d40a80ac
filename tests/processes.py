"""Jobs and commands in other processes.

The processes are forked from a server that imports the modules of the jobs and loads compiled kernels once, which takes
a new interpreter more than a second of processor time.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
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


def command(errors: Path, *arguments: object) -> BaseProcess:
    """A command that was started; it writes its stderr to a file."""
    errors.touch()
    process = PROCESSES.Process(target=_command, args=(str(errors), [str(argument) for argument in arguments]))
    process.start()
    return process


def _command(errors: str, arguments: list[str]) -> None:
    from everlog.cli import main

    os.dup2(os.open(errors, os.O_WRONLY), sys.stderr.fileno())
    sys.argv[1:] = arguments
    main()
