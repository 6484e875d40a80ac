"""The job that changes a store: from nothing, by facts, rules, SPARQL, or a batch of a stream; all or nothing.

Every request has the same steps: check, begin, open, read, warn, reason, commit, compact. It is carried out by the
first back end that can (:mod:`everlog.backends.cascade`), and does not know by which.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from everlog.backends.executors import Executors
from everlog.backends.protocol import Made, RowsRead
from everlog.host.session import session
from everlog.jobs.change_job import ChangeResult
from everlog.jobs.reports import Clock, Report
from everlog.store import Transaction
from everlog.store.compaction import compact_if_worth

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

C = TypeVar("C")
C_co = TypeVar("C_co", covariant=True)


class Request(Protocol[C_co]):
    """A request for a change of a store."""

    @property
    def store(self) -> str:
        """The store."""

    @property
    def is_dry(self) -> bool:
        """Whether nothing is to be committed."""

    @property
    def compacts(self) -> bool:
        """Whether the store is to be compacted afterwards, if that is worth it."""

    @property
    def positions(self) -> Mapping[str, Any] | None:
        """The positions of streams after the change; None if the request is of no stream."""

    def figures(self, read: RowsRead) -> Mapping[str, Any]:
        """Figures to keep with those of the version, given the rows that were read."""

    def begun(self, clock: Clock) -> AbstractContextManager[Transaction]:
        """Check what can be checked without the store, and begin a transaction."""

    def made(self, transaction: Transaction, clock: Clock) -> Made[C_co]:
        """The change, made by the first back end that can."""


def carry_out(request: Request[C], report: Report) -> ChangeResult[C]:
    """Change the newest version of a store, and commit the difference.

    After any error the store is as it was; a failure after the commit is a warning. Another writer is waited for,
    and the change is applied on top of what it committed.
    """
    clock = Clock(report)
    with request.begun(clock) as transaction:
        made = request.made(transaction, clock)
        before = transaction.base_version
        version = -1 if before is None else before
        if not request.is_dry:
            with clock.phase("commit"):
                version = made.commit(transaction, request.figures(made.read), request.positions)
    compacted = None
    if version != before:
        if made.keep is not None:
            with clock.phase("snapshot"):
                made.keep(version, transaction)
        if request.compacts:
            with clock.phase("compact"):
                compacted = compact_if_worth(request.store, version, report.warning)
    return ChangeResult(version, made, clock.seconds, compacted)


def executors(master: str | None, clock: Clock, spark: SparkSession | None = None) -> Executors:
    """The executors of a job; ``spark`` is a running session, if there is one."""
    return Executors(partial(started, master, clock), spark)


def started(master: str | None, clock: Clock) -> SparkSession:
    """A session of Spark."""
    with clock.phase("start Spark"):
        return session(master)
