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
    """Measures the phases of a job."""

    report: Report
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.report.phase(name)
        begin_at = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin_at
