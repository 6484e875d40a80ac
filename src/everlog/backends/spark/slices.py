"""Facts spread over slices: on their way to one, and kept there, as files.

A task writes what it sends into a directory of its own, the facts of a slice together, and returns where; the tasks
of the next round read their parts of it. What a slice keeps is sorted, in a few files of geometrically growing size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from everlog.backends.spark.sharing import Array, map_array, new_directory, write_arrays
from everlog.engine.factset import FactSet
from everlog.engine.keys import Keys, Layout, layout_for, unpack
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate

FACTOR = 2
"""What a slice has is merged with what is new as long as it has at most so many times as many facts, so that it is in
few files however many rounds there are."""


@dataclass(frozen=True)
class Spread:
    """How facts are spread: over so many slices, each predicate by so many of its leading arguments."""

    predicates: Mapping[Predicate, int]
    slices: int

    def layouts(self, universe: int) -> dict[Predicate, Layout]:
        """How the facts of each predicate are packed, given the number of all terms."""
        return {predicate: layout_for(predicate.arity, universe) for predicate in self.predicates}


# on their way -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """Facts on their way, in the files of a directory, those of a slice together; so many for each slice."""

    directory: Path
    counts: tuple[int, ...]


def send(facts: Mapping[Predicate, Keys], spread: Spread, universe: int, work: Path) -> Sent | None:
    """Write facts by slice; None if there are none. Keys need not be sorted, and one may be there twice."""
    arrays: dict[str, Array] = {}
    counts = np.zeros(spread.slices, np.int64)
    for tag, (predicate, layout) in enumerate(spread.layouts(universe).items()):
        keys = facts.get(predicate)
        if keys is not None and len(keys):
            slots = slots_of(layout, keys, spread.predicates[predicate], spread.slices)
            mine = np.bincount(slots, minlength=spread.slices)
            arrays[f"keys-{tag}"] = keys[np.argsort(slots, kind="stable")]
            arrays[f"ends-{tag}"] = np.cumsum(mine)
            counts += mine
    if not arrays:
        return None
    directory = new_directory(work, "sent")
    write_arrays(directory, arrays)
    return Sent(directory, tuple(counts.tolist()))


def slots_of(layout: Layout, keys: Keys, leading: int, slices: int) -> npt.NDArray[np.uint16]:
    """The slice of each fact: a hash of its leading arguments, the same for all predicates.

    >>> pairs, triples = np.array([5 << 32 | 1, 5 << 32 | 9, 6 << 32 | 9]), np.array([5 << 42 | 7])
    >>> slots_of(layout_for(2, 10), pairs, 1, 3).tolist(), slots_of(layout_for(3, 10), triples, 1, 3).tolist()
    ([2, 2, 2], [2])
    """
    mixed = np.zeros(len(keys), np.uint64)
    for position in range(leading):
        mixed ^= unpack(layout, keys, position).view(np.uint64)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return (mixed % np.uint64(slices)).astype(np.uint16)


def received(sent: Iterable[Sent], number: int, tag: int) -> list[Keys]:
    """The keys of one predicate that were sent to a slice."""
    found = []
    for each in sent:
        path = each.directory / f"keys-{tag}.arrow"
        if each.counts[number] and path.exists():
            ends = map_array(each.directory / f"ends-{tag}.arrow")
            found.append(map_array(path)[ends[number - 1] if number else 0 : ends[number]])
    return found


# in their slice ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """Facts of a slice, sorted, in the files of a directory."""

    directory: Path
    count: int


class SliceFacts:
    """What a slice has, mapped from its files."""

    def __init__(self, held: Sequence[Held], layouts: Mapping[Predicate, Layout]) -> None:
        self.held = tuple(held)
        self.layouts = layouts
        self._parts: list[dict[Predicate, Run]] = []
        for each in held:
            paths = {predicate: each.directory / f"{tag}.arrow" for tag, predicate in enumerate(layouts)}
            self._parts.append({p: Run.of(layouts[p], map_array(path)) for p, path in paths.items() if path.exists()})

    def relation(self, predicate: Predicate) -> Relation:
        """The facts of a predicate."""
        runs = tuple(part[predicate] for part in self._parts if predicate in part)
        return Relation(self.layouts[predicate], runs)

    def with_new(self, predicate: Predicate, new: Relation) -> Relation:
        """The same with facts that it does not have, as runs of their own."""
        return Relation(self.layouts[predicate], self.relation(predicate).runs + new.runs)

    def extended(self, new: FactSet, work: Path) -> tuple[Held, ...]:
        """What the slice has from now on, new facts merged with such parts as are not much larger."""
        count, merged = new.count, len(self.held)
        while merged and self.held[merged - 1].count <= FACTOR * count:
            merged -= 1
            count += self.held[merged].count
        arrays: dict[str, Array] = {}
        for tag, predicate in enumerate(self.layouts):
            runs = [part[predicate] for part in self._parts[merged:] if predicate in part]
            runs += new[predicate].runs if predicate in new else ()
            if runs:
                arrays[f"{tag}"] = Relation(runs[0].layout, tuple(runs)).keys()
        directory = new_directory(work, "held")
        write_arrays(directory, arrays)
        return (*self.held[:merged], Held(directory, count))
