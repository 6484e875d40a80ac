"""Encoded files as fact sets: what the pipeline has staged, and what a store has."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.engine.factset import NONE, FactSet
from everlog.lang.syntax import Predicate
from everlog.spark.factset import FrameSet, Part, Predicates, Step, under
from everlog.spark.multiset import FrameCounts, Piece, Weighted
from everlog.spark.names import Names
from everlog.spark.workspace import WEIGHT, Stored, Workspace
from everlog.store import Store, schema
from everlog.store.layout import writer_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def learn_predicates(spark: SparkSession, names: Names, facts: Sequence[str], terms: Sequence[str]) -> None:
    """Learn the predicates of files of facts from files of terms; reads their ids and the texts of those unknown."""
    if not facts:
        return
    found = spark.read.parquet(*facts).select("predicate").distinct().collect()
    unknown = sorted(row["predicate"] for row in found if not names.knows(row["predicate"]))
    for file in terms if unknown else ():
        texts = pq.read_table(file, columns=["id", "text"], filters=[("id", "in", unknown)], memory_map=True)
        names.add(map(Predicate.parse, texts.column("text").to_pylist()))


def width_of(files: Iterable[str], predicates: Iterable[Predicate]) -> int:
    """The largest arity, in files of facts and among predicates."""
    written = (schema.width_of(pq.read_schema(file).names) for file in files)
    return max([schema.MIN_WIDTH, *written, *(predicate.arity for predicate in predicates)])


def staged_facts(space: Workspace, files: Sequence[str]) -> FactSet:
    """The different facts of files that the pipeline has staged."""
    if not files:
        return NONE
    rows = space.spark.read.schema(_columns(space)).parquet(*files)
    stored = space.store(_filled(space, rows).distinct())
    return FrameSet.of(space, stored) if stored.files else NONE


def _columns(space: Workspace, weights: bool = False) -> str:
    kinds = {pa.int8(): "tinyint", pa.int32(): "int"}
    more = [f"{name} {kinds[kind]}" for name, kind in schema.WEIGHT_TYPES.items()] if weights else []
    return ", ".join([*(f"{key} long" for key in space.keys), *more])


def _filled(space: Workspace, rows: DataFrame, *more: Column) -> DataFrame:
    """Rows with 0 where the store has nulls."""
    from pyspark.sql import functions as F

    keys = [F.coalesce(F.col(key), F.lit(0)).cast("long").alias(key) for key in space.keys[1:]]
    return rows.select("predicate", *keys, *more)


class StoredFacts:
    """The facts of some predicates in a version of a store. Nothing is copied: files are read where they lie.

    A fact is the sum of its rows. Most are in one row, in files of one writer that only has rows that
    hold; the others are those that later files touch, and these are few and summed once.
    """

    def __init__(self, space: Workspace, store: Store, version: int, predicates: Predicates) -> None:
        self.space = space
        self.predicates = predicates
        self.directory = store.layout.facts
        self.files = [file for file in store.files(version) if file.rows != 0]
        rows: dict[str | None, int] = {}
        for file in self.files:
            if writer_of(file.name) is not None and file.low.get("holds") == 1:
                rows[writer_of(file.name)] = rows.get(writer_of(file.name), 0) + (file.rows or 0)
        first = max(rows, key=lambda writer: rows[writer]) if rows else None
        mine = [file for file in self.files if writer_of(file.name) == first and first is not None]
        self.first = mine if all(file.low.get("holds") == 1 for file in mine) else []
        self.later = [file for file in self.files if file not in self.first]
        self._touched: Stored | None = None

    def facts(self) -> FrameSet:
        """Those that hold."""
        return self._summed("holds")

    def explicit(self) -> FrameSet:
        return self._summed("explicit")

    def counts(self, name: str) -> FrameCounts:
        """The sums of a counter."""
        from pyspark.sql import functions as F

        def frame(wanted: Predicates) -> DataFrame:
            return self._rows(self.files, wanted, F.col(name).cast("long").alias(WEIGHT)).where(f"{WEIGHT} != 0")

        rows = sum(file.rows or 0 for file in self.files)
        return FrameCounts(self.space, [Piece(Weighted(frame, self.predicates, rows))])

    def fed(self, hidden: Mapping[Predicate, Predicate]) -> FrameSet:
        """The facts that feed modules, under hidden names: those that are explicit or have a derivation outside."""
        from pyspark.sql import functions as F

        @functools.cache
        def kept() -> Stored:
            reasons = [F.coalesce(F.col(name), F.lit(0)).cast("long") for name in ("explicit", "nr", "rec")]
            weight = (reasons[0] + reasons[1] + reasons[2]).alias(WEIGHT)
            rows = self._rows(self.files, frozenset(hidden), weight).where(f"{WEIGHT} != 0")
            sums = rows.groupBy(*self.space.keys).agg(F.sum(WEIGHT).alias(WEIGHT)).where(f"{WEIGHT} > 0")
            return self.space.store(under(self.space, sums, hidden))

        most = sum(file.rows or 0 for file in self.files)
        step = Step(lambda: self.space.read(kept().files), frozenset(hidden.values()), most, is_scan=True)
        return FrameSet.of(self.space, step)

    def _summed(self, name: str) -> FrameSet:
        from pyspark.sql import functions as F

        most = sum(file.rows or 0 for file in self.first)

        def frame() -> DataFrame:
            weight = F.col(name).alias(WEIGHT)
            return self._rows(self.first, self.predicates, weight).where(f"{WEIGHT} = 1").select(*self.space.keys)

        base = [Part.whole(Step(frame, self.predicates, most, is_scan=True))]
        if not self.later:
            return FrameSet(self.space, base)
        touched = self.touched()
        if not touched.files:
            return FrameSet(self.space, base)
        rows = self.space.spark.read.parquet(*touched.files)
        step = Step(
            lambda: rows.where(f"{name} > 0").select(*self.space.keys),
            frozenset(touched.sizes),
            sum(touched.sizes.values()),
        )
        return FrameSet(self.space, base, [Part.whole(touched)], [Part.whole(step)])

    def touched(self) -> Stored:
        """The facts with rows in later files, with the sums of all their rows."""
        from pyspark.sql import functions as F

        if self._touched is None:
            keys, weights = self.space.keys, [F.col(name).cast("long").alias(name) for name in ("holds", "explicit")]
            later = self._rows(self.later, self.predicates, *weights)
            first = self._rows(self.first, self.predicates, *weights).join(later.select(*keys), keys, "left_semi")
            rows = (
                later.unionAll(first)
                .groupBy(*keys)
                .agg(F.sum("holds").alias("holds"), F.sum("explicit").alias("explicit"))
            )
            self._touched = self.space.store(rows, more=("holds", "explicit"))
        return self._touched

    def _rows(self, files: Sequence[object], predicates: Predicates, *more: Column) -> DataFrame:
        """Rows of files; row groups without the predicates are not read."""
        paths = [str(Path(self.directory / file.name).absolute()) for file in files]  # type: ignore[attr-defined]
        columns = _columns(self.space, weights=True)
        if not paths:
            rows = self.space.spark.createDataFrame([], columns)
        else:
            rows = self.space.spark.read.schema(columns).parquet(*paths)
        ids = [self.space.names.id(p) for p in sorted(predicates)]
        return _filled(self.space, rows.where(rows.predicate.isin(ids)), *more)
