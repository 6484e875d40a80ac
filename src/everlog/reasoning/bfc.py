"""Backward/Forward with counters: the B/F^c algorithm (thesis, Algorithm 5), and the variants between it and DRed^c."""

from __future__ import annotations

from everlog.engine.algebra import AnyFactSet
from everlog.reasoning.backward import BackwardChaining
from everlog.reasoning.rule_sets import Rules


class BFC(BackwardChaining):
    """Delete the facts that lost their last proof; nonrecursive rules are checked by the nonrecursive counter.

    ``depth`` is how many facts a chain has, as in FBF: None never gives up, so
    exactly the facts that no longer hold are deleted and nothing is rederived (that is B/F^c); 0 always does
    (that is DRed^c). A fact whose search is given up is deleted unless its nonrecursive counter is above
    zero, and comes back if its recursive counter is when deletion is done. Unlike FBF, which adds proved
    facts without their instances, BFC considers every instance that is lost or gained, so both counters stay right.
    """

    name = "bfc"
    needs = "counters"

    def unproved(self, rules: Rules, asked: AnyFactSet) -> AnyFactSet:
        """The facts that cannot be proved, without those that nonrecursive rules derive, which a blocked search may not
        have reached.
        """
        assert self.C_nr is not None
        left = super().unproved(rules, asked)
        return left - self.C_nr.counted(left) if self.B else left

    def rederive(self, rules: Rules, deleted: AnyFactSet) -> AnyFactSet:
        """The facts that were proved after they were deleted, and those that follow in one step (Algorithm
        4, l. 70).
        """
        assert self.C_r is not None
        return (deleted & self.P) | self.C_r.counted(deleted)

    def proved_at_once(self, rules: Rules, facts: AnyFactSet) -> AnyFactSet:
        assert self.C_nr is not None
        return (facts & self.Y) | self.C_nr.counted(facts)  # l. 125

    def with_instances(self, facts: AnyFactSet) -> AnyFactSet:
        return facts if self.C_r is None else self.C_r.counted(facts)
