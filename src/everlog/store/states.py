"""States in snapshots: a whole one now and then, and thin layers of changes on top of it.

Writing a snapshot after an update costs what changed: it has the runs that are new alone, and the name
of the snapshot under it (see :mod:`everlog.engine.layers`). Layers are merged like the runs of a
relation: a new one takes in those below it that are small, or not much larger than it is. So there are
few, and opening them costs little more than opening a whole one. Once they are no longer small
against what is under them, a whole snapshot is written.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from everlog.engine import layers
from everlog.engine.dictionary import Dictionary
from everlog.engine.layers import LayeredState
from everlog.engine.state import State
from everlog.lang.syntax import Predicate

if TYPE_CHECKING:
    from everlog.store import Snapshot
    from everlog.store.store import Store

WHOLE_SHARE = 8
"""A whole snapshot is written when the changes are more than one in so many of what is under them."""

GROWTH = 4
"""A layer that is not so many times as large as the one above it is taken in by that."""

SMALL = 1 << 16
"""So is a layer with fewer numbers than this."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SnapshotState:
    """A state, and the snapshot that has it, if there is one."""

    placed: LayeredState
    snapshot: Snapshot | None = None

    @property
    def state(self) -> State:
        return self.placed.state

    def known(self) -> State | None:
        """An earlier state with the graphs of closures, if the snapshot has one."""
        if self.snapshot is None:
            return None
        found = self.snapshot.layers
        try:
            return layers.read_lowest(found, self.placed) if found[0].manifest["graphs"] else None
        except (KeyError, ValueError, IndexError) as error:
            log.info("the graphs in %s cannot be used: %r", found[0].name, error)
            return None


def kept_in(snapshot: Snapshot) -> SnapshotState | None:
    """The state that a snapshot has, mapped; None with a log line if it cannot be one."""
    try:
        return SnapshotState(layers.read(snapshot.layers), snapshot)
    except layers.OutOfBoundsError as error:
        _not_used(snapshot, error)
        return None


def terms_in(snapshot: Snapshot) -> Dictionary | None:
    """The terms that a snapshot has, mapped; None with a log line if they cannot be terms."""
    try:
        return layers.dictionary(snapshot.layers)
    except layers.OutOfBoundsError as error:
        _not_used(snapshot, error)
        return None


def _not_used(snapshot: Snapshot, error: Exception) -> None:
    log.warning("the snapshot %s is damaged and not used: %s", snapshot.name, error)


def kept_nowhere(state: State) -> SnapshotState:
    """A state that no snapshot has."""
    return SnapshotState(LayeredState(state, {}))


def keep_whole(store: Store, version: int, state: State) -> SnapshotState:
    """Leave a whole snapshot of a version; the state as it is there has its ids in order."""
    settled = state.ranked().settled()
    arrays, manifest, placed = layers.layer(LayeredState(settled, {}), settled.predicates)
    found = store.write_snapshot(version, arrays, manifest)
    return kept_nowhere(settled) if found is None else SnapshotState(placed, found)


def keep_change(store: Store, version: int, old: SnapshotState, new: State) -> SnapshotState:
    """Leave a snapshot of a version that has a state which came from an older one, over the same dictionary."""
    if old.snapshot is None or _differs(old.snapshot, new):
        return keep_whole(store, version, new)
    below = old.snapshot.layers
    if not set(new.graphs).issubset(below[0].manifest["graphs"]):
        return keep_whole(store, version, new)
    changed = layers.changed(old.state, new)
    placed = LayeredState(new, old.placed.places)
    size = _size(placed, changed, below)
    while len(below) > 1 and below[-1].manifest["size"] < max(GROWTH * size, SMALL):
        *below, taken = below
        changed |= {Predicate.parse(text) for text in taken.manifest["predicates"]}
        size = _size(placed, changed, below)
    if (size + sum(layer.manifest["size"] for layer in below[1:])) * WHOLE_SHARE > below[0].manifest["size"]:
        return keep_whole(store, version, new)
    placed = old.placed.followed_by(new, changed)
    arrays, manifest, placed = layers.layer(placed, sorted(changed), len(below), below[-1].manifest["universe"])
    found = store.write_snapshot(version, arrays, manifest, below[-1])
    return keep_whole(store, version, new) if found is None else SnapshotState(placed, found)


def _differs(snapshot: Snapshot, state: State) -> bool:
    """Whether a state keeps other things than a snapshot."""
    said, generated = snapshot.manifest, sorted(map(str, state.generated))
    return said["counted"] != (state.nr is not None) or said["generated"] != generated


def _size(placed: LayeredState, predicates: set[Predicate], below: list[Snapshot]) -> int:
    """How many numbers and terms a layer has that is put on top of others."""
    terms = len(placed.state.dictionary) - below[-1].manifest["universe"]
    return placed.size(predicates, len(below)) + int(terms)
