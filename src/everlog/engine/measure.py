"""Measuring a join on a few of its bindings before it is run, since averages over a relation hide skew."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from everlog.engine.keys import pack, unpack
from everlog.engine.plan import PlanStep
from everlog.engine.relation import Relation
from everlog.engine.runs import Run, prefix_range
from everlog.lang.syntax import Constant, Variable

SAMPLE = 64
"""Number of facts of the scan that are looked up."""

SORT_SHARE = 16
"""Minimum number of facts in a run, per fact of the scan, for a sort order to be made for measuring. The join is
likely to use that order, and it pays for itself in later updates."""


class ConstantLookup(Protocol):
    def constant(self, constant: Constant) -> int: ...


def measured_fanout(
    engine: ConstantLookup, scan: PlanStep, first: Relation, join: PlanStep, second: Relation
) -> float | None:
    """Average number of facts of ``second`` that join with one of ``first``; None if measuring costs too much."""
    if first.base is not None or second.base is not None:
        return None
    source, target = max(first.runs, key=len), max(second.runs, key=len)
    if scan.bound or scan.same or not join.bound or not _is_cheap(target, join, len(first)):
        return None
    keys = source.keys(scan.order)
    keys = keys[np.linspace(0, len(keys) - 1, min(SAMPLE, len(keys)), dtype=np.int64)]
    bindings = {variable: unpack(first.layout, keys, position) for position, variable in scan.binds}
    values = [bindings[term] if isinstance(term, Variable) else engine.constant(term) for term in join.bound]
    prefix = pack(second.layout, values, len(keys))
    low, high = prefix_range(second.layout, target.keys(join.order), prefix, len(join.bound))
    return float((high - low).sum()) / len(keys) * len(second) / len(target)


def _is_cheap(run: Run, step: PlanStep, facts: int) -> bool:
    return step.order in run.orders or facts * SORT_SHARE <= len(run)
