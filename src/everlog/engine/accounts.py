"""What engines of any kind keep account of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from everlog.engine.limits import Limits
from everlog.lang.syntax import Rule


class OverBudgetError(Exception):
    """More instances were considered than the engine's budget allows."""

    def __init__(self, considered: int) -> None:
        super().__init__(considered)
        self.considered = considered


@dataclass
class Work:
    """What matching has done so far: instances by phase, and by rule."""

    instances: Counter[str] = field(default_factory=Counter)
    by_rule: Counter[Rule] = field(default_factory=Counter)


class Accounts:
    """What an engine of any kind keeps count of: limits, the work done, and how much is held."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.work = Work()
        self.held = 0
        """The number of facts that reasoning holds by now."""
        self.plans: dict[int, str] = {}
        """How strata were evaluated, by number, where there was a choice."""
        self.budget: int | None = None
        """How many instances may be considered in all before :class:`OverBudgetError` is raised."""

    def check(self, collected: int, instances: int = 0) -> None:
        """Stop if a limit or the budget is reached, given facts and instances that are not noted yet."""
        self.limits.check(self.held + collected)
        considered = self.work.instances.total() + instances
        if self.budget is not None and considered > self.budget:
            raise OverBudgetError(considered)
