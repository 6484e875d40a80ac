"""Choosing how to repair a materialisation, from figures that cost little to compute.

The cost W of rematerialising is known: the instances it considers, at most 64 a fact, and the facts it holds. The cost
of an algorithm depends on how far the deletions spread, which is not known beforehand. So the choice is made in
attempts with budgets: each attempt may consider a number of instances that is a fraction of W, and is given up beyond
it, which bounds the cost of a wrong choice.

- A change of more than half of the explicit facts: rematerialise.
- Nothing is deleted, or no recursive rule is affected: DRed^c (without counters, DRed), which then
  considers only instances that are gained or lost, so no budget is needed.
- Otherwise DRed^c up to W / 8, then B/F^c up to W / 64, then rematerialise. Without counters, whose
  computation would cost W, DRed up to W / 4, then rematerialise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.algebra import AnyFactSet
from everlog.lang.syntax import Predicate
from everlog.reasoning.materialisation import AnyMaterialisation

LARGE_CHANGE = 2
"""Rematerialise if more than 1/N of the explicit facts change."""

DENSE = 64
"""Maximum number of instances a fact that count as work: where facts have more derivations, materialising considers
them in groups, and deletions spread."""

SMALLEST_BUDGET = 20_000
"""Minimum budget of an attempt, in instances, which any update considers quickly."""


@dataclass(frozen=True)
class Attempt:
    """An algorithm to try, the reason, and the maximum number of instances it may consider (None: no maximum)."""

    algorithm: Literal["dredc", "bfc", "dred", "rematerialise"]
    reason: str
    budget: int | None = None


def attempts(
    program: StratifiedProgram, old: AnyMaterialisation, delete: AnyFactSet, insert: AnyFactSet
) -> Iterator[Attempt]:
    """The attempts in their order; the last one has no budget."""
    size, total = _size(delete) + _size(insert), old.explicit.count
    if size * LARGE_CHANGE > total and program.strata:
        yield Attempt("rematerialise", f"{size:,} of {total:,} explicit facts change")
        return
    counted = old.nr is not None and old.rec is not None
    exact: Literal["dredc", "dred"] = "dredc" if counted else "dred"
    facts = old.facts.count
    work = min(old.instances, DENSE * facts) + facts
    if not delete and not old.afresh and not _has_negation(program):
        yield Attempt(exact, "nothing is deleted")
    elif not _recursion_affected(program, old, {*delete, *insert}):
        yield Attempt(exact, "no recursive rule is affected")
    elif counted:
        yield Attempt("dredc", "a recursive rule is affected", max(SMALLEST_BUDGET, work // 8))
        yield Attempt("bfc", "overdeletion went too far", max(SMALLEST_BUDGET, work // 64))
        yield Attempt("rematerialise", "proofs are hard to find, too")
    else:
        yield Attempt("dred", "a recursive rule is affected, no counters are kept", max(SMALLEST_BUDGET, work // 4))
        yield Attempt("rematerialise", "overdeletion went too far, and no counters are kept")


def _size(facts: AnyFactSet) -> int:
    """The number of facts, without those of arity 0, such as guards of rules."""
    return facts.restricted(predicate for predicate in facts if predicate.arity).count


def _has_negation(program: StratifiedProgram) -> bool:
    return any(rule.negative for stratum in program.strata for rule in stratum.rules)


def _recursion_affected(program: StratifiedProgram, old: AnyMaterialisation, changed: set[Predicate]) -> bool:
    """Whether changed predicates reach the body of a recursive rule."""
    reached = set(changed)
    for stratum in program.strata:
        if old.is_afresh(stratum):
            reached.update(stratum.predicates)
            continue
        if stratum.alone is not None and not reached.isdisjoint(stratum.alone.inputs):
            reached.update(stratum.predicates)
        for rule in stratum.nonrecursive:
            if not reached.isdisjoint(atom.predicate for atom in rule.body):
                reached.add(rule.head.predicate)
        if any(atom.predicate in reached for rule in stratum.recursive for atom in rule.body):
            return True
        if stratum.is_mixed and any(not reached.isdisjoint(module.inputs) for module in stratum.special):
            return True
    return False
