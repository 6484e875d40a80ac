"""Requests to change the newest version of a store that is there: by facts, by rules or by SPARQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic

from everlog.backends.cascade import ChangedStore, first_able
from everlog.backends.executors import Executors
from everlog.backends.protocol import Backend, Made, RowsRead
from everlog.jobs.change_job import ChangeJob
from everlog.jobs.changing import C, executors
from everlog.jobs.reports import Clock
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.errors import Diagnostic
from everlog.store import Store, Transaction, begin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class ChangeRequest(ABC, Generic[C]):
    """A request to change the newest version of a store. Subclasses read what is asked for, and say how it is made.

    ``spark`` is a running session, if there is one; ``kb`` a knowledge base that may have the facts of the newest
    version already. ``positions`` are those of streams after the change, None without a stream. ``clock`` and
    ``executors`` are set when the request is carried out.
    """

    spark: SparkSession | None = None
    kb: KnowledgeBase | None = None
    positions: Mapping[str, Any] | None = None
    clock: Clock
    executors: Executors

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

    def figures(self, read: RowsRead) -> Mapping[str, Any]:
        """Figures to keep with those of the version, given the rows that were read."""
        return MappingProxyType({})

    def begun(self, clock: Clock) -> AbstractContextManager[Transaction]:
        """A transaction, once no other writer is at work."""
        with clock.phase("check"):
            Store.open(self.store)
        return begin(self.store, wait=self.job.wait)

    def made(self, transaction: Transaction, clock: Clock) -> Made[C]:
        """The change, made by the first back end that can."""
        self.clock, self.executors = clock, executors(self.job.master, clock, self.spark)
        with clock.phase("check"):
            store, profile = Store.open(self.store), clock.report.profile
            changed = ChangedStore(store, transaction, self.job, self.executors, self.warn, profile, self.kb)
            backends = changed.backends
        return first_able([partial(self._opened, each) for each in backends], self.made_by)

    @abstractmethod
    def made_by(self, backend: Backend) -> Made[C]:
        """Read what is asked for and let a back end make the change."""

    def warn(self, found: Diagnostic) -> None:
        """Give a warning, unless it was given before a back end had to give up."""
        key = found.code, found.message
        if key not in self._warned:
            self._warned.add(key)
            self.clock.report.warning(found)

    def warned(self) -> None:
        """Report that all warnings have been given, the first time."""
        if not self._is_loaded:
            self._is_loaded = True
            self.clock.report.loaded()

    def _opened(self, open: Callable[[], Backend]) -> Backend:
        with self.clock.phase("load"):
            return open()
