"""Closing the strata of a program one after the other (journal paper, Algorithm 1, line 2), and the figures of that."""

from __future__ import annotations

import time
from typing import cast

from everlog.analysis.stratify import StratifiedProgram, Stratum
from everlog.engine.algebra import AnyEngine, AnyFactSet
from everlog.reasoning.materialisation import F
from everlog.reasoning.observers import StratumProgress
from everlog.reasoning.statistics import Listener, Statistics, StratumStatistics
from everlog.reasoning.ways import close


def close_strata(
    engine: AnyEngine, program: StratifiedProgram, explicit: F, listener: Listener | None = None
) -> tuple[F, Statistics]:
    """All facts that follow from the explicit facts, and the statistics.

    Each stratum is closed by a way that the engine chooses. The plain way is that of Algorithm 1, lines 3 to 8
    (:mod:`everlog.reasoning.seminaive`).
    """
    begin = time.perf_counter()
    derived = {predicate for stratum in program.strata for predicate in stratum.predicates}
    facts: AnyFactSet = explicit.restricted(predicate for predicate in explicit if predicate not in derived)
    strata = []
    for stratum in program.strata:  # l. 2
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
    engine: AnyEngine,
    stratum: Stratum,
    facts: AnyFactSet,
    explicit: AnyFactSet,
    strata: int = 1,
    listener: Listener | None = None,
) -> tuple[AnyFactSet, StratumStatistics]:
    """Add to ``facts`` those that one of ``strata`` strata derives, its explicit facts included; returns them and the
    statistics of the stratum.
    """
    begin = time.perf_counter()
    progress = StratumProgress(engine, facts, stratum.index, strata, listener or Listener())
    facts = close(engine, stratum, facts, explicit, progress)
    rules = stratum.rules if stratum.alone is None else stratum.alone.rules
    recursive = stratum.recursive if stratum.alone is None else stratum.alone.rules
    figures = StratumStatistics(
        index=stratum.index,
        rules=len(rules),
        recursive=len(recursive),
        facts=facts.restricted(stratum.predicates).count,
        instances=progress.instances,
        rounds=progress.rounds,
        seconds=time.perf_counter() - begin,
        plan=engine.plans.get(stratum.index, ""),
    )
    return facts, figures
