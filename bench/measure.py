"""Starts measured processes and collects what they report."""

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

from bench.progress import tell

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(os.environ.get("EVERLOG_BENCH_RESULTS") or ROOT / "bench" / "results")
"""Where benchmarks write what they found."""

SHOWN = ("workload", "system", "stratification", "n", "nodes", "form", "maintain")
"""Arguments of a task that progress lines name."""


@dataclass(frozen=True)
class Ended:
    """A task's own report, or why there is none; ``wall`` is the process from start to end."""

    result: dict[str, Any] | None
    wall: float
    error: str | None = None
    stderr: str = ""
    timed_out: bool = False


def start(job: Mapping[str, Any], timeout: float, environment: Mapping[str, str] | None = None) -> Ended:
    """Run a task of :mod:`bench.child` to its end or to the timeout."""
    return run_python(["-m", "bench.child", json.dumps(dict(job))], timeout, environment)


def task(name: str, arguments: Mapping[str, Any], timeout: float, *, one_core: bool = True) -> dict[str, Any]:
    """Run a task of :mod:`bench.child` and say so; what it found, or its error."""
    shown = " ".join([name, *(str(arguments[key]) for key in SHOWN if key in arguments)])
    tell(shown)
    ended = start({"task": name, **arguments, "one_core": one_core}, timeout)
    if ended.result is None:
        tell(f"{shown}: {ended.error}")
        return {"error": ended.error}
    return ended.result


def run_python(arguments: list[str], timeout: float, environment: Mapping[str, str] | None = None) -> Ended:
    """Run this interpreter; the last line it prints, if any, is the report."""
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
        return Ended(None, timeout, f">{timeout:g} s", timed_out=True)
    except BaseException:
        _end(process)
        raise
    wall = perf_counter() - began
    if process.returncode:
        return Ended(None, wall, _reason(err, process.returncode), err)
    lines = out.strip().splitlines()
    return Ended(json.loads(lines[-1]) if lines else {}, wall, stderr=err)


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and all that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _reason(err: str, status: int) -> str:
    """The line that names the exception; a message may go on below it."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Exit|Interrupt)\b", line)]
    return next(reversed(named or lines), f"ended with status {status}")
