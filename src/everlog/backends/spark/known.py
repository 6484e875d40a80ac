"""Facts of a loop in slices, so that known facts are not shuffled when those of a round are compared with them.

The slice of a fact is the hash of the whole fact by which Spark partitions grouped rows. A slice is sorted, in row
groups of its own. A task that has the derived facts of a slice looks them up in the row groups of that slice that can
have them, writes the new ones, sorted, and returns their row groups: only the facts of the round are shuffled and
sorted.
"""

from __future__ import annotations

import itertools
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.backends.executors import RESULT, gather, packed
from everlog.backends.spark.workspace import RowGroupRange, Slices, Stored, Workspace, grouped, sizes_of
from everlog.engine.keys import Keys, Mask
from everlog.store.groups import LEAST, MOST, ArgumentBounds, Touches, all_touches, touches

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SLICE = "slice"
"""The name of the column with the number of a fact's slice."""

SLICE_ROWS = 1 << 17
"""Maximum number of rows in a row group of a slice."""

FILE_ROWS = 1 << 20
"""Number of rows in a file when stored facts are put into slices; there are at most as many files as slices."""


def store_new(space: Workspace, rows: DataFrame, known: Sequence[Stored] = ()) -> Stored:
    """Run a step and store, in slices, its distinct facts that are in none of the known sets, which are in slices."""
    space.jobs += 1
    task = _KeepNew(str(space.directory), tuple(space.keys), joined(each.slices or {} for each in known), space.bounds)
    ordered = rows.select(_slice(space).alias(SLICE), *space.keys).sortWithinPartitions(SLICE, *space.keys)
    parts: list[_WrittenFacts] = gather(ordered.mapInArrow(task, RESULT))
    return replace(
        space.stored((() if part.file is None else (part.file,), part.sizes) for part in parts),
        touches=None if space.bounds is None else all_touches(part.touched for part in parts),
        slices=joined(part.slices for part in parts),
    )


def in_slices(space: Workspace, rows: DataFrame, size: int) -> Stored:
    """Copy ``size`` distinct facts, which are stored already, into slices in few files."""
    from pyspark.sql import functions as F

    files = min(space.slices, 1 + size // FILE_ROWS)
    return store_new(space, rows.repartitionById(files, (_slice(space) % F.lit(files)).cast("int")))


def _slice(space: Workspace) -> Column:
    """The slice of a row."""
    from pyspark.sql import functions as F

    return F.pmod(F.hash(*space.keys), F.lit(space.slices))


def joined(parts: Iterable[Slices]) -> Slices:
    """The row groups of several sets, slice by slice.

    >>> joined([{0: (RowGroupRange("a", 0, 2),)}, {0: (RowGroupRange("b", 0, 1),), 3: (RowGroupRange("b", 1, 2),)}])[0]
    (RowGroupRange(file='a', first=0, end=2), RowGroupRange(file='b', first=0, end=1))
    """
    found: dict[int, tuple[RowGroupRange, ...]] = {}
    for part in parts:
        for number, pieces in part.items():
            found[number] = (*found.get(number, ()), *pieces)
    return found


# tasks ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _WrittenFacts:
    """The file that a task wrote, the number of its facts by predicate, its slices, and the row groups it touches."""

    file: str | None
    sizes: Mapping[int, int]
    slices: Slices
    touched: Touches | None


@dataclass(frozen=True)
class _KeepNew:
    """Writes the facts of a partition, which is sorted by slice and fact, that are not known."""

    directory: str
    keys: tuple[str, ...]
    known: Slices = field(default_factory=dict)
    bounds: ArgumentBounds | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield packed(lambda: self._kept(batches))

    def _kept(self, batches: Iterable[pa.RecordBatch]) -> _WrittenFacts:
        path = f"{self.directory}/{uuid.uuid4().hex}.parquet"
        sizes: Counter[int] = Counter()
        found: list[Touches | None] = []
        numbers: list[int] = []
        writer: pq.ParquetWriter | None = None
        opened: dict[str, _Sorted] = {}
        try:
            for number, rows in _by_slice(batches, SLICE_ROWS):
                new = rows.select(self.keys)
                if pieces := self.known.get(number, ()):
                    new = new.filter(pa.array(~self._there(as_array(new), pieces, opened)))
                if not new.num_rows:
                    continue
                writer = writer or pq.ParquetWriter(path, new.schema, compression="none", use_dictionary=["predicate"])
                writer.write_table(new)
                numbers.append(number)
                sizes.update(sizes_of(new))
                found += [] if self.bounds is None else [touches(new, self.bounds)]
        finally:
            if writer is not None:
                writer.close()
        return _WrittenFacts(None if writer is None else path, sizes, _pieces(path, numbers), all_touches(found))

    def _there(self, facts: Keys, pieces: Iterable[RowGroupRange], opened: dict[str, _Sorted]) -> Mask:
        """For each of the facts, ascending, whether it is in one of the pieces."""
        there = np.zeros(len(facts), np.bool_)
        for piece in pieces:
            file = opened.get(piece.file) or opened.setdefault(piece.file, _Sorted(piece.file, self.keys))
            file.mark(facts, range(piece.first, piece.end), there)
        return there


def _by_slice(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[tuple[int, pa.Table]]:
    """Split rows into tables of one slice each, with at most ``most`` rows."""
    for rows in grouped(batches):
        numbers = rows.column(SLICE).to_numpy()
        cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        for first, end in itertools.pairwise(cuts):
            for start in range(first, end, most):
                yield int(numbers[start]), rows.slice(start, min(most, end - start))


def _pieces(path: str, numbers: Sequence[int]) -> Slices:
    """The row groups of each slice in a file, given the slice of each row group, ascending.

    >>> _pieces("a", [0, 0, 3])
    {0: (RowGroupRange(file='a', first=0, end=2),), 3: (RowGroupRange(file='a', first=2, end=3),)}
    """
    found: dict[int, tuple[RowGroupRange, ...]] = {}
    for number, groups in itertools.groupby(enumerate(numbers), key=lambda each: each[1]):
        places = [place for place, _ in groups]
        found[number] = (RowGroupRange(path, places[0], places[-1] + 1),)
    return found


def as_array(rows: pa.Table) -> Keys:
    """Facts as a two-dimensional array with a row for each fact."""
    return np.stack([column.to_numpy() for column in rows.columns], axis=1)


class _Sorted:
    """A file of facts in sorted row groups; only row groups that can have the facts looked up are read."""

    def __init__(self, path: str, keys: Sequence[str]) -> None:
        self._file = pq.ParquetFile(path, memory_map=True)
        self._keys = list(keys)

    @cached_property
    def _ranges(self) -> tuple[Keys, Keys]:
        """The least and the greatest predicate and first argument of each row group.

        A third number, 0 for the least and 1 for the greatest, includes facts that are equal to the bounds.
        """
        metadata = self._file.metadata
        names = [metadata.schema.column(i).name for i in range(metadata.num_columns)]
        ends = [self._ends(metadata.row_group(i), names) for i in range(metadata.num_row_groups)]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    @staticmethod
    def _ends(group: Any, names: Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        predicate, first = (group.column(names.index(name)).statistics for name in ("predicate", "c0"))
        if predicate.min != predicate.max:
            return (predicate.min, LEAST, 0), (predicate.max, MOST, 1)
        return (predicate.min, first.min, 0), (predicate.max, first.max, 1)

    def mark(self, facts: Keys, groups: range, there: npt.NDArray[np.bool_]) -> None:
        """Set ``there`` for the facts, ascending, that are in some row groups."""
        from everlog.engine.kernels.wide import lower_bounds

        leading = np.column_stack([facts[:, :2], np.zeros(len(facts), np.int64)])
        low, high = (each[groups.start : groups.stop] for each in self._ranges)
        starts, ends = lower_bounds(leading, low), lower_bounds(leading, high)
        for group, start, end in zip(groups, starts.tolist(), ends.tolist(), strict=True):
            if start < end:
                held = as_array(self._file.read_row_group(group, columns=self._keys))
                wanted = facts[start:end]
                at = np.minimum(lower_bounds(held, wanted), len(held) - 1)
                there[start:end] |= (held[at] == wanted).all(axis=1)
