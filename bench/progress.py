"""How a benchmark gets on, with the time since it began."""

from __future__ import annotations

import os
import sys
import time

BEGAN = "EVERLOG_BENCH_BEGAN"
"""The environment variable that says when the whole run began, in seconds since 1970."""

_here = time.time()


def tell(line: str) -> None:
    """Say something at once, with the time since the whole run began."""
    print(f"[{elapsed()}] {line}", file=sys.stderr, flush=True)


def elapsed() -> str:
    """The time since the whole run began, or since this process did if there is no whole."""
    return shown(time.time() - float(os.environ.get(BEGAN, _here)))


def shown(seconds: float) -> str:
    """
    >>> shown(7), shown(725.4), shown(3700)
    ('0:07', '12:05', '61:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
