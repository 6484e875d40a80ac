"""The changes of a knowledge base since a version of a store: the next version adds them to the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from everlog.engine.difference import Difference
from everlog.engine.multiset import Counts
from everlog.engine.state import State
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import SignedChange
from everlog.reasoning.seen_change import Relisted, SeenChange

Names = Mapping[Predicate, Predicate]


@dataclass(frozen=True)
class ChangesSince:
    """Consecutive changes, joined for each program; the names are the hidden ones of each program.

    ``by_rules`` is whether rules changed: then the changes of the facts that feed modules are not known.
    """

    parts: tuple[tuple[Names, SignedChange], ...] = ()
    by_rules: bool = False

    def then(self, hidden: Names, change: SignedChange, universe: int) -> ChangesSince:
        """These changes and one more, of facts with ids below ``universe``."""
        if self.parts and self.parts[-1][0] is hidden:
            before = self.parts[-1][1].fitted(universe)
            return ChangesSince((*self.parts[:-1], (hidden, before.then(change))), self.by_rules)
        return ChangesSince((*self.parts, (hidden, change)), self.by_rules)

    def then_rules(self, change: SignedChange) -> ChangesSince:
        """These changes and one of the rules, which is under the names that users see."""
        return ChangesSince((*self.parts, ({}, change)), True)

    def counters_known(self) -> bool:
        """Whether the changes of the counters are known."""
        return all(change.nr_summands is not None and change.rec_summands is not None for _, change in self.parts)

    def rows(self, old: State, new: State) -> Difference:
        """The changes to the rows of the version, which has the old state, that lead to the new one.

        Rows are compared only of predicates that the new state lists in another way, and, if rules changed, of those
        of which one of the states lists only the facts that feed modules.
        """
        universe, found = len(new.dictionary), Difference()
        for hidden, change in self.parts:
            found = found.plus(SeenChange(change, hidden, old.generated).rows().fitted(universe))
        otherwise = old.generated | new.generated if self.by_rules else old.generated ^ new.generated
        before, after = (state.rows.restricted(otherwise).fitted(universe) for state in (old, new))
        relisted = Relisted(otherwise, before, after)
        return replace(found, holds=Counts({**relisted.others(found.holds), **relisted.signed()}))
