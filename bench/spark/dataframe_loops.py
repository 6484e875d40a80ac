"""The DataFrame loops that a user would write: seminaive joins, repeated until there are no new rows.

Everlog is compared with them, so they are written with care: only new rows are joined again, lineage is cut in
every round, and the rows of a round are freed when the next round no longer needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Step = Callable[["DataFrame"], "DataFrame"]


def fixpoint(first: DataFrame, step: Step) -> DataFrame:
    """All rows (c0, c1) that are derived from the rows of ``first`` by repeating ``step``."""
    delta = rows = first.distinct().localCheckpoint()
    while not delta.isEmpty():
        delta = step(delta).distinct().join(rows, ["c0", "c1"], "left_anti").localCheckpoint()
        before, rows = rows, rows.unionAll(delta).localCheckpoint()
        before.unpersist()
    return rows


def closure(edges: DataFrame) -> DataFrame:
    """Transitive closure by the linear rule."""
    further = edges.selectExpr("c0 as c1", "c1 as c2").cache()
    return fixpoint(edges, lambda delta: delta.join(further, "c1").selectExpr("c0", "c2 as c1"))


def same_generation(arcs: DataFrame) -> DataFrame:
    """Pairs of vertices with a common ancestor at the same distance."""
    left, right = arcs.selectExpr("c0 as a", "c1 as x").cache(), arcs.selectExpr("c0 as b", "c1 as y").cache()
    first = left.join(right, left.a == right.b).selectExpr("x as c0", "y as c1")

    def step(delta: DataFrame) -> DataFrame:
        pairs = delta.selectExpr("c0 as a", "c1 as b")
        return pairs.join(left, "a").join(right, "b").selectExpr("x as c0", "y as c1")

    return fixpoint(first, step)


def components(edges: DataFrame) -> DataFrame:
    """Connected components as (vertex, representative): each vertex takes the least label of its neighbours until no
    label changes."""
    from pyspark.sql import functions as F

    around = edges.unionAll(edges.selectExpr("c1 as c0", "c0 as c1")).distinct().cache()
    labels = around.selectExpr("c0 as vertex", "c0 as representative").distinct().localCheckpoint()
    while True:
        seen = around.join(labels, around.c1 == labels.vertex).groupBy("c0").agg(F.min("representative").alias("least"))
        joined = labels.join(seen, labels.vertex == seen.c0)
        moved = joined.select(
            "vertex",
            F.least("representative", "least").alias("new"),
            (F.col("least") < F.col("representative")).alias("changed"),
        ).localCheckpoint()
        before, labels = labels, moved.selectExpr("vertex", "new as representative")
        before.unpersist()
        if moved.where("changed").isEmpty():
            return labels
