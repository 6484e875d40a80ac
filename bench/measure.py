"""Starts measured processes and collects their results."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.progress import log_progress

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(os.environ.get("EVERLOG_BENCH_RESULTS") or ROOT / "bench" / "results")
"""The directory of the result files."""

SHOWN = (
    "workload",
    "system",
    "stratification",
    "n",
    "nodes",
    "form",
    "maintain",
    "workloads",
    "universities",
    "master",
)
"""Arguments of a task that progress lines show."""


@dataclass(frozen=True)
class ProcessResult:
    """The result that a process printed, or the error; ``wall`` are the seconds from its start to its end."""

    result: dict[str, Any] | None
    wall: float
    error: str | None = None
    stderr: str = ""
    timed_out: bool = False


def start(job: Mapping[str, Any], timeout: float, environment: Mapping[str, str] | None = None) -> ProcessResult:
    """Run a task of :mod:`bench.run_task` in a new process, until its end or the timeout."""
    return run_python(["-m", "bench.run_task", json.dumps(dict(job))], timeout, environment)


def task(name: str, arguments: Mapping[str, Any], timeout: float, *, one_core: bool = True) -> dict[str, Any]:
    """Run a task of :mod:`bench.run_task`, with progress lines; return its result, or its error."""
    shown = " ".join([name.rpartition(".")[2], *(str(arguments[key]) for key in SHOWN if key in arguments)])
    log_progress(shown)
    ended = start({"task": name, **arguments, "one_core": one_core}, timeout)
    if ended.result is None:
        log_progress(f"{shown}: {ended.error}")
        return {"error": ended.error}
    return ended.result


def run_python(arguments: list[str], timeout: float, environment: Mapping[str, str] | None = None) -> ProcessResult:
    """Run this Python interpreter; the last line that it prints, if any, is the result as JSON."""
    began = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        return ProcessResult(None, timeout, f">{timeout:g} s", timed_out=True)
    except BaseException:
        _end(process)
        raise
    wall = perf_counter() - began
    if process.returncode:
        return ProcessResult(None, wall, _reason(err, process.returncode), err)
    lines = out.strip().splitlines()
    return ProcessResult(json.loads(lines[-1]) if lines else {}, wall, stderr=err)


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a process and its descendants."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _reason(err: str, status: int) -> str:
    """The line of standard error that names the exception; its message may have further lines."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Exit|Interrupt)\b", line)]
    return next(reversed(named or lines), f"ended with status {status}")
