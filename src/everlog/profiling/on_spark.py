"""The engine on Spark, saying what it does: passes over rules and their jobs, but not single rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from everlog.engine.factset import FactSet
from everlog.engine.match import Change, RuleSet
from everlog.spark.engine import SparkEngine
from everlog.spark.match import FrameMatches, FrameProofs

if TYPE_CHECKING:
    from pyspark.sql import Observation

    from everlog.analysis.stratify import Stratum
    from everlog.profiling.recorder import Recorder


class WatchedSparkEngine(SparkEngine):
    """Tells a recorder when it begins with rules, and when the jobs of a pass are done."""

    watch: Recorder

    def match(
        self, rules: RuleSet, pos: FactSet, neg: FactSet, changed: Sequence[Change] = (), phase: str = "forward"
    ) -> FrameMatches:
        self.watch.began(self, rules, phase)
        return super().match(rules, pos, neg, changed, phase)

    def prove(self, rules: RuleSet, facts: FactSet, pos: FactSet, neg: FactSet, phase: str = "backward") -> FrameProofs:
        self.watch.began(self, rules, phase)
        return super().prove(rules, facts, pos, neg, phase)

    def closed(self, stratum: Stratum, facts: FactSet, delta: FactSet) -> FactSet | None:
        if stratum.module is not None:
            self.watch.began_module(self, stratum)
        return super().closed(stratum, facts, delta)

    def noted(self, phase: str, observed: Observation) -> None:
        super().noted(phase, observed)
        self.watch.jobs_done()
