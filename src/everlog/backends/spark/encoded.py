"""Reads encoded files, which the pipeline has staged, as fact sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.workspace import Workspace
from everlog.backends.staged import learn_names
from everlog.lang.syntax import Predicate
from everlog.store import schema
from everlog.store.names import HashedNames

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def learn_predicates(spark: SparkSession, names: HashedNames, facts: Sequence[str], terms: Sequence[str]) -> None:
    """Add the predicates in files of facts to the names; the texts of unknown ones are read from files of terms."""
    if not facts:
        return
    found = spark.read.schema("predicate long").parquet(*facts).distinct().collect()
    learn_names(names, (row["predicate"] for row in found), terms)


def width_of(files: Iterable[str], predicates: Iterable[Predicate]) -> int:
    """The largest arity, in files of facts and among predicates."""
    written = (schema.width_of(pq.read_schema(file).names) for file in files)
    return max([schema.MIN_WIDTH, *written, *(predicate.arity for predicate in predicates)])


def staged_facts(space: Workspace, files: Sequence[str]) -> FrameSet:
    """The different facts of files that the pipeline has staged."""
    if not files:
        return FrameSet(space)
    rows = space.spark.read.schema(columns(space)).parquet(*files)
    return FrameSet.of(space, space.store(filled(space, rows).distinct()))


def columns(space: Workspace, weights: bool = False) -> str:
    """The columns of a fact in Spark's notation, with those of a store's weights if ``weights`` is set."""
    kinds = {pa.int8(): "tinyint", pa.int32(): "int"}
    more = [f"{name} {kinds[kind]}" for name, kind in schema.WEIGHT_TYPES.items()] if weights else []
    return ", ".join([*(f"{key} long" for key in space.keys), *more])


def filled(space: Workspace, rows: DataFrame, *more: Column) -> DataFrame:
    """Rows with 0 where the store has nulls, and with further columns."""
    from pyspark.sql import functions as F

    keys = [F.coalesce(F.col(key), F.lit(0)).cast("long").alias(key) for key in space.keys[1:]]
    return rows.select("predicate", *keys, *more)
