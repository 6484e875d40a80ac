"""The accounts of the engine on Spark, made while rules are matched: instances, repeated joins, and row groups read."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.plans import limit
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.workspace import WEIGHT, Workspace
from everlog.engine.accounts import Accounts
from everlog.engine.limits import Limits
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate, Rule
from everlog.store.groups import Mask, Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

log = logging.getLogger(__name__)


class SparkAccounts(Accounts):
    """Counts the work of an engine whose facts are in ``space``, and checks its limits."""

    def __init__(self, space: Workspace, limits: Limits | None, settings: SparkSettings) -> None:
        super().__init__(limits)
        self.space = space
        self.settings = settings
        self.counts_known: dict[tuple[Rule, ...], FrameCounts] | None = None
        """For sets of rules the number of instances that derive each fact, kept when the facts are derived.

        Only kept where counters are needed afterwards, and no rule reads facts that are derived later; None otherwise.
        """
        self._joins: set[Hashable] = set()
        """The joins of large changes that were made before."""

    def began(self, rules: RuleSet, phase: str, counted: bool) -> None:
        """Observe that a pass over rules begins, and whether its instances are counted; does nothing."""

    def probes(self, facts: FrameSet, predicates: Iterable[Predicate]) -> bool:
        """Whether a store has more rows of some predicates than the setting ``probe_rows``.

        A job then finds out first which row groups have to be read.
        """
        groups, places = self.space.groups, facts.places(predicates, 0)
        return groups is not None and sum(groups.size(ids) for ids, _ in places) > self.settings.probe_rows

    def note_probe(
        self, predicates: Iterable[Predicate], argument: int, places: Sequence[Place], mask: Mask | None
    ) -> None:
        """Log how many row groups of a store are read, and of how many."""
        assert self.space.groups is not None
        some, every = (sum(self.space.groups.number(ids, each) for ids, _ in places) for each in (mask, None))
        names = ", ".join(sorted(predicate.name for predicate in predicates))
        above = limit(self.settings, "probe_rows")
        log.info("%s by argument %d: %d of %d row groups %s", names, argument + 1, some, every, above)

    def comes_again(self, join: Hashable) -> bool:
        """Whether this join was made before; from now on it counts as made."""
        again = join in self._joins
        self._joins.add(join)
        return again

    def observed(self, rows: DataFrame) -> tuple[Observation, DataFrame]:
        """An observation that gets the sum of the weights when the rows are computed, and the rows that feed it."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        observation = Observation()
        return observation, rows.observe(observation, F.sum(WEIGHT).alias("instances"))

    def noted(self, phase: str, observed: Observation) -> None:
        """Add observed instances to those of a phase, and check the limits."""
        self.work.instances[phase] += observed.get["instances"] or 0
        self.check(0)
