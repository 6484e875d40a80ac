"""Observers of a job, and the time that its phases take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from everlog.ingest.amounts import AmountProgress
from everlog.lang.errors import Diagnostic, warn
from everlog.reasoning.statistics import RoundEvent

if TYPE_CHECKING:
    from everlog.profiling.profile import Profile


@dataclass(frozen=True)
class Report:
    """The observers of a job; by default they do nothing, except that warnings are Python's."""

    phase: Callable[[str], None] = lambda name: None
    round_done: Callable[[RoundEvent], None] = lambda event: None
    warning: Callable[[Diagnostic], None] = warn
    amount: AmountProgress | None = None
    """Called with the amount that is read and written so far; None is no observer."""
    profile: Profile | None = None
    """The profile in which reasoning is recorded; None records nothing."""
    loaded: Callable[[], None] = lambda: None
    """Called once all warnings about rules and facts have been given and before anything is written; may end the job by
    an error.
    """


@dataclass
class Clock:
    """Measures the phases of a job; the time of a phase within another counts for the inner one only.

    >>> clock = Clock(Report())
    >>> with clock.phase("reason"), clock.phase("start Spark"):
    ...     pass
    >>> sorted(clock.seconds)
    ['reason', 'start Spark']
    """

    report: Report
    seconds: dict[str, float] = field(default_factory=dict)
    _current: list[str] = field(default_factory=list)
    _mark: float = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self._count()
        self._current.append(name)
        self.report.phase(name)
        try:
            yield
        finally:
            self._count()
            self._current.pop()
            if self._current:
                self.report.phase(self._current[-1])

    def _count(self) -> None:
        """Add the time since the last call to the current phase."""
        now = time.perf_counter()
        if self._current:
            name = self._current[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._mark
        self._mark = now
