"""Relations whose facts lie elsewhere: those with a given term in a column are fetched when they are asked for.

What was fetched stays at hand. A distant set is the base of relations (see :mod:`everlog.engine.relation`), so facts
come and go on top of it as on top of any; each value that was made of it sees what is fetched later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from everlog.engine.keys import Column, Keys, Layout, Mask, unpack
from everlog.engine.relation import Relation

NO_TERMS = np.empty(0, np.int64)


class Distant(ABC):
    """See the module. As a :class:`~everlog.engine.relation.Base` it may have any arity."""

    layout: Layout
    held: Relation
    """The facts at hand, and no others."""

    @abstractmethod
    def __len__(self) -> int:
        """How many facts there are at most; none only if there are none."""

    @abstractmethod
    def fetch(self, column: int | None, terms: Column) -> None:
        """Have all facts at hand that have one of the terms in a column; without a column, all there are."""

    def at_hand(self, column: int | None = None, terms: Column = NO_TERMS) -> Relation:
        """What there is, with all such facts among it."""
        self.fetch(column, terms)
        return self.held

    @property
    def nbytes(self) -> int:
        return self.held.nbytes

    def contains(self, keys: Keys) -> Mask:
        return self.at_hand(*lead_of(self.layout, keys)).contains(keys)

    def matches(self, column: int, terms: Column, block: int = 1 << 20) -> Iterator[tuple[Column, Column]]:
        return self.at_hand(column, terms).matches(column, terms, block)

    def match_counts(self, column: int, terms: Column) -> Column:
        return self.at_hand(column, terms).match_counts(column, terms)

    def terms(self, column: int) -> Column:
        return self.at_hand().terms(column)

    def blocks(self, column: int = 0, block: int = 1 << 20) -> Iterator[Keys]:
        return self.at_hand().blocks(column, block)

    def sorted_keys(self) -> Keys:
        return self.at_hand().keys()


def lead_of(layout: Layout, keys: Keys) -> tuple[int | None, Column]:
    """What to look facts up by: their first column, if they have one."""
    return (0, unpack(layout, keys, 0)) if layout.arity else (None, NO_TERMS)


def is_distant(relation: Relation) -> bool:
    """Whether facts of a relation may have to be fetched."""
    return isinstance(relation.base, Distant)


def at_hand(relation: Relation, column: int | None, terms: Column) -> Relation:
    """The relation with all facts that have one of the terms in a column, or all there are; others may be missing."""
    if not isinstance(relation.base, Distant):
        return relation
    held = relation.base.at_hand(column, terms)
    return Relation(relation.layout, (*held.runs, *relation.runs), relation.gone)
