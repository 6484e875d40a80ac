"""The engine on Spark, complete with the choice of the way in which a stratum is closed."""

from __future__ import annotations

from collections.abc import Collection

from everlog.analysis.stratify import Stratum
from everlog.backends.spark.evaluation import SparkEvaluation
from everlog.backends.spark.factset import framed
from everlog.backends.spark.ways import way_of
from everlog.engine.algebra import AnyFactSet, Way


class SparkEngine(SparkEvaluation):
    """Implements :class:`everlog.engine.algebra.AnyEngine` for facts in executors."""

    def way(
        self, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, without: Collection[str] = ()
    ) -> Way | None:
        """The way that the plan for the stratum asks for; see :mod:`everlog.backends.spark.ways`."""
        return way_of(self, stratum, framed(self.space, facts), framed(self.space, explicit), without)
