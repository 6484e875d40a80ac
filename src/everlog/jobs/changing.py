"""The job that changes a store: from nothing, by facts, by rules, or by a batch of a stream; all or nothing.

Every request has the same steps: check, begin, open the newest version, read, warn, reason, commit, compact. Either
this process reasons (*here*), which has all facts of the version, or another back end does (*there*), which has those
that it needs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from everlog.analysis.predicates import Names
from everlog.backends.too_much import TooMuchError
from everlog.backends.written import NewRules, WrittenChange
from everlog.host.session import session
from everlog.ingest.dictionary import NewTerms
from everlog.jobs.change_job import ChangeResult, Made, RowsRead
from everlog.jobs.reports import Clock, Report
from everlog.kb.change import Change, ChangedNumbers
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.saving import append
from everlog.kb.stores import statistics_of
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError
from everlog.lang.syntax import Predicate
from everlog.reasoning.statistics import Statistics
from everlog.settings import EXPAND_BELOW
from everlog.store import Transaction, VersionInfo
from everlog.store.codec import COUNTED
from everlog.store.compaction import compact_if_worth

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

C = TypeVar("C", bound=Change)
C_co = TypeVar("C_co", bound=Change, covariant=True)

Side = Callable[[Transaction, Clock], Made[C]]
"""Carries out a request in a transaction, by this process or by another back end."""


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

    def begun(self, clock: Clock) -> AbstractContextManager[Transaction]:
        """Check what can be checked without the store, and begin a transaction."""

    def sides(self, transaction: Transaction) -> Sequence[Side[C_co]]:
        """The ways to carry out the request, in the order in which they are tried. Any of them may raise
        :class:`TooMuchError`; after the last one that is an error of the job.
        """


def carry_out(request: Request[C], report: Report) -> ChangeResult[C]:
    """Change the newest version of a store, and commit the difference.

    After any error the store is as it was; a failure after the commit is a warning. Another writer is waited for,
    and the change is applied on top of what it committed.
    """
    clock = Clock(report)
    with request.begun(clock) as transaction:
        made = made_by(request.sides(transaction), transaction, clock)
        before = transaction.base_version
        version = -1 if before is None else before
        if not request.is_dry:
            with clock.phase("commit"):
                version = made.commit(transaction, {}, None)
    compacted = None
    if version != before:
        made.keep(version, transaction, clock)
        if request.compacts:
            with clock.phase("compact"):
                compacted = compact_if_worth(request.store, version, report.warning)
    return ChangeResult(version, made, clock.seconds, compacted)


def made_by(sides: Sequence[Side[C]], transaction: Transaction, clock: Clock) -> Made[C]:
    """The change that the first side computes that can."""
    *others, last = sides
    for side in others:
        try:
            return side(transaction, clock)
        except TooMuchError as error:
            log.info("another back end does it: %s", error)
    try:
        return last(transaction, clock)
    except TooMuchError as error:
        hint = error.hint or "use --engine local, or allow tasks more facts with --spark-local-finish"
        message = f"that is too much for one task of Spark, and cannot be distributed ({error})"
        raise EverlogError.of(Code.TOO_MUCH_FOR_SPARK, message, None, hint) from None


def started(master: str | None, clock: Clock) -> SparkSession:
    """A session of Spark."""
    with clock.phase("start Spark"):
        return session(master)


@dataclass(frozen=True)
class MadeHere(Generic[C]):
    """A change of a knowledge base in this process."""

    kb: KnowledgeBase
    change: C
    read: RowsRead
    expand_below: int = EXPAND_BELOW

    @property
    def statistics(self) -> Statistics:
        return self.kb.statistics

    def commit(self, transaction: Transaction, figures: dict[str, Any], positions: dict[str, Any] | None) -> int:
        figures = {"update": asdict(self.change.stats), **figures}
        return append(self.kb, transaction, figures, positions, self.expand_below)

    def keep(self, version: int, transaction: Transaction, clock: Clock) -> None:
        """Nothing: the commit has updated the snapshot."""


@dataclass(frozen=True)
class MadeThere(Generic[C]):
    """A change that another back end has written, of which this process knows only the numbers.

    ``base`` is the version that was changed, None before the first one; ``terms`` are new terms of facts.
    """

    base: VersionInfo | None
    written: WrittenChange
    change: C
    read: RowsRead = field(default_factory=RowsRead)
    terms: NewTerms = field(default_factory=NewTerms)
    figures: Mapping[str, Any] = field(default_factory=dict)
    """Figures for the store besides those of the change."""
    salt: int = 0

    @property
    def statistics(self) -> Statistics:
        return statistics_of({**self.written.figures, **self.figures})

    def commit(self, transaction: Transaction, figures: dict[str, Any], positions: dict[str, Any] | None) -> int:
        """Commit the change and return its version. An empty change writes no rows; counters stay."""
        base, written = self.base, self.written
        if base is not None and not self.change and positions is None:
            return base.version
        transaction.add_fact_files(written.files)
        transaction.add_term_files(self.terms.files)
        new = written.rules
        if new is None:
            assert base is not None
            bookkeeping = base.bookkeeping if not written else COUNTED if written.counted else "none"
            new = NewRules(base.rules, bookkeeping, base.closures, base.modules, ())
        transaction.add_term_files(new.terms)
        return transaction.commit(
            rules=new.rules,
            statistics={**written.figures, **self.figures, **figures},
            bookkeeping=new.bookkeeping,
            operation="materialise" if base is None else "update" if written.rules is None else "rules",
            salt=self.salt,
            positions=positions,
            closures=new.closures,
            modules=new.modules,
        )

    def keep(self, version: int, transaction: Transaction, clock: Clock) -> None:
        """Nothing: the first process that opens the version writes a snapshot."""


def change_of(written: WrittenChange, predicates: Sequence[Predicate], prefixes: Any) -> Change:
    """The change as far as the driver knows it: numbers, no rows. ``predicates`` are known, changed or not."""
    sizes = (written.inserted, written.deleted, written.explicit_inserted, written.explicit_deleted)
    names = Names([*predicates, *chain.from_iterable(sizes)], prefixes)
    numbers: list[Any] = [ChangedNumbers(names, each) for each in sizes]
    inserted, deleted, more, less = numbers
    return Change(inserted, deleted, more, less, written.not_explicit, written.stats)
