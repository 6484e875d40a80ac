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
from contextlib import chdir
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from everlog.store import steps
from tests.running import ROOT

STEPS = tuple(step for name, step in vars(steps).items() if name.isupper() and step != steps.BATCH_APPLIED)
"""The steps of a write, in order."""

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["tests.loaded", "tests.store.small", "tests.kb.test_store_updates", "tests.reasoning.modules.test_generated"]
)


def _started(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    process = PROCESSES.Process(target=target, args=arguments)
    with chdir(ROOT):  # the first process starts the server, which finds the modules of the tests from there
        process.start()
    return process


def kill_at(step: str, job: Callable[[str], None], path: Path) -> None:
    """Run a job on a store in a process that is killed when it reaches the step."""
    process = _started(_stop_at, step, job, str(path))
    process.join()
    assert process.exitcode == -signal.SIGKILL


def _stop_at(step: str, job: Callable[[str], None], path: str) -> None:
    end_at(step)
    job(path)


def end_at(last: str) -> None:
    """Let this process be killed without any clean-up when it reaches the step."""

    def ended(step: str) -> None:
        if step == last:
            os.kill(os.getpid(), signal.SIGKILL)

    steps.reached = ended


def command(errors: Path, *arguments: object) -> BaseProcess:
    """A command that was started; it writes its stderr to a file."""
    errors.touch()
    return _started(_command, str(errors), [str(argument) for argument in arguments])


def _command(errors: str, arguments: list[str]) -> None:
    from everlog.cli import main

    os.dup2(os.open(errors, os.O_WRONLY), sys.stderr.fileno())
    sys.argv[1:] = arguments
    main()
