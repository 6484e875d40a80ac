"""A fact set: a relation per predicate, as an immutable value with the operations of sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from everlog.engine.algebra import AnyFactSet, foreign
from everlog.engine.relation import Relation
from everlog.lang.syntax import Predicate


class FactSet(Mapping[Predicate, Relation]):
    """A mapping from predicates to relations that are not empty; implements
    :class:`~everlog.engine.algebra.AnyFactSet`. ``count`` is the number of facts, if the caller knows it.

    >>> edge = Predicate("edge", 2)
    >>> facts = FactSet({edge: Relation.from_columns([[1], [2]])})
    >>> len(facts[edge]), len(facts - facts), facts.count, (facts | facts).count
    (1, 0, 1, 1)
    """

    __slots__ = ("_count", "_relations")

    def __init__(
        self,
        relations: Mapping[Predicate, Relation] | Iterable[tuple[Predicate, Relation]] = (),
        count: int | None = None,
    ) -> None:
        self._relations = {predicate: relation for predicate, relation in dict(relations).items() if relation}
        self._count = count

    @classmethod
    def _of(cls, relations: dict[Predicate, Relation], count: int | None = None) -> FactSet:
        """Make a set of relations none of which is empty. Nothing is checked, so that an operation costs no more than
        its smaller operand.
        """
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

    def __bool__(self) -> bool:
        return bool(self._relations)

    def __contains__(self, predicate: object) -> bool:
        return predicate in self._relations

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

    def __or__(self, other: FactSet) -> FactSet:
        if not isinstance(other, FactSet):
            return self._foreign(other)
        if not self._relations:
            return other
        if not other._relations:
            return self
        joined = dict(self._relations)
        for predicate, relation in other.items():
            joined[predicate] = joined[predicate] | relation if predicate in joined else relation
        return FactSet._of(joined)

    def __sub__(self, other: FactSet) -> FactSet:
        if not isinstance(other, FactSet):
            return self._foreign(other)
        if not self._relations:
            return self
        shared = self._shared(other)
        if not shared:
            return self
        left = dict(self._relations)
        for predicate in shared:
            mine, its = left[predicate], other._relations[predicate]
            rest = None if mine is its else mine - its
            if rest:
                left[predicate] = rest
            else:
                del left[predicate]
        return FactSet._of(left)

    def __and__(self, other: FactSet) -> FactSet:
        if not isinstance(other, FactSet):
            return self._foreign(other)
        if not self._relations:
            return self
        shared = self._shared(other)
        return FactSet({p: self._relations[p] & other._relations[p] for p in shared})

    def _foreign(self, other: object) -> Any:
        """NotImplemented if this set is empty, since another implementation takes it for an empty set of its own; an
        error otherwise.
        """
        if self._relations:
            raise foreign(FactSet, other)
        return NotImplemented

    def _shared(self, other: FactSet) -> list[Predicate]:
        """The predicates of both sets, at the cost of the one with fewer predicates."""
        few, many = sorted((self._relations, other._relations), key=len)
        return [predicate for predicate in few if predicate in many]

    def extended(self, new: FactSet) -> FactSet:
        """The union with facts none of which are in this set."""
        if not self._relations:
            return self | new
        joined = dict(self._relations)
        for predicate, relation in as_local(new).items():
            mine = joined.get(predicate)
            joined[predicate] = relation if mine is None else mine.extended(relation.run())
        return FactSet._of(joined, self.count + new.count)

    def replaced(self, relations: Mapping[Predicate, Relation]) -> FactSet:
        """This set with other relations for some predicates."""
        joined = dict(self._relations)
        for predicate, relation in relations.items():
            if relation:
                joined[predicate] = relation
            else:
                joined.pop(predicate, None)
        return FactSet._of(joined)

    def renamed(self, names: Mapping[Predicate, Predicate]) -> FactSet:
        """The set with some relations under other predicates."""
        if names.keys().isdisjoint(self._relations):
            return self
        return FactSet._of({names.get(p, p): relation for p, relation in self._relations.items()}, self._count)

    def restricted(self, predicates: Iterable[Predicate]) -> FactSet:
        """The facts of some predicates."""
        return FactSet._of({p: self._relations[p] for p in predicates if p in self._relations})

    def plain(self) -> FactSet:
        """The set with every relation listed."""
        return FactSet({p: relation.plain() for p, relation in self._relations.items()})

    def settled(self) -> FactSet:
        """The set with every relation as one run."""
        return FactSet({p: relation.settled() for p, relation in self._relations.items()})

    def fitted(self, universe: int) -> FactSet:
        """The set in layouts that hold ids below ``universe``."""
        return FactSet({p: relation.fitted(universe) for p, relation in self._relations.items()})


NONE = FactSet()
"""The empty set, which every engine accepts; see :mod:`everlog.engine.algebra`."""


def as_local(facts: AnyFactSet) -> FactSet:
    """The facts, which must be a local set; those of another implementation are an error."""
    if not isinstance(facts, FactSet):
        raise foreign(FactSet, facts)
    return facts
