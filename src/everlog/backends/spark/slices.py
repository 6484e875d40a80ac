"""Facts spread over slices, in files: facts that are sent to a slice, and facts that a slice keeps.

A task writes the facts that it sends into a directory of its own, grouped by slice, and returns the directory; the
tasks of the next round read their parts of it. A slice keeps its facts sorted, in a few files of geometric sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from everlog.backends.spark.sharing import Array, map_array, new_directory, write_arrays
from everlog.engine.factset import FactSet
from everlog.engine.hashing import MULTIPLIER
from everlog.engine.keys import Keys, Layout, layout_for, unpack
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate

FACTOR = 2
"""Parts of a slice with at most this many times as many facts as the new ones are merged with these.

So a slice is in few files after any number of rounds.
"""


@dataclass(frozen=True)
class Spread:
    """The number of slices, and for each predicate the number of leading arguments that determine a fact's slice."""

    predicates: Mapping[Predicate, int]
    slices: int

    def layouts(self, universe: int) -> dict[Predicate, Layout]:
        """The layout of the keys of each predicate, given the number of all terms."""
        return {predicate: layout_for(predicate.arity, universe) for predicate in self.predicates}


# facts sent to slices ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """Facts sent to slices, in the files of a directory, grouped by slice; ``counts`` has the number for each slice."""

    directory: Path
    counts: tuple[int, ...]


def send(facts: Mapping[Predicate, Keys], spread: Spread, universe: int, work: Path) -> Sent | None:
    """Write facts grouped by slice; None if there are none. Keys need not be sorted or different."""
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
    """The slice of each fact: a hash of its leading arguments that is equal for all predicates.

    >>> pairs, triples = np.array([5 << 32 | 1, 5 << 32 | 9, 6 << 32 | 9]), np.array([5 << 42 | 7])
    >>> slots_of(layout_for(2, 10), pairs, 1, 3).tolist(), slots_of(layout_for(3, 10), triples, 1, 3).tolist()
    ([2, 2, 2], [2])
    """
    mixed = np.zeros(len(keys), np.uint64)
    for position in range(leading):
        mixed ^= unpack(layout, keys, position).view(np.uint64)
        mixed *= MULTIPLIER
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


# facts kept by slices ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """A part of the facts of a slice, sorted, in the files of a directory."""

    directory: Path
    count: int


class SliceFacts:
    """The facts of a slice, mapped from its files."""

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
        """The facts of a predicate with new ones, which the slice does not have, as further runs."""
        return Relation(self.layouts[predicate], self.relation(predicate).runs + new.runs)

    def extended(self, new: FactSet, work: Path) -> tuple[Held, ...]:
        """Write new facts, merged with the last parts that are not much larger; returns all parts of the slice."""
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
