"""Multisets of facts in DataFrames; they implement :class:`everlog.engine.algebra.AnyCounts`.

A multiset is a list of signed pieces, and the number of a fact is the sum over the pieces. Adding and subtracting
only extend the list, so they run no job.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everlog.backends.spark.factset import FrameSet, PendingFacts, Predicates, SourcePart, framed, under
from everlog.backends.spark.workspace import WEIGHT, Stored, Workspace
from everlog.engine.algebra import AnyCounts, AnyFactSet, foreign
from everlog.engine.multiset import Counts
from everlog.lang.syntax import Predicate
from everlog.store.groups import Mask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_PIECES = 24
"""Maximum number of pieces of a multiset; with more, all pieces but the largest are added up and stored."""


@dataclass(frozen=True, eq=False)
class Weighted:
    """Facts with positive numbers: rows with a column of weights. ``most`` is the maximum number of rows."""

    frame: Callable[[Predicates], DataFrame]
    predicates: Predicates
    most: int
    facts: FrameSet | None = None
    """The facts without weights, if these are not needed to know them."""
    pruned: Callable[[Predicates, Mask | None], DataFrame] | None = None
    """Reads the numbers of facts in some row groups of a store, if the numbers are stored there."""

    def among(self, predicates: Predicates, mask: Mask | None) -> DataFrame:
        """The numbers of the facts of some predicates; with a mask facts of other row groups may be missing."""
        return self.frame(predicates) if self.pruned is None else self.pruned(predicates, mask)


@dataclass(frozen=True)
class FrameSummand:
    """A piece of a multiset: numbers to add, or to subtract if ``sign`` is -1."""

    rows: Weighted
    sign: int = 1


class FrameCounts:
    """A multiset of facts in DataFrames, as a list of signed pieces."""

    __slots__ = ("pieces", "space")

    def __init__(self, space: Workspace, pieces: Iterable[FrameSummand] = ()) -> None:
        self.space = space
        self.pieces = tuple(pieces)

    @classmethod
    def stored(cls, space: Workspace, stored: Stored) -> FrameCounts:
        """The numbers in stored rows, all above zero."""
        facts = FrameSet.of(space, stored)

        def frame(wanted: Predicates) -> DataFrame:
            rows = space.read(stored.files, weighted=True)
            return rows if frozenset(stored.sizes) <= wanted else _of(space, rows, wanted)

        return cls(space, [FrameSummand(Weighted(frame, facts.possible, facts.most, facts))] if stored.files else ())

    @classmethod
    def once_each(cls, facts: FrameSet) -> FrameCounts:
        """A multiset that has each of the facts once."""
        from pyspark.sql import functions as F

        facts.settle()

        def frame(wanted: Predicates) -> DataFrame:
            return facts.frame(wanted & facts.possible).withColumn(WEIGHT, F.lit(1).cast("long"))

        weighted = Weighted(frame, facts.possible, facts.most, facts)
        return cls(facts.space, [FrameSummand(weighted)] if facts.possible else ())

    @property
    def possible(self) -> Predicates:
        """The predicates of which facts may have a number."""
        return frozenset[Predicate]().union(*(piece.rows.predicates for piece in self.pieces))

    def frame(self, predicates: Predicates, among: FrameSet | None = None) -> DataFrame:
        """The facts of some predicates with the sums of their weights, which may be zero.

        With a set ``among`` only facts of this set are returned.
        """
        from pyspark.sql import functions as F

        return self.pieces_frame(predicates, among).groupBy(*self.space.keys).agg(F.sum(WEIGHT).alias(WEIGHT))

    def pieces_frame(self, predicates: Predicates, among: FrameSet | None = None) -> DataFrame:
        """The weights of the facts of some predicates before they are added up: a row for each fact in each piece."""
        from pyspark.sql import functions as F

        keys, frames = self.space.keys, []
        wanted = None if among is None else among.frame(predicates)
        mask = None if among is None else among.touched(predicates)
        for piece in self.pieces:
            if not piece.rows.predicates.isdisjoint(predicates):
                rows = piece.rows.among(predicates, mask).select(*keys, WEIGHT)
                rows = rows if wanted is None else rows.join(wanted, keys, "left_semi")
                frames.append(rows if piece.sign > 0 else rows.withColumn(WEIGHT, -F.col(WEIGHT)))
        if not frames:
            return self.space.read((), weighted=True)
        return functools.reduce(lambda a, b: a.unionAll(b), frames)

    def __add__(self, other: AnyCounts) -> FrameCounts:
        return self._with(framed_counts(self.space, other).pieces)

    def __sub__(self, other: AnyCounts) -> FrameCounts:
        return self._with([replace(piece, sign=-piece.sign) for piece in framed_counts(self.space, other).pieces])

    def __radd__(self, none: AnyCounts) -> FrameCounts:
        """The sum with an empty multiset of another implementation."""
        return self + none

    def __rsub__(self, other: AnyCounts) -> FrameCounts:
        """The difference from an empty multiset of another implementation."""
        return framed_counts(self.space, other) - self

    def _with(self, pieces: Sequence[FrameSummand]) -> FrameCounts:
        return FrameCounts(self.space, (*self.pieces, *pieces))._gathered() if pieces else self

    def _gathered(self) -> FrameCounts:
        """The multiset in few pieces. Sums may be negative, so those of each sign are a piece of their own."""
        from pyspark.sql import functions as F

        if len(self.pieces) <= MOST_PIECES:
            return self
        largest = max(self.pieces, key=lambda piece: piece.rows.most)
        small = FrameCounts(self.space, [piece for piece in self.pieces if piece is not largest])
        sums = self.space.store(small.frame(small.possible).where(F.col(WEIGHT) != 0), weighted=True)
        rows = self.space.read(sums.files, weighted=True)
        parts = [(1, rows.where(F.col(WEIGHT) > 0)), (-1, rows.where(F.col(WEIGHT) < 0))]
        there, most = frozenset(sums.sizes), sum(sums.sizes.values())
        pieces = [
            FrameSummand(Weighted(functools.partial(_signed, self.space, frame, sign), there, most), sign)
            for sign, frame in parts
        ]
        return FrameCounts(self.space, [largest, *pieces] if most else [largest])

    def facts(self) -> FrameSet:
        """The facts whose number is not zero."""
        known = [piece.rows.facts for piece in self.pieces if piece.sign > 0 and piece.rows.facts is not None]
        if len(known) == len(self.pieces):
            return functools.reduce(lambda a, b: a | b, known, FrameSet(self.space))
        return FrameSet(self.space, [SourcePart.whole(self._step(lambda rows: rows.where(f"{WEIGHT} != 0")))])

    def counted(self, facts: AnyFactSet) -> FrameSet:
        """The given facts whose number is above zero."""
        given = framed(self.space, facts)
        if not (shared := given.possible & self.possible):
            return FrameSet(self.space)

        def frame() -> DataFrame:
            return self.frame(shared, among=given).where(f"{WEIGHT} > 0").select(*self.space.keys)

        depth = 1 + given.shallow().depth
        return FrameSet.of(self.space, PendingFacts(frame, shared, given.most, depth, touched=given.touched))

    def renamed(self, names: Mapping[Predicate, Predicate]) -> FrameCounts:
        """The multiset with predicates replaced by others."""
        return FrameCounts(
            self.space, [replace(piece, rows=_renamed(self.space, piece.rows, names)) for piece in self.pieces]
        )

    def without(self, predicates: Iterable[Predicate]) -> FrameCounts:
        """The numbers of the facts of all but some predicates."""
        return self.restricted(self.possible.difference(predicates))

    def restricted(self, predicates: Collection[Predicate]) -> FrameCounts:
        """The numbers of the facts of some predicates."""
        wanted = frozenset(predicates)
        kept = [piece for piece in self.pieces if piece.rows.predicates & wanted]
        return FrameCounts(self.space, [replace(piece, rows=_restricted(piece.rows, wanted)) for piece in kept])

    def _step(self, chosen: Callable[[DataFrame], DataFrame]) -> PendingFacts:
        def frame() -> DataFrame:
            return chosen(self.frame(self.possible)).select(*self.space.keys)

        return PendingFacts(frame, self.possible, sum(piece.rows.most for piece in self.pieces))

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self.possible)


def framed_counts(space: Workspace, counts: AnyCounts) -> FrameCounts:
    """Counts in DataFrames as they are, empty local counts as empty counts in DataFrames; others are an error."""
    if isinstance(counts, FrameCounts):
        return counts
    if isinstance(counts, Counts) and not counts:
        return FrameCounts(space)
    raise foreign(FrameCounts, counts)


def _renamed(space: Workspace, rows: Weighted, names: Mapping[Predicate, Predicate]) -> Weighted:
    there = {old: new for old, new in names.items() if old in rows.predicates}
    if not there:
        return rows

    def frame(wanted: Predicates) -> DataFrame:
        mine = frozenset(p for p in rows.predicates if there.get(p, p) in wanted)
        return under(space, rows.frame(mine), there)

    def pruned(wanted: Predicates, mask: Mask | None) -> DataFrame:
        mine = frozenset(p for p in rows.predicates if there.get(p, p) in wanted)
        return under(space, rows.among(mine, mask), there)

    facts = None if rows.facts is None else rows.facts.renamed(there)
    predicates = frozenset(there.get(p, p) for p in rows.predicates)
    return Weighted(frame, predicates, rows.most, facts, pruned)


def _restricted(rows: Weighted, wanted: Predicates) -> Weighted:
    if rows.predicates <= wanted:
        return rows
    kept = rows.predicates & wanted
    facts = None if rows.facts is None else rows.facts.restricted(kept)
    return Weighted(
        lambda some: rows.frame(some & kept),
        kept,
        rows.most,
        facts,
        lambda some, mask: rows.among(some & kept, mask),
    )


def _of(space: Workspace, rows: DataFrame, predicates: Predicates) -> DataFrame:
    return rows.where(rows.predicate.isin([space.names.id(p) for p in sorted(predicates)]))


def _signed(space: Workspace, rows: DataFrame, sign: int, predicates: Predicates) -> DataFrame:
    from pyspark.sql import functions as F

    return _of(space, rows, predicates).withColumn(WEIGHT, sign * F.col(WEIGHT))
