"""The thresholds of reasoning on Spark."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from everlog.backends.spark.plans import PlanSettings, StratumPlan, limit
from everlog.settings import LOCAL_FINISH, PROBE_ROWS


@dataclass(frozen=True)
class SparkSettings:
    """When Spark reasons how; :class:`PlanSettings` has the thresholds of plans."""

    local_finish: int = LOCAL_FINISH
    """A loop goes on in one task, in the local engine, once what its rules read and derive has at most so many
    facts; 0 is never. If more come to light on the way, the task gives up and the loop goes on."""
    plans: PlanSettings = field(default_factory=PlanSettings)
    expand_below: int | None = None
    """The pairs of closures with more facts than this are not written down; None is never."""
    probe_rows: int = PROBE_ROWS
    """Where a change is joined with more rows of a store than this, a job finds out first in which row groups it can
    match, if that is not known; with fewer rows, reading all of them is quicker."""

    def explained(self, plan: StratumPlan) -> StratumPlan:
        """The plan with the thresholds that are met only when it runs.

        >>> from everlog.analysis.check import check
        >>> from everlog.analysis.stratify import stratify
        >>> from everlog.lang.parser import parse_program
        >>> from everlog.backends.spark.plans import plan_of
        >>> text = "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) ."
        >>> plan = plan_of(stratify(check(parse_program(text))).strata[0], {})
        >>> SparkSettings().explained(plan).reasons[-1]
        'finished in one task if all of its facts fit there (spark-local-finish 4,000,000)'
        """
        said = []
        if plan.kind in ("rounds", "loop"):
            said.append(f"finished in one task if all of its facts fit there {self.finishing}")
        if plan.stratum.alone is not None and self.expand_below is not None:
            said.append(f"stored unless there are more facts {limit(self, 'expand_below')}")
        return replace(plan, reasons=(*plan.reasons, *said))

    @property
    def finishing(self) -> str:
        """The threshold of the local finish, as plans and logs have it."""
        return f"(spark-local-finish {self.local_finish:,})"
