"""Seminaive evaluation of a stratum (journal paper, Algorithm 1, lines 3 to 8).

The facts found in one round are the changes of the next, so each instance of a rule is considered exactly once. A rule
none of whose body predicates changed is not touched. Cost: one match per instance, and per round the new facts, sorted
or in bitmaps.

Line 2, the loop over strata, is :func:`everlog.reasoning.strata.close_strata`.
"""

from __future__ import annotations

from typing import cast

from everlog.engine.algebra import AnyEngine, AnyFactSet, Observer
from everlog.engine.factset import NONE
from everlog.engine.rules import RuleSet
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.materialisation import F
from everlog.reasoning.rule_sets import RuleSets


def close_by_rules(engine: AnyEngine, rules: RuleSets, facts: F, explicit: AnyFactSet, observer: Observer) -> F:
    """All facts below a stratum, which are ``facts``, and of the stratum, which has rules and explicit facts."""
    return close_in_rounds(engine, rules.recursive, facts, found_at_once(engine, rules, facts, explicit), observer)


def found_at_once(engine: AnyEngine, rules: RuleSets, facts: AnyFactSet, explicit: AnyFactSet) -> AnyFactSet:
    """The explicit facts of a stratum, and what follows from the facts below it by nonrecursive rules."""
    return explicit.extended(engine.match(rules.nonrecursive, facts, facts).facts(without=explicit))  # l. 3


def close_in_rounds(
    engine: AnyEngine,
    rules: RuleSet,
    facts: F,
    new: AnyFactSet,
    observer: Observer | None = None,
    phase: str = "forward",
) -> F:
    """All facts that follow by the rules from ``facts``, from which nothing follows alone, and ``new``, facts that are
    not among them.
    """
    known: AnyFactSet = facts

    def step(delta: AnyFactSet) -> AnyFactSet:
        nonlocal known
        known = known.extended(delta)  # l. 7
        return engine.match(rules, known, known, [(delta, NONE)], phase).facts(without=known)  # l. 8 and 5

    fixpoint(new, step, observer)  # l. 4 and 6
    return cast("F", known)


def close_under(engine: AnyEngine, rules: RuleSet, facts: F, phase: str) -> F:
    """All facts that follow by the rules from ``facts``."""
    new = engine.match(rules, facts, facts, phase=phase).facts(without=facts)
    return close_in_rounds(engine, rules, facts, new, phase=phase)
