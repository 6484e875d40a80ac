"""Choosing how to repair a materialisation, from evidence that costs next to nothing.

What rematerialising costs is known, W: the instances it considers, at most 64 a fact, and the facts it holds. What an
algorithm will cost depends on how far the deletions spread, which nobody knows beforehand. So the
choice is made in attempts with budgets: each may consider so many instances, a fraction of W, and
is given up beyond that, which bounds what is lost on a wrong guess.

- A change of more than half of the explicit facts: rematerialise.
- Nothing is deleted, or no recursive rule is affected: DRed^c (without counters, DRed), which then
  considers only instances that come or go, so no budget is needed.
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
"""Rematerialise if more than one explicit fact in so many changes."""

DENSE = 64
"""Instances beyond so many a fact do not count: where facts have that many derivations, materialising considers
them by the group, and deletions spread."""

SMALLEST_BUDGET = 20_000
"""Instances that any attempt may consider: below this nothing is slow."""


@dataclass(frozen=True)
class Attempt:
    """An algorithm to try, why, and how many instances it may consider (None: any number)."""

    algorithm: Literal["dredc", "bfc", "dred", "rematerialise"]
    reason: str
    budget: int | None = None


def attempts(
    program: StratifiedProgram, old: AnyMaterialisation, delete: AnyFactSet, insert: AnyFactSet
) -> Iterator[Attempt]:
    """What to try, one after the other; the last has no budget."""
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
    """How many facts there are, without those that are nothing but true, such as guards of rules."""
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
