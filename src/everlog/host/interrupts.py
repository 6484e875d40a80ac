"""Interrupts that nothing swallows, and that no library comments on.

Python raises KeyboardInterrupt wherever it happens to be: some libraries catch whatever comes while they are
imported or called back, and the command would go on. So the interrupt is remembered, and a command that begins
another phase although it was interrupted ends there. Spark's own handler asks for its jobs to be cancelled on the
connection that is waiting for them, which fails with several tracebacks; ours asks on another one.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

_interrupted = threading.Event()
_handling = False


@contextmanager
def remembered() -> Iterator[None]:
    """Remember the interrupts of a command. Only the main thread gets any."""
    global _handling  # noqa: PLW0603 - a signal's handler belongs to the process
    _interrupted.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _handle)
    _handling, quiet = True, _UntilInterrupted()
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(quiet)
    try:
        yield
    finally:
        _handling = False
        root.removeHandler(quiet)
        signal.signal(signal.SIGINT, before or signal.default_int_handler)


@contextmanager
def as_interrupts() -> Iterator[None]:
    """Whatever goes wrong after an interrupt is its consequence: compiled code turns it into other errors."""
    try:
        yield
    except Exception as error:
        if _interrupted.is_set():
            raise KeyboardInterrupt from error
        raise


def forget() -> None:
    """Go on as if there had been no interrupt."""
    _interrupted.clear()


def check() -> None:
    """End here if there was an interrupt; see to it that the next one is ours again, whoever took over since."""
    if _interrupted.is_set():
        raise KeyboardInterrupt
    if _handling and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _handle)


def _handle(number: int, frame: FrameType | None) -> None:
    _interrupted.set()
    context = sys.modules.get("pyspark.core.context")
    active = None if context is None else context.SparkContext._active_spark_context
    if active is not None:
        threading.Thread(target=_cancel_jobs, args=(active,), daemon=True).start()
    signal.default_int_handler(number, frame)


def _cancel_jobs(context: Any) -> None:
    """Ask Spark to stop what it does; if it is gone already, nothing is left to stop."""
    with suppress(Exception):
        context.cancelAllJobs()


class _UntilInterrupted(logging.StreamHandler):  # type: ignore[type-arg]
    """What libraries have to say, as Python shows it by itself; after an interrupt it is no news."""

    def __init__(self) -> None:
        super().__init__()
        self.setLevel(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        if not _interrupted.is_set():
            super().emit(record)
