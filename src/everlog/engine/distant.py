"""Relations whose facts lie elsewhere: those with given terms in some column are fetched when they are asked for.

What was fetched stays at hand. A distant set is the base of relations (see :mod:`everlog.engine.relation`), so facts
come and go on top of it as on top of any; each value that was made of it sees what is fetched later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

from everlog.engine.keys import BLOCK_ROWS, Column, Keys, Layout, Mask, columns_of
from everlog.engine.relation import Relation

Bound = Mapping[int, Column]
"""Some columns, and the terms that facts have there: the first of each, the second of each, and so on."""

NOTHING: Bound = MappingProxyType({})


class Distant(ABC):
    """See the module. As a :class:`~everlog.engine.relation.Base` it may have any arity."""

    layout: Layout
    held: Relation
    """The facts at hand, and no others."""
    is_counted: ClassVar[bool] = False

    @abstractmethod
    def __len__(self) -> int:
        """How many facts there are at most; none only if there are none."""

    @abstractmethod
    def fetch(self, bound: Bound) -> None:
        """Have all facts at hand that have such terms in these columns; where nothing is bound, all there are."""

    def at_hand(self, bound: Bound = NOTHING) -> Relation:
        """What there is, with all such facts among it."""
        self.fetch(bound)
        return self.held

    @property
    def nbytes(self) -> int:
        return self.held.nbytes

    def contains(self, keys: Keys) -> Mask:
        return self.at_hand(bound_by(self.layout, keys)).contains(keys)

    def matches(self, column: int, terms: Column, block: int = BLOCK_ROWS) -> Iterator[tuple[Column, Column]]:
        return self.at_hand({column: terms}).matches(column, terms, block)

    def match_counts(self, column: int, terms: Column) -> Column:
        return self.at_hand({column: terms}).match_counts(column, terms)

    def terms(self, column: int) -> Column:
        return self.at_hand().terms(column)

    def blocks(self, column: int = 0, block: int = BLOCK_ROWS) -> Iterator[Keys]:
        return self.at_hand().blocks(column, block)

    def sorted_keys(self) -> Keys:
        return self.at_hand().keys()


def bound_by(layout: Layout, keys: Keys) -> Bound:
    """What whole facts bind: all columns that there are."""
    return dict(enumerate(columns_of(layout, keys)))


def is_distant(relation: Relation) -> bool:
    """Whether facts of a relation may have to be fetched."""
    return isinstance(relation.base, Distant)


def at_hand(relation: Relation, bound: Bound) -> Relation:
    """The relation with all facts that have such terms in these columns, or all there are; others may be missing."""
    if not isinstance(relation.base, Distant):
        return relation
    held = relation.base.at_hand(bound)
    return Relation(relation.layout, (*held.runs, *relation.runs), relation.gone)
