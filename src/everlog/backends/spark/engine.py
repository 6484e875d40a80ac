"""The engine on Spark: facts are in executors, and rules are matched by joins."""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from everlog.analysis.decompose import parts_of
from everlog.analysis.modules.ordinary import without_modules
from everlog.analysis.stratify import Stratum
from everlog.backends.spark.accounts import SparkAccounts
from everlog.backends.spark.factset import FrameSet, PendingFacts, SourcePart, framed
from everlog.backends.spark.finish import finish, fits
from everlog.backends.spark.local import evaluate
from everlog.backends.spark.match import FrameMatches, FrameProofs
from everlog.backends.spark.multiset import FrameCounts
from everlog.backends.spark.plans import (
    PlanKind,
    PlanSettings,
    StratumPlan,
    as_planned,
    close,
    decomposed,
    limit,
    plan_of,
    reads,
    seeded,
)
from everlog.backends.spark.repair import ModuleChange, repair
from everlog.backends.spark.rounds import close_in_rounds
from everlog.backends.spark.settings import SparkSettings
from everlog.backends.spark.tasks import parallelism
from everlog.backends.spark.unlisted import ClosureListing, is_counted_first, listing
from everlog.backends.spark.workspace import Workspace
from everlog.engine.algebra import AnyChange, AnyFactSet, Observer
from everlog.engine.factset import NONE
from everlog.engine.limits import Limits
from everlog.engine.rules import RuleSet
from everlog.engine.tables import argument_name, argument_names
from everlog.lang.syntax import Predicate
from everlog.reasoning.seminaive import close_stratum
from everlog.reasoning.statistics import Listener, RoundEvent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger(__name__)


class SparkEngine(SparkAccounts):
    """Matches rules in :class:`FrameSet`; implements :class:`everlog.engine.algebra.AnyEngine`.

    Instances are counted by phase, as they leave the last stage of a job; they are not counted by rule.
    Limits are checked between jobs.
    """

    def __init__(
        self, space: Workspace, *, limits: Limits | None = None, settings: SparkSettings | None = None
    ) -> None:
        super().__init__(space, limits, settings or SparkSettings())
        self._too_large: set[tuple[Predicate, ...]] = set()
        """The predicates of strata that turned out too large for one task."""
        self._distributed: set[Predicate] = set()
        """The predicates of strata that were tried in one task, which gave up."""
        self._said: set[tuple[str, tuple[Predicate, ...]]] = set()
        """The plans that were told: their kinds, and of what."""

    def once(self, facts: AnyFactSet) -> FrameCounts:
        """Each of the facts once."""
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
        changes = tuple((framed(self.space, inside), framed(self.space, outside)) for inside, outside in changed)
        return FrameMatches(self, rules, framed(self.space, pos), framed(self.space, neg), changes, phase)

    def prove(
        self, rules: RuleSet, facts: AnyFactSet, pos: AnyFactSet, neg: AnyFactSet, phase: str = "backward"
    ) -> FrameProofs:
        """The instances of the rules that derive some of the given facts."""
        wanted, pos, neg = (framed(self.space, each) for each in (facts, pos, neg))
        return FrameProofs(self, rules, wanted, pos, neg, phase)

    def renew(self) -> None:
        """Nothing is known that deriving everything again makes wrong."""

    def closed(
        self, stratum: Stratum, facts: AnyFactSet, delta: AnyFactSet, observer: Observer | None = None
    ) -> FrameSet | None:
        """By a plan that needs no loop if there is one, otherwise in one task if what is left fits there."""
        known, newest = framed(self.space, facts), framed(self.space, delta)
        if not known.possible:
            return known
        if not (stratum.recursive or stratum.alone):
            return None
        if (ordinary := as_planned(stratum)) is not stratum:
            below = known.restricted(known.possible.difference(stratum.predicates))
            return framed(self.space, close_stratum(self, ordinary, below, NONE, 1, Listener())[0])
        parts = parts_of(stratum)
        if len(parts) > 1:
            return self._closed_in_parts(stratum, parts, known, observer)
        plan = plan_of(stratum, known.sizes, replace(self._plans, local_facts=0))
        self._note(plan)
        if plan.kind not in ("rounds", "loop"):
            return self._closed_by(plan, known)
        if stratum.alone is not None:
            return self._closed_by_rules(plan, known)
        most = self.settings.local_finish
        if not newest.possible:
            return None
        if stratum.predicates not in self._too_large and fits(stratum, known, most):
            found = self._finished(stratum, known, newest, most)
            if found is not None:
                return found
        return self._closed_in_rounds(plan, known, observer) if plan.kind == "rounds" else None

    @property
    def _plans(self) -> PlanSettings:
        return replace(self.settings.plans, salt=self.space.names.salt)

    def _note(self, plan: StratumPlan) -> None:
        """Say how a stratum, or a part of one, is evaluated, once."""
        said = (plan.kind, plan.stratum.predicates)
        if said in self._said:
            return
        self._said.add(said)
        log.info("stratum %d: %s", plan.stratum.index, self.settings.explained(plan))
        self._used(plan.stratum, plan.kind)

    def _used(self, stratum: Stratum, kind: PlanKind) -> None:
        kinds = [*filter(None, self.plans.get(stratum.index, "").split(", "))]
        self.plans[stratum.index] = ", ".join(dict.fromkeys([*kinds, kind]))

    evaluates_whole = True

    def whole(self, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet) -> tuple[FrameSet, int] | None:
        """In one task if the engine may choose and the facts are expected to fit there. Modules inside a stratum are
        for the local engine only: where it does not fit, rules take their place.
        """
        if not stratum.rules and not stratum.is_mixed:
            return None
        below, given = framed(self.space, facts), framed(self.space, explicit)
        settings, sizes = self._plans, dict[Predicate, int]()
        if not self._distributed.isdisjoint(stratum.predicates):
            settings = replace(settings, local_facts=0)
        if settings.local_facts:
            sizes.update(below.restricted(reads(stratum)).sizes)
            sizes.update(given.restricted(stratum.predicates).sizes)
        plan = plan_of(stratum, sizes, settings)
        if plan.kind == "local":
            self._note(plan)
            if (found := self._evaluated(plan, below, given)) is not None:
                return found
        if stratum.is_mixed:
            plain, seen = without_modules(stratum), {h: p for m in stratum.special for p, h in m.external.items()}
            closed, figures = close_stratum(self, plain, below, given.renamed(seen), 1, Listener())
            return framed(self.space, closed), figures.rounds
        if plan.kind == "nonrecursive":
            self._note(plan)
        elif stratum.nonrecursive:
            self._used(stratum, "nonrecursive")
        return None

    def _evaluated(self, plan: StratumPlan, facts: FrameSet, explicit: FrameSet) -> tuple[FrameSet, int] | None:
        stratum, most = plan.stratum, plan.settings.local_facts
        found = evaluate(self.space, stratum, facts, explicit, most, self.limits)
        if found is None:
            log.info("stratum %d: more than %d facts, so it is distributed after all", stratum.index, most)
            self._distributed.update(stratum.predicates)
            return None
        self.work.instances["forward"] += found.instances
        if not found.stored.files:
            return facts, found.rounds
        return facts.extended(FrameSet.of(self.space, found.stored)), found.rounds

    def repaired(
        self, stratum: Stratum, old: AnyFactSet, new: AnyFactSet, gone: AnyFactSet, fresh: AnyFactSet
    ) -> tuple[FrameSet, FrameSet] | None:
        """In one task if all that feeds a closure fits there; otherwise it is closed again and compared."""
        assert stratum.alone is not None
        change, plans = (
            ModuleChange(*(framed(self.space, facts) for facts in (old, new, gone, fresh))),
            self.settings.plans,
        )
        found = repair(self.space, stratum.alone, change, plans.condensed_edges, plans.shared_facts)
        if found is None:
            much = f"more edges {limit(plans, 'condensed_edges')} or changed pairs {limit(plans, 'shared_facts')}"
            log.info("stratum %d: %s than fit one task, so it is closed again", stratum.index, much)
        return found

    def _closed_in_parts(
        self, stratum: Stratum, parts: Sequence[Stratum], facts: FrameSet, observer: Observer | None
    ) -> FrameSet:
        """The parts of a stratum one after the other; its nonrecursive rules have been applied before."""
        given, applied = facts.restricted(stratum.predicates), frozenset(stratum.nonrecursive)
        found = facts.restricted(facts.possible.difference(stratum.predicates))
        known = facts.count

        def heard(event: RoundEvent) -> None:
            nonlocal known
            if observer is not None:
                observer(max(0, event.facts - known))
            known = max(known, event.facts)

        listener = Listener(heard)
        for part in parts:
            rules = tuple(rule for rule in part.nonrecursive if rule not in applied)
            own = Stratum.of_rules(part.index, part.recursive, rules, part.predicates)
            closed, _ = close_stratum(self, own, found, given, len(parts), listener)
            found = framed(self.space, closed)
        return found

    def _closed_by_rules(self, plan: StratumPlan, facts: FrameSet) -> FrameSet:
        """A module that is neither condensed nor decomposed, by rounds of the rules that it stands for."""
        seeds = seeded(plan, {p: self._relation(facts, p) for p in facts.sizes})
        given = self._kept({p: seeds[p] for p in plan.seeds if p in seeds})
        around = facts.restricted(facts.possible.difference(plan.seeds))
        linear = Stratum.of_rules(plan.stratum.index, plan.rules, (), tuple(plan.seeds))
        closed, _ = close_stratum(self, linear, around, given, 1, Listener())
        found = framed(self.space, closed)
        return found.restricted(p for p in found if p not in plan.seeds or p in plan.stratum.predicates)

    def _closed_by(self, plan: StratumPlan, facts: FrameSet) -> FrameSet:
        """All facts, those of the stratum's predicates by a plan."""
        others = facts.restricted(facts.possible.difference(plan.stratum.predicates))
        read = facts.possible & {*reads(plan.stratum), *plan.stratum.predicates}
        given = {p: self._relation(facts, p) for p in read}
        if self.settings.expand_below is not None and is_counted_first(plan):
            return others.extended(self._listed(listing(plan, self.space.spark, given, self.space.directory)))
        if plan.decomposition is not None and len(plan.decomposition.carried) > 1:
            return others.extended(self._kept_together(plan, given))
        return others.extended(self._kept(close(plan, self.space.spark, given, self.space.directory)))

    def _kept_together(self, plan: StratumPlan, given: Mapping[Predicate, DataFrame]) -> FrameSet:
        """The relations of a decomposed plan, stored by the stage that closes them."""
        ids = {p: self.space.names.id(p) for p in plan.stratum.predicates}
        stage = decomposed(plan, self.space.spark, given, self.space.directory, ids)
        return FrameSet(self.space) if stage is None else FrameSet.of(self.space, self.space.store(self._filled(stage)))

    def _closed_in_rounds(self, plan: StratumPlan, facts: FrameSet, observer: Observer | None) -> FrameSet:
        """The same for recursion that does not decompose, over facts that stay in their slices."""
        derived = plan.stratum.predicates
        others, known = facts.restricted(facts.possible.difference(derived)), facts.restricted(derived).count

        def note(held: int, instances: int) -> None:
            nonlocal known
            self.work.instances["forward"] += instances
            self.limits.check(others.count + held)
            if held > known:
                if observer is not None:
                    observer(held - known)
                known = held

        slices = parallelism(self.space.spark)
        found = close_in_rounds(self.space, plan.rules, derived, facts, slices=slices, told=note)
        return others.extended(FrameSet.of(self.space, found.stored))

    def _listed(self, found: ClosureListing) -> FrameSet:
        """The pairs of closures, stored where they are few; the others are listed whenever they are read."""
        most = self.settings.expand_below or 0
        few = self._kept({p: frame for p, frame in found.frames.items() if found.pairs[p] <= most})
        many = [(p, found.frames[p], size) for p, size in found.pairs.items() if size > most]
        scans = [
            PendingFacts(functools.partial(self._rows, p, frame), frozenset([p]), size, is_scan=True, sizes={p: size})
            for p, frame, size in many
        ]
        return FrameSet(self.space, (*few.base, *map(SourcePart.whole, scans)))

    def _kept(self, relations: Mapping[Predicate, DataFrame]) -> FrameSet:
        """Relations as a stored set."""
        if not relations:
            return FrameSet(self.space)
        rows = functools.reduce(lambda a, b: a.unionAll(b), (self._rows(p, frame) for p, frame in relations.items()))
        return FrameSet.of(self.space, self.space.store(rows))

    def _rows(self, predicate: Predicate, frame: DataFrame) -> DataFrame:
        """A relation as rows of facts."""
        from pyspark.sql import functions as F

        columns = [F.col(name).cast("long").alias(argument_name(i)) for i, name in enumerate(frame.columns)]
        return self._filled(
            frame.select(F.lit(self.space.names.id(predicate)).cast("long").alias("predicate"), *columns)
        )

    def _filled(self, rows: DataFrame) -> DataFrame:
        """Rows with all columns of facts."""
        from pyspark.sql import functions as F

        missing = [F.lit(0).cast("long").alias(name) for name in self.space.keys if name not in rows.columns]
        return rows.select("*", *missing) if missing else rows

    def _relation(self, facts: FrameSet, predicate: Predicate) -> DataFrame:
        return facts.frame([predicate]).select(*argument_names(predicate.arity))

    def _finished(self, stratum: Stratum, facts: FrameSet, delta: FrameSet, most: int) -> FrameSet | None:
        found, limited = finish(self.space, stratum, facts, delta, most), self.settings.finishing
        if found is None:
            log.info("stratum %d: more than %d facts, so the loop goes on %s", stratum.index, most, limited)
            self._too_large.add(stratum.predicates)
            return None
        log.info("stratum %d: finished in one task after %d rounds %s", stratum.index, found.rounds, limited)
        self.work.instances["forward"] += found.instances
        self.check(0)
        return facts.extended(FrameSet.of(self.space, found.stored)) if found.stored.files else facts
