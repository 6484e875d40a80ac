"""Progress lines of a benchmark, with the time since the run began."""

from __future__ import annotations

import os
import sys
import time

BEGAN = "EVERLOG_BENCH_BEGAN"
"""The environment variable with the start of the whole run, in seconds since 1970."""

_process_began = time.time()


def log_progress(line: str) -> None:
    """Print a line to standard error at once, with the time since the whole run began."""
    print(f"[{elapsed()}] {line}", file=sys.stderr, flush=True)


def elapsed() -> str:
    """The time since the whole run began; without one, since this process began."""
    return shown(time.time() - float(os.environ.get(BEGAN, _process_began)))


def shown(seconds: float) -> str:
    """Seconds as minutes and seconds.

    >>> shown(7), shown(725.4), shown(3700)
    ('0:07', '12:05', '61:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
