"""A change under the names that users see, and its rows in a store.

Reasoning keeps the facts that feed a module under a hidden name (:mod:`everlog.reasoning.modules.boundary`). A store
lists the pairs of a module's predicate, or, where the predicate is *generated*, only the facts that feed the module.
All engines use this translation for the rows that a version adds to a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from everlog.analysis.modules.hidden import is_intermediate
from everlog.engine.algebra import AnyFactSet
from everlog.engine.difference import Difference
from everlog.engine.factset import NONE, as_local
from everlog.engine.multiset import NO_COUNTS, Counts, counts_as_local
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import AnySignedChange
from everlog.reasoning.materialisation import C, F


@dataclass(frozen=True, eq=False)
class SeenChange:
    """A change as users see it. ``hidden`` maps each predicate that feeds a module under a hidden name to that name."""

    change: AnySignedChange
    hidden: Mapping[Predicate, Predicate] = field(default_factory=dict)
    generated: frozenset[Predicate] = frozenset()

    @cached_property
    def inserted(self) -> AnyFactSet:
        """The facts that hold now and did not before."""
        return self._visible(self.change.inserted)

    @cached_property
    def deleted(self) -> AnyFactSet:
        """The facts that held before and do not now."""
        return self._visible(self.change.deleted)

    @cached_property
    def explicit_inserted(self) -> AnyFactSet:
        """The facts that are explicit now and were not before."""
        return self.change.explicit_inserted.renamed(self._shown)

    @cached_property
    def explicit_deleted(self) -> AnyFactSet:
        """The facts that were explicit before and are not now."""
        return self.change.explicit_deleted.renamed(self._shown)

    @cached_property
    def listed(self) -> AnyFactSet:
        """The facts that a store lists now and did not before."""
        return self._listed(self.inserted, self.change.inserted)

    @cached_property
    def unlisted(self) -> AnyFactSet:
        """The facts that a store listed before and does not now."""
        return self._listed(self.deleted, self.change.deleted)

    def counted(self, counts: C) -> C:
        """Counters, or differences of counters, without those of facts that follow from others within a module."""
        inside = [hidden for predicate, hidden in self.hidden.items() if is_intermediate(predicate)]
        rest = counts.restricted([p for p in counts if p not in inside]) if inside else counts
        return rest.renamed(self._shown)

    def rows(self) -> Difference:
        """The rows of a store, for local sets; counters without a known difference stay as they are in the store."""
        nr, rec = (
            NO_COUNTS if counts is None else counts_as_local(self.counted(counts))
            for counts in (self.change.nr, self.change.rec)
        )
        holds, explicit = (self.listed, self.unlisted), (self.explicit_inserted, self.explicit_deleted)
        return Difference(_signed(*holds), _signed(*explicit), nr, rec)

    @cached_property
    def _shown(self) -> dict[Predicate, Predicate]:
        """Maps each hidden predicate to the one that users see."""
        return {hidden: predicate for predicate, hidden in self.hidden.items()}

    def _visible(self, facts: AnyFactSet) -> AnyFactSet:
        return facts.restricted(p for p in facts if p not in self._shown) if self.hidden else facts

    def _listed(self, visible: AnyFactSet, facts: AnyFactSet) -> AnyFactSet:
        return listed(visible, facts, self.hidden, self.generated)


@dataclass(frozen=True, eq=False)
class ChangeAfresh(SeenChange):
    """A change for which everything was derived again, maybe by other rules, so that it is under the names that users
    see; ``hidden`` and ``generated`` are those of the materialisation after it.

    What a store lists of generated predicates is found by comparing the facts before and after the change.
    """

    before: AnyFactSet = field(default_factory=lambda: NONE)
    hidden_before: Mapping[Predicate, Predicate] = field(default_factory=dict)
    generated_before: frozenset[Predicate] = frozenset()

    @cached_property
    def inserted(self) -> AnyFactSet:
        return self.change.inserted

    @cached_property
    def deleted(self) -> AnyFactSet:
        return self.change.deleted

    @cached_property
    def explicit_inserted(self) -> AnyFactSet:
        return self.change.explicit_inserted

    @cached_property
    def explicit_deleted(self) -> AnyFactSet:
        return self.change.explicit_deleted

    @cached_property
    def listed(self) -> AnyFactSet:
        old, new = self._of_generated
        return self._others(self.inserted).extended(new - old)

    @cached_property
    def unlisted(self) -> AnyFactSet:
        old, new = self._of_generated
        return self._others(self.deleted).extended(old - new)

    def counted(self, counts: C) -> C:
        return counts

    @cached_property
    def _generated(self) -> frozenset[Predicate]:
        """The predicates that are generated before the change or after it."""
        return self.generated | self.generated_before

    @cached_property
    def _of_generated(self) -> tuple[AnyFactSet, AnyFactSet]:
        """What a store lists of these predicates, before and after the change."""
        sides = (
            (self.before, self.hidden_before, self.generated_before),
            (self.change.materialisation.facts, self.hidden, self.generated),
        )
        old, new = (
            listed(facts.restricted(self._generated), facts, hidden, generated) for facts, hidden, generated in sides
        )
        return old, new

    def _others(self, facts: AnyFactSet) -> AnyFactSet:
        return facts.restricted(p for p in facts if p not in self._generated) if self._generated else facts


def listed(visible: F, facts: F, hidden: Mapping[Predicate, Predicate], generated: frozenset[Predicate]) -> F:
    """The visible facts that a store lists; of generated predicates those of ``facts`` that feed their modules."""
    fed = {hidden[p]: p for p in generated if p in hidden}
    if not fed:
        return visible
    rest = visible.restricted(p for p in visible if p not in generated)
    return rest.extended(facts.restricted(fed).renamed(fed))


def _signed(more: AnyFactSet, less: AnyFactSet) -> Counts:
    return Counts.once(as_local(more).plain()) - Counts.once(as_local(less).plain())
