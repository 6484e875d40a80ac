"""Updates: repairs a materialisation by an algorithm, with the bookkeeping that the algorithm needs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, cast

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.accounts import OverBudgetError
from everlog.engine.algebra import AnyEngine
from everlog.reasoning.bfc import BFC
from everlog.reasoning.change import ExplicitChange, SignedChange, compared
from everlog.reasoning.choose import attempts
from everlog.reasoning.counting import Counting
from everlog.reasoning.dred import DRed
from everlog.reasoning.dredc import DRedC
from everlog.reasoning.fbf import FBF
from everlog.reasoning.maintenance import Maintenance
from everlog.reasoning.materialisation import (
    AnyMaterialisation,
    C,
    F,
    Maintain,
    Materialisation,
    with_bookkeeping,
    with_counters,
    with_trace,
)
from everlog.reasoning.names import Algorithm, Strategy
from everlog.reasoning.statistics import Listener, Statistics
from everlog.reasoning.strata import close_strata

ALGORITHMS: Mapping[str, type[Maintenance]] = {kind.name: kind for kind in (DRedC, BFC, FBF, DRed, Counting)}
"""The algorithms that repair a materialisation, by name."""

log = logging.getLogger(__name__)


def update(
    engine: AnyEngine,
    program: StratifiedProgram,
    old: Materialisation[F, C],
    delete: F,
    insert: F,
    algorithm: Algorithm,
    strategy: Strategy = "never",
) -> SignedChange[F, C]:
    """The change to the materialisation of (E \\ delete) ∪ insert, by one of the algorithms."""
    return repair(engine, program, old, ExplicitChange.of(old.explicit, delete, insert), algorithm, strategy)


def repair(
    engine: AnyEngine,
    program: StratifiedProgram,
    old: Materialisation[F, C],
    explicit: ExplicitChange[F],
    algorithm: Algorithm,
    strategy: Strategy = "never",
) -> SignedChange[F, C]:
    """The change to the materialisation of changed explicit facts, by one of the algorithms.

    Bookkeeping that the algorithm needs and an earlier update did not keep is computed first.
    """
    if algorithm == "auto":
        return best_repair(engine, program, old, explicit)
    if algorithm == "rematerialise":
        return rematerialise(engine, program, old, explicit)
    kind, begun = ALGORITHMS[algorithm], old
    if kind.needs == "counters":
        if old.nr is None or old.rec is None:
            log.info("counting derivations, which %s needs and the last update did not keep", algorithm)
        begun = with_counters(engine, program, old)
    elif kind.needs == "trace":
        if old.trace is None:
            log.info("computing the trace, which %s needs and the last update did not keep", algorithm)
        begun = with_trace(engine, program, old)
    depth = None if strategy == "never" else 0 if strategy == "always" else strategy
    done = cast("SignedChange[F, C]", kind(engine, program, begun, explicit, depth).run())
    return done.without_counters() if old.nr is None or old.rec is None else done


def best_repair(
    engine: AnyEngine, program: StratifiedProgram, old: Materialisation[F, C], explicit: ExplicitChange[F]
) -> SignedChange[F, C]:
    """The change of :func:`repair` by the algorithm that seems cheapest; see :mod:`everlog.reasoning.choose`."""
    tried: list[str] = []
    for attempt in attempts(program, old, explicit.deleted, explicit.inserted):
        considered = engine.work.instances.total()
        engine.budget = None if attempt.budget is None else considered + attempt.budget
        try:
            done = repair(engine, program, old, explicit, attempt.algorithm)
        except OverBudgetError as error:
            tried.append(f"{attempt.algorithm} given up after {error.considered - considered:,} instances")
            continue
        finally:
            engine.budget = None
        done.statistics.reason = "; ".join([*tried, attempt.reason])
        done.statistics.budget = attempt.budget
        return done
    raise AssertionError("the last attempt has no budget")


def rematerialise(
    engine: AnyEngine, program: StratifiedProgram, old: Materialisation[F, C], explicit: ExplicitChange[F]
) -> SignedChange[F, C]:
    """The change of :func:`repair`, found by deriving everything again, with the bookkeeping that was kept, and
    comparing.
    """
    new, statistics = materialise(engine, program, explicit.explicit, kept_for(old))
    return compared(old, new, explicit, statistics)


def materialise(
    engine: AnyEngine, program: StratifiedProgram, explicit: F, maintain: Maintain, listener: Listener | None = None
) -> tuple[Materialisation[F, Any], Statistics]:
    """The materialisation of explicit facts with the bookkeeping for an algorithm, and the figures of deriving it."""
    facts, statistics = close_strata(engine, program, explicit, listener)
    fresh: Materialisation[F, Any] = Materialisation(explicit, facts, instances=statistics.instances)
    return with_bookkeeping(engine, program, fresh, maintain), statistics


def kept_for(old: AnyMaterialisation) -> Maintain:
    """An algorithm that needs the bookkeeping that a materialisation has."""
    return "counting" if old.trace is not None else "none" if old.nr is None else "dredc"
