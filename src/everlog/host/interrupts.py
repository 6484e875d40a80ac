"""Handling of interrupts (Ctrl-C), such that no library swallows them or prints messages about them.

Python raises KeyboardInterrupt at any point of the program: some libraries catch every exception while they are
imported or called back, and the command would go on. The interrupt is therefore remembered, and an interrupted command
that begins another phase ends there. Spark's own handler asks for its jobs to be cancelled on the connection that is
waiting for them, which fails with several tracebacks; the handler here asks on another one.
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
def remember_interrupts() -> Iterator[None]:
    """Remember the interrupts of a command. Only the main thread receives them."""
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
    """Raise KeyboardInterrupt for any error after an interrupt: compiled code turns it into other errors."""
    try:
        yield
    except Exception as error:
        if _interrupted.is_set():
            raise KeyboardInterrupt from error
        raise


def forget() -> None:
    """Forget the interrupt, so that work can go on."""
    _interrupted.clear()


def check() -> None:
    """Raise KeyboardInterrupt if there was an interrupt; install the handler again in case a library replaced it."""
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
    """Ask Spark to cancel its jobs; errors are ignored, since Spark may have ended already."""
    with suppress(Exception):
        context.cancelAllJobs()


class _UntilInterrupted(logging.StreamHandler):  # type: ignore[type-arg]
    """Shows the log messages of libraries as Python does by default, and none after an interrupt."""

    def __init__(self) -> None:
        super().__init__()
        self.setLevel(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        if not _interrupted.is_set():
            super().emit(record)
