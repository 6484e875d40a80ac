"""The accounts that every engine keeps: limits, instances considered, facts held."""

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
    """Instances found so far, by phase and by rule."""

    instances: Counter[str] = field(default_factory=Counter)
    by_rule: Counter[Rule] = field(default_factory=Counter)


class Accounts:
    """Base of all engines: checks limits, and counts instances and facts."""

    def __init__(self, limits: Limits | None) -> None:
        self.limits = limits or Limits()
        self.work = Work()
        self.held = 0
        """Number of facts that reasoning holds now."""
        self.plans: dict[int, str] = {}
        """For each stratum that could be evaluated in several ways, the way that was chosen."""
        self.budget: int | None = None
        """Maximum number of instances that may be considered in all; more raise :class:`OverBudgetError`."""

    def check(self, collected: int, instances: int = 0, rows: int = 0) -> None:
        """Raise an error if a limit or the budget is exceeded. ``collected`` facts and ``instances`` are added to those
        counted so far; ``rows`` are collected heads, known facts among them.
        """
        self.limits.check(self.held + collected)
        if self.budget is not None and (considered := self.work.instances.total() + instances) > self.budget:
            raise OverBudgetError(considered)
