"""Forward/Backward/Forward: the FBF algorithm (journal paper, Algorithm 5)."""

from __future__ import annotations

from everlog.engine.algebra import AnyFactSet
from everlog.reasoning.backward import BackwardChaining
from everlog.reasoning.rule_sets import Rules


class FBF(BackwardChaining):
    """Look for another proof before deleting, as far as the strategy allows, and rederive the rest.

    ``depth`` is how many facts a chain has before the next body atoms are
    blocked: None never blocks (that is B/F), 0 always does (that is DRed). As printed, lines 63 and
    64 lose facts if only some branches are blocked, because B is not closed under facts that were
    checked before; so if anything was blocked, all proved facts come back, and one-step rederivation
    ranges over all other deleted ones. Counters are not kept: saturation proves facts whose
    instances are not seen again.
    """

    name = "fbf"
    keeps_counters = False

    def rederive(self, rules: Rules, deleted: AnyFactSet) -> AnyFactSet:
        """The facts that were proved, and those of the others that follow in one step (l. 63 and 64)."""
        back = deleted & self.P
        self.observer(back.count)
        self.add(back)
        unknown = deleted - back
        delayed = unknown & self.Y
        return delayed | self.provable(rules.every, unknown - delayed)

    def proved_at_once(self, rules: Rules, facts: AnyFactSet) -> AnyFactSet:
        delayed = facts & self.Y
        return delayed | self.provable(rules.nonrecursive, facts - delayed)  # l. 88
