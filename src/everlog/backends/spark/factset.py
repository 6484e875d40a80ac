"""Fact sets whose facts are in DataFrames; they implement :class:`everlog.engine.algebra.AnyFactSet`.

A set is ``(base - removed) | added``, each a list of a few *parts*. A part is the facts of some predicates in a
stored step, or in a step still to be run. Subtracting a small set from a large one, or adding it, therefore makes a
view and runs no job; and subtracting a part of the set, as seminaive evaluation does with its changes, removes it
from the list. A step runs when the number of facts is asked for. ``base`` and ``added`` have no fact twice.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everlog.backends.spark.known import in_slices
from everlog.backends.spark.workspace import Stored, Workspace
from everlog.engine.algebra import AnyFactSet, foreign
from everlog.engine.factset import FactSet
from everlog.lang.syntax import Predicate
from everlog.store.groups import Mask, Place, joined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

VIEW_FACTOR = 4
"""A difference is a view if the set has at least this many times as many facts as are subtracted from it."""

MOST_FILES = 32
"""Maximum number of files of a set; the parts of one with more files, except the largest, are stored again.

Spark runs a job to list more files than this.
"""

Predicates = frozenset[Predicate]


MOST_STEPS, MOST_SMALL_STEPS = 2, 3
"""Maximum number of steps in a row that depend on each other without having been run; a deeper chain is run first.

A step may be used more than once by the next, and is computed each time if it was not stored. The second number is for
steps of at most :data:`FEW_FACTS` facts, which cost less to compute again than to store.
"""

FEW_FACTS = 20_000
"""Maximum number of facts still to be computed for which :data:`MOST_SMALL_STEPS` holds."""


@dataclass(eq=False)
class PendingFacts:
    """A step still to be run: the predicates that its facts may have, and the maximum number of facts.

    ``depth`` is the length of the longest chain of steps that were not run and that it depends on, itself included.
    A scan only reads facts that are stored elsewhere, so it is not stored again.
    """

    frame: Callable[[], DataFrame]
    predicates: Predicates
    most: int
    depth: int = 1
    is_scan: bool = False
    sizes: Mapping[Predicate, int] | None = None
    """The numbers of facts by predicate, if they are known beforehand."""
    stored: Stored | None = None
    """The result, once the step was run."""
    touched: Callable[[Predicates, int], Mask | None] | None = None
    """Returns the row groups of a store that the facts touch, if that can be known; see :meth:`FrameSet.touched`."""
    most_of: Callable[[Predicates], int] | None = None
    """Returns the maximum number of facts of some predicates, if a better bound than ``most`` is known."""
    pruned: Callable[[Predicates, Mask | None], DataFrame] | None = None
    """Reads the facts of some predicates in some row groups of a store, if the facts are stored there."""
    places: Callable[[Predicates, int], list[Place]] | None = None
    """Returns where an argument of facts of some predicates is in a store, if the facts are stored there."""


@dataclass(frozen=True)
class SourcePart:
    """The facts of some predicates in a source, which is a stored step or one still to be run."""

    source: Stored | PendingFacts
    predicates: Predicates

    @classmethod
    def whole(cls, source: Stored | PendingFacts) -> SourcePart:
        return cls(source, _predicates(source))

    @property
    def newest(self) -> SourcePart:
        """The part with the stored result in place of a step that was run meanwhile."""
        if isinstance(self.source, PendingFacts) and self.source.stored is not None:
            return SourcePart(self.source.stored, self.predicates & frozenset(self.source.stored.sizes))
        return self

    @property
    def depth(self) -> int:
        """The number of steps to be run one after the other to get the facts."""
        if isinstance(self.source, Stored) or self.source.is_scan or self.source.stored is not None:
            return 0
        return self.source.depth

    @property
    def most(self) -> int:
        """The maximum number of facts; exact if they are stored or were counted."""
        if self.source.sizes is None:
            assert isinstance(self.source, PendingFacts)
            return self.source.most if self.source.most_of is None else self.source.most_of(self.predicates)
        return sum(self.source.sizes.get(p, 0) for p in self.predicates)

    def restricted(self, predicates: Predicates) -> SourcePart:
        return replace(self, predicates=self.predicates & predicates)

    def touched(self, ids: Mapping[Predicate, int], argument: int) -> Mask | None:
        """The row groups of a store that may have a value of an argument as first argument; None if that is not known.

        ``ids`` has the predicates of the facts whose argument is meant, with their ids.
        """
        mine, source = self.predicates & ids.keys(), self.newest.source
        if not mine:
            return 0
        if isinstance(source, PendingFacts):
            return None if source.touched is None else source.touched(mine, argument)
        if source.touches is None:
            return None
        return joined(source.touches.get((ids[predicate], argument), 0) for predicate in mine)


def _predicates(source: Stored | PendingFacts) -> Predicates:
    return source.predicates if isinstance(source, PendingFacts) else frozenset(source.sizes)


class FrameSet:
    """A set of facts in DataFrames: ``(base - removed) | added``."""

    __slots__ = ("_count", "_exact", "added", "base", "removed", "space")

    def __init__(
        self,
        space: Workspace,
        base: Iterable[SourcePart] = (),
        removed: Iterable[SourcePart] = (),
        added: Iterable[SourcePart] = (),
    ) -> None:
        self.space = space
        self.base = _nonempty(base)
        self.added = _nonempty(added)
        left = _all(self.base)
        self.removed = _nonempty(part.restricted(left) for part in removed)
        self._exact: Mapping[Predicate, int] | None = None
        self._count: int | None = None

    @classmethod
    def of(cls, space: Workspace, source: Stored | PendingFacts) -> FrameSet:
        """All facts of a source."""
        return cls(space, [SourcePart.whole(source)])

    # Predicates and sizes --------------------------------------------------------------------------

    @property
    def possible(self) -> Predicates:
        """The predicates of which there may be facts; known without running a job."""
        return _all(self.base) | _all(self.added)

    @property
    def most(self) -> int:
        """The maximum number of facts."""
        return sum(part.most for part in (*self.base, *self.added))

    @property
    def is_view(self) -> bool:
        """Whether the set reads facts stored elsewhere, or is a large set from which a small one is subtracted."""
        if any(isinstance(part.source, PendingFacts) and part.source.is_scan for part in self.base):
            return True
        return bool(self.removed) and self.most >= VIEW_FACTOR * sum(part.most for part in self.removed)

    @property
    def is_stored(self) -> bool:
        """Whether all facts are stored, so that no step is left to be run."""
        self.base, self.added = (_nonempty(part.newest for part in parts) for parts in (self.base, self.added))
        return not self.removed and all(isinstance(part.source, Stored) for part in (*self.base, *self.added))

    @property
    def sizes(self) -> Mapping[Predicate, int]:
        """The number of facts of each predicate that has some. Facts that are not stored are stored or counted."""
        if self._exact is None:
            self._exact = self._summed() if self.is_counted else self._counted() if self.is_view else self._stored()
        return self._exact

    @property
    def is_counted(self) -> bool:
        """Whether the number of facts of each predicate is known without running a job."""
        return self.is_stored or (
            not self.removed and all(part.source.sizes is not None for part in (*self.base, *self.added))
        )

    def _summed(self) -> Mapping[Predicate, int]:
        sizes: dict[Predicate, int] = {}
        for part in (*self.base, *self.added):
            assert part.source.sizes is not None
            for predicate in part.predicates & part.source.sizes.keys():
                sizes[predicate] = sizes.get(predicate, 0) + part.source.sizes[predicate]
        return sizes

    def _stored(self) -> Mapping[Predicate, int]:
        stored = self.space.store(self.frame())
        only = self.base[0] if len(self.base) == 1 and not self.removed and not self.added else None
        if only is not None and isinstance(only.source, PendingFacts) and only.predicates == only.source.predicates:
            only.source.stored = stored
        self.base, self.removed, self.added = _nonempty([SourcePart.whole(stored)]), (), ()
        return stored.sizes

    def _counted(self) -> Mapping[Predicate, int]:
        self.space.jobs += 1
        rows = self.frame().groupBy("predicate").count().collect()
        return {self.space.names.predicate(row["predicate"]): row["count"] for row in rows}

    @property
    def depth(self) -> int:
        """The number of steps to be run one after the other to get the facts."""
        return max((part.depth for part in (*self.base, *self.removed, *self.added)), default=0)

    def shallow(self) -> FrameSet:
        """Run the steps that are left if they depend on too many others; of a view only the parts that do."""
        if self.depth < (MOST_SMALL_STEPS if self._is_small else MOST_STEPS):
            return self
        if not self.is_view:
            self.settle()
        else:
            self.base, self.removed, self.added = map(self._kept, (self.base, self.removed, self.added))
        return self

    @property
    def _is_small(self) -> bool:
        """Whether at most :data:`FEW_FACTS` facts are still to be computed."""
        waiting = (part.most for part in (*self.base, *self.removed, *self.added) if part.depth)
        return sum(waiting) <= FEW_FACTS

    def _kept(self, parts: Iterable[SourcePart]) -> tuple[SourcePart, ...]:
        found = [FrameSet(self.space, [part]).settle().base if part.depth else (part.newest,) for part in parts]
        return _nonempty(part for each in found for part in each)

    def settle(self) -> FrameSet:
        """Run the steps that are left, unless this is a view."""
        if not self.is_stored and not self.is_view:
            self._exact = self._stored()
        return self

    @property
    def count(self) -> int:
        """The number of facts. Facts that are not stored are stored or counted."""
        if self._count is None:
            self._count = sum(self.sizes.values())
        return self._count

    def with_count(self, count: int) -> FrameSet:
        """The set with its number of facts, which the caller knows."""
        found = FrameSet(self.space, self.base, self.removed, self.added)
        found._count = count
        return found

    def __bool__(self) -> bool:
        removed = sum(part.most for part in self.removed)
        exact = [part for part in (*self.base, *self.added) if isinstance(part.source, Stored)]
        return sum(part.most for part in exact) > removed or bool(self.sizes)

    def __iter__(self) -> Iterator[Predicate]:
        """The predicates that have facts; those of a view may have none left."""
        return iter(self.possible if self.is_view else self.sizes)

    def __contains__(self, predicate: object) -> bool:
        return predicate in self.possible and (self.is_view or predicate in self.sizes)

    # The rows ------------------------------------------------------------------------------------

    def frame(self, predicates: Iterable[Predicate] | None = None, mask: Mask | None = None) -> DataFrame:
        """The facts, or those of some predicates; with a mask facts in other row groups of a store may be missing."""
        wanted = self.possible if predicates is None else frozenset(predicates)
        found = frame_of(self.space, self.base, wanted, mask)
        if removed := _nonempty(part.restricted(wanted) for part in self.removed):
            found = found.join(frame_of(self.space, removed, wanted), self.space.keys, "left_anti")
        if added := _nonempty(part.restricted(wanted) for part in self.added):
            found = found.unionAll(frame_of(self.space, added, wanted))
        return found

    def touched(self, predicates: Iterable[Predicate], argument: int = 0) -> Mask | None:
        """The row groups of a store that may have, as first argument, an argument of the facts of some predicates.

        None if that is not known; then all row groups may have one.
        """
        wanted = frozenset(predicates) & self.possible
        if any(predicate.arity <= argument for predicate in wanted):
            return None
        ids = {predicate: self.space.names.id(predicate) for predicate in wanted}
        return joined(part.touched(ids, argument) for part in (*self.base, *self.added))

    def places(self, predicates: Iterable[Predicate], argument: int) -> list[Place]:
        """Where an argument of the facts of some predicates is in a store; facts that are elsewhere have no place."""
        wanted, found = frozenset(predicates), []
        for part in (part.newest.restricted(wanted) for part in (*self.base, *self.added)):
            if isinstance(part.source, PendingFacts) and part.source.places is not None and part.predicates:
                found += part.source.places(part.predicates, argument)
        return found

    def spread(self, predicates: Iterable[Predicate], columns: Sequence[str]) -> DataFrame | None:
        """The facts of some predicates in partitions by some columns; None unless all are stored."""
        wanted = frozenset(predicates)
        parts = _nonempty(part.newest.restricted(wanted) for part in (*self.base, *self.added))
        stored = [(part.source, part.predicates) for part in parts if isinstance(part.source, Stored)]
        if len(stored) < len(parts) or not parts or any(part.predicates & wanted for part in self.removed):
            return None
        return functools.reduce(lambda a, b: a.unionAll(b), (self.space.spread(*part, columns) for part in stored))

    def in_slices(self, predicates: Predicates) -> tuple[list[Stored], FrameSet]:
        """The facts of some predicates: the stored ones, in slices, and a set of those that are not stored."""
        parts = [part.newest.restricted(predicates) for part in (*self.base, *self.added)]
        found = [(part, self._sliced(part, predicates)) for part in _nonempty(parts)]
        sliced = [stored for _, stored in found if stored is not None]
        return sliced, FrameSet(self.space, [part for part, stored in found if stored is None])

    def _sliced(self, part: SourcePart, wanted: Predicates) -> Stored | None:
        """A stored part in slices, into which it is copied once if need be. None if the part is not stored."""
        source, copies = part.source, self.space.copies
        if not isinstance(source, Stored):
            return None
        if source.slices is not None and part.predicates >= source.sizes.keys() & wanted:
            return source
        key = source, part.predicates
        if key not in copies:
            copies[key] = in_slices(self.space, frame_of(self.space, [part], part.predicates), part.most)
        return copies[key]

    # Operations ----------------------------------------------------------------------------------

    def __or__(self, other: AnyFactSet) -> FrameSet:
        new = framed(self.space, other)
        if not new.possible:
            return self
        self.settle()
        return self._joined(new - self)

    def __ror__(self, none: AnyFactSet) -> FrameSet:
        """The union with an empty set of another implementation."""
        return self | none

    def extended(self, new: AnyFactSet) -> FrameSet:
        """The union with facts that are not in the set; its parts are merged if they are in many files."""
        more = framed(self.space, new)
        if not self.possible or not more.possible:
            return self._joined(more)
        return self._joined(more.settle())._gathered()

    def _joined(self, new: FrameSet) -> FrameSet:
        """The union with facts that are not in the set, as a longer list of parts."""
        if not new.possible:
            return self
        if not self.possible:
            return new
        more = new._plain_parts()
        if self.removed:
            return FrameSet(self.space, self.base, self.removed, (*self.added, *more))
        return FrameSet(self.space, (*self.base, *self.added, *more))

    def __sub__(self, other: AnyFactSet) -> FrameSet:
        its = framed(self.space, other)
        if self.possible.isdisjoint(its.possible):
            return self
        mine, its = _without_shared(self.shallow(), its.shallow())
        shared = mine.possible & its.possible
        if not shared:
            return mine
        if mine.most >= VIEW_FACTOR * its.most and not its.removed:
            return mine._minus(its)
        depth = 1 + max(mine.depth, its.depth)
        step = PendingFacts(
            lambda: _anti(mine, its, shared), shared, mine._most_of(shared), depth, touched=mine.touched
        )
        return FrameSet.of(self.space, step)._joined(mine.restricted(mine.possible - shared))

    def __rsub__(self, none: AnyFactSet) -> FrameSet:
        """The difference from an empty set of another implementation."""
        return framed(self.space, none)

    def _minus(self, other: FrameSet) -> FrameSet:
        """A view of the set without the facts of a set from which nothing is removed."""
        removed = [part.restricted(self.possible) for part in (*other.base, *other.added)]
        added = (FrameSet(self.space, self.added) - other)._plain_parts() if self.added else ()
        return FrameSet(self.space, self.base, (*self.removed, *removed), added)

    def _plain_parts(self) -> tuple[SourcePart, ...]:
        """Parts that together have exactly the facts of the set; one step for a set from which some are removed."""
        if self.removed:
            return (SourcePart.whole(PendingFacts(self.frame, self.possible, self.most, 1 + self.depth)),)
        return (*self.base, *self.added)

    def __and__(self, other: AnyFactSet) -> FrameSet:
        its = framed(self.space, other)
        if not (shared := self.possible & its.possible):
            return FrameSet(self.space)
        small, large = (self, its) if self.most <= its.most else (its, self)
        depth = 1 + max(small.shallow().depth, large.shallow().depth)
        step = PendingFacts(
            lambda: _semi(small, large, shared), shared, small._most_of(shared), depth, touched=small.touched
        )
        return FrameSet.of(self.space, step)

    def __rand__(self, none: AnyFactSet) -> FrameSet:
        """The intersection with an empty set of another implementation."""
        return framed(self.space, none)

    def restricted(self, predicates: Iterable[Predicate]) -> FrameSet:
        """The facts of some predicates."""
        wanted = frozenset(predicates)
        if self.possible <= wanted:
            return self
        return FrameSet(
            self.space, *([part.restricted(wanted) for part in x] for x in (self.base, self.removed, self.added))
        )

    def renamed(self, names: Mapping[Predicate, Predicate]) -> FrameSet:
        """The facts with predicates replaced by others."""
        renamed = {old: new for old, new in names.items() if old in self.possible}
        if not renamed:
            return self
        moved, rest = self.restricted(renamed), self.restricted(self.possible.difference(renamed))
        before = {new: old for old, new in renamed.items()}

        def frame(wanted: Predicates, mask: Mask | None = None) -> DataFrame:
            rows = moved.frame((before[p] for p in wanted), mask)
            return under(self.space, rows, renamed).select(*self.space.keys)

        there = frozenset(renamed[p] for p in moved.possible)
        step = PendingFacts(
            lambda: frame(there),
            there,
            moved.most,
            1 + moved.depth,
            is_scan=not moved.removed and not moved.depth,
            sizes={renamed[p]: size for p, size in moved.sizes.items()} if moved.is_counted else None,
            touched=lambda wanted, argument: moved.touched((before[p] for p in wanted), argument),
            most_of=lambda wanted: moved._most_of(frozenset(before[p] for p in wanted)),
            pruned=frame,
            places=lambda wanted, argument: moved.places((before[p] for p in wanted), argument),
        )
        return FrameSet(self.space, (*rest.base, SourcePart.whole(step)), rest.removed, rest.added)

    def settled(self) -> FrameSet:
        """Return the set unchanged: its stored facts are in few files already."""
        return self

    # ---------------------------------------------------------------------------------------------

    def _most_of(self, predicates: Predicates) -> int:
        return sum(part.restricted(predicates).most for part in (*self.base, *self.added))

    def _gathered(self) -> FrameSet:
        """The set with its smaller stored parts merged, if it is in more than :data:`MOST_FILES` files."""
        parts = [part for part in self.base if isinstance(part.source, Stored)]
        if sum(len(part.source.files) for part in parts if isinstance(part.source, Stored)) <= MOST_FILES:
            return self
        largest = max(parts, key=lambda part: part.most)
        small = [part for part in parts if part is not largest]
        if len(small) < 2:
            return self
        alike = [[part for part in small if _is_sliced(part) == sliced] for sliced in (False, True)]
        merged = [self._merged(parts) for parts in alike if parts]
        rest = [part for part in self.base if not isinstance(part.source, Stored)]
        return FrameSet(self.space, [largest, *merged, *rest], self.removed, self.added)

    def _merged(self, parts: Sequence[SourcePart]) -> SourcePart:
        """Parts stored as one part, in slices if they are in slices."""
        if len(parts) == 1:
            return parts[0]
        frame, size = frame_of(self.space, parts, _all(parts)), sum(part.most for part in parts)
        if _is_sliced(parts[0]):
            return SourcePart.whole(in_slices(self.space, frame, size))
        return SourcePart.whole(self.space.store(frame.coalesce(1 + size // (1 << 22))))


def framed(space: Workspace, facts: AnyFactSet) -> FrameSet:
    """A set in DataFrames as it is, an empty local set as an empty set in DataFrames; others are an error."""
    if isinstance(facts, FrameSet):
        return facts
    if isinstance(facts, FactSet) and not facts:
        return FrameSet(space)
    raise foreign(FrameSet, facts)


def frame_of(space: Workspace, parts: Sequence[SourcePart], wanted: Predicates, mask: Mask | None = None) -> DataFrame:
    """The facts of wanted predicates in some parts. Files with an equal filter are read as one DataFrame."""
    frames: list[DataFrame] = []
    alike: dict[Predicates, list[Stored]] = {}
    for part in (part.newest for part in parts):
        mine = part.predicates & wanted
        if not mine:
            continue
        if isinstance(part.source, PendingFacts) and part.source.pruned is not None:
            frames.append(part.source.pruned(mine, mask))
        elif isinstance(part.source, PendingFacts):
            frames.append(_filtered(space, part.source.frame(), mine, part.source.predicates))
        else:
            hidden = (frozenset(part.source.sizes) & wanted) - mine
            alike.setdefault(frozenset(mine if hidden else wanted), []).append(part.source)
    for chosen, stored in alike.items():
        files = [file for source in stored for file in source.files]
        there = frozenset[Predicate]().union(*(source.sizes for source in stored))
        frames.append(_filtered(space, space.read(files), chosen, there))
    return functools.reduce(lambda a, b: a.unionAll(b), frames) if frames else space.read(())


def under(space: Workspace, rows: DataFrame, names: Mapping[Predicate, Predicate]) -> DataFrame:
    """The rows with the ids of predicates replaced by those of others."""
    from pyspark.sql import functions as F

    found = F.col("predicate")
    for old, new in names.items():
        found = F.when(F.col("predicate") == space.names.id(old), F.lit(space.names.id(new))).otherwise(found)
    return rows.withColumn("predicate", found.cast("long"))


def _filtered(space: Workspace, frame: DataFrame, chosen: Predicates, there: Predicates) -> DataFrame:
    """The rows of the chosen predicates; ``there`` are all predicates that the rows may have."""
    if there <= chosen:
        return frame.select(*space.keys)
    return frame.where(frame.predicate.isin([space.names.id(p) for p in sorted(chosen & there)])).select(*space.keys)


def _anti(left: FrameSet, right: FrameSet, predicates: Predicates) -> DataFrame:
    there = right.frame(predicates, left.touched(predicates))
    return left.frame(predicates).join(there, left.space.keys, "left_anti")


def _semi(left: FrameSet, right: FrameSet, predicates: Predicates) -> DataFrame:
    there = right.frame(predicates, left.touched(predicates))
    return left.frame(predicates).join(there, left.space.keys, "left_semi")


def _without_shared(left: FrameSet, right: FrameSet) -> tuple[FrameSet, FrameSet]:
    """Both sets without the facts that both have from the same source."""
    if right.removed or left.removed:
        return left, right
    mine, theirs = [*left.base, *left.added], [*right.base, *right.added]
    for i, j in itertools.product(range(len(mine)), range(len(theirs))):
        if mine[i].source is theirs[j].source:
            both = mine[i].predicates & theirs[j].predicates
            mine[i] = mine[i].restricted(mine[i].predicates - both)
            theirs[j] = theirs[j].restricted(theirs[j].predicates - both)
    return FrameSet(left.space, mine), FrameSet(left.space, theirs)


def _is_sliced(part: SourcePart) -> bool:
    return isinstance(part.source, Stored) and part.source.slices is not None


def _nonempty(parts: Iterable[SourcePart]) -> tuple[SourcePart, ...]:
    """The parts that have predicates."""
    return tuple(part for part in parts if part.predicates)


def _all(parts: Iterable[SourcePart]) -> Predicates:
    """The predicates of all parts."""
    return frozenset[Predicate]().union(*(part.predicates for part in parts))
