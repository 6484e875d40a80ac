"""Materialisation by seminaive evaluation over strata."""

from __future__ import annotations

import time
from typing import cast

from everlog.analysis.modules.module import SpecialModule
from everlog.analysis.stratify import StratifiedProgram, Stratum
from everlog.engine.algebra import AnyEngine, AnyFactSet
from everlog.engine.factset import NONE, as_local
from everlog.engine.match import RuleSet
from everlog.reasoning.materialisation import F
from everlog.reasoning.modules.kinds import implementation
from everlog.reasoning.modules.loops import close_together
from everlog.reasoning.statistics import Listener, RoundEvent, Statistics, StratumStatistics


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
    begin, before = time.perf_counter(), engine.work.instances["forward"]
    if stratum.alone is not None:
        return close_module(engine, stratum, stratum.alone, facts, strata, listener)
    if (whole := engine.whole(stratum, facts, explicit)) is not None:
        facts, rounds = whole
        figures = _figures(engine, stratum, facts, rounds, before, begin)
        engine.held = facts.count
        engine.limits.check(engine.held)
        listener.round_done(RoundEvent(stratum.index, strata, rounds, figures.facts, facts.count, figures.instances))
        return facts, figures
    recursive, rounds = RuleSet(stratum.recursive), 0
    given = explicit.restricted(stratum.predicates)
    delta = given.extended(engine.match(RuleSet(stratum.nonrecursive), facts, facts).facts(without=given))  # l. 3
    if stratum.special:
        facts, delta = close_together(engine, stratum.special, recursive, as_local(facts), as_local(delta)), NONE

    def told(new: int, known: int) -> None:
        nonlocal rounds
        rounds, engine.held = rounds + 1, known
        engine.limits.check(known)
        instances = engine.work.instances["forward"] - before
        listener.round_done(RoundEvent(stratum.index, strata, rounds, new, known, instances))

    while delta:  # l. 6
        facts = facts.extended(delta)  # l. 7
        told(delta.count, facts.count)
        if (closed := engine.closed(stratum, facts, delta, told)) is not None:
            facts = closed
            break
        delta = engine.match(recursive, facts, facts, changed=[(delta, NONE)]).facts(without=facts)  # l. 8 and 5
    return facts, _figures(engine, stratum, facts, rounds, before, begin)


def _figures(
    engine: AnyEngine, stratum: Stratum, facts: AnyFactSet, rounds: int, before: int, begin: float
) -> StratumStatistics:
    """What a stratum took, given the instances and the time at its beginning."""
    return StratumStatistics(
        index=stratum.index,
        rules=len(stratum.rules),
        recursive=len(stratum.recursive),
        facts=facts.restricted(stratum.predicates).count,
        instances=engine.work.instances["forward"] - before,
        rounds=rounds,
        seconds=time.perf_counter() - begin,
        plan=engine.plans.get(stratum.index, ""),
    )


def close_module(
    engine: AnyEngine, stratum: Stratum, module: SpecialModule, facts: AnyFactSet, strata: int, listener: Listener
) -> tuple[AnyFactSet, StratumStatistics]:
    """Adds to ``facts`` what the module that a stratum consists of derives."""
    begin = time.perf_counter()
    closed = engine.closed(stratum, facts, NONE)
    if closed is None:
        known = as_local(facts)
        closed = known.replaced(implementation(module).derive(known, lambda: engine.limits.check(engine.held)))
    facts = closed
    count = facts.restricted(stratum.predicates).count
    engine.held = facts.count
    engine.limits.check(engine.held)
    listener.round_done(RoundEvent(stratum.index, strata, 1, count, facts.count, 0))
    rules, seconds = len(module.rules), time.perf_counter() - begin
    plan = engine.plans.get(stratum.index, "")
    return facts, StratumStatistics(stratum.index, rules, rules, count, 0, 1, seconds, plan)
