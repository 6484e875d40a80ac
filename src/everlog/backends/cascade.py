"""Which back end makes a change: the order in which they are tried, and that the next one takes over.

With the engine ``auto``, this process changes a store that is expected to fit its memory. Otherwise one task repairs it
by facts that it looks up there, unless these are more than ``look-up-rows`` rows or ``spark-local-finish`` facts. Where
look-ups do not suffice, a store of at most ``spark-local-finish`` rows is changed in one task that opens it as a whole,
and the change of any other is distributed; what cannot be distributed, this process does. The engine ``spark`` leaves
this process out. Look-ups are made in this process until Spark is started, which happens for large changes, and if
look-ups do not suffice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from everlog.analysis.stratify import StratifiedProgram
from everlog.backends.asked import BeginningOptions, ChangeOptions
from everlog.backends.engines import needs_spark_to_update
from everlog.backends.executors import Executors
from everlog.backends.local.backend import LocalBackend, LocalBeginning
from everlog.backends.local.task import TaskBackend
from everlog.backends.lookup.backend import LookUpBackend
from everlog.backends.protocol import Backend, Beginning
from everlog.backends.spark.backend import SparkBackend, SparkBeginning
from everlog.backends.spark.settings import plan_settings
from everlog.backends.stored_version import StoredVersion
from everlog.backends.too_much import TooMuchError
from everlog.ingest.amounts import AmountProgress
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.codes import Code
from everlog.lang.errors import Diagnostic, EverlogError
from everlog.reasoning.statistics import Listener
from everlog.store import Store, Transaction

if TYPE_CHECKING:
    from everlog.profiling.profile import Profile

log = logging.getLogger(__name__)

B = TypeVar("B")
R = TypeVar("R")


def first_able(opened: Sequence[Callable[[], B]], carried_out: Callable[[B], R]) -> R:
    """What ``carried_out`` returns for the first back end that has not too much to do; an error if all have.

    Each of ``opened`` opens a back end.
    """
    *others, last = opened
    for each in others:
        try:
            return carried_out(each())
        except TooMuchError as error:
            log.info("%s", error)
    try:
        return carried_out(last())
    except TooMuchError as error:
        hint = error.hint or "use --engine local, or allow tasks more facts with --spark-local-finish"
        message = f"that is too much for one task of Spark, and cannot be distributed ({error})"
        raise EverlogError.of(Code.TOO_MUCH_FOR_SPARK, message, None, hint) from None


@dataclass(frozen=True)
class ChangedStore:
    """A store whose newest version is to be changed; ``store`` was opened since the transaction began.

    ``kb`` is a knowledge base that may have the facts of the version already, ``warn`` gives a warning.
    """

    store: Store
    transaction: Transaction
    options: ChangeOptions
    executors: Executors
    warn: Callable[[Diagnostic], None]
    profile: Profile | None = None
    kb: KnowledgeBase | None = None

    @property
    def backends(self) -> Sequence[Callable[[], Backend]]:
        """Functions that open the back ends, in the order in which they are tried."""
        options = self.options
        local = partial(
            LocalBackend.opened, self.store, self.transaction.work, options, self.warn, self.profile, self.kb
        )
        if self.kb is not None or not reasons_on_spark(self.store, options):
            return (local,)
        others = (partial(self._stored, LookUpBackend), partial(self._stored, TaskBackend), self._on_spark)
        return others if options.engine == "spark" else (*others, local)

    @cached_property
    def _version(self) -> StoredVersion:
        base = self.transaction.base
        assert base is not None
        return StoredVersion.of(self.store, base, self.transaction.work, self.options)

    def _stored(self, kind: type[LookUpBackend | TaskBackend]) -> Backend:
        return kind(self._version, self.transaction, self.executors, self._most, self.warn)

    def _on_spark(self) -> Backend:
        return SparkBackend(self._version, self.transaction, self.executors, self._most, self.warn, self.profile)

    def _most(self) -> int:
        """The maximum number of facts that one task may hold."""
        options, salt = self.options, self._version.info.salt
        if options.engine != "auto":
            return options.local_finish
        return plan_settings(self.executors.spark, options.engine, options.memory, salt).local_facts


def reasons_on_spark(store: Store, options: ChangeOptions) -> bool:
    """Whether Spark is to reason: on request, or if the store may exceed the memory of this process."""
    if options.engine != "auto":
        return options.engine == "spark"
    rows = sum(file.rows or 0 for file in store.files())
    texts = sum(file.size for file in store.term_files())
    return needs_spark_to_update(rows, texts, options.memory)


@dataclass(frozen=True)
class BegunStore:
    """A store that is begun anew; ``program`` is without modules, and ``amount`` observes what is written."""

    program: StratifiedProgram
    transaction: Transaction
    path: str
    options: BeginningOptions
    executors: Executors
    warn: Callable[[Diagnostic], None]
    listener: Listener
    profile: Profile | None = None
    amount: AmountProgress | None = None

    @property
    def beginnings(self) -> Sequence[Callable[[], Beginning]]:
        """Functions that begin in a back end, in the order in which they are tried: this process, and Spark if that
        would take too much memory.
        """
        engine = self.options.engine
        if engine == "local":
            return (self._local,)
        return (self._on_spark,) if engine == "spark" else (self._local, self._on_spark)

    def _local(self) -> Beginning:
        return LocalBeginning(
            self.program, self.options, self.path, self.warn, self.listener, self.profile, self.amount
        )

    def _on_spark(self) -> Beginning:
        return SparkBeginning(
            self.program, self.options, self.transaction, self.executors, self.warn, self.listener, self.profile
        )
