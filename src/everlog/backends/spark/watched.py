"""The engine on Spark for profiles: it reports each pass over rules, and the end of its jobs, to a recorder.

The rules of a pass are matched in one job, whose time counts for all of them; its instances are counted by the
predicate that they derive.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from everlog.backends.spark.engine import SparkEngine
from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.match import FrameMatches, FrameProofs, Instances
from everlog.backends.spark.plans import StratumPlan
from everlog.backends.spark.shapes import Alike
from everlog.backends.spark.workspace import WEIGHT
from everlog.engine.algebra import AnyChange, AnyFactSet, Observer, Way
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate, Rule
from everlog.profiling.recorder import Recorder
from everlog.profiling.watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

    from everlog.analysis.stratify import Stratum

MOST_PREDICATES = 50
"""Maximum number of derived predicates by which the instances of one job are counted; with more they are not."""


@dataclass(frozen=True)
class WatchedProofs(FrameProofs):
    """Reports each pass over the rules."""

    began: Callable[[], None]

    def _groups(self, facts: AnyFactSet, pos: FrameSet) -> list[tuple[Alike, Instances]]:
        self.began()
        return super()._groups(facts, pos)


class WatchedSparkEngine(SparkEngine):
    """Reports to a recorder when a pass over rules begins, and when its jobs are done."""

    watch: Recorder
    _heads: tuple[Predicate, ...] = ()
    """The predicates that the rules of the pass derive, if its instances are counted by them."""

    def match(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        changed: Sequence[AnyChange] = (),
        phase: str = "forward",
    ) -> FrameMatches:
        self._began(rules, phase)
        heads = tuple(sorted({planned.rule.head.predicate for planned in rules.rules}))
        self._heads = heads if 1 < len(heads) <= MOST_PREDICATES else ()
        return super().match(rules, pos, neg, changed, phase)

    def prove(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        chained: Collection[Predicate] = (),
        phase: str = "backward",
    ) -> FrameProofs:
        proofs = super().prove(rules, pos, neg, chained, phase)
        return WatchedProofs(
            proofs.engine,
            proofs.rules,
            proofs.pos,
            proofs.neg,
            proofs.chained,
            phase,
            partial(self._began, rules, phase),
        )

    def _began(self, rules: RuleSet, phase: str) -> None:
        self._heads = ()
        self.watch.began(self, rules, phase, as_one=True)

    def way(
        self, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, without: Collection[str] = ()
    ) -> Way | None:
        if stratum.alone is not None:
            self.watch.began_module(self, stratum, stratum.alone)
        return super().way(stratum, facts, explicit, without)

    @contextmanager
    def _recorded(self, stratum: Stratum, rules: Sequence[Rule]) -> Iterator[None]:
        """Report rules that are evaluated without passes; :meth:`way` has reported those of a module before."""
        if stratum.alone is None:
            self.watch.began_group(self, stratum.index, rules, "forward")
        yield
        if stratum.alone is None:
            self.watch.jobs_done({})

    def evaluated(self, plan: StratumPlan, facts: FrameSet, explicit: FrameSet) -> tuple[FrameSet, int] | None:
        with self._recorded(plan.stratum, plan.stratum.rules):
            return super().evaluated(plan, facts, explicit)

    def closed_at_once(self, plan: StratumPlan, facts: FrameSet) -> FrameSet:
        with self._recorded(plan.stratum, plan.stratum.recursive):
            return super().closed_at_once(plan, facts)

    def closed_in_rounds(self, plan: StratumPlan, facts: FrameSet, observer: Observer) -> FrameSet:
        with self._recorded(plan.stratum, plan.stratum.recursive):
            return super().closed_in_rounds(plan, facts, observer)

    def finished(self, stratum: Stratum, facts: FrameSet, delta: FrameSet) -> FrameSet | None:
        with self._recorded(stratum, stratum.recursive):
            return super().finished(stratum, facts, delta)

    def observed(self, rows: DataFrame) -> tuple[Observation, DataFrame]:
        if not self._heads:
            return super().observed(rows)
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        observation, weight = Observation(), F.col(WEIGHT)
        ids = [self.space.names.id(predicate) for predicate in self._heads]
        sums = [F.sum(F.when(F.col("predicate") == one, weight)).alias(f"of {n}") for n, one in enumerate(ids)]
        return observation, rows.observe(observation, F.sum(weight).alias("instances"), *sums)

    def noted(self, phase: str, observed: Observation) -> None:
        super().noted(phase, observed)
        found = observed.get
        self.watch.jobs_done({p: found[f"of {n}"] or 0 for n, p in enumerate(self._heads)})


def spark_engine(watch: Watch, *arguments: Any, **options: Any) -> SparkEngine:
    """An engine on Spark; one that reports to the watch if that is a recorder."""
    if not isinstance(watch, Recorder):
        return SparkEngine(*arguments, **options)
    engine = WatchedSparkEngine(*arguments, **options)
    engine.watch = watch
    return engine
