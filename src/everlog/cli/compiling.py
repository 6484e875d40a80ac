"""Reporting that Numba compiles a kernel, which takes seconds and happens once after installation."""

from __future__ import annotations

from typing import Any

from numba.core import event

from everlog.cli.progress import Progress

COMPILE = "numba:compile"
"""Numba's event for compiling a function that is neither in memory nor in the cache on the disk."""


class _Listener(event.Listener):  # type: ignore[misc]
    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def on_start(self, event: Any) -> None:
        self.progress.compiling(getattr(event.data.get("dispatcher"), "__name__", "a kernel"))

    def on_end(self, event: Any) -> None:
        pass


_listener: _Listener | None = None


def watch(progress: Progress) -> None:
    """Report each kernel that is compiled to ``progress``, which replaces an earlier one."""
    global _listener  # noqa: PLW0603 - Numba's listeners belong to the process
    if _listener is None:
        _listener = _Listener(progress)
        event.register(COMPILE, _listener)
    _listener.progress = progress
