"""DRed with counters: the DRed^c algorithm (thesis, Algorithm 4)."""

from __future__ import annotations

from everlog.reasoning.maintenance import Maintenance
from everlog.reasoning.rule_sets import Rules


class DRedC(Maintenance):
    """Delete and rederive, with two counters that spare both overdeletion and backward evaluation.

    A fact whose nonrecursive counter stays above zero holds after the update and is never
    overdeleted; an overdeleted fact can be rederived in one step exactly if its recursive counter is
    above zero when overdeletion is done. Needs and keeps both counters.
    """

    name = "dredc"
    needs = "counters"

    def maintain(self, rules: Rules) -> None:
        overdeleted = self.overdelete(rules, self.unsupported)  # l. 69
        self.statistics.overdeleted += overdeleted.count
        assert self.C_r is not None
        rederived = self.C_r.counted(overdeleted)  # l. 70
        self.statistics.rederived += rederived.count
        self.insert(rules, rederived)  # l. 71
