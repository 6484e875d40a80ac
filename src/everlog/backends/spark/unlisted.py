"""Closures with too many pairs to be stored: the condensed graph or the membership is, and pairs are listed on reading.

The numbers of pairs are known before any pair is listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.backends.spark.plans import StratumPlan, membership_of, slices_of
from everlog.lang.syntax import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class ClosureListing:
    """The pairs of a closure as stages that run when they are used, and the number of pairs of each predicate."""

    frames: Mapping[Predicate, DataFrame]
    pairs: Mapping[Predicate, int]


def is_counted_first(plan: StratumPlan) -> bool:
    """Whether the plan counts the pairs of its closure before it lists any."""
    return plan.kind in ("reachability", "components")


def listing(
    plan: StratumPlan, session: SparkSession, facts: Mapping[Predicate, DataFrame], work: Path
) -> ClosureListing:
    """Count the pairs of a closure, and prepare the stages that list them."""
    from everlog.backends.spark.closure import condense, listed
    from everlog.backends.spark.components import pairs

    module, slices = plan.closure, slices_of(plan, session)
    if plan.kind == "reachability":
        condensed = condense(module, facts, work)
        least = plan.settings.slice_pairs
        frames = {p: listed(session, module, condensed, p, slices, least) for p in module.predicates}
        return ClosureListing(frames, condensed.pairs)
    members = membership_of(plan, session, facts, work)
    sizes = members.groupBy("representative").count()
    ((count, total),) = sizes.selectExpr("sum(count)", "sum(count * count)").collect()
    shared = plan.settings.shared_facts
    frame = pairs(session, members, work, slices=slices, shared=shared, size=count or 0)
    return ClosureListing({module.predicates[0]: frame}, {module.predicates[0]: total or 0})
