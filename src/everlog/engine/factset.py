"""A fact set: a relation per predicate, as an immutable value with the operations of sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate


class FactSet(Mapping[Predicate, Relation]):
    """A mapping from predicate to relation that knows no empty relations.

    >>> edge = Predicate("edge", 2)
    >>> facts = FactSet({edge: Relation.from_columns([[1], [2]])})
    >>> len(facts[edge]), len(facts - facts), facts.count, (facts | facts).count
    (1, 0, 1, 1)
    """

    __slots__ = ("_count", "_relations")

    def __init__(self, relations: Mapping[Predicate, Relation] | Iterable[tuple[Predicate, Relation]] = ()) -> None:
        self._relations = {predicate: relation for predicate, relation in dict(relations).items() if relation}
        self._count: int | None = None

    @classmethod
    def _of(cls, relations: dict[Predicate, Relation], count: int | None = None) -> FactSet:
        """Of relations none of which is empty, so that an operation costs what its small part costs."""
        found = cls()
        found._relations, found._count = relations, count
        return found

    def __getitem__(self, predicate: Predicate) -> Relation:
        return self._relations[predicate]

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self._relations)

    def __len__(self) -> int:
        """The number of predicates that have facts."""
        return len(self._relations)

    def relation(self, predicate: Predicate) -> Relation:
        """The relation of a predicate, empty if it has no facts."""
        found = self._relations.get(predicate)
        return found if found is not None else Relation.empty(predicate.arity)

    @property
    def count(self) -> int:
        """The number of facts."""
        if self._count is None:
            self._count = sum(map(len, self._relations.values()))
        return self._count

    @property
    def nbytes(self) -> int:
        return sum(relation.nbytes for relation in self._relations.values())

    def _combined(self, other: FactSet, combine: Callable[[Relation, Relation], Relation]) -> FactSet:
        return FactSet({p: combine(r, other.relation(p)) for p, r in self._relations.items()})

    def __or__(self, other: FactSet) -> FactSet:
        joined = dict(self._relations)
        for predicate, relation in other.items():
            joined[predicate] = joined[predicate] | relation if predicate in joined else relation
        return FactSet._of(joined)

    def __sub__(self, other: FactSet) -> FactSet:
        return self._combined(other, Relation.__sub__)

    def __and__(self, other: FactSet) -> FactSet:
        return self._combined(other, Relation.__and__)

    def extended(self, new: FactSet) -> FactSet:
        """The union with facts none of which are in the set."""
        joined = dict(self._relations)
        for predicate, relation in new.items():
            mine = joined.get(predicate)
            joined[predicate] = relation if mine is None else mine.extended(relation.run())
        return FactSet._of(joined, self.count + new.count)

    def restricted(self, predicates: Iterable[Predicate]) -> FactSet:
        """The facts of some predicates."""
        return FactSet._of({p: self._relations[p] for p in predicates if p in self._relations})

    def settled(self) -> FactSet:
        """The same facts, each relation as one run."""
        return FactSet({p: relation.settled() for p, relation in self._relations.items()})

    def fitted(self, universe: int) -> FactSet:
        """The same facts in layouts that hold ids below ``universe``."""
        return FactSet({p: relation.fitted(universe) for p, relation in self._relations.items()})


NONE = FactSet()
"""No facts."""
