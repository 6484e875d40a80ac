"""The base of the engine on Spark: matches rules by joins in executors, and evaluates strata by plans."""

from __future__ import annotations

import functools
import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from everlog.analysis.stratify import Stratum
from everlog.backends.executors import parallelism
from everlog.backends.spark.accounts import SparkAccounts
from everlog.backends.spark.factset import FrameSet, PendingFacts, SourcePart, framed
from everlog.backends.spark.finish import finish
from everlog.backends.spark.local import evaluate
from everlog.backends.spark.match import FrameMatches, FrameProofs
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.plans import (
    PlanKind,
    PlanSettings,
    StratumPlan,
    close,
    decomposed,
    reads,
)
from everlog.backends.spark.rounds import close_in_rounds
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.unlisted import ClosureListing, is_counted_first, listing
from everlog.backends.spark.workspace import Workspace
from everlog.engine.algebra import AnyChange, AnyFactSet, Observer, Way
from everlog.engine.limits import Limits
from everlog.engine.rules import RuleSet
from everlog.engine.tables import argument_name, argument_names
from everlog.lang.syntax import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger(__name__)


class SparkEvaluation(SparkAccounts, ABC):
    """Matches rules in :class:`FrameSet`, and evaluates strata by plans.

    The subclass :class:`~everlog.backends.spark.engine.SparkEngine` chooses the way in which a stratum is closed.
    Instances are counted by phase in the last stage of a job, not by rule. Limits are checked between jobs.
    """

    def __init__(
        self, space: Workspace, *, limits: Limits | None = None, settings: SparkSettings | None = None
    ) -> None:
        super().__init__(space, limits, settings or SparkSettings())
        self._logged: set[tuple[str, tuple[Predicate, ...]]] = set()
        """The plans that were logged: the kind of each and the predicates of its stratum."""

    def once(self, facts: AnyFactSet) -> FrameCounts:
        """A multiset that has each of the facts once."""
        return FrameCounts.once_each(framed(self.space, facts))

    def match(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        changed: Sequence[AnyChange] = (),
        phase: str = "forward",
    ) -> FrameMatches:
        """The instances of the rules; see :mod:`everlog.engine.match`."""
        self.began(rules, phase, counted=True)
        changes = tuple((framed(self.space, inside), framed(self.space, outside)) for inside, outside in changed)
        return FrameMatches(self, rules, framed(self.space, pos), framed(self.space, neg), changes, phase)

    def prove(
        self,
        rules: RuleSet,
        pos: AnyFactSet,
        neg: AnyFactSet,
        chained: Collection[Predicate] = (),
        phase: str = "backward",
    ) -> FrameProofs:
        """Rules backwards: the instances that derive facts that will be given."""
        return FrameProofs(self, rules, framed(self.space, pos), framed(self.space, neg), frozenset(chained), phase)

    @abstractmethod
    def way(
        self, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, without: Collection[str] = ()
    ) -> Way | None:
        """The way to close a stratum; see :class:`everlog.engine.algebra.AnyEngine`."""

    @property
    def plan_settings(self) -> PlanSettings:
        return replace(self.settings.plans, salt=self.space.names.salt)

    def note_plan(self, plan: StratumPlan) -> None:
        """Log how a stratum, or a part of one, is evaluated, unless that was logged before."""
        entry = (plan.kind, plan.stratum.predicates)
        if entry in self._logged:
            return
        self._logged.add(entry)
        log.info("stratum %d: %s", plan.stratum.index, self.settings.explained(plan))
        self.note_kind(plan.stratum, plan.kind)

    def note_kind(self, stratum: Stratum, kind: PlanKind) -> None:
        """Add the kind of a plan to the figures of a stratum."""
        kinds = [*filter(None, self.plans.get(stratum.index, "").split(", "))]
        self.plans[stratum.index] = ", ".join(dict.fromkeys([*kinds, kind]))

    def evaluated(self, plan: StratumPlan, facts: FrameSet, explicit: FrameSet) -> tuple[FrameSet, int] | None:
        """The facts of a stratum, derived in one task, and the number of rounds; None if the task gave up."""
        found = evaluate(self.space, plan.stratum, facts, explicit, plan.settings.local_facts, self.limits)
        if found is None:
            return None
        self.work.instances["forward"] += found.instances
        return FrameSet.of(self.space, found.stored) if found.stored.files else FrameSet(self.space), found.rounds

    def closed_at_once(self, plan: StratumPlan, facts: FrameSet) -> FrameSet:
        """The facts with those of the stratum's predicates, derived by a plan whose rounds the driver does not run."""
        others = facts.restricted(facts.possible.difference(plan.stratum.predicates))
        read = facts.possible & {*reads(plan.stratum), *plan.stratum.predicates}
        given = {p: self.relation(facts, p) for p in read}
        if self.settings.expand_below is not None and is_counted_first(plan):
            return others.extended(self._listed(listing(plan, self.space.spark, given, self.space.directory)))
        if plan.decomposition is not None and len(plan.decomposition.carried) > 1:
            return others.extended(self._stored_relations(plan, given))
        return others.extended(self.kept(close(plan, self.space.spark, given, self.space.directory)))

    def _stored_relations(self, plan: StratumPlan, given: Mapping[Predicate, DataFrame]) -> FrameSet:
        """All relations of a decomposed plan, stored by the one stage that closes them."""
        ids = {p: self.space.names.id(p) for p in plan.stratum.predicates}
        stage = decomposed(plan, self.space.spark, given, self.space.directory, ids)
        return FrameSet(self.space) if stage is None else FrameSet.of(self.space, self.space.store(self._filled(stage)))

    def closed_in_rounds(self, plan: StratumPlan, facts: FrameSet, observer: Observer) -> FrameSet:
        """The facts with those of a recursion that does not decompose, derived in rounds over slices."""
        derived = plan.stratum.predicates
        others, known = facts.restricted(facts.possible.difference(derived)), facts.restricted(derived).count
        held = 0

        def note(new: int, instances: int) -> None:
            nonlocal held
            self.work.instances["forward"] += instances
            before, held = max(held, known), held + new
            self.limits.check(others.count + held)
            if held > before:
                observer(held - before)

        slices = parallelism(self.space.spark)
        found = close_in_rounds(self.space, plan.rules, derived, facts, slices=slices, observer=note)
        return others.extended(FrameSet.of(self.space, found.stored))

    def _listed(self, found: ClosureListing) -> FrameSet:
        """The pairs of closures: stored up to ``expand_below`` pairs, otherwise listed whenever they are read."""
        most = self.settings.expand_below or 0
        few = self.kept({p: frame for p, frame in found.frames.items() if found.pairs[p] <= most})
        many = [(p, found.frames[p], size) for p, size in found.pairs.items() if size > most]
        scans = [
            PendingFacts(functools.partial(self._rows, p, frame), frozenset([p]), size, is_scan=True, sizes={p: size})
            for p, frame, size in many
        ]
        return FrameSet(self.space, (*few.base, *map(SourcePart.whole, scans)))

    def kept(self, relations: Mapping[Predicate, DataFrame]) -> FrameSet:
        """Store relations, and return them as a set."""
        if not relations:
            return FrameSet(self.space)
        rows = functools.reduce(lambda a, b: a.unionAll(b), (self._rows(p, frame) for p, frame in relations.items()))
        return FrameSet.of(self.space, self.space.store(rows))

    def _rows(self, predicate: Predicate, frame: DataFrame) -> DataFrame:
        """A relation as rows of facts, with the columns of all facts."""
        from pyspark.sql import functions as F

        columns = [F.col(name).cast("long").alias(argument_name(i)) for i, name in enumerate(frame.columns)]
        return self._filled(
            frame.select(F.lit(self.space.names.id(predicate)).cast("long").alias("predicate"), *columns)
        )

    def _filled(self, rows: DataFrame) -> DataFrame:
        """The rows with 0 in the columns of facts that they lack."""
        from pyspark.sql import functions as F

        missing = [F.lit(0).cast("long").alias(name) for name in self.space.keys if name not in rows.columns]
        return rows.select("*", *missing) if missing else rows

    def relation(self, facts: FrameSet, predicate: Predicate) -> DataFrame:
        """The facts of a predicate as a DataFrame of its arguments."""
        return facts.frame([predicate]).select(*argument_names(predicate.arity))

    def finished(self, stratum: Stratum, facts: FrameSet, delta: FrameSet) -> FrameSet | None:
        """Close a recursion in one task, given the facts so far and the newest of them.

        Returns all facts, or None if the task gave up.
        """
        most, limited = self.settings.local_finish, self.settings.finishing
        found = finish(self.space, stratum, facts, delta, most)
        if found is None:
            log.info("stratum %d: more than %d facts, so the loop goes on %s", stratum.index, most, limited)
            return None
        log.info("stratum %d: finished in one task after %d rounds %s", stratum.index, found.rounds, limited)
        self.work.instances["forward"] += found.instances
        self.check(0)
        return facts.extended(FrameSet.of(self.space, found.stored)) if found.stored.files else facts
