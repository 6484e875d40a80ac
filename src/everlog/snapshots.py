"""States in snapshots: a whole one now and then, and small changes on top of it.

Writing a snapshot after an update costs what changed: it has the change alone, and the name of the
snapshot under it. Changes are merged like the runs of a relation: one takes in those below it that
are less than twice as large. So there are few, and opening costs little more than opening a whole
one. Once they are no longer small against what they change, a whole snapshot is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine import difference, state
from everlog.engine.difference import Difference, applied
from everlog.engine.hashing import text_buffers
from everlog.engine.state import State

if TYPE_CHECKING:
    from everlog.store import Snapshot
    from everlog.store.store import Store

WHOLE_SHARE = 8
"""A whole snapshot is written when the changes are more than one in so many of what is under them."""

WHOLE_BELOW = 50_000
"""A whole snapshot of so little is written at once."""


def state_of(snapshot: Snapshot) -> State:
    """The state that a snapshot has; mapped, not read, as far as it is a whole one."""
    if snapshot.under is None:
        return state.from_arrays(snapshot.arrays, snapshot.manifest)
    under = state_of(snapshot.under)
    under.dictionary.encode(_texts(snapshot))
    return applied(under, difference.from_arrays(snapshot.arrays, snapshot.manifest))


def keep_state(store: Store, version: int, whole: State) -> State:
    """Leave a whole snapshot of a version; returns the state as it is there, with ids in order."""
    ranked = whole.ranked()
    arrays, manifest = state.to_arrays(ranked)
    size = ranked.facts.count + len(ranked.dictionary)
    store.write_snapshot(version, arrays, {**manifest, "universe": len(ranked.dictionary), "size": size})
    return ranked


def keep_change(store: Store, version: int, under: Snapshot, change: Difference, new: State) -> State:
    """Leave a snapshot of a version that is another one's and a change; returns the state as it is there.

    The state is over the dictionary of the snapshot under it, with terms added.
    """
    universe, size = len(new.dictionary), change.size + len(new.dictionary) - under.manifest["universe"]
    while under.under is not None and under.manifest["size"] < 2 * size:
        below = difference.from_arrays(under.arrays, under.manifest)
        change = below.fitted(universe) + change.fitted(universe)
        under = under.under
        size = change.size + universe - under.manifest["universe"]
    least = max(size * WHOLE_SHARE, WHOLE_BELOW)
    if _bottom(under).manifest["size"] < least or _is_counted(under) != (new.nr is not None):
        return keep_state(store, version, new)
    arrays, manifest = difference.to_arrays(change, universe)
    arrays.update(_text_arrays(new, under.manifest["universe"]))
    store.write_snapshot(version, arrays, {**manifest, "size": size}, under.name)
    return new


def _bottom(snapshot: Snapshot) -> Snapshot:
    return snapshot if snapshot.under is None else _bottom(snapshot.under)


def _is_counted(snapshot: Snapshot) -> bool:
    return "nr_keys" in _bottom(snapshot).arrays


def _text_arrays(new: State, start: int) -> dict[str, NDArray[Any]]:
    data, offsets = text_buffers(new.dictionary.decode(np.arange(start, len(new.dictionary), dtype=np.int64)))
    return {"data": data, "offsets": np.asarray(offsets, np.int64)}


def _texts(snapshot: Snapshot) -> pa.LargeStringArray:
    data, offsets = snapshot.arrays["data"], snapshot.arrays["offsets"]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
