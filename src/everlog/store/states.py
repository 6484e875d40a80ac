"""States in snapshots: whole snapshots, and layers of changes on top of them.

A snapshot after an update costs what changed: it has the runs that are new, and the name of the snapshot under it
(see :mod:`everlog.engine.layers`). Layers are merged like the runs of a relation: a new one includes the layers
below it that are small, or not much larger than it. So there are few layers, and opening them costs little more than
opening a whole snapshot. Once they are no longer small compared with what is under them, a whole snapshot is
written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from everlog.engine import layers
from everlog.engine.dictionary import Dictionary
from everlog.engine.layers import LayeredState
from everlog.engine.state import State
from everlog.lang.syntax import Predicate

if TYPE_CHECKING:
    from everlog.store import Snapshot
    from everlog.store.store import Store

WHOLE_SHARE = 8
"""A whole snapshot is written once the layers have more than 1/N of the integers and terms below them."""

GROWTH = 4
"""Minimum ratio of the size of a layer to that of the layer above it; a smaller layer is included in the one above."""

SMALL = 1 << 16
"""Number of integers below which a layer is included in the one above it in any case."""

log = logging.getLogger(__name__)
Mapped = TypeVar("Mapped")


@dataclass(frozen=True)
class SnapshotState:
    """A state, with the snapshot that has it, None if there is none."""

    placed: LayeredState
    snapshot: Snapshot | None = None

    @property
    def state(self) -> State:
        return self.placed.state

    def known(self) -> State | None:
        """An earlier state with the graphs of closures, None if the snapshot has no such state."""
        if self.snapshot is None:
            return None
        found = self.snapshot.layers
        try:
            return layers.read_lowest(found, self.placed) if found[0].manifest["graphs"] else None
        except (KeyError, ValueError, IndexError) as error:
            log.info("the graphs in %s cannot be used: %r", found[0].name, error)
            return None


def mapped_state(snapshot: Snapshot) -> SnapshotState | None:
    """The mapped state of a snapshot; None with a line in the log if its arrays are no state."""
    found = _mapped(snapshot, layers.read)
    return None if found is None else SnapshotState(found, snapshot)


def mapped_terms(snapshot: Snapshot) -> Dictionary | None:
    """The mapped terms of a snapshot; None with a line in the log if its arrays are no terms."""
    return _mapped(snapshot, layers.dictionary)


def _mapped(snapshot: Snapshot, read: Callable[[Sequence[Snapshot]], Mapped]) -> Mapped | None:
    try:
        return read(snapshot.layers)
    except layers.OutOfBoundsError as error:
        log.warning("the snapshot %s is damaged and not used: %s", snapshot.name, error)
        return None


def without_snapshot(state: State) -> SnapshotState:
    """A state that no snapshot has."""
    return SnapshotState(LayeredState(state, {}))


def write_whole(store: Store, version: int, state: State) -> SnapshotState:
    """Write a whole snapshot of a version; the ids of the state that is returned are in the order of the hashes."""
    settled = state.ranked().settled()
    arrays, manifest, placed = layers.layer(LayeredState(settled, {}), settled.predicates)
    found = store.write_snapshot(version, arrays, manifest)
    return without_snapshot(settled) if found is None else SnapshotState(placed, found)


def write_change(store: Store, version: int, old: SnapshotState, new: State) -> SnapshotState:
    """Write a snapshot of a version with a layer on top of an older state's snapshot. Both states have the same
    dictionary, which may have grown.
    """
    if old.snapshot is None or _differs(old.snapshot, new):
        return write_whole(store, version, new)
    below = old.snapshot.layers
    if not set(new.graphs).issubset(below[0].manifest["graphs"]):
        return write_whole(store, version, new)
    changed = layers.changed(old.state, new)
    placed = LayeredState(new, old.placed.places)
    size = _size(placed, changed, below)
    while len(below) > 1 and below[-1].manifest["size"] < max(GROWTH * size, SMALL):
        *below, taken = below
        changed |= {Predicate.parse(text) for text in taken.manifest["predicates"]}
        size = _size(placed, changed, below)
    if (size + sum(layer.manifest["size"] for layer in below[1:])) * WHOLE_SHARE > below[0].manifest["size"]:
        return write_whole(store, version, new)
    placed = old.placed.followed_by(new, changed)
    arrays, manifest, placed = layers.layer(placed, sorted(changed), len(below), below[-1].manifest["universe"])
    found = store.write_snapshot(version, arrays, manifest, below[-1])
    return write_whole(store, version, new) if found is None else SnapshotState(placed, found)


def _differs(snapshot: Snapshot, state: State) -> bool:
    """Whether a state and a snapshot differ in having counters, or in their generated predicates."""
    manifest, generated = snapshot.manifest, sorted(map(str, state.generated))
    return manifest["counted"] != (state.nr is not None) or manifest["generated"] != generated


def _size(placed: LayeredState, predicates: set[Predicate], below: list[Snapshot]) -> int:
    """Number of integers and terms of a layer that is put on top of others."""
    terms = len(placed.state.dictionary) - below[-1].manifest["universe"]
    return placed.size(predicates, len(below)) + int(terms)
