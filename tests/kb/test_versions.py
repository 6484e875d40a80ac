"""A store that took 300 updates: every version can be read, every span of changes, and opening stays quick."""

from __future__ import annotations

import csv
import io
import random
import shutil
import statistics
import time
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import everlog
from everlog import KnowledgeBase
from everlog.engine.state import State
from everlog.jobs.update import UpdateJob, update
from everlog.kb.history import changes
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.lang.terms import text_of
from everlog.store import Store, loading
from everlog.store.compaction import compact
from tests.cli.running import CommandLine
from tests.kb.test_store_updates import check_store, decoded, facts_of
from tests.oracle import naive
from tests.oracle.naive import Fact

pytestmark = pytest.mark.long  # the history takes most of the time

RULES = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
end(?x) :- edge(_, ?x), ~edge(?x, _) .
three(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z) .
"""
PROGRAM = parse_program(RULES)
EDGE, STILL = Predicate("edge", 2), Predicate("still", 2)
UPDATES, GRAPHS, NODES, STILL_FACTS = 300, 12, 8, 10_000
Edge = tuple[str, str]
Graph = frozenset[Edge]


def as_facts(graph: Graph) -> set[Fact]:
    return {(EDGE, tuple(map(text_of, edge))) for edge in graph}


@cache
def materialised(graph: Graph) -> set[Fact]:
    """The facts of a graph that is connected with no other, by the oracle."""
    return naive.flat(naive.materialise(PROGRAM, as_facts(graph)))


@dataclass(frozen=True)
class History:
    """A store, and of each of its versions the graphs that it has; ``first`` is a copy after one update."""

    path: Path
    first: Path
    versions: list[list[Graph]]

    def facts(self, version: int) -> set[Fact]:
        return {fact for graph in self.versions[version] for fact in materialised(graph)}

    def explicit(self, version: int) -> set[Fact]:
        return {fact for graph in self.versions[version] for fact in as_facts(graph)}


class Updater:
    """Changes a few edges of one graph after the other, by the one or the other of the two ways."""

    def __init__(self, place: Path) -> None:
        self.place, self.path = place, place / "kb"
        self.random = random.Random(7)
        nodes = [[f"g{graph}n{node}" for node in range(NODES)] for graph in range(GRAPHS)]
        self.graphs = [frozenset(pairwise(names)) for names in nodes]
        self.kb = KnowledgeBase(RULES)
        self.kb.insert("edge", [edge for graph in self.graphs for edge in graph])
        self.kb.insert("still", [(f"s{i}", i % 100) for i in range(STILL_FACTS)])
        self.kb.save(self.path)

    def change(self, number: int) -> None:
        graph = self.graphs[number % GRAPHS]
        gone = frozenset(self.random.sample(sorted(graph), 1))
        names = sorted({name for edge in graph for name in edge})
        new = frozenset({(self.random.choice(names), f"u{number}" if number % 3 else self.random.choice(names))})
        self.graphs[number % GRAPHS] = (graph - gone) | new
        if number % 5:
            self.kb.update(delete={"edge": sorted(gone)}, insert={"edge": sorted(new)})
            self.kb.save()
        else:
            for name, edges in (("gone", gone), ("new", new)):
                (self.place / f"{name}.csv").write_text("".join(f"{x},{y}\n" for x, y in edges))
            job = UpdateJob(
                str(self.path), insert=(f"edge={self.place}/new.csv",), delete=(f"edge={self.place}/gone.csv",)
            )
            update(job)
            self.kb = everlog.open(self.path)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    place = tmp_path_factory.mktemp("history")
    updater = Updater(place)
    versions = [list(updater.graphs)]
    for number in range(UPDATES):
        updater.change(number)
        if number == 0:
            shutil.copytree(updater.path, place / "first")
        if number % 120 == 60:
            compact(Store.open(updater.path))
        versions += [list(updater.graphs)] * (Store.open(updater.path).version + 1 - len(versions))
    return History(updater.path, place / "first", versions)


def moving(state: State, part: str) -> set[Fact]:
    """All facts except those that never change, which are only counted."""
    assert len(getattr(state, part)[STILL]) == STILL_FACTS
    held = {p: relation for p, relation in getattr(state, part).items() if p != STILL}
    return facts_of(State(state.dictionary, held, held), part)  # type: ignore[arg-type]


def test_there_were_updates_merges_and_compactions(history: History) -> None:
    store = Store.open(history.path)
    operations = [info.operation for info in store.versions()]
    assert operations.count("update") >= UPDATES - 10, "few of the changes change nothing"
    assert operations.count("compact") >= 8
    assert len(store.files()) + len(store.term_files()) < 70
    check_store(history.path)


@pytest.mark.parametrize("way", ["the quickest", "from the newest snapshot", "tables"])
def test_every_version_can_be_read(history: History, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way == "from the newest snapshot":
        monkeypatch.setattr(loading, "FACTS_AN_UPDATE", 1)
    every = 1 if way == "the quickest" else 20
    for version in range(0, len(history.versions), every):
        if way == "tables":
            state = loading.state_in_tables(Store.open(history.path), version)
        else:
            state = everlog.open(history.path, version).state()
        assert moving(state, "facts") == history.facts(version)
        assert moving(state, "explicit") == history.explicit(version)


def test_the_changes_of_any_span_lead_from_one_version_to_the_other(history: History) -> None:
    last = len(history.versions) - 1
    drawn = random.Random(3)
    spans = [(0, last), (last - 1, last), *(sorted(drawn.choices(range(last + 1), k=2)) for _ in range(25))]
    for before, after in spans:
        change = changes(history.path, before, after)
        for facts, inserted, deleted in (
            (history.facts, change.inserted, change.deleted),
            (history.explicit, change.explicit_inserted, change.explicit_deleted),
        ):
            old, new, plus, minus = facts(before), facts(after), decoded(inserted), decoded(deleted)
            assert (plus, minus) == (new - old, old - new)
            assert (old - minus) | plus == new


def test_the_command_that_lists_the_changes_of_each_version(
    history: History, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    done = CommandLine(capfdbinary)("changes", history.path, "--format", "csv", "--quiet")
    assert done.status == 0
    listed: dict[int, dict[str, set[Fact]]] = {}
    for number, sign, name, *cells in list(csv.reader(io.StringIO(done.out)))[1:]:
        row = tuple(text_of(cell) for cell in cells if cell)
        listed.setdefault(int(number), {"+": set(), "-": set()})[sign].add((Predicate(name, len(row)), row))
    for version in range(1, len(history.versions)):
        before, after = history.facts(version - 1), history.facts(version)
        found = listed.get(version, {"+": set(), "-": set()})
        assert found == {"+": after - before, "-": before - after}


def seconds_to_answer(path: Path) -> float:
    """The seconds to open a store, count a relation and answer a query."""
    begun = time.perf_counter()
    kb = everlog.open(path)
    assert len(kb["path"]) > 100
    assert len(kb.query("path(g0n0, ?x)")) >= 0
    return time.perf_counter() - begun


def test_opening_takes_no_longer_after_many_versions(history: History) -> None:
    """At most twice as long as after one update, as the median of measurements that take turns."""
    assert Store.open(history.first).version == 1
    taken: dict[Path, list[float]] = {history.first: [], history.path: []}
    for _ in range(41):
        for path, seconds in taken.items():
            seconds.append(seconds_to_answer(path))
    one, many = (statistics.median(seconds[1:]) for seconds in taken.values())
    assert many <= 2 * one, f"{many * 1e3:.1f} ms after {UPDATES} updates, {one * 1e3:.1f} ms after one"
