"""Random operations of two knowledge bases on one store, compared with sets of facts.

Each handle changes, saves and reopens at random; compactions and vacuums come in between. The model has the facts of
every version as Python sets and, for each handle, its facts and the version that it builds on.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import everlog
from everlog import KnowledgeBase, StoreError
from everlog.kb.recompute import recompute
from everlog.store import Store, compaction, loading
from everlog.store import states as snapshots
from everlog.store.compaction import compact
from everlog.store.loading import state_in_tables
from everlog.store.vacuum import vacuum
from tests.store.verified import verify

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
Edge = tuple[str, str]
EDGES = st.tuples(st.sampled_from("abcd"), st.sampled_from("bcde"))
HANDLES = st.sampled_from([0, 1])


def closure(edges: Iterable[Edge]) -> set[Edge]:
    found = set(edges)
    while more := {(x, z) for x, y in found for w, z in found if y == w} - found:
        found |= more
    return found


@dataclass
class Handle:
    """A knowledge base, the version that it builds on, and its expected facts."""

    kb: KnowledgeBase
    version: int
    edges: set[Edge] = field(default_factory=set)
    saved: frozenset[Edge] = frozenset()


class TwoHandles(RuleBasedStateMachine):
    """The state machine described above."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="two-handles-"))
        self.path = self.place / "kb"
        self.versions: list[frozenset[Edge]] = []
        self.data: list[int] = []
        """For each version, the last version that changed facts."""
        self.readable = 0
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(snapshots, "WHOLE_SHARE", 0)
        self.patched.setattr(snapshots, "SMALL", 4)
        self.patched.setattr(snapshots, "GROWTH", 2)
        self.patched.setattr(compaction, "MOST_SMALL_FILES", 3)
        self.patched.setattr(loading, "FACTS_AN_UPDATE", 1)

    def teardown(self) -> None:
        self.patched.undo()
        shutil.rmtree(self.place)

    @initialize(edges=st.sets(EDGES, max_size=4), modules=st.booleans())
    def make(self, edges: set[Edge], modules: bool) -> None:
        kb = KnowledgeBase(RULES, modules=modules)
        kb.insert("edge", sorted(edges))
        assert kb.save(self.path) == 0
        self.versions, self.data = [frozenset(edges)], [0]
        first = Handle(kb, 0, set(edges), frozenset(edges))
        self.handles = [first, self._opened(0)]

    def _opened(self, version: int) -> Handle:
        edges = self.versions[version]
        return Handle(everlog.open(self.path, version), version, set(edges), edges)

    def _committed(self, edges: frozenset[Edge], changes: bool) -> None:
        """Add the new versions of the store to the model: a change, and compactions after it."""
        newest = Store.open(self.path).version
        for number in range(len(self.versions), newest + 1):
            self.data.append(number if changes and number == len(self.versions) else self.data[-1])
            self.versions.append(edges)

    @rule(number=HANDLES, insert=st.sets(EDGES, max_size=3), delete=st.sets(EDGES, max_size=3))
    def update(self, number: int, insert: set[Edge], delete: set[Edge]) -> None:
        handle = self.handles[number]
        change = handle.kb.update(insert={"edge": sorted(insert)}, delete={"edge": sorted(delete)})
        edges = (handle.edges - delete) | insert
        before, after = closure(handle.edges), closure(edges)
        assert set(change.inserted["path"]) == after - before
        assert set(change.deleted["path"]) == before - after
        handle.edges = edges

    @rule(number=HANDLES, edges=st.sets(EDGES, max_size=2))
    def queue(self, number: int, edges: set[Edge]) -> None:
        handle = self.handles[number]
        handle.kb.insert("edge", sorted(edges))
        handle.edges |= edges

    @rule(number=HANDLES)
    def save(self, number: int) -> None:
        """Save: succeeds if no other handle has changed facts since; otherwise it is an error that changes nothing."""
        handle, newest = self.handles[number], len(self.versions) - 1
        if self.data[newest] > handle.version:
            with pytest.raises(StoreError, match="another writer committed version"):
                handle.kb.save(wait=0)
            assert Store.open(self.path).version == newest
            return
        changed = frozenset(handle.edges) != handle.saved
        version = handle.kb.save(wait=0)
        assert version == (newest + 1 if changed else newest)
        self._committed(frozenset(handle.edges), changed)
        handle.version, handle.saved = version, frozenset(handle.edges)

    @rule(number=HANDLES, insert=st.sets(EDGES, max_size=2), delete=st.sets(EDGES, max_size=2))
    def write(self, number: int, insert: set[Edge], delete: set[Edge]) -> None:
        """Open the newest version, change it and save it, like a command."""
        self.open_newest(number)
        self.update(number, insert, delete)
        self.save(number)

    @rule(number=HANDLES)
    def open_newest(self, number: int) -> None:
        self.handles[number] = self._opened(len(self.versions) - 1)

    @rule(number=HANDLES, back=st.integers(0, 3))
    def open_older(self, number: int, back: int) -> None:
        self.handles[number] = self._opened(max(self.readable, len(self.versions) - 1 - back))

    @rule(number=HANDLES)
    def overwrite(self, number: int) -> None:
        handle = self.handles[number]
        handle.version = handle.kb.save(self.path, overwrite=True, wait=0)
        assert handle.version == len(self.versions)
        handle.saved = frozenset(handle.edges)
        self._committed(handle.saved, changes=True)

    @rule()
    def compact(self) -> None:
        compact(Store.open(self.path))
        self._committed(self.versions[-1], changes=False)

    @rule(keep=st.integers(1, 4))
    def vacuum(self, keep: int) -> None:
        vacuum(Store.open(self.path), keep_versions=keep)
        self.readable = max(self.readable, len(self.versions) - keep)

    @rule()
    def lose_snapshots(self) -> None:
        shutil.rmtree(self.path / "snapshot", ignore_errors=True)

    @rule(number=HANDLES)
    def ask(self, number: int) -> None:
        handle = self.handles[number]
        assert set(handle.kb["edge"].rows()) == handle.edges
        assert set(handle.kb["path"].rows()) == closure(handle.edges)

    @precondition(lambda self: self.versions)
    @invariant()
    def the_newest_version_is_right(self) -> None:
        opened = everlog.open(self.path)
        assert set(opened["edge"].rows()) == self.versions[-1]
        assert set(opened["path"].rows()) == closure(self.versions[-1])

    @rule()
    def verify(self) -> None:
        store = Store.open(self.path)
        assert verify(store) == []
        assert recompute(store, state_in_tables(store)) == []


@pytest.mark.slow
def test_two_handles_of_a_store_behave_like_sets() -> None:
    run_state_machine_as_test(
        TwoHandles,
        settings=hypothesis.settings(
            max_examples=60,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )
