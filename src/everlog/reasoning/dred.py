"""Delete and rederive: the DRed algorithm (journal paper, Algorithm 4)."""

from __future__ import annotations

from everlog.engine.algebra import AnyFactSet
from everlog.engine.factset import NONE
from everlog.reasoning.maintenance import Maintenance, Rules


class DRed(Maintenance):
    """Delete whatever might depend on a deleted fact, then add back what can still be derived.

    Each instance of the old materialisation is considered at most once in overdeletion, and each of
    the new one at most once in rederivation and insertion (Theorem 19). No bookkeeping is needed;
    counters are kept right if there are any, since every instance that goes or comes is seen.
    One-step rederivation proves all deleted facts at once, and so considers all their instances
    where the paper may stop at the first.
    """

    name = "dred"

    def maintain(self, rules: Rules) -> None:
        overdeleted = self.overdelete(rules)  # l. 41
        self.statistics.overdeleted += overdeleted.count
        rederived = self.rederive(rules, overdeleted)  # l. 42
        self.statistics.rederived += rederived.count
        self.insert(rules, rederived)  # l. 43

    def overdelete(self, rules: Rules) -> AnyFactSet:
        """Remove every fact of the stratum that an instance with a changed body derives (OVERDELETE)."""
        engine, changed = self.engine, [(self.gone, self.fresh)]
        explicit = self.E_minus.restricted(rules.predicates)
        lost = self.lose_nr(engine.match(rules.nonrecursive, self.I, self.I, changed, "delete"), explicit)  # l. 46
        lost |= self.lose_rec(engine.match(rules.recursive, self.I, self.I, changed, "delete"))
        overdeleted: AnyFactSet = NONE
        while delta := lost - self.D:  # l. 48
            lost = self.lose_rec(
                engine.match(rules.recursive, self.alive, self.either, [(delta, NONE)], "delete")
            )  # l. 50
            self.delete(delta)  # l. 51
            overdeleted = overdeleted.extended(delta)
        return overdeleted

    def rederive(self, rules: Rules, overdeleted: AnyFactSet) -> AnyFactSet:
        """The overdeleted facts that are explicit or follow in one step from facts that survived."""
        explicit = overdeleted & self.kept
        proofs = self.engine.prove(rules.every, overdeleted - explicit, self.alive, self.either)
        return explicit.extended(proofs.facts())
