"""The options of a job that changes a store, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from everlog.backends.asked import ChangeOptions
from everlog.ingest.facts import FactsRead
from everlog.ingest.split import BadRow
from everlog.ingest.stage import Staged
from everlog.jobs.reports import Clock
from everlog.kb.change import Change
from everlog.lang.errors import Place
from everlog.lang.syntax import Predicate
from everlog.reasoning.statistics import Statistics
from everlog.settings import WAIT
from everlog.store import Transaction

C_co = TypeVar("C_co", bound=Change, covariant=True)

Named = Mapping[Predicate, Place]
"""Predicates that a user has named, with the places of the names."""


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
class RowsRead:
    """The number of rows read for a change, and the bad ones among them."""

    rows: int = 0
    bad: tuple[BadRow, ...] = ()
    bad_count: int = 0

    @classmethod
    def of(cls, *parts: FactsRead | Staged) -> RowsRead:
        """The rows of several parts, and their bad rows."""
        bad = tuple(row for part in parts for row in part.bad)
        return cls(sum(part.rows for part in parts), bad, sum(part.bad_count for part in parts))


class Made(Protocol[C_co]):
    """A change that is computed and not committed yet."""

    @property
    def change(self) -> C_co:
        """The facts that were inserted and deleted, or their numbers."""

    @property
    def read(self) -> RowsRead:
        """The rows that were read for it."""

    @property
    def statistics(self) -> Statistics:
        """The figures of the materialisation after the change."""

    def commit(self, transaction: Transaction, figures: dict[str, Any], positions: dict[str, Any] | None) -> int:
        """Commit it as the next version if any fact or any of the ``positions`` of streams changed; returns the newest
        version.

        ``figures`` are kept with its statistics.
        """

    def keep(self, version: int, transaction: Transaction, clock: Clock) -> None:
        """Keep what will make it faster to open the version that was committed; the transaction has ended."""


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
