"""The engine on Spark: facts are in executors, and rules are matched by joins."""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from everlog.analysis.decompose import parts_of
from everlog.analysis.stratify import Stratum
from everlog.engine.factset import FactSet
from everlog.engine.match import Change, Engine, Limits, RuleSet
from everlog.engine.multiset import NO_COUNTS, Counts
from everlog.lang.syntax import Constant, Predicate
from everlog.reasoning.seminaive import close_stratum
from everlog.reasoning.statistics import Listener
from everlog.spark.factset import FrameSet
from everlog.spark.finish import finish, fits
from everlog.spark.match import FrameMatches, FrameProofs
from everlog.spark.multiset import FrameCounts
from everlog.spark.plans import Plan, close, plan_of, seeded
from everlog.spark.settings import SparkSettings
from everlog.spark.workspace import WEIGHT, Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

log = logging.getLogger(__name__)


class SparkEngine(Engine):
    """The same as the local engine for :class:`FrameSet`; see :class:`everlog.engine.match.Engine`.

    Instances are counted by phase, as they leave the last stage of a job; they are not counted by rule.
    Limits are checked between jobs.
    """

    def __init__(
        self, space: Workspace, *, limits: Limits | None = None, settings: SparkSettings | None = None
    ) -> None:
        super().__init__(0, {}, limits=limits, threads=1)
        self.space = space
        self.settings = settings or SparkSettings()
        self._too_large: set[tuple[Predicate, ...]] = set()
        """The predicates of strata that turned out too large for one task."""

    def constant(self, constant: Constant) -> int:
        return self.space.names.constant(constant)

    def once(self, facts: FactSet) -> Counts:
        return FrameCounts.once_each(facts) if isinstance(facts, FrameSet) else NO_COUNTS

    def match(
        self, rules: RuleSet, pos: FactSet, neg: FactSet, changed: Sequence[Change] = (), phase: str = "forward"
    ) -> FrameMatches:
        return FrameMatches(self, rules, pos, neg, tuple(changed), phase)

    def prove(self, rules: RuleSet, facts: FactSet, pos: FactSet, neg: FactSet, phase: str = "backward") -> FrameProofs:
        return FrameProofs(self, rules, facts, pos, neg, phase)

    def closed(self, stratum: Stratum, facts: FactSet, delta: FactSet) -> FactSet | None:
        """By plans that need no loop if there are some for the stratum, otherwise in one task if all fits there."""
        if not isinstance(facts, FrameSet) or not (stratum.recursive or stratum.module):
            return None
        parts = parts_of(stratum)
        if len(parts) > 1:
            return self._closed_in_parts(stratum, parts, facts)
        plan = plan_of(stratum, facts.sizes, replace(self.settings.plans, salt=self.space.names.salt))
        if plan.kind != "loop":
            log.info("stratum %d: %s", stratum.index, plan)
            return self._closed_by(plan, facts)
        if stratum.module is not None:
            return self._closed_by_rules(plan, facts)
        most = self.settings.local_finish
        if stratum.predicates in self._too_large or not isinstance(delta, FrameSet) or not fits(stratum, facts, most):
            return None
        return self._finished(stratum, facts, delta, most)

    def _closed_in_parts(self, stratum: Stratum, parts: Sequence[Stratum], facts: FrameSet) -> FactSet:
        """The parts of a stratum one after the other; its nonrecursive rules have been applied before."""
        given, applied = facts.restricted(stratum.predicates), frozenset(stratum.nonrecursive)
        found = facts.restricted(facts.possible.difference(stratum.predicates))
        for part in parts:
            rules = tuple(rule for rule in part.nonrecursive if rule not in applied)
            found, _ = close_stratum(self, replace(part, nonrecursive=rules), found, given, len(parts), Listener())
        return found

    def _closed_by_rules(self, plan: Plan, facts: FrameSet) -> FactSet:
        """A module that is neither condensed nor decomposed, by rounds of the rules that it stands for."""
        log.info("stratum %d: %s", plan.stratum.index, plan)
        seeds = seeded(plan, {p: self._relation(facts, p) for p in facts.sizes})
        given = self._kept({p: seeds[p] for p in plan.seeds if p in seeds})
        around = facts.restricted(facts.possible.difference(plan.seeds))
        linear = Stratum(plan.stratum.index, plan.rules, (), tuple(plan.seeds))
        found, _ = close_stratum(self, linear, around, given, 1, Listener())
        return found.restricted(p for p in found if p not in plan.seeds or p in plan.stratum.predicates)

    def _closed_by(self, plan: Plan, facts: FrameSet) -> FactSet:
        """All facts, those of the stratum's predicates by a plan."""
        given = {p: self._relation(facts, p) for p in facts.sizes}
        found = close(plan, self.space.spark, given, self.space.directory)
        others = facts.restricted(facts.possible.difference(plan.stratum.predicates))
        return others.extended(self._kept(found))

    def _kept(self, relations: Mapping[Predicate, DataFrame]) -> FrameSet:
        """Relations as a stored set."""
        from pyspark.sql import functions as F

        frames = [self.space.read(())]
        for predicate, frame in relations.items():
            columns = [F.col(name).cast("long").alias(f"c{i}") for i, name in enumerate(frame.columns)]
            fill = [F.lit(0).cast("long").alias(name) for name in self.space.keys[1 + predicate.arity :]]
            number = F.lit(self.space.names.id(predicate)).cast("long").alias("predicate")
            frames.append(frame.select(number, *columns, *fill))
        rows = functools.reduce(lambda a, b: a.unionAll(b), frames[1:] or frames)
        return FrameSet.of(self.space, self.space.store(rows))

    def _relation(self, facts: FrameSet, predicate: Predicate) -> DataFrame:
        return facts.frame([predicate]).select(*(f"c{i}" for i in range(predicate.arity)))

    def _finished(self, stratum: Stratum, facts: FrameSet, delta: FrameSet, most: int) -> FactSet | None:
        found = finish(self.space, stratum, facts, delta, most)
        if found is None:
            log.info("stratum %d: more than %d facts, so the loop goes on", stratum.index, most)
            self._too_large.add(stratum.predicates)
            return None
        log.info(
            "stratum %d: finished in one task after %d rounds (local-finish %d)", stratum.index, found.rounds, most
        )
        self.work.instances["forward"] += found.instances
        self.check(0)
        return facts.extended(FrameSet.of(self.space, found.stored)) if found.stored.files else facts

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
