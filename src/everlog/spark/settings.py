"""The thresholds of reasoning on Spark."""

from __future__ import annotations

from dataclasses import dataclass, field

from everlog.settings import LOCAL_FINISH, LOOK_UP_ROWS
from everlog.spark.plans import PlanSettings


@dataclass(frozen=True)
class SparkSettings:
    """When Spark reasons how; :class:`PlanSettings` has the thresholds of plans."""

    local_finish: int = LOCAL_FINISH
    """A loop goes on in one task, in the local engine, once what its rules read and derive has at most so many
    facts; 0 is never. If more come to light on the way, the task gives up and the loop goes on."""
    plans: PlanSettings = field(default_factory=PlanSettings)
    expand_below: int | None = None
    """The pairs of closures with more facts than this are not written down; None is never."""
    look_up_rows: int = LOOK_UP_ROWS
    """Where a change is joined with more rows of a store than this, a job finds out first in which row groups it can
    match, if that is not known; with fewer rows, reading all of them is quicker."""
