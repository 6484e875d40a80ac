"""DRed with counters: the DRed^c algorithm (thesis, Algorithm 4)."""

from __future__ import annotations

from everlog.engine.algebra import AnyFactSet
from everlog.engine.factset import NONE
from everlog.reasoning.maintenance import Maintenance, Rules


class DRedC(Maintenance):
    """Delete and rederive, with two counters that spare both overdeletion and backward evaluation.

    A fact whose nonrecursive counter stays above zero holds after the update and is never
    overdeleted; an overdeleted fact can be rederived in one step just if its recursive counter is
    above zero when overdeletion is done. Needs and keeps both counters.
    """

    name = "dredc"

    def maintain(self, rules: Rules) -> None:
        overdeleted = self.overdelete(rules)  # l. 69
        self.statistics.overdeleted += overdeleted.count
        assert self.C_r is not None
        rederived = self.C_r.counted(overdeleted)  # l. 70
        self.statistics.rederived += rederived.count
        self.insert(rules, rederived)  # l. 71

    def overdelete(self, rules: Rules) -> AnyFactSet:
        """Remove every fact of the stratum whose support may be gone (OVERDELETE)."""
        engine, changed = self.engine, [(self.gone, self.fresh)]
        explicit = self.E_minus.restricted(rules.predicates)
        lost = self.lose_nr(engine.match(rules.nonrecursive, self.I, self.I, changed, "delete"), explicit)  # l. 75
        lost |= self.lose_rec(engine.match(rules.recursive, self.I, self.I, changed, "delete"))  # l. 77
        overdeleted: AnyFactSet = NONE
        while delta := self.unsupported(lost - self.D):  # l. 80
            lost = self.lose_rec(
                engine.match(rules.recursive, self.alive, self.either, [(delta, NONE)], "delete")
            )  # l. 82
            self.delete(delta)  # l. 84
            overdeleted = overdeleted.extended(delta)
        return overdeleted

    def unsupported(self, facts: AnyFactSet) -> AnyFactSet:
        """The facts that are neither explicit nor have an instance of a nonrecursive rule left."""
        assert self.C_nr is not None
        return facts - self.C_nr.counted(facts)
