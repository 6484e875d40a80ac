"""The console of a command: chooses its display, and connects log records and compilations with it."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterable
from typing import Any

from everlog.cli.progress import JsonLines, Lines, Progress
from everlog.lang.errors import Diagnostic, EverlogWarning


class Console:
    """Gives access to the display of a command. ``configure`` chooses it; before that, only errors are shown."""

    def __init__(self) -> None:
        self.progress = Progress()
        self._handler: logging.Handler | None = None
        self._filters: warnings.catch_warnings[None] | None = None

    def configure(self, quiet: bool, json_logs: bool, warnings_are: str = "show") -> Progress:
        """Choose the display: JSON with ``json_logs``, none with ``quiet``, live on a terminal, lines otherwise."""
        if json_logs:
            self.progress = JsonLines()
        elif quiet:
            self.progress = Progress()
        elif sys.stderr.isatty():
            from everlog.cli.live import Live

            self.progress = Live()
        else:
            self.progress = Lines()
        self.progress.strict = warnings_are == "error"
        self._handler = _Handler(self.progress)
        logger = logging.getLogger("everlog")
        logger.setLevel(logging.INFO)
        logger.addHandler(self._handler)
        logger.propagate = False  # the display says it
        self._filters = warnings.catch_warnings()
        self._filters.__enter__()
        self._show_others = warnings.showwarning
        warnings.simplefilter("always", EverlogWarning)
        warnings.showwarning = self._warning
        return self.progress

    def watch_compilation(self) -> None:
        """Report kernels that have to be compiled to the display. Imports Numba."""
        from everlog.cli.compiling import watch

        watch(self.progress)

    def failed(self, found: Iterable[Diagnostic]) -> None:
        self.progress.failed(found)

    def _warning(self, message: Warning | str, *about: Any, **more: Any) -> None:
        """Show warnings of Everlog as diagnostics, and others as Python does."""
        if isinstance(message, EverlogWarning):
            self.progress.warn(message.diagnostic)
        else:
            self._show_others(message, *about, **more)

    def close(self) -> None:
        self.progress.close()
        if self._filters is not None:
            self._filters.__exit__(None, None, None)
        if self._handler is not None:
            logger = logging.getLogger("everlog")
            logger.removeHandler(self._handler)
            logger.propagate = True


class _Handler(logging.Handler):
    """Passes records of Everlog's loggers on to the display."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(logging.INFO)
        self._progress = progress

    def emit(self, record: logging.LogRecord) -> None:
        self._progress.note(record.getMessage(), level=record.levelname.lower(), logger=record.name)
