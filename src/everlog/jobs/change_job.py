"""The options of a job that changes a store, and its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from everlog.backends.asked import ChangeOptions
from everlog.backends.protocol import Made
from everlog.ingest.split import BadRow
from everlog.reasoning.statistics import Statistics
from everlog.settings import WAIT

C_co = TypeVar("C_co", covariant=True)


@dataclass(frozen=True)
class ChangeJob(ChangeOptions):
    """The store to change, and the options by which the facts that follow are repaired."""

    store: str
    master: str | None = field(default=None, kw_only=True)
    dry_run: bool = field(default=False, kw_only=True)
    compact: bool = field(default=True, kw_only=True)
    wait: float = field(default=WAIT, kw_only=True)
    """Maximum seconds to wait for another writer of the store."""


@dataclass(frozen=True)
class ChangeResult(Generic[C_co]):
    """The result of a job: ``version`` is the one it made, or the old one if nothing changed.

    ``seconds`` are by phase. ``compacted`` is the version that a compaction made afterwards; None if there was none.
    """

    version: int
    made: Made[C_co]
    seconds: dict[str, float]
    compacted: int | None = None

    @property
    def change(self) -> C_co:
        """The facts that were inserted and deleted, or their numbers."""
        return self.made.change

    @property
    def statistics(self) -> Statistics:
        """The figures of the materialisation after the change."""
        return self.made.statistics

    @property
    def violations(self) -> int:
        """The number of facts that report a contradiction of an ontology."""
        return self.statistics.violations

    @property
    def rows(self) -> int:
        """The number of rows that were read."""
        return self.made.read.rows

    @property
    def bad(self) -> tuple[BadRow, ...]:
        """The first of the bad rows."""
        return self.made.read.bad

    @property
    def bad_count(self) -> int:
        """The number of bad rows."""
        return self.made.read.bad_count
