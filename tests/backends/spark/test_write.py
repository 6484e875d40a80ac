"""Executors write data files like those of one process: full row groups, and filters where these exclude files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog.backends.spark.workspace import Workspace
from everlog.backends.spark.write import _filtered, _WriteRows, write_rows
from everlog.engine.tables import fact_columns
from everlog.lang.syntax import Predicate
from everlog.store import schema
from everlog.store.names import HashedNames
from everlog.store.parquet import FACT_GROUP_ROWS
from tests.store.test_blooms import filters_of

PAIR, TRIPLE = Predicate("pair", 2), Predicate("triple", 3)
MANY = {PAIR: 4 * FACT_GROUP_ROWS, TRIPLE: FACT_GROUP_ROWS}


def rows_of(sizes: Mapping[Predicate, int]) -> pa.Table:
    """Sorted rows of predicates 1, 2, ..., with the columns that they have in Spark."""
    numbers = np.repeat(np.arange(1, len(sizes) + 1), list(sizes.values()))
    ids = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, (3, len(numbers)))
    columns = {"predicate": numbers, "c0": np.arange(len(numbers)), "c1": ids[1], "c2": ids[2]}
    return pa.table({**columns, **dict.fromkeys(schema.WEIGHTS, np.ones(len(numbers), np.int64))})


def check_groups(file: Path, rows: int) -> None:
    """All row groups but the last are full."""
    metadata = pq.read_metadata(file)
    found = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert (set(found[:-1]), sum(found)) == ({FACT_GROUP_ROWS}, rows)


@pytest.mark.parametrize(
    ("sizes", "files", "columns"),
    [
        (MANY, 1, ["c1", "c2"]),
        (MANY, 2, []),
        ({PAIR: 5 * FACT_GROUP_ROWS, TRIPLE: 100}, 1, ["c1"]),
        ({PAIR: 3 * FACT_GROUP_ROWS, TRIPLE: FACT_GROUP_ROWS}, 1, []),
    ],
    ids=["many", "many in two files", "few rows have c2", "four row groups"],
)
def test_filters_of_files(tmp_path: Path, sizes: Mapping[Predicate, int], files: int, columns: list[str]) -> None:
    arities = {number: p.arity for number, p in enumerate(sizes, start=1)}
    task = _WriteRows(str(tmp_path), tuple(fact_columns(3)), arities, tuple(_filtered(sizes, files)))
    list(task(rows_of(sizes).to_batches(max_chunksize=10_000)))
    (file,) = tmp_path.iterdir()
    check_groups(file, sum(sizes.values()))
    assert sorted(filters_of(file)) == columns


def test_no_rows_make_no_file(tmp_path: Path) -> None:
    list(_WriteRows(str(tmp_path), tuple(fact_columns(3)), {}, ())(rows_of({PAIR: 0}).to_batches()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_spark_writes_and_reads_files_with_filters(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    with Workspace(spark, tmp_path, HashedNames(MANY), 3) as space:
        pairs, triples = (
            spark.range(size).select(
                F.lit(space.names.id(p)).alias("predicate"),
                *(F.xxhash64("id", F.lit(i)).alias(f"c{i}") for i in range(3)),
                *(F.lit(1).cast("long").alias(name) for name in schema.WEIGHTS),
            )
            for p, size in MANY.items()
        )
        (file,) = write_rows(space, pairs.unionAll(triples), MANY, tmp_path)
    check_groups(file, sum(MANY.values()))
    assert sorted(filters_of(file)) == ["c1", "c2"]
    value = pq.read_table(file, columns=["c2"]).column(0).drop_null()[777].as_py()
    frame = spark.read.parquet(str(file))
    assert (frame.where(frame["c2"] == value).count(), frame.count()) == (1, sum(MANY.values()))
