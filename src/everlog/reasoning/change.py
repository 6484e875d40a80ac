"""The change that an update makes: maintenance returns it, and code that writes or shows changes reads it.

A change has signs, as the rows of a store have: facts that are inserted and deleted, facts that become explicit and
cease to be explicit, and the differences of the two counters of each fact. Each is known to the algorithm
that made it, so a difference of two materialisations is computed only where everything was derived again.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar, cast

from everlog.engine.algebra import AnyCounts, AnyFactSet
from everlog.engine.factset import NONE
from everlog.engine.multiset import NO_COUNTS
from everlog.lang.syntax import Predicate
from everlog.reasoning.materialisation import C_co, F, F_co, Materialisation
from everlog.reasoning.statistics import Statistics, UpdateStatistics

C = TypeVar("C", bound=AnyCounts)

MOST_SUMMANDS = 64
"""Maximum number of summands of a counter that consecutive changes keep before they are summed up."""


@dataclass(frozen=True, eq=False)
class ExplicitChange(Generic[F_co]):
    """A change of the explicit facts ``before``; the new ones are computed at their first use, and kept.

    Invariants: all ``deleted`` facts were explicit, no ``inserted`` ones were.

    >>> from everlog.engine.factset import FactSet
    >>> from everlog.engine.relation import Relation
    >>> p = Predicate("p", 1)
    >>> one, two, three = (FactSet({p: Relation.from_columns([range(n)])}) for n in (1, 2, 3))
    >>> change = ExplicitChange.of(two, one, three)
    >>> change.inserted.count, change.deleted.count, change.explicit.count, change.then(three, one).idle
    (1, 0, 3, 0)
    """

    before: F_co
    deleted: F_co
    """The papers' E-: facts that cease to be explicit."""
    inserted: F_co
    """The papers' E+: facts that become explicit."""
    idle: int = 0
    """The number of deletions without effect, because the fact was not explicit."""

    @classmethod
    def of(cls, explicit: F, delete: AnyFactSet = NONE, insert: AnyFactSet = NONE) -> ExplicitChange[F]:
        """The change from the explicit facts E to (E \\ delete) u insert."""
        none = cast("F", NONE)
        return ExplicitChange(explicit, none, none).then(cast("F", delete), cast("F", insert))

    def then(self: ExplicitChange[F], delete: F, insert: F, unknown: int = 0) -> ExplicitChange[F]:
        """This change and one that deletes facts and then inserts others. Costs the changes.

        ``unknown`` is the number of facts to be deleted besides ``delete`` that cannot be explicit.
        """
        found = ((delete & self.before) - self.deleted) | (delete & self.inserted)
        new = ((insert - self.before) | (insert & self.deleted)) - self.inserted
        idle = self.idle + delete.count - found.count + unknown
        inserted, deleted = followed((self.inserted, self.deleted), (new, found - insert))
        return ExplicitChange(self.before, deleted, inserted, idle)

    @cached_property
    def left(self) -> F_co:
        """The explicit facts that the change leaves: E \\ E-."""
        return self.before - self.deleted

    @cached_property
    def explicit(self) -> F_co:
        """The explicit facts after the change: (E \\ E-) u E+."""
        return self.left.extended(self.inserted)

    def fitted(self: ExplicitChange, universe: int) -> ExplicitChange:
        """The change in layouts that hold ids below ``universe``."""
        before, deleted, inserted = (side.fitted(universe) for side in (self.before, self.deleted, self.inserted))
        return ExplicitChange(before, deleted, inserted, self.idle)

    def restricted(self, predicates: Collection[Predicate]) -> ExplicitChange[F_co]:
        """The change of the facts of some predicates."""
        before, deleted, inserted = (
            side.restricted(p for p in side if p in predicates) for side in (self.before, self.deleted, self.inserted)
        )
        return ExplicitChange(before, deleted, inserted)

    def renamed(self, names: Mapping[Predicate, Predicate]) -> ExplicitChange[F_co]:
        """The change with predicates replaced by others."""
        if not names:
            return self
        before, deleted, inserted = (side.renamed(names) for side in (self.before, self.deleted, self.inserted))
        return ExplicitChange(before, deleted, inserted, self.idle)


AnyExplicitChange = ExplicitChange[AnyFactSet]


@dataclass(frozen=True, eq=False)
class Summands(Generic[C_co]):
    """The numbers that were added to a counter and those that were subtracted, in no order.

    The sum is computed at its first use: most updates in memory do not need it.
    """

    plus: tuple[C_co, ...] = ()
    minus: tuple[C_co, ...] = ()

    @cached_property
    def total(self) -> C_co:
        """The sum. Costs the size of all summands, times the logarithm of their number."""
        return cast("C_co", _sum(self.plus) - _sum(self.minus))

    def fitted(self: Summands, universe: int) -> Summands:
        """The summands in layouts that hold ids below ``universe``."""
        return Summands(*(tuple(counts.fitted(universe) for counts in part) for part in (self.plus, self.minus)))


def replaced(old: C | None, new: C | None) -> Summands[C] | None:
    """The summands from one counter to an independent one; None if either is missing."""
    return None if old is None or new is None else Summands((new,), (old,))


@dataclass(frozen=True, eq=False)
class SignedChange(Generic[F_co, C_co]):
    """The result of an update: the new materialisation, and how it differs from the old one.

    Invariants: inserted facts are in the new set and not in the old one, deleted facts are in the old set and not in
    the new one, both for all facts and for explicit ones; the old counters plus ``nr`` and ``rec`` are the new ones.
    All sets use the program's names of predicates, including hidden ones.
    """

    materialisation: Materialisation[F_co, C_co]
    inserted: F_co
    """Facts that hold now and did not before."""
    deleted: F_co
    """Facts that held before and do not now."""
    explicit_inserted: F_co
    """The papers' E+: facts that are explicit now and were not before."""
    explicit_deleted: F_co
    """The papers' E-: facts that were explicit before and are not now."""
    statistics: UpdateStatistics
    nr_summands: Summands[C_co] | None = None
    """The numbers added to C_nr and subtracted from it; None if the counter is not kept, or was not kept before."""
    rec_summands: Summands[C_co] | None = None
    """The numbers added to C_r and subtracted from it; None as for ``nr_summands``."""

    @property
    def nr(self) -> C_co | None:
        """What added to the old C_nr gives the new one; None if there is no old or no new one."""
        return None if self.nr_summands is None else self.nr_summands.total

    @property
    def rec(self) -> C_co | None:
        """What added to the old C_r gives the new one; None if there is no old or no new one."""
        return None if self.rec_summands is None else self.rec_summands.total

    def without_counters(self) -> SignedChange[F_co, C_co]:
        """The change without differences of counters, for an old materialisation that had no counters."""
        return replace(self, nr_summands=None, rec_summands=None)

    def fitted(self: SignedChange, universe: int) -> SignedChange:
        """The change in layouts that hold ids below ``universe``."""
        return SignedChange(
            self.materialisation.fitted(universe),
            self.inserted.fitted(universe),
            self.deleted.fitted(universe),
            self.explicit_inserted.fitted(universe),
            self.explicit_deleted.fitted(universe),
            self.statistics,
            None if self.nr_summands is None else self.nr_summands.fitted(universe),
            None if self.rec_summands is None else self.rec_summands.fitted(universe),
        )

    def then(self, later: SignedChange[F_co, C_co]) -> SignedChange[F_co, C_co]:
        """This change and one of its result as one change. Costs the two changes."""
        inserted, deleted = followed((self.inserted, self.deleted), (later.inserted, later.deleted))
        explicit = followed(
            (self.explicit_inserted, self.explicit_deleted), (later.explicit_inserted, later.explicit_deleted)
        )
        return SignedChange(
            later.materialisation,
            inserted,
            deleted,
            explicit[0],
            explicit[1],
            self.statistics.then(later.statistics),
            both(self.nr_summands, later.nr_summands),
            both(self.rec_summands, later.rec_summands),
        )


AnySignedChange = SignedChange[AnyFactSet, AnyCounts]

Sides = tuple[F, F]
"""Inserted facts, and deleted facts."""


def compared(
    old: Materialisation[F, C], new: Materialisation[F, C], explicit: ExplicitChange[F], statistics: Statistics
) -> SignedChange[F, C]:
    """The change from one materialisation to another that was derived again from changed explicit facts;
    ``statistics`` are the figures of deriving it.

    Both are under the names of one program, or under those that users see.
    """
    begin = time.perf_counter()
    inserted, deleted = new.facts - old.facts, old.facts - new.facts
    figures = UpdateStatistics("rematerialise", instances={"forward": statistics.instances})
    figures.seconds = statistics.seconds + time.perf_counter() - begin
    counters = replaced(old.nr, new.nr), replaced(old.rec, new.rec)
    return SignedChange(new, inserted, deleted, explicit.inserted, explicit.deleted, figures, *counters)


def from_nothing(new: Materialisation[F, C], statistics: Statistics) -> SignedChange[F, C]:
    """The change that made a materialisation where no facts were; ``statistics`` are the figures of deriving it."""
    none = cast("F", NONE)
    figures = UpdateStatistics("seminaive", "", {"forward": statistics.instances}, seconds=statistics.seconds)
    return SignedChange(new, new.facts, none, new.explicit, none, figures)


def followed(first: Sides[F], later: Sides[F]) -> Sides[F]:
    """The insertions and deletions of two consecutive changes of one set, as one change."""
    (inserted, deleted), (more, less) = first, later
    return (inserted - less) | (more - deleted), (deleted - more) | (less - inserted)


def both(first: Summands[C] | None, later: Summands[C] | None) -> Summands[C] | None:
    """The summands of two consecutive changes of a counter; None if one of the changes is not known."""
    if first is None or later is None:
        return None
    return Summands(_few((*first.plus, *later.plus)), _few((*first.minus, *later.minus)))


def _few(counts: tuple[C, ...]) -> tuple[C, ...]:
    """The summands, summed up once they are many, so that a long series of changes costs each of them alike."""
    return counts if len(counts) <= MOST_SUMMANDS else (cast("C", _sum(counts)),)


def _sum(counts: Sequence[AnyCounts]) -> AnyCounts:
    """The sum, computed by halves, so that each number is copied at most log2(number of summands) times."""
    if len(counts) <= 1:
        return counts[0] if counts else NO_COUNTS
    half = len(counts) // 2
    return _sum(counts[:half]) + _sum(counts[half:])
