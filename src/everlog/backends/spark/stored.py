"""The facts of a version of a store, read by executors from the files of the store.

A fact is the sum of its rows. Most facts have one row, in the files of one writer whose rows all hold; the others are
those with rows in later files, which are few and summed once. Row groups that cannot match are not read: those
without the predicates, and, where facts are looked up by their first argument, those without its values
(:mod:`everlog.store.groups`).
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from everlog.backends.executors import SparkRunner
from everlog.backends.spark.encoded import columns, filled
from everlog.backends.spark.factset import FrameSet, PendingFacts, Predicates, SourcePart, under
from everlog.backends.spark.multiset import FrameCounts, FrameSummand, Weighted
from everlog.backends.spark.picked import picked, read_groups
from everlog.backends.spark.workspace import WEIGHT, Stored, Workspace
from everlog.lang.syntax import Predicate
from everlog.store import Store
from everlog.store.groups import Chosen, Groups, Mask, Place, Touches, touches
from everlog.store.layout import writer_of
from everlog.store.schema import FEEDING, WEIGHT_TYPES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PICKED = 4
"""Row groups are read by :func:`picked` if their files have more than this many times their rows; files otherwise."""

SUMMED_IN_ONE_TASK = 1 << 20
"""Maximum number of rows in later files that are summed in one task, with the rows of their facts in other files."""


class StoredFacts:
    """The facts of some predicates in a version of a store, as sets and multisets that read its files."""

    def __init__(self, space: Workspace, store: Store, version: int, predicates: Predicates) -> None:
        self.space = space
        self.predicates = predicates
        files = [file for file in store.files(version) if file.rows != 0]
        holding = {file.name for file in files if file.low.get("holds") == 1}
        rows: dict[str, int] = {}
        for file in files:
            writer = writer_of(file.name)
            if writer is not None and file.name in holding:
                rows[writer] = rows.get(writer, 0) + (file.rows or 0)
        first = max(rows, key=lambda writer: rows[writer]) if rows else None
        mine = {file.name for file in files if first is not None and writer_of(file.name) == first}
        mine = mine if mine <= holding else set()
        self.groups = Groups.of([str(path.absolute()) for path in store.fact_paths(version)])
        self.is_first = np.array([file.name in mine for file in files], np.bool_)[self.groups.file]
        space.groups = self.groups
        self._touched: Stored | None = None

    def facts(self, but: Collection[Predicate] = ()) -> FrameSet:
        """The facts that hold, without those of the predicates ``but``."""
        return self._summed("holds", self.predicates.difference(but))

    def explicit(self) -> FrameSet:
        """The explicit facts."""
        return self._summed("explicit", self.predicates)

    def counts(self, name: str) -> FrameCounts:
        """The sums of a counter, as a multiset."""
        from pyspark.sql import functions as F

        def pruned(wanted: Predicates, mask: Mask | None) -> DataFrame:
            chosen = self._chosen(wanted, mask)
            return self._rows(chosen, wanted, F.col(name).cast("long").alias(WEIGHT)).where(f"{WEIGHT} != 0")

        most = int(self.groups.rows.sum())
        weighted = Weighted(lambda wanted: pruned(wanted, None), self.predicates, most, pruned=pruned)
        return FrameCounts(self.space, [FrameSummand(weighted)])

    def fed(self, hidden: Mapping[Predicate, Predicate]) -> FrameSet:
        """The facts that feed modules, under hidden names: explicit ones, and ones with a counter above zero."""
        from pyspark.sql import functions as F

        shown = {name: predicate for predicate, name in hidden.items()}

        def summed(wanted: Predicates, mask: Mask | None) -> DataFrame:
            reasons = [F.coalesce(F.col(name), F.lit(0)).cast("long") for name in FEEDING]
            weight = (reasons[0] + reasons[1] + reasons[2]).alias(WEIGHT)
            mine = frozenset(shown[name] for name in wanted)
            rows = self._rows(self._chosen(mine, mask), mine, weight).where(f"{WEIGHT} != 0")
            sums = rows.groupBy(*self.space.keys).agg(F.sum(WEIGHT).alias(WEIGHT)).where(f"{WEIGHT} > 0")
            return under(self.space, sums, hidden).select(*self.space.keys)

        kept = functools.cache(lambda wanted: FrameSet.of(self.space, self.space.store(summed(wanted, None))))

        def pruned(wanted: Predicates, mask: Mask | None) -> DataFrame:
            found: DataFrame = kept(wanted).frame() if mask is None else summed(wanted, mask)
            return found

        step = PendingFacts(
            lambda: pruned(frozenset(shown), None),
            frozenset(shown),
            int(self.groups.rows.sum()),
            is_scan=True,
            most_of=lambda wanted: self._size(frozenset(shown[name] for name in wanted)),
            pruned=pruned,
            places=lambda wanted, argument: self._places(frozenset(shown[name] for name in wanted), argument),
        )
        return FrameSet.of(self.space, step)

    def _summed(self, name: str, predicates: Predicates) -> FrameSet:
        from pyspark.sql import functions as F

        def pruned(wanted: Predicates, mask: Mask | None) -> DataFrame:
            rows = self._rows(self._chosen(wanted, mask) & self.is_first, wanted, F.col(name).alias(WEIGHT))
            return rows.where(f"{WEIGHT} = 1").select(*self.space.keys)

        most = int(self.groups.rows[self.is_first].sum())
        scan = PendingFacts(
            lambda: pruned(predicates, None),
            predicates,
            most,
            is_scan=True,
            most_of=self._size,
            pruned=pruned,
            places=self._places,
        )
        touched = Stored() if self.is_first.all() else self.touched()
        if not touched.files:
            return FrameSet(self.space, [SourcePart.whole(scan)])
        rows = self.space.spark.read.schema(f"{columns(self.space)}, {name} long").parquet(*touched.files)
        there = predicates & touched.sizes.keys()
        step = PendingFacts(
            lambda: rows.where(rows.predicate.isin(self._ids(there)) & (F.col(name) > 0)).select(*self.space.keys),
            there,
            sum(touched.sizes[predicate] for predicate in there),
        )
        return FrameSet(self.space, [SourcePart.whole(scan)], [SourcePart(touched, there)], [SourcePart.whole(step)])

    def touched(self) -> Stored:
        """The facts with rows in later files, each with the sums of all of its rows; they are summed once."""
        if self._touched is None:
            later = int(self.groups.rows[~self.is_first].sum())
            self._touched = self._summed_in_one_task() if later <= SUMMED_IN_ONE_TASK else self._summed_by_all()
        return self._touched

    def _summed_in_one_task(self) -> Stored:
        task = SumTouched(self.groups, self.is_first, tuple(self._ids(self.predicates)), tuple(self.space.keys))
        self.space.jobs += 1
        path = f"{self.space.directory}/{uuid.uuid4().hex}"
        ((file, sizes, found),) = SparkRunner(self.space.spark).run(_Sum(task, path), [0])
        return replace(self.space.stored([((file,) if file else (), sizes)]), touches=found)

    def _summed_by_all(self) -> Stored:
        from pyspark.sql import functions as F

        keys, weights = self.space.keys, [F.col(name).cast("long").alias(name) for name in ("holds", "explicit")]
        there = self._chosen(self.predicates, None)
        later = self._rows(there & ~self.is_first, self.predicates, *weights)
        first = self._rows(there & self.is_first, self.predicates, *weights)
        both = later.unionAll(first.join(later.select(*keys), keys, "left_semi"))
        rows = both.groupBy(*keys).agg(F.sum("holds").alias("holds"), F.sum("explicit").alias("explicit"))
        return self.space.store(rows, more=("holds", "explicit"))

    def _chosen(self, predicates: Predicates, mask: Mask | None) -> Chosen:
        return self.groups.chosen(self._ids(predicates), mask)

    def _size(self, predicates: Predicates) -> int:
        return self.groups.size(self._ids(predicates))

    def _places(self, predicates: Predicates, argument: int) -> list[Place]:
        return [(tuple(self._ids(predicates)), argument)]

    def _ids(self, predicates: Predicates) -> list[int]:
        return [self.space.names.id(predicate) for predicate in sorted(predicates)]

    def _rows(self, chosen: Chosen, predicates: Predicates, *more: Column) -> DataFrame:
        """The rows of some predicates in the chosen row groups, or in all of their files if that is not much more."""
        ids, schema = self._ids(predicates), columns(self.space, weights=True)
        paths, sizes = self.groups.files_of(chosen), self.groups.rows
        if not paths:
            return filled(self.space, self.space.spark.createDataFrame([], schema), *more)
        around = self.groups.having(ids) & np.isin(self.groups.file, self.groups.file[chosen])
        if PICKED * sizes[chosen].sum() < sizes[around].sum():
            wanted = pa.schema([*((key, pa.int64()) for key in self.space.keys), *WEIGHT_TYPES.items()])
            return filled(self.space, picked(self.space.spark, self.groups, chosen, ids, wanted), *more)
        rows = self.space.spark.read.schema(schema).parquet(*paths)
        return filled(self.space, rows.where(rows.predicate.isin(ids)), *more)


@dataclass(frozen=True)
class SumTouched:
    """Sums the rows of facts with rows in later files; of first files only row groups that may have them are read."""

    groups: Groups
    is_first: Chosen
    predicates: tuple[int, ...]
    keys: tuple[str, ...]

    def run(self, path: str) -> tuple[str | None, dict[int, int], Touches | None]:
        """Write the sums into a file.

        Returns its name, the number of facts by predicate, and the row groups that the facts touch.
        """
        having = self.groups.having(self.predicates)
        later = self._read(having & ~self.is_first)
        if not later.num_rows:
            return None, {}, {}
        mask = self.groups.bounds.touched(later.column("c0").to_numpy())
        chosen = self.groups.chosen(self.predicates, mask) & self.is_first
        if 0 in later.column("c0").to_numpy():
            chosen = having & self.is_first
        first = self._read(chosen).join(later.select(self.keys), list(self.keys), join_type="left semi")
        sums = pa.concat_tables([later, first.select(later.column_names)]).group_by(list(self.keys))
        found = sums.aggregate([("holds", "sum"), ("explicit", "sum")])
        found = found.rename_columns([*self.keys, "holds", "explicit"])
        pq.write_table(found, path, compression="none", use_dictionary=["predicate"])
        numbers, counts = np.unique(found.column("predicate").to_numpy(), return_counts=True)
        return path, dict(zip(numbers.tolist(), counts.tolist(), strict=True)), touches(found, self.groups.bounds)

    def _read(self, chosen: Chosen) -> pa.Table:
        """The rows of row groups, with 0 for nulls."""
        schema = pa.schema([(name, pa.int64()) for name in (*self.keys, "holds", "explicit")])
        found = [schema.empty_table()]
        for number in np.unique(self.groups.file[chosen]).tolist():
            wanted = np.unique(self.groups.group[chosen & (self.groups.file == number)]).tolist()
            rows = read_groups(self.groups.files[number], wanted, self.predicates, schema)
            found.append(pa.Table.from_arrays([pc.fill_null(column, 0) for column in rows.columns], schema=schema))
        return pa.concat_tables(found)


@dataclass(frozen=True)
class _Sum:
    """Runs :class:`SumTouched` in a task; each attempt writes a file of its own."""

    task: SumTouched
    path: str

    def __call__(self, number: int) -> tuple[str | None, dict[int, int], Touches | None]:
        return self.task.run(f"{self.path}-{uuid.uuid4().hex}.parquet")
