"""What the engine on Spark keeps account of while rules are matched: instances, joins and what is read of a store."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.groups import Mask, Place
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.plans import limit
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.workspace import WEIGHT, Workspace
from everlog.engine.accounts import Accounts
from everlog.engine.limits import Limits
from everlog.lang.syntax import Predicate, Rule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

log = logging.getLogger(__name__)


class SparkAccounts(Accounts):
    """The accounts of an engine whose facts are in ``space``."""

    def __init__(self, space: Workspace, limits: Limits | None, settings: SparkSettings) -> None:
        super().__init__(limits)
        self.space = space
        self.settings = settings
        self.counts_known: dict[tuple[Rule, ...], FrameCounts] | None = None
        """How often each fact is derived by all instances of some rules, kept from deriving it, where it will be asked
        for and no fact that the rules read is still to come."""
        self._joins: set[Hashable] = set()
        """The joins of large changes so far."""

    def probes(self, facts: FrameSet, predicates: Iterable[Predicate]) -> bool:
        """Whether a store has so many rows of some predicates that a job to find out which to read is worth it."""
        groups, places = self.space.groups, facts.places(predicates, 0)
        return groups is not None and sum(groups.size(ids) for ids, _ in places) > self.settings.probe_rows

    def note_probe(
        self, predicates: Iterable[Predicate], argument: int, places: Sequence[Place], mask: Mask | None
    ) -> None:
        """Say how much of a store is read."""
        assert self.space.groups is not None
        some, every = (sum(self.space.groups.number(ids, each) for ids, _ in places) for each in (mask, None))
        names = ", ".join(sorted(predicate.name for predicate in predicates))
        above = limit(self.settings, "probe_rows")
        log.info("%s by argument %d: %d of %d row groups %s", names, argument + 1, some, every, above)

    def comes_again(self, join: Hashable) -> bool:
        """Whether such a join was asked for before."""
        again = join in self._joins
        self._joins.add(join)
        return again

    def observed(self, rows: DataFrame) -> tuple[Observation, DataFrame]:
        """The rows, and the sum of their weights once they have been computed."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        observation = Observation()
        return observation, rows.observe(observation, F.sum(WEIGHT).alias("instances"))

    def noted(self, phase: str, observed: Observation) -> None:
        """Count instances that were observed."""
        self.work.instances[phase] += observed.get["instances"] or 0
        self.check(0)
