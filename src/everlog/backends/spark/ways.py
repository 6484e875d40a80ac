"""The ways in which Spark closes a stratum: one for each kind of plan (:mod:`everlog.backends.spark.plans`).

A stratum with recursive rules is closed in two steps: first its nonrecursive rules are joined; then the recursion
starts from the facts that these derive and from the explicit facts, in a way chosen by the sizes known by then.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from everlog.analysis.decompose import parts_of
from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.ordinary import shown, without_modules
from everlog.analysis.stratify import Stratum
from everlog.backends.spark.factset import FrameSet, framed
from everlog.backends.spark.finish import fits
from everlog.backends.spark.plans import StratumPlan, as_planned, limit, plan_of, reads, seeded
from everlog.backends.spark.repair import ModuleChange, repair
from everlog.engine.algebra import AnyFactSet, Observer, Repairing, TooLargeError, Way
from everlog.engine.factset import NONE
from everlog.lang.syntax import Predicate
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.observers import ignore_rounds
from everlog.reasoning.rule_sets import rule_sets
from everlog.reasoning.seminaive import found_at_once
from everlog.reasoning.ways import close

if TYPE_CHECKING:
    from everlog.backends.spark.evaluation import SparkEvaluation

log = logging.getLogger(__name__)

ONE_TASK = "one task"
"""The name of the way to evaluate a whole stratum in one task."""


def way_of(
    engine: SparkEvaluation, stratum: Stratum, facts: FrameSet, explicit: FrameSet, without: Collection[str]
) -> Way | None:
    """The way to close a stratum; None if its rules are joined once."""
    if stratum.alone is not None:
        return ModuleByPlan(engine, stratum, stratum.alone)
    if not stratum.rules and not stratum.is_mixed:
        return None
    settings, sizes = engine.plan_settings, dict[Predicate, int]()
    if ONE_TASK in without:
        settings = replace(settings, local_facts=0)
    if settings.local_facts:
        sizes.update(facts.restricted(reads(stratum)).sizes)
        sizes.update(explicit.restricted(stratum.predicates).sizes)
    plan = plan_of(stratum, sizes, settings)
    if plan.kind == "local":
        engine.note_plan(plan)
        return OneTask(engine, stratum, plan)
    if stratum.is_mixed:
        return WithoutModules(engine, stratum, frozenset(without))
    if plan.kind == "nonrecursive":
        engine.note_plan(plan)
        return None
    if stratum.nonrecursive:
        engine.note_kind(stratum, "nonrecursive")
    return Recursion(engine, stratum, frozenset(without))


# Whole strata ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OneTask:
    """Closes a stratum of any form by the local engine in one task; too large if there are more facts than allowed."""

    engine: SparkEvaluation
    stratum: Stratum
    plan: StratumPlan

    def close(self, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer) -> FrameSet:
        space, most = self.engine.space, self.plan.settings.local_facts
        below = framed(space, facts)
        found = self.engine.evaluated(self.plan, below, framed(space, explicit))
        if found is None:
            log.info("stratum %d: more than %d facts, so it is distributed after all", self.stratum.index, most)
            raise TooLargeError(ONE_TASK)
        derived, rounds = found
        observer(derived.count, rounds)
        return below.extended(derived)

    def repair(self, update: Repairing) -> None:
        update.close_again(shown(self.stratum))


@dataclass(frozen=True)
class WithoutModules:
    """Closes a stratum in which modules depend on rules, with ordinary rules in place of the modules.

    Only the local engine closes such a stratum with its modules.
    """

    engine: SparkEvaluation
    stratum: Stratum
    without: frozenset[str]

    def close(self, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer) -> AnyFactSet:
        seen = {hidden: p for module in self.stratum.special for p, hidden in module.external.items()}
        return close(self.engine, without_modules(self.stratum), facts, explicit.renamed(seen), observer, self.without)

    def repair(self, update: Repairing) -> None:
        update.close_again(shown(self.stratum))


@dataclass(frozen=True)
class ModuleByPlan:
    """Closes and repairs a module that reads no predicate of its own stratum."""

    engine: SparkEvaluation
    stratum: Stratum
    module: SpecialModule

    def close(self, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer) -> FrameSet:
        known = framed(self.engine.space, facts)
        closed = self._closed(known) if known.possible else known
        observer(closed.restricted(self.stratum.predicates).count)
        return closed

    def _closed(self, facts: FrameSet) -> FrameSet:
        engine = self.engine
        if (ordinary := as_planned(self.stratum)) is not self.stratum:
            below = facts.restricted(facts.possible.difference(self.stratum.predicates))
            return framed(engine.space, close(engine, ordinary, below, NONE, ignore_rounds))
        plan = plan_of(self.stratum, facts.sizes, replace(engine.plan_settings, local_facts=0))
        engine.note_plan(plan)
        return (
            engine.closed_at_once(plan, facts) if plan.kind not in ("rounds", "loop") else self._by_rules(plan, facts)
        )

    def _by_rules(self, plan: StratumPlan, facts: FrameSet) -> FrameSet:
        """Close a module that is neither condensed nor decomposed, by rounds of the rules that define it."""
        engine = self.engine
        seeds = seeded(plan, {p: engine.relation(facts, p) for p in facts.sizes})
        given = engine.kept({p: seeds[p] for p in plan.seeds if p in seeds})
        around = facts.restricted(facts.possible.difference(plan.seeds))
        linear = Stratum.of_rules(plan.stratum.index, plan.rules, (), tuple(plan.seeds))
        found = framed(engine.space, close(engine, linear, around, given, ignore_rounds))
        return found.restricted(p for p in found if p not in plan.seeds or p in plan.stratum.predicates)

    def repair(self, update: Repairing) -> None:
        """Repair in one task if the facts that feed a closure fit there; otherwise close it again and compare."""
        space, plans = self.engine.space, self.engine.settings.plans
        sets = (update.before, update.after, update.gone, update.fresh)
        change = ModuleChange(*(framed(space, facts) for facts in sets))
        found = repair(space, self.module, change, plans.condensed_edges, plans.shared_facts)
        if found is not None:
            update.replace(*found)
            return
        much = f"more edges {limit(plans, 'condensed_edges')} or changed pairs {limit(plans, 'shared_facts')}"
        log.info("stratum %d: %s than fit one task, so it is closed again", self.stratum.index, much)
        update.close_again()


# Recursion ---------------------------------------------------------------------------------------


class Recursing(Protocol):
    """A way to close a recursion once the nonrecursive rules of its stratum have been applied."""

    def close(self, known: FrameSet, observer: Observer) -> FrameSet:
        """All facts; ``known`` are those below the stratum, and those of it that its nonrecursive rules derive or that
        are explicit, which the observer has counted.
        """


@dataclass(frozen=True)
class Recursion:
    """Closes a stratum with recursive rules: applies its nonrecursive rules, then chooses the way by the sizes."""

    engine: SparkEvaluation
    stratum: Stratum
    without: frozenset[str]

    def close(self, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer) -> AnyFactSet:
        below = framed(self.engine.space, facts)
        given = framed(self.engine.space, explicit).restricted(self.stratum.predicates)
        start = framed(self.engine.space, found_at_once(self.engine, rule_sets(self.stratum), below, given))
        if not start:
            return below
        parts = parts_of(self.stratum)
        if len(parts) > 1:
            return self._in_parts(parts, below, start, observer)
        observer(start.count)
        known = below.extended(start)
        plan = plan_of(self.stratum, known.sizes, replace(self.engine.plan_settings, local_facts=0))
        self.engine.note_plan(plan)
        return self._way(plan, known, start).close(known, observer)

    def repair(self, update: Repairing) -> None:
        update.by_algorithm()

    def _in_parts(self, parts: Sequence[Stratum], below: FrameSet, start: FrameSet, observer: Observer) -> AnyFactSet:
        """Close the parts of the stratum one after the other; its nonrecursive rules have been applied before."""
        applied = frozenset(self.stratum.nonrecursive)
        found: AnyFactSet = below
        for part in parts:
            rules = tuple(rule for rule in part.nonrecursive if rule not in applied)
            own = Stratum.of_rules(part.index, part.recursive, rules, part.predicates)
            found = close(self.engine, own, found, start, observer, self.without)
        return found

    def _way(self, plan: StratumPlan, known: FrameSet, start: FrameSet) -> Recursing:
        """The way to close the recursion by its plan, given all facts so far and those of the stratum."""
        if plan.kind not in ("rounds", "loop"):
            return AtOnce(self.engine, plan)
        if plan.kind == "loop":
            return Loop(self.engine, self.stratum, start)
        slices = InSlices(self.engine, plan)
        if fits(self.stratum, known, self.engine.settings.local_finish):
            return Finish(self.engine, self.stratum, start, slices)
        return slices


@dataclass(frozen=True)
class AtOnce:
    """Closes a recursion by a plan whose rounds the driver does not run."""

    engine: SparkEvaluation
    plan: StratumPlan

    def close(self, known: FrameSet, observer: Observer) -> FrameSet:
        return self.engine.closed_at_once(self.plan, known)


@dataclass(frozen=True)
class Finish:
    """Closes a recursion in one task, or in another way if there are more facts than one task may hold. ``start`` are
    the facts of the stratum.
    """

    engine: SparkEvaluation
    stratum: Stratum
    start: FrameSet
    otherwise: Recursing

    def close(self, known: FrameSet, observer: Observer) -> FrameSet:
        found = self.engine.finished(self.stratum, known, self.start)
        return self.otherwise.close(known, observer) if found is None else found


@dataclass(frozen=True)
class InSlices:
    """Closes a recursion in rounds over facts that stay in slices."""

    engine: SparkEvaluation
    plan: StratumPlan

    def close(self, known: FrameSet, observer: Observer) -> FrameSet:
        return self.engine.closed_in_rounds(self.plan, known, observer)


@dataclass(frozen=True)
class Loop:
    """Closes a recursion in rounds of joins; once the facts fit one task it is finished there. ``start`` are the facts
    of the stratum.
    """

    engine: SparkEvaluation
    stratum: Stratum
    start: FrameSet

    def close(self, known: FrameSet, observer: Observer) -> FrameSet:
        engine, rules, may_finish = self.engine, rule_sets(self.stratum).recursive, True

        def following(delta: FrameSet) -> FrameSet:
            nonlocal known, may_finish
            if may_finish and fits(self.stratum, known, engine.settings.local_finish):
                found = engine.finished(self.stratum, known, delta)
                if found is not None:
                    known = found
                    return FrameSet(engine.space)
                may_finish = False
            return engine.match(rules, known, known, [(delta, NONE)]).facts(without=known)

        def step(delta: FrameSet) -> FrameSet:
            nonlocal known
            known = known.extended(delta)
            return following(delta)

        fixpoint(following(self.start), step, observer)
        return known
