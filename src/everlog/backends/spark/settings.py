"""The thresholds of reasoning on Spark."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from everlog.backends.executors import worker_limit
from everlog.backends.spark.plans import PlanSettings, StratumPlan, limit
from everlog.host.memory import free_memory
from everlog.settings import LOCAL_FINISH, PROBE_ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


WORKER_MEMORY = 2 << 30
"""Bytes that a Python worker on another host may take, if neither the user nor Spark limits them."""


@dataclass(frozen=True)
class SparkSettings:
    """The thresholds by which Spark chooses how to reason; those of plans are in :class:`PlanSettings`."""

    local_finish: int = LOCAL_FINISH
    """Maximum number of facts, read and derived by a loop's rules, at which the local engine finishes the loop in one
    task; 0 is never. If the task derives more facts than this, it gives up and the loop goes on."""
    plans: PlanSettings = field(default_factory=PlanSettings)
    expand_below: int | None = None
    """Maximum number of pairs of a closure that are stored; those of larger ones are listed when read. None is no
    maximum."""
    probe_rows: int = PROBE_ROWS
    """Number of rows of a store above which a job finds out, before a change is joined with them, in which row groups
    the change can match, if that is not known. Fewer rows are read faster than such a job runs."""

    def explained(self, plan: StratumPlan) -> StratumPlan:
        """The plan with the reasons of the thresholds that apply only when it runs.

        >>> from everlog.analysis.check import check
        >>> from everlog.analysis.stratify import stratify
        >>> from everlog.lang.parser import parse_program
        >>> from everlog.backends.spark.plans import plan_of
        >>> text = "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) ."
        >>> plan = plan_of(stratify(check(parse_program(text))).strata[0], {})
        >>> SparkSettings().explained(plan).reasons[-1]
        'finished in one task if all of its facts fit there (spark-local-finish 4,000,000)'
        """
        reasons = []
        if plan.kind in ("rounds", "loop"):
            reasons.append(f"finished in one task if all of its facts fit there {self.finishing}")
        if plan.stratum.alone is not None and self.expand_below is not None:
            reasons.append(f"stored unless there are more facts {limit(self, 'expand_below')}")
        return replace(plan, reasons=(*plan.reasons, *reasons))

    @property
    def finishing(self) -> str:
        """The text of the threshold of the local finish in plans and logs."""
        return f"(spark-local-finish {self.local_finish:,})"


def plan_settings(spark: SparkSession | None, engine: str, memory: int | None, salt: int = 0) -> PlanSettings:
    """The thresholds of plans for the tasks of a session; with ``auto`` small strata are evaluated in one task each.

    Without a session tasks run in this process.
    """
    limit = None if spark is None else worker_limit(spark)
    plans = PlanSettings(salt=salt) if limit is None else PlanSettings(salt=salt).within(limit)
    if engine != "auto":
        return plans
    if memory is None:
        memory = free_memory() if spark is None or _is_here(spark) else WORKER_MEMORY
    return plans.choosing(memory if limit is None else min(memory, limit))


def _is_here(spark: SparkSession) -> bool:
    """Whether tasks run on this machine."""
    return (spark.conf.get("spark.master", None) or "local").startswith("local")
