"""Backward chaining in frontiers: which facts still have a proof (journal paper, Algorithm 5; thesis, Algorithm 5).

The papers check a fact by recursion, depth first: CHECK looks for the instances of recursive rules
that derive it and checks their body atoms. Here all facts in question are checked at once,
level by level. To stay exact, a fact enters C (checked) when its level is expanded, not when it is
first seen, so that saturation proves exactly the facts that it proves in the papers. The search ends when all
facts in question are proved, or when a level has only checked facts; then the facts that are not in P (proved) are
disproved. Since all facts that may be lost are searched for at once, a search that ended
early is never resumed: nothing is deleted then, and the stratum is done.

Each fact is expanded at most once, so each recursive instance of the old materialisation is
considered at most once (Theorem 25 d), though not in the papers' order, and more of them may be
considered before a proof is found.
"""

from __future__ import annotations

from functools import partial

from everlog.analysis.stratify import StratifiedProgram
from everlog.engine.algebra import AnyEngine, AnyFactSet
from everlog.engine.factset import NONE
from everlog.reasoning.change import AnyExplicitChange
from everlog.reasoning.fixpoint import fixpoint
from everlog.reasoning.maintenance import Maintenance
from everlog.reasoning.materialisation import AnyMaterialisation
from everlog.reasoning.rule_sets import Rules


class BackwardChaining(Maintenance):
    """Deletion that searches for another proof before it deletes; subclasses define what is proved without recursion.

    ``depth`` is the maximum number of levels that one search expands; facts on further levels are blocked. None is no
    limit.
    """

    keeps_counters = True

    def __init__(
        self,
        engine: AnyEngine,
        program: StratifiedProgram,
        old: AnyMaterialisation,
        explicit: AnyExplicitChange,
        depth: int | None = None,
    ) -> None:
        super().__init__(engine, program, old, explicit, depth)
        if not self.keeps_counters:
            self.C_nr = self.C_r = None

    def maintain(self, rules: Rules) -> None:
        self.C: AnyFactSet = NONE
        self.P: AnyFactSet = NONE
        self.Y: AnyFactSet = NONE
        self.B: AnyFactSet = NONE
        deleted = self.overdelete(rules, partial(self.unproved, rules))  # l. 62; thesis l. 100
        self.statistics.overdeleted += deleted.count
        self.statistics.checked += self.C.count
        self.statistics.proved += self.P.count
        self.statistics.blocked += self.B.count
        rederived = self.rederive(rules, deleted) if self.B else NONE  # l. 63 and 64
        self.statistics.rederived += rederived.count
        self.insert(rules, rederived)  # l. 65; thesis l. 101

    def rederive(self, rules: Rules, deleted: AnyFactSet) -> AnyFactSet:
        """The deleted facts to insert again, if a search was given up."""
        raise NotImplementedError

    def unproved(self, rules: Rules, asked: AnyFactSet) -> AnyFactSet:
        """The facts of ``asked`` that cannot be proved, or that are blocked (CHECK)."""
        depth = 0

        def step(level: AnyFactSet) -> AnyFactSet:
            nonlocal depth
            if self.max_depth is not None and depth >= self.max_depth:  # l. 79
                self.B = self.B | level
                return NONE
            self.C = self.C.extended(level)  # l. 87
            self.saturate(rules, self.proved_at_once(rules, level))  # l. 88
            if not asked - self.P:
                return NONE
            depth += 1
            support = self.alive | (self.D & self.B) if self.B else self.alive
            left = self.with_instances(level - self.P)
            found = self.engine.prove(rules.recursive, left, support, self.either)  # l. 81
            return found.bodies(rules.predicates) - self.C  # l. 82

        if asked - self.P:
            fixpoint(asked - self.C, step)
        return asked - self.P

    def saturate(self, rules: Rules, proved: AnyFactSet) -> None:
        """Add to P the checked facts that follow from it; facts that follow and are not checked are delayed
        (SATURATE).
        """
        lower = self.alive.restricted(p for p in self.alive if p not in rules.predicates)

        def checked(found: AnyFactSet) -> AnyFactSet:
            known = found & self.C
            self.Y = self.Y | (found - known)  # l. 91
            return known - self.P

        def step(delta: AnyFactSet) -> AnyFactSet:
            self.P = self.P.extended(delta)  # l. 93
            known = lower.extended(self.P)
            return checked(self.engine.match(rules.recursive, known, self.either, [(delta, NONE)]).facts())  # l. 94

        fixpoint(checked(proved), step)

    def proved_at_once(self, rules: Rules, facts: AnyFactSet) -> AnyFactSet:
        """The facts that are delayed, explicit, or derived by a nonrecursive rule."""
        raise NotImplementedError

    def with_instances(self, facts: AnyFactSet) -> AnyFactSet:
        """The facts that may still have an instance of a recursive rule."""
        return facts
