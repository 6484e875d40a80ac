"""A store kept up to date with a stream: every micro-batch is one update, applied exactly once.

Spark may run a batch again, after a failure or a kill, with the same number and the same rows. So the commit of a batch
records its number and the identity of the stream's checkpoint, and a batch that the newest version has is skipped. The
commit succeeds only on the version whose positions were read, so no other writer, not even another run of the same
stream, can commit in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.analysis.check import CheckedProgram
from everlog.analysis.predicates import Names
from everlog.backends.asked import FactsToChange, StagedChange
from everlog.backends.batches import ChangeSet, read_batch, read_small_batch, small_batch
from everlog.backends.protocol import RowsRead
from everlog.host.locations import spark_uri
from everlog.ingest.facts import FactsRead, facts_in
from everlog.ingest.operations import OperationReader
from everlog.jobs.asked_facts import AskedFacts
from everlog.jobs.changing import carry_out
from everlog.jobs.reports import Clock, Report
from everlog.jobs.update import UpdateJob
from everlog.kb.change import Change
from everlog.kb.knowledge_base import KnowledgeBase
from everlog.lang.codes import Code
from everlog.lang.errors import AnotherWriterError, DataError
from everlog.lang.syntax import Predicate
from everlog.reasoning.names import Algorithm
from everlog.store import Store, Transaction, VersionInfo, begin, steps
from everlog.store.errors import store_error
from everlog.store.layout import StoreLayout
from everlog.store.schema import MIN_WIDTH

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

LONGEST_NAME = 255
"""Maximum number of characters of a file name in file systems."""

ATTEMPTS = 5
"""Maximum number of attempts to commit a batch while other writers commit first."""


@dataclass(frozen=True)
class Applied:
    """A micro-batch that made a version of the store."""

    name: str
    batch: int
    version: int
    change: Change
    rows: int
    bad_rows: int


def maintain(
    stream: DataFrame,
    store: str | Path,
    name: str,
    *,
    checkpoint: str | Path | None = None,
    restart: bool = False,
    trigger: Mapping[str, Any] | None = None,
    algorithm: Algorithm = "auto",
    engine: str = "auto",
    memory: int | None = None,
    types: str = "auto",
    on_error: str = "stop",
    progress: Callable[[Applied], None] = lambda applied: None,
) -> StreamingQuery:
    """Apply every micro-batch of a stream of insertions and deletions to a store; returns the running query.

    The columns of ``stream`` are those of :mod:`everlog.ingest.operations`. ``name`` identifies the stream in the
    store. ``checkpoint`` is where Spark keeps its progress, by default inside the store. A name that was followed with
    another checkpoint before is an error, because its batches would be counted anew; ``restart=True`` allows it.
    ``trigger`` has the arguments of Spark's ``trigger``, such as ``{"availableNow": True}`` or
    ``{"processingTime": "10 seconds"}``; by default a batch begins when the one before is done.

    ``engine`` selects the engine: with ``local`` this process reasons, which keeps the store's facts in memory from one
    batch to the next, with ``spark`` the executors do, which keep none of them; ``auto`` takes this process if it can
    hold them in ``memory`` bytes, by default in the free memory.

    A batch with bad rows (unless ``on_error="skip"``) or with contradicting operations changes nothing
    and ends the query with an error that names batch and row. ``progress`` is called after every commit.
    """
    opened = Store.open(store)
    if not stream.isStreaming:
        raise DataError.of(Code.NOT_A_STREAM, "the DataFrame is not a stream", None, "read it with spark.readStream")
    _require_name(name, opened.layout)
    OperationReader.of(dict(stream.dtypes), Names([], {}), {})
    job = UpdateJob(
        str(opened.path.absolute()), algorithm=algorithm, engine=engine, memory=memory, types=types, on_error=on_error
    )
    maintainer = StreamMaintainer(job, name, restart, progress)
    place = spark_uri(opened.layout.checkpoint(name) if checkpoint is None else checkpoint)
    writer = stream.writeStream.queryName(name).option("checkpointLocation", place).foreachBatch(maintainer)
    query = (writer.trigger(**trigger) if trigger else writer).start()
    try:
        maintainer.refuse_other_checkpoint(opened.info().positions, str(query.id))
    except BaseException:
        maintainer.checkpoint.cancel()
        query.stop()
        raise
    maintainer.checkpoint.set_result(str(query.id))
    return query


def _require_name(name: str, layout: StoreLayout) -> None:
    """Raise an error for a name that a stream cannot have: the checkpoint is in a directory of that name."""
    if not name:
        hint = 'pass one, such as maintain(stream, store, "edges"), and the same one when you start again'
        raise DataError.of(Code.NO_NAME, "a stream needs a name by which the store knows it", None, hint)
    if name in (".", ".."):
        message = f"a stream cannot be named {name!r}, which stands for another directory than its own"
        raise DataError.of(Code.BAD_NAME, message, None, "choose a word, such as edges")
    if (length := len(layout.checkpoint(name).name)) > LONGEST_NAME:
        message = f"the name of the stream makes a file name of {length:,} characters, {LONGEST_NAME} are allowed"
        raise DataError.of(Code.BAD_NAME, message, None, "choose a word, such as edges")


@dataclass
class StreamMaintainer:
    """Applies each batch.

    If this process reasons, the knowledge base stays open from one batch to the next, as long as no other writer
    changes the store.
    """

    job: UpdateJob
    """The store, and how it is updated."""
    name: str
    restart: bool = False
    progress: Callable[[Applied], None] = lambda applied: None
    checkpoint: Future[str] = field(default_factory=Future)
    """Spark's identity of the checkpoint, which a copy at another place shares and a new one does not."""
    kb: KnowledgeBase | None = None

    def __call__(self, frame: DataFrame, batch: int) -> None:
        checkpoint = self.checkpoint.result()
        for attempt in range(ATTEMPTS):
            kb, self.kb = self.kb, None  # a knowledge base whose update failed is not used again
            asked = AskedBatch(self, frame, batch, checkpoint, kb)
            try:
                done = carry_out(asked, Report())
            except AppliedBeforeError:
                self.kb = kb
                break
            except AnotherWriterError:
                if attempt + 1 == ATTEMPTS:
                    raise
            else:
                self.kb = done.made.kb
                self.progress(Applied(self.name, batch, done.version, done.change, done.rows, done.bad_count))
                break
        steps.reached(steps.BATCH_APPLIED)

    @property
    def store(self) -> Path:
        return Path(self.job.store)

    def refuse_other_checkpoint(self, positions: Mapping[str, Any], checkpoint: str) -> None:
        """Raise an error if the store has batches of the stream that were numbered by another checkpoint."""
        known = positions.get(self.name)
        if known is not None and known["checkpoint"] != checkpoint and not self.restart:
            message = f"the store has batches 0 to {known['batch']} of {self.name}, from another checkpoint"
            hint = "go on with that checkpoint, take another name, or pass restart=True if all is to be applied anew"
            raise store_error(Code.OTHER_CHECKPOINT, message, self.store, hint)

    def is_next(self, positions: Mapping[str, Any], checkpoint: str, batch: int) -> bool:
        """Whether a batch is the next one to apply; False if the store has it already."""
        self.refuse_other_checkpoint(positions, checkpoint)
        known = positions.get(self.name)
        if known is not None and known["checkpoint"] != checkpoint:
            return True
        last = -1 if known is None else known["batch"]
        if batch > last + 1 and not self.restart:
            message = f"the next batch of {self.name} is {batch}, but the store has none after {last}"
            message = f"the next batch of {self.name} is {batch}, but the store has none of it" if last < 0 else message
            hint = (
                "the store is older than the checkpoint: start with a new checkpoint; "
                "restart=True goes on without the batches between"
            )
            raise store_error(Code.MISSED_BATCHES, message, self.store, hint)
        return batch > last


class AppliedBeforeError(Exception):
    """The store has a batch already."""


class AskedBatch(AskedFacts):
    """A request for the operations in a DataFrame, which are a batch of a stream."""

    job: UpdateJob

    def __init__(
        self,
        maintainer: StreamMaintainer,
        frame: DataFrame,
        batch: int,
        checkpoint: str,
        kb: KnowledgeBase | None = None,
    ) -> None:
        super().__init__(maintainer.job)
        self.kb = kb
        self.spark = frame.sparkSession
        self.frame = frame
        self.maintainer = maintainer
        self.batch = batch
        self.checkpoint = checkpoint
        self.where = f"batch {batch} of {maintainer.name}"
        self.positions = {maintainer.name: {"checkpoint": checkpoint, "batch": batch}}

    def figures(self, read: RowsRead) -> Mapping[str, Any]:
        return {"rows": read.rows, "bad_rows": read.bad_count}

    @contextmanager
    def begun(self, clock: Clock) -> Iterator[Transaction]:
        """A transaction; raises :class:`AppliedBeforeError` if the store has the batch."""
        with begin(self.store, wait=self.job.wait) as transaction:
            assert transaction.base is not None
            if not self.maintainer.is_next(transaction.base.positions, self.checkpoint, self.batch):
                raise AppliedBeforeError
            yield transaction

    def prepare(self, program: CheckedProgram, predicates: Iterable[Predicate]) -> Mapping[str, str]:
        known, prefixes = list(predicates), dict(program.prefixes)
        self.width = max([MIN_WIDTH, *(predicate.arity for predicate in known)])
        self.reader = OperationReader.of(dict(self.frame.dtypes), Names(known, prefixes), prefixes, self.job.types)
        return {}

    def read(self, kb: KnowledgeBase) -> FactsToChange:
        dictionary, on_error = kb.dictionary, self.job.on_error
        small = small_batch(self.frame, self.reader)
        if small is not None:
            return read_small_batch(small, self.reader, dictionary, where=self.where, on_error=on_error)
        changes = self._changes(dictionary.salt)
        delete, unknown = facts_in(changes.delete, dictionary, add=False)
        insert, _ = facts_in(changes.insert, dictionary, add=True)
        read = FactsRead(insert, changes.rows, 0, changes.bad, changes.bad_count, changes.insert.kinds)
        return FactsToChange(FactsRead(delete, unknown=unknown), read)

    def read_ids(self, program: CheckedProgram, info: VersionInfo) -> StagedChange:
        """The numbers of rows of the facts to insert are those of the whole batch."""
        changes = self._changes(info.salt)
        rows, bad, count = changes.rows, changes.bad, changes.bad_count
        return StagedChange(
            replace(changes.delete, rows=0), replace(changes.insert, rows=rows, bad=bad, bad_count=count)
        )

    def _changes(self, salt: int) -> ChangeSet:
        return read_batch(
            self.frame,
            self.reader,
            self.work,
            where=self.where,
            width=self.width,
            salt=salt,
            on_error=self.job.on_error,
        )
