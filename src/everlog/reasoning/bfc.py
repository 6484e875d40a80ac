"""Backward/Forward with counters: the B/F^c algorithm (thesis, Algorithm 5)."""

from __future__ import annotations

from everlog.engine.factset import FactSet
from everlog.reasoning.backward import BackwardChaining
from everlog.reasoning.maintenance import Rules


class BFC(BackwardChaining):
    """Delete exactly the facts that lost their last proof; the nonrecursive counter answers for nonrecursive rules.

    Nothing is rederived. Needs the nonrecursive counters; keeps both right if there are both.
    """

    name = "bfc"

    def maintain(self, rules: Rules) -> None:
        self.start_stratum()
        self.statistics.overdeleted += self.delete_unproved(rules).count  # l. 100
        self.statistics.checked += self.C.count
        self.statistics.proved += self.P.count
        self.insert(rules, FactSet())  # l. 101

    def proved_at_once(self, rules: Rules, facts: FactSet) -> FactSet:
        assert self.C_nr is not None
        return (facts & self.Y) | self.C_nr.counted(facts)  # l. 125

    def with_instances(self, facts: FactSet) -> FactSet:
        return facts if self.C_r is None else self.C_r.counted(facts)
