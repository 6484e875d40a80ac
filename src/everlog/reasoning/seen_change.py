"""A change under the names that users see, and its rows in a store.

Reasoning keeps the facts that feed a module under a hidden name (:mod:`everlog.reasoning.modules.boundary`). A store
lists the pairs of a module's predicate, or, where the predicate is *generated*, only the facts that feed the module.
All engines use this translation for the rows that a version adds to a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from everlog.analysis.modules.hidden import is_inner
from everlog.engine.algebra import AnyFactSet
from everlog.engine.difference import Difference
from everlog.engine.factset import as_local
from everlog.engine.multiset import NO_COUNTS, Counts, counts_as_local
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import AnySignedChange
from everlog.reasoning.materialisation import C


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
        inside = [hidden for predicate, hidden in self.hidden.items() if is_inner(predicate)]
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
        """The facts that a store lists; of generated predicates those that feed modules."""
        fed = {self.hidden[p]: p for p in self.generated if p in self.hidden}
        if not fed:
            return visible
        rest = visible.restricted(p for p in visible if p not in self.generated)
        return rest.extended(facts.restricted(fed).renamed(fed))


def _signed(more: AnyFactSet, less: AnyFactSet) -> Counts:
    return Counts.once(as_local(more).plain()) - Counts.once(as_local(less).plain())
