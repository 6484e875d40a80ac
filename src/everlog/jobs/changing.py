"""The job that changes a store: by facts, by rules, or by a batch of a stream; all or nothing.

Every request has the same steps: begin, open the newest version, read, warn, reason, commit, compact. Either this
process reasons, which opens the whole version, or executors do, which read the parts they need.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import Any, Generic, Protocol, TypeVar

from everlog.backends.engines import needs_spark_to_update
from everlog.backends.too_much import TooMuchError
from everlog.jobs.change_job import ChangeJob, ChangeResult, RowsRead
from everlog.jobs.reports import Clock, Report
from everlog.jobs.spark_updates import updatable
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.saving import append, is_saved_in
from everlog.kb.stores import open as open_store
from everlog.lang.codes import Code
from everlog.lang.errors import EverlogError
from everlog.store import Store, Transaction, VersionInfo, begin
from everlog.store.compaction import compact_if_worth

log = logging.getLogger(__name__)

C = TypeVar("C", bound=Change)
C_co = TypeVar("C_co", bound=Change, covariant=True)


class Made(Protocol[C_co]):
    """A change that is computed and not committed yet."""

    @property
    def change(self) -> C_co: ...

    @property
    def read(self) -> RowsRead: ...

    @property
    def violations(self) -> int:
        """The number of facts that report a contradiction of an ontology after the change."""

    def commit(self, transaction: Transaction, figures: dict[str, Any], positions: dict[str, Any] | None) -> int:
        """Commit it as the next version if any fact or any of the ``positions`` of streams changed; returns the newest
        version.

        ``figures`` are kept with its statistics.
        """


class Request(Protocol[C_co]):
    """A request for a change."""

    def here(self, kb: KnowledgeBase, transaction: Transaction, clock: Clock) -> tuple[C_co, RowsRead]:
        """Read the request and carry it out in a knowledge base of this process."""

    def there(self, transaction: Transaction, clock: Clock) -> Made[C_co]:
        """Read the request and carry it out by executors, or by look-ups in the store."""


@dataclass(frozen=True)
class MadeHere(Generic[C]):
    """A change of a knowledge base in this process."""

    job: ChangeJob
    kb: KnowledgeBase
    change: C
    read: RowsRead

    @property
    def violations(self) -> int:
        return self.kb.statistics.violations

    def commit(self, transaction: Transaction, figures: dict[str, Any], positions: dict[str, Any] | None) -> int:
        figures = {"update": asdict(self.change.stats), **figures}
        return append(self.kb, transaction, figures, positions, self.job.expand_below)


def carry_out(job: ChangeJob, request: Request[C], report: Report) -> ChangeResult[C]:
    """Change the newest version of a store, and commit the difference.

    After any error the store is as it was; a failure after the commit is a warning. Another writer is waited for,
    and the change is applied on top of what it committed.
    """
    clock = Clock(report)
    with clock.phase("check"):
        Store.open(job.store)
    with begin(job.store, wait=job.wait) as transaction:
        made = made_in(job, request, transaction, clock)
        assert transaction.base_version is not None
        version, compacted = transaction.base_version, None
        if not job.dry_run:
            with clock.phase("commit"):
                version = made.commit(transaction, {}, None)
    if job.compact and version != transaction.base_version:
        with clock.phase("compact"):
            compacted = compact_if_worth(job.store, version, report.warning)
    read, seconds = made.read, clock.seconds
    return ChangeResult(version, made.change, seconds, read.rows, read.bad, read.bad_count, compacted, made.violations)


def made_in(
    job: ChangeJob, request: Request[C], transaction: Transaction, clock: Clock, kb: KnowledgeBase | None = None
) -> Made[C]:
    """The computed change of a request; ``kb`` is a knowledge base that may have the facts of the version already."""
    if kb is None and reasons_on_spark(job):
        try:
            return request.there(transaction, clock)
        except TooMuchError as error:
            if job.engine == "spark":
                hint = "use --engine local, or allow tasks more facts with --spark-local-finish"
                message = f"that is too much for one task of Spark, and cannot be distributed ({error})"
                raise EverlogError.of(Code.TOO_MUCH_FOR_SPARK, message, None, hint) from None
            log.info("engine auto: local all the same: %s", error)
    with clock.phase("load"):
        kb = _opened(job, kb, transaction)
        kb.warning = clock.report.warning
    change, read = request.here(kb, transaction, clock)
    return MadeHere(job, kb, change, read)


def _opened(job: ChangeJob, kb: KnowledgeBase | None, transaction: Transaction) -> KnowledgeBase:
    """The knowledge base of the version that a transaction builds on."""
    base = transaction.base_version
    if kb is not None and kb.saved is not None and is_saved_in(kb.saved, Store.open(job.store), base):
        return kb
    return open_store(job.store, base, max_facts=job.max_facts, timeout=job.timeout, max_memory=job.memory)


def reasons_on_spark(job: ChangeJob) -> bool:
    """Whether Spark is to reason: on request, or if the store may exceed the memory of this process and Spark can do
    it.
    """
    if job.engine != "auto":
        return job.engine == "spark"
    store = Store.open(job.store)
    info = store.info()
    rows = sum(file.rows or 0 for file in store.files(info.version))
    texts = sum(file.size for file in store.term_files(info.version))
    return needs_spark_to_update(rows, texts, job.memory) and _can_be_on_spark(job, info)


def _can_be_on_spark(job: ChangeJob, info: VersionInfo) -> bool:
    try:
        updatable(job, info)
    except EverlogError as error:
        log.info("engine auto: local all the same: %s", error.diagnostics[0].message)
        return False
    return True
