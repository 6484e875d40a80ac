"""Materialisation by seminaive evaluation over strata."""

from __future__ import annotations

import time
from typing import cast

from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import StratifiedProgram, Stratum
from everlog.engine.algebra import AnyEngine, AnyFactSet, Observer
from everlog.engine.factset import NONE, as_local
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.materialisation import F
from everlog.reasoning.modules.kinds import implementation
from everlog.reasoning.modules.loops import close_together
from everlog.reasoning.observers import StratumProgress
from everlog.reasoning.rule_sets import rule_sets
from everlog.reasoning.statistics import Listener, Statistics, StratumStatistics


def seminaive(
    engine: AnyEngine, program: StratifiedProgram, explicit: F, listener: Listener | None = None
) -> tuple[F, Statistics]:
    """Everything that follows from the explicit facts (journal paper, Algorithm 1).

    Stratum by stratum, the facts found in one round are the changes of the next, so each instance
    of a rule is considered exactly once. A rule none of whose body predicates changed is not
    touched. Cost: one match per instance, and per round the new facts, sorted or in bitmaps.
    """
    begin = time.perf_counter()
    listener = listener or Listener()
    derived = {predicate for stratum in program.strata for predicate in stratum.predicates}
    facts: AnyFactSet = explicit.restricted(predicate for predicate in explicit if predicate not in derived)
    strata = []
    for stratum in program.strata:
        facts, figures = close_stratum(engine, stratum, facts, explicit, len(program.strata), listener)
        strata.append(figures)
    statistics = Statistics(
        facts=facts.count,
        explicit=explicit.count,
        instances=sum(s.instances for s in strata),
        rounds=sum(s.rounds for s in strata),
        seconds=time.perf_counter() - begin,
        strata=tuple(strata),
        modules=bool(program.special),
        stratification=program.kind,
    )
    return cast("F", facts), statistics


def close_stratum(
    engine: AnyEngine, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, strata: int, listener: Listener
) -> tuple[AnyFactSet, StratumStatistics]:
    """Adds to ``facts`` what the rules of one stratum derive, its explicit facts included."""
    begin = time.perf_counter()
    progress = StratumProgress(engine, facts, stratum.index, strata, listener)
    if stratum.alone is not None:
        facts = close_module(engine, stratum, stratum.alone, facts, progress)
    elif (whole := engine.whole(stratum, facts, explicit)) is not None:
        facts, rounds = whole
        progress(facts.restricted(stratum.predicates).count, rounds)
    else:
        facts = close_rules(engine, stratum, facts, explicit.restricted(stratum.predicates), progress)
    figures = StratumStatistics(
        index=stratum.index,
        rules=len(stratum.rules) if stratum.alone is None else len(stratum.alone.rules),
        recursive=len(stratum.recursive) if stratum.alone is None else len(stratum.alone.rules),
        facts=facts.restricted(stratum.predicates).count,
        instances=progress.instances,
        rounds=progress.rounds,
        seconds=time.perf_counter() - begin,
        plan=engine.plans.get(stratum.index, ""),
    )
    return facts, figures


def close_rules(
    engine: AnyEngine, stratum: Stratum, facts: AnyFactSet, explicit: AnyFactSet, observer: Observer
) -> AnyFactSet:
    """The rounds of a stratum of rules, the first of which are the explicit facts and the nonrecursive rules (l. 3)."""
    rules = rule_sets(stratum)
    new = explicit.extended(engine.match(rules.nonrecursive, facts, facts).facts(without=explicit))  # l. 3
    if stratum.special:
        return close_together(engine, stratum.special, rules.recursive, as_local(facts), as_local(new), observer)

    def step(delta: AnyFactSet) -> AnyFactSet:
        nonlocal facts
        facts = facts.extended(delta)  # l. 7
        if (closed := engine.closed(stratum, facts, delta, observer)) is not None:
            facts = closed
            return NONE
        return engine.match(rules.recursive, facts, facts, changed=[(delta, NONE)]).facts(without=facts)  # l. 8 and 5

    fixpoint(new, step, observer)  # l. 6
    return facts


def close_module(
    engine: AnyEngine, stratum: Stratum, module: SpecialModule, facts: AnyFactSet, observer: Observer
) -> AnyFactSet:
    """Adds to ``facts`` what the module that a stratum consists of derives."""
    closed = engine.closed(stratum, facts, NONE)
    if closed is None:
        known = as_local(facts)
        closed = known.replaced(implementation(module).derive(known, lambda: engine.limits.check(engine.held)))
    observer(closed.restricted(stratum.predicates).count)
    return closed
