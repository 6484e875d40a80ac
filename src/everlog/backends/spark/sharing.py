"""Facts and arrays that all workers of a host read from shared memory.

A task writes them once, as Arrow files in the work directory, and returns their directory; workers map the
files, so a host holds one copy for any number of workers. Pages are mapped copy-on-write, because kernels
are compiled for writable arrays, although none of them writes to these. A directory is used only if its task
returned it, so a task may run twice.

Facts arrive with the 64-bit ids of the store. In shared memory they have dense numbers, as in the local engine,
and are sorted in the orders that the plans need.
"""

from __future__ import annotations

import json
import mmap
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from everlog.backends.executors import RESULT, gather, packed
from everlog.engine.factset import FactSet
from everlog.engine.keys import Column, Order, layout_for
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.engine.tables import argument_name
from everlog.ingest.tasks import work_directory
from everlog.lang.syntax import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SENT_ROWS = 1 << 17
"""Number of rows in a batch that a worker sends to its JVM; rows that are made at once are not split."""

Array = npt.NDArray[Any]
Orders = Mapping[Predicate, frozenset[Order]]

NO_IDS: Column = np.empty(0, np.int64)
OPENED = 4
"""Maximum number of directories that stay mapped in a worker, for its next tasks."""


# arrays -----------------------------------------------------------------------------------------


def write_arrays(directory: Path, arrays: Mapping[str, Array]) -> None:
    """Write each array as an Arrow file of its own, which keeps its type and shape."""
    for name, array in arrays.items():
        field = pa.field("values", pa.from_numpy_dtype(array.dtype), metadata={"shape": json.dumps(array.shape)})
        batch = pa.record_batch([pa.array(np.ascontiguousarray(array).reshape(-1))], schema=pa.schema([field]))
        with pa.OSFile(str(directory / f"{name}.arrow"), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)


def map_array(path: Path) -> Array:
    """The array of a file, mapped into memory that all processes of the host share."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    whole = pa.py_buffer(mapped)
    batch = pa.ipc.open_file(pa.BufferReader(whole)).get_batch(0)
    values, field = batch.column(0), batch.schema.field(0)
    offset = values.buffers()[1].address - whole.address if len(values) else 0
    found: Array = np.frombuffer(mapped, field.type.to_pandas_dtype(), len(values), offset)
    return found.reshape(json.loads(field.metadata[b"shape"]))


@lru_cache(maxsize=OPENED)
def map_arrays(directory: Path) -> Mapping[str, Array]:
    """All arrays of a directory."""
    return {path.stem: map_array(path) for path in sorted(directory.glob("*.arrow"))}


# ids --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SharedNumbering:
    """Dense numbers for ids: first the shared ids, then ids of its own, which only one task has; both ascending.

    >>> (column,), numbering = renumbered([np.array([70, 50, 60])], shared=np.array([50, 70]))
    >>> column.tolist(), numbering.ids(column).tolist()
    ([1, 0, 2], [70, 50, 60])
    """

    shared: Column
    own: Column

    @property
    def universe(self) -> int:
        return len(self.shared) + len(self.own)

    def numbers_of(self, ids: Column) -> Column:
        """The numbers of a few ids, all of which have one."""
        if not len(self.shared):
            return np.searchsorted(self.own, ids)
        at = np.minimum(np.searchsorted(self.shared, ids), len(self.shared) - 1)
        return np.where(self.shared[at] == ids, at, len(self.shared) + np.searchsorted(self.own, ids))

    def ids(self, numbers: Column) -> Column:
        """The ids of numbers."""
        if not len(self.own):
            return self.shared[numbers]
        if not len(self.shared):
            return self.own[numbers]
        beyond = numbers - len(self.shared)
        mine = beyond >= 0
        found = self.shared[np.where(mine, 0, numbers)]
        found[mine] = self.own[beyond[mine]]
        return found


def renumbered(columns: Sequence[Column], shared: Column = NO_IDS) -> tuple[list[Column], SharedNumbering]:
    """Columns of ids as columns of dense numbers, and the numbering.

    All ids are sorted once, since looking each of them up would miss the cache each time.
    """
    ids = np.concatenate([NO_IDS, *columns])
    order = np.argsort(ids)
    ordered = ids[order]
    first = np.ones(len(ids), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    different = ordered[first]
    at = np.searchsorted(shared, different)
    known = np.zeros(len(different), np.bool_)
    inside = at < len(shared)
    known[inside] = shared[at[inside]] == different[inside]
    number = np.where(known, at, len(shared) - 1 + np.cumsum(~known))
    numbers = np.empty(len(ids), np.int64)
    numbers[order] = number[np.cumsum(first) - 1]
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return np.split(numbers, ends), SharedNumbering(shared, different[~known])


# facts of several predicates in one DataFrame ---------------------------------------------------


def tagged(parts: Sequence[tuple[DataFrame, int, int | None]], width: int) -> DataFrame:
    """DataFrames as one, with a column ``tag`` and ``width`` arguments.

    Each comes with its tag and the argument that goes into the column ``key``, if any.
    """
    from pyspark.sql import functions as F

    frames = []
    for frame, tag, key in parts:
        names = frame.columns
        columns = [F.col(name).cast("long").alias(argument_name(i)) for i, name in enumerate(names)]
        columns += [F.lit(0).cast("long").alias(argument_name(i)) for i in range(len(names), width)]
        keyed = [] if key is None else [F.col(names[key]).cast("long").alias("key")]
        frames.append(frame.select(F.lit(tag).cast("int").alias("tag"), *columns, *keyed))
    joined = frames[0]
    for frame in frames[1:]:
        joined = joined.unionAll(frame)
    return joined


def columns_by_tag(batches: Iterable[pa.RecordBatch], arities: Sequence[int]) -> list[list[Column]]:
    """The columns of each tag of a :func:`tagged` partition.

    A predicate without arguments has one column, which is as long as it has rows.
    """
    held = list(batches)
    if not held:
        return [[NO_IDS] * max(arity, 1) for arity in arities]
    table = pa.Table.from_batches(held)
    tags = table.column("tag").to_numpy()
    names = [name for name in table.column_names if name.startswith("c")]
    columns = [table.column(name).to_numpy() for name in names]
    found = []
    for tag, arity in enumerate(arities):
        if arity == 0:
            found.append([tags[tags == tag].astype(np.int64)])
            continue
        mine = slice(None) if len(arities) == 1 else np.flatnonzero(tags == tag)
        found.append([column[mine] for column in columns[:arity]])
    return found


def fact_set(
    predicates: Sequence[Predicate], columns: Sequence[Sequence[Column]], shared: Column = NO_IDS, more: Column = NO_IDS
) -> tuple[FactSet, SharedNumbering]:
    """Facts over a new numbering, from columns of ids for each predicate; the ids ``more`` are numbered as well."""
    arguments = [column for p, mine in zip(predicates, columns, strict=True) for column in mine[: p.arity]]
    numbers, numbering = renumbered([*arguments, more], shared)
    waiting = iter(numbers)
    relations: dict[Predicate, Relation] = {}
    for predicate, mine in zip(predicates, columns, strict=True):
        dense = [next(waiting) for _ in range(predicate.arity)]
        relation = Relation.from_columns(dense, numbering.universe, len(mine[0]))
        relations[predicate] = relations[predicate] | relation if predicate in relations else relation
    return FactSet(relations), numbering


# shared facts -----------------------------------------------------------------------------------


def share(facts: Mapping[Predicate, DataFrame], work: Path, orders: Orders | None = None) -> Path | None:
    """Write relations for all workers, in one task; returns their directory, or None if there are no relations."""
    if not facts:
        return None
    predicates = tuple(facts)
    frame = tagged([(facts[p], tag, None) for tag, p in enumerate(predicates)], max(p.arity for p in predicates))
    return Path(in_one_task(frame, _Share(predicates, work_directory(work), orders or {})))


@lru_cache(maxsize=OPENED)
def shared_facts(directory: Path | None) -> tuple[FactSet, Column]:
    """Shared relations, and the ids of their terms in the order of their numbers."""
    if directory is None:
        return FactSet(), NO_IDS
    arrays = map_arrays(directory)
    contents = json.loads((directory / "contents.json").read_text())
    universe = len(arrays["ids"])
    relations = {}
    for number, (text, orders) in enumerate(contents):
        predicate = Predicate.parse(text)
        keys = {tuple(order): arrays[f"{number}-{at}"] for at, order in enumerate(orders)}
        relations[predicate] = Relation.from_run(Run(layout_for(predicate.arity, universe), keys))
    return FactSet(relations), arrays["ids"]


@dataclass(frozen=True)
class _Share:
    predicates: tuple[Predicate, ...]
    work: Path
    orders: Orders

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> str:
        columns = columns_by_tag(batches, [p.arity for p in self.predicates])
        facts, numbering = fact_set(self.predicates, columns)
        return str(write_facts(self.work, facts, numbering.own, self.orders))


def write_facts(work: Path, facts: FactSet, ids: Column, orders: Orders) -> Path:
    """Write relations for :func:`shared_facts` to map, sorted in their own order and in the given ones."""
    directory = new_directory(work, "shared")
    contents = []
    arrays: dict[str, Array] = {"ids": ids}
    for number, (predicate, relation) in enumerate(facts.items()):
        run = relation.run()
        sorted_by = sorted({run.layout.primary, *orders.get(predicate, ())})
        arrays.update({f"{number}-{at}": run.keys(order) for at, order in enumerate(sorted_by)})
        contents.append((str(predicate), sorted_by))
    write_arrays(directory, arrays)
    (directory / "contents.json").write_text(json.dumps(contents))
    return directory


def new_directory(work: Path, kind: str) -> Path:
    """A new directory for one attempt of a task.

    Its parent has to exist: a task that is still running after its job does not create a removed work directory again.
    """
    directory = work / f"{kind}-{uuid.uuid4().hex}"
    directory.mkdir()
    return directory


def in_one_task(frame: DataFrame, function: Callable[[Iterable[pa.RecordBatch]], Any]) -> Any:
    """Call a function with all rows of a DataFrame in one task; returns its result, which has to be small.

    Spark starts no task for a DataFrame that it knows to be empty; the function is then called in the driver.
    """
    results = gather(frame.repartition(1).mapInArrow(_Once(function), RESULT))
    return results[0] if results else function(())


@dataclass(frozen=True)
class _Once:
    function: Callable[[Iterable[pa.RecordBatch]], Any]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield packed(lambda: self.function(batches))
