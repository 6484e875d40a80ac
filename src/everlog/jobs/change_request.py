"""Requests to change the newest version of a store that is there: by facts or by rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Generic

from everlog.backends.elsewhere import Elsewhere
from everlog.backends.engines import needs_spark_to_update
from everlog.backends.stored_version import StoredVersion
from everlog.jobs.change_job import ChangeJob, RowsRead
from everlog.jobs.changing import C, MadeHere, MadeThere, Side, started
from everlog.jobs.reports import Clock
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.kb.saving import is_saved_in
from everlog.kb.stores import open as open_store
from everlog.lang.errors import Diagnostic
from everlog.store import Store, Transaction, begin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class ChangeRequest(ABC, Generic[C]):
    """A request to change the newest version of a store. Subclasses read what is asked for.

    ``spark`` is a running session, if there is one; ``kb`` a knowledge base that may have the facts of the newest
    version already.
    """

    spark: SparkSession | None = None
    kb: KnowledgeBase | None = None

    def __init__(self, job: ChangeJob) -> None:
        self.job = job
        self._warned: set[tuple[str, str]] = set()
        self._is_loaded = False

    @property
    def store(self) -> str:
        """The store."""
        return self.job.store

    @property
    def is_dry(self) -> bool:
        """Whether nothing is to be committed."""
        return self.job.dry_run

    @property
    def compacts(self) -> bool:
        """Whether the store is to be compacted afterwards, if that is worth it."""
        return self.job.compact

    def begun(self, clock: Clock) -> AbstractContextManager[Transaction]:
        """A transaction, once no other writer is at work."""
        with clock.phase("check"):
            Store.open(self.store)
        return begin(self.store, wait=self.job.wait)

    def sides(self, transaction: Transaction) -> tuple[Side[C], ...]:
        """This process reasons, or if the store may exceed its memory another back end, and this process if that
        cannot.
        """
        if self.kb is None and reasons_on_spark(self.job):
            return (self.there,) if self.job.engine == "spark" else (self.there, self.here)
        return (self.here,)

    def here(self, transaction: Transaction, clock: Clock) -> MadeHere[C]:
        """Change a knowledge base in this process."""
        with clock.phase("load"):
            kb = self._opened(transaction.base_version)
            kb.warning = partial(self.warn, clock)
        change, read = self.change_here(kb, transaction, clock)
        return MadeHere(kb, change, read, self.job.expand_below)

    def there(self, transaction: Transaction, clock: Clock) -> MadeThere[C]:
        """Change the version by look-ups in the store, or by executors."""
        job, base = self.job, transaction.base
        assert base is not None
        with clock.phase("check"):
            version = StoredVersion.of(Store.open(job.store), base, transaction.work, job)
            elsewhere = Elsewhere(version, partial(started, job.master, clock), self.spark, clock.report.profile)
            elsewhere.require_possible()
        return self.change_there(elsewhere, transaction, clock)

    @abstractmethod
    def change_here(self, kb: KnowledgeBase, transaction: Transaction, clock: Clock) -> tuple[C, RowsRead]:
        """Read the request and carry it out in a knowledge base."""

    @abstractmethod
    def change_there(self, elsewhere: Elsewhere, transaction: Transaction, clock: Clock) -> MadeThere[C]:
        """Read the request and carry it out by another back end."""

    def warn(self, clock: Clock, found: Diagnostic) -> None:
        """Give a warning, unless it was given before a back end had to give up."""
        key = found.code, found.message
        if key not in self._warned:
            self._warned.add(key)
            clock.report.warning(found)

    def loaded(self, clock: Clock) -> None:
        """Report that all warnings have been given, the first time."""
        if not self._is_loaded:
            self._is_loaded = True
            clock.report.loaded()

    def _opened(self, version: int | None) -> KnowledgeBase:
        """The knowledge base of a version."""
        job, kb = self.job, self.kb
        if kb is not None and kb.saved is not None and is_saved_in(kb.saved, Store.open(job.store), version):
            return kb
        return open_store(job.store, version, max_facts=job.max_facts, timeout=job.timeout, max_memory=job.memory)


def reasons_on_spark(job: ChangeJob) -> bool:
    """Whether Spark is to reason: on request, or if the store may exceed the memory of this process."""
    if job.engine != "auto":
        return job.engine == "spark"
    store = Store.open(job.store)
    version = store.info().version
    rows = sum(file.rows or 0 for file in store.files(version))
    texts = sum(file.size for file in store.term_files(version))
    return needs_spark_to_update(rows, texts, job.memory)
