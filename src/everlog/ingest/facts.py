"""Staged facts on their way on: as Arrow columns to the local engine, as a DataFrame to Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.ingest.spill import facts_schema
from everlog.ingest.stage import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITION_ROWS = 4_000_000


def load_columns(files: Iterable[str], rows: int = 1 << 20) -> Iterator[pa.RecordBatch]:
    """The rows of Parquet files as Arrow batches of at most so many rows, from memory-mapped files."""
    for file in files:
        with pq.ParquetFile(file, memory_map=True) as opened:
            yield from opened.iter_batches(batch_size=rows, use_threads=False)


def distinct_facts(spark: SparkSession, staged: Staged) -> DataFrame:
    """The staged facts, each once, sorted by predicate and arguments within few partitions.

    Partitions are ranges of predicate and first argument, so a predicate with most of the facts is
    spread and 50,000 small ones share a partition.
    """
    names = facts_schema(staged.width).names
    if not staged.fact_files:
        return spark.createDataFrame([], ", ".join(f"{name} long" for name in names))
    partitions = max(1, -(-staged.rows // PARTITION_ROWS))
    facts = spark.read.parquet(*staged.fact_files).distinct()
    return facts.repartitionByRange(partitions, "predicate", "c0").sortWithinPartitions(*names)
