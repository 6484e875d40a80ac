"""Who is told how a job gets on, and how long its phases take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from everlog.ingest.amounts import Told
from everlog.lang.errors import Diagnostic, warn
from everlog.reasoning.statistics import RoundEvent

if TYPE_CHECKING:
    from everlog.profiling.profile import Profile


@dataclass(frozen=True)
class Report:
    """Who is told how a job gets on."""

    phase: Callable[[str], None] = lambda name: None
    round_done: Callable[[RoundEvent], None] = lambda event: None
    warning: Callable[[Diagnostic], None] = warn
    amount: Told | None = None
    """Who hears how much is read and written, if anyone."""
    profile: Profile | None = None
    """Where to record what reasoning takes, if that is asked for."""
    loaded: Callable[[], None] = lambda: None
    """Called when the warnings about rules and facts are said and nothing is written; may end the job by an error."""


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
