"""The state of a knowledge base: a dictionary, the explicit facts, and everything that holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.grouped import renumbered_counts, renumbered_relations
from everlog.engine.keys import Column
from everlog.engine.multiset import Counts
from everlog.engine.reach import Reach
from everlog.lang.syntax import Predicate


@dataclass(frozen=True)
class State:
    """Facts over one dictionary; ``explicit`` is a subset of ``facts``.

    ``nr`` and ``rec`` are the numbers of nonrecursive and recursive derivations, None if they are not maintained. The
    facts of predicates that are *generated* are not listed: modules derive them from ``external`` ones.
    """

    dictionary: Dictionary
    explicit: FactSet
    facts: FactSet
    nr: Counts | None = None
    rec: Counts | None = None
    external: FactSet = field(default_factory=FactSet)
    """The facts of modules' predicates that are explicit or derived outside the module: of those that are
    generated, and of all if the state is ``fed``."""
    fed: bool = False
    generated: frozenset[Predicate] = frozenset()
    graphs: Mapping[str, Reach] = field(default_factory=dict)
    """The graphs of closures, by the names of their modules; those that were not computed are missing."""

    @property
    def predicates(self) -> list[Predicate]:
        """All predicates that have listed facts."""
        return sorted({*self.facts, *self.external})

    @property
    def rows(self) -> FactSet:
        """The facts that a store lists: all, but of generated predicates those alone from which the others follow."""
        return self.facts.replaced(self.external.restricted(self.generated)) if self.generated else self.facts

    def uncounted(self) -> State:
        """The state without counters, and without graphs and external facts except those of generated predicates."""
        external = self.external.restricted(self.generated)
        return State(self.dictionary, self.explicit, self.facts, external=external, generated=self.generated)

    def ranked(self) -> State:
        """The state with ids in the order of the terms' hashes, as stores have them."""
        dictionary, ids = self.dictionary.ranked()
        if dictionary is self.dictionary:
            return self
        universe = len(ids)
        facts = FactSet(renumbered_relations(self.facts, ids, universe))
        explicit = _renumbered(self.explicit, ids, [(self.facts, facts)])
        external = _renumbered(self.external, ids, [(self.explicit, explicit), (self.facts, facts)])
        nr, rec = (None if c is None else renumbered_counts(c, ids, universe) for c in (self.nr, self.rec))
        graphs = {name: graph.renumbered(ids) for name, graph in self.graphs.items()}
        return State(dictionary, explicit, facts, nr, rec, external, self.fed, self.generated, graphs)

    def settled(self) -> State:
        """The state with each relation listed, as one run, and each counter as one piece."""
        facts = self.facts.plain().settled()
        explicit = _settled(self.explicit, facts)
        external = _settled(self.external, explicit, facts)
        nr, rec = (None if counts is None else counts.settled() for counts in (self.nr, self.rec))
        return replace(self, explicit=explicit, facts=facts, nr=nr, rec=rec, external=external)


def _renumbered(some: FactSet, ids: Column, known: list[tuple[FactSet, FactSet]]) -> FactSet:
    """Facts with other ids; ``known`` has sets that lie within them or around them, before and after renumbering."""
    found = {}
    for predicate, relation in some.items():
        for before, after in known:
            if predicate in before and len(before[predicate]) == len(relation):
                found[predicate] = after[predicate]
                break
    rest = some.restricted(p for p in some if p not in found)
    return FactSet({**found, **dict(renumbered_relations(rest, ids, len(ids)))})


def _settled(some: FactSet, *known: FactSet) -> FactSet:
    """The facts with each relation as one run; the run is that of a set within or around them if it is as large."""
    found = {}
    for predicate, relation in some.items():
        same = (each[predicate] for each in known if len(each.get(predicate, NONE)) == len(relation))
        found[predicate] = next(same, None) or relation.settled()
    return FactSet(found)
