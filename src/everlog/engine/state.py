"""The state of a knowledge base: a dictionary, the explicit facts, and everything that holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.grouped import renumbered_counts, renumbered_relations
from everlog.engine.multiset import Counts


@dataclass(frozen=True)
class State:
    """Facts over one dictionary; ``explicit`` is a subset of ``facts``.

    ``nr`` and ``rec`` are the numbers of nonrecursive and recursive derivations, if they are kept.
    """

    dictionary: Dictionary
    explicit: FactSet
    facts: FactSet
    nr: Counts | None = None
    rec: Counts | None = None

    def ranked(self) -> State:
        """The same state with ids in the order of the terms' hashes, as stores have them."""
        dictionary, ids = self.dictionary.ranked()
        if dictionary is self.dictionary:
            return self
        universe = len(ids)
        facts = FactSet(renumbered_relations(self.facts, ids, universe))
        some = {p: relation for p, relation in self.explicit.items() if len(relation) < len(self.facts[p])}
        explicit = {p: facts[p] for p in self.explicit if p not in some}
        explicit.update(renumbered_relations(some, ids, universe))
        nr, rec = (None if c is None else renumbered_counts(c, ids, universe) for c in (self.nr, self.rec))
        return State(dictionary, FactSet(explicit), facts, nr, rec)

    def settled(self) -> State:
        """The same state with each relation listed, as one run, and each counter as one piece."""
        facts = self.facts.plain().settled()
        explicit = {p: facts[p] if len(r) == len(facts[p]) else r.settled() for p, r in self.explicit.items()}
        nr, rec = (None if counts is None else counts.settled() for counts in (self.nr, self.rec))
        return replace(self, explicit=FactSet(explicit), facts=facts, nr=nr, rec=rec)
