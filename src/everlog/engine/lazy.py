"""Lazy relations: facts with given terms in some columns are fetched from elsewhere when they are asked for.

What was fetched is held. A lazy set is the base of relations (see :mod:`everlog.engine.relation`), so facts are added
and deleted on top of it as on top of any base. Every relation that has this base sees what is fetched later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

from everlog.engine.keys import BLOCK_ROWS, Column, Keys, Layout, Mask, columns_of
from everlog.engine.relation import Relation

Bound = Mapping[int, Column]
"""The terms that facts have in some columns: the first terms of all columns belong to one fact, the second to another,
and so on."""

NOTHING: Bound = MappingProxyType({})
"""The bound of all facts."""


class LazyFacts(ABC):
    """Facts that are fetched when they are asked for. As a :class:`~everlog.engine.relation.Base` they may have any
    arity.
    """

    layout: Layout
    held: Relation
    """The facts that were fetched."""
    is_counted: ClassVar[bool] = False

    @abstractmethod
    def __len__(self) -> int:
        """An upper bound of the number of facts; 0 only if there are none."""

    @abstractmethod
    def fetch(self, bound: Bound) -> None:
        """Fetch all facts that have the given terms in these columns, or all facts if no column is bound."""

    def fetched(self, bound: Bound = NOTHING) -> Relation:
        """The facts held, among them all that have the given terms."""
        self.fetch(bound)
        return self.held

    @property
    def nbytes(self) -> int:
        return self.held.nbytes

    def contains(self, keys: Keys) -> Mask:
        return self.fetched(bound_by(self.layout, keys)).contains(keys)

    def matches(self, column: int, terms: Column, block: int = BLOCK_ROWS) -> Iterator[tuple[Column, Column]]:
        return self.fetched({column: terms}).matches(column, terms, block)

    def match_counts(self, column: int, terms: Column) -> Column:
        return self.fetched({column: terms}).match_counts(column, terms)

    def terms(self, column: int) -> Column:
        return self.fetched().terms(column)

    def blocks(self, column: int = 0, block: int = BLOCK_ROWS) -> Iterator[Keys]:
        return self.fetched().blocks(column, block)

    def sorted_keys(self) -> Keys:
        return self.fetched().keys()


def bound_by(layout: Layout, keys: Keys) -> Bound:
    """The bound that whole facts give: all columns."""
    return dict(enumerate(columns_of(layout, keys)))


def is_lazy(relation: Relation) -> bool:
    """Whether facts of a relation may have to be fetched."""
    return isinstance(relation.base, LazyFacts)


def fetched(relation: Relation, bound: Bound) -> Relation:
    """The relation with all facts that have the given terms in these columns, or all facts; others may be missing."""
    if not isinstance(relation.base, LazyFacts):
        return relation
    held = relation.base.fetched(bound)
    return Relation(relation.layout, (*held.runs, *relation.runs), relation.tombstones)
