"""Updates of stores: every version is right, at the cost of the change, with any other operations in between."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import everlog
from everlog import KnowledgeBase, StoreError
from everlog.engine.multiset import Counts
from everlog.engine.state import State
from everlog.kb.change import ChangedRelations
from everlog.kb.history import changes
from everlog.kb.recompute import recompute, wrong_snapshot, wrong_statistics
from everlog.kb.saving import append
from everlog.lang.terms import text_of, value_of
from everlog.store import Store, begin, compaction, loading, steps
from everlog.store import states as snapshots
from everlog.store.compaction import compact
from everlog.store.vacuum import vacuum
from tests.oracle import naive
from tests.oracle.naive import Fact
from tests.processes import STEPS, kill_at
from tests.running import knowledge_base
from tests.store.small import at_step
from tests.store.verified import verify
from tests.strategies import Case, cases, graph_cases, updates

ALGORITHMS: list[Any] = ["auto", "dredc", "bfc", "dred", "fbf", "counting", "rematerialise"]
PATHS = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
end(?x) :- edge(_, ?x), ~edge(?x, _) .
three(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z) .
"""


def facts_of(state: State, part: str) -> set[Fact]:
    found = set()
    for predicate, relation in getattr(state, part).items():
        columns = [state.dictionary.decode(column).to_pylist() for column in relation.columns()]
        found |= {(predicate, tuple(column[i] for column in columns)) for i in range(len(relation))}
    return found


def counters(state: State) -> list[dict[Fact, int] | None]:
    return [None if counts is None else weights(state, counts) for counts in (state.nr, state.rec)]


def weights(state: State, counts: Counts) -> dict[Fact, int]:
    found: dict[Fact, int] = {}
    for predicate, multiset in counts.items():
        columns = [state.dictionary.decode(column).to_pylist() for column in multiset.relation().columns()]
        rows: Iterable[tuple[str, ...]] = zip(*columns, strict=True) if columns else [()] * len(multiset)
        found.update(((predicate, row), int(n)) for row, n in zip(rows, multiset.whole()[1], strict=True))
    return found


def everything(state: State) -> tuple[Any, ...]:
    return facts_of(state, "facts"), facts_of(state, "explicit"), *counters(state)


def meanwhile(data: st.DataObject, kb: KnowledgeBase, path: Path, seen: dict[int, tuple[Any, ...]]) -> KnowledgeBase:
    """Do other operations on a store between two updates; returns the knowledge base to continue with, opened again if
    there were any. ``seen`` has the facts of each version so far, and gets those of the versions that this makes.
    """
    happens = data.draw(st.sampled_from(["nothing", "open", "tables", "compact", "merge"]))
    if happens == "tables":
        shutil.rmtree(path / "snapshot")
    elif happens == "compact":
        compact(Store.open(path))
    elif happens == "merge":
        compaction.merge_small(path)
    for version in range(1, Store.open(path).version + 1):
        seen.setdefault(version, seen[version - 1])
    if happens == "nothing":
        return kb
    opened = everlog.open(path)
    assert everything(opened.state()) == seen[Store.open(path).version]
    return opened


def check_store(path: Path) -> None:
    """Check a store as ``everlog verify`` does."""
    store = Store.open(path)
    assert verify(store) == []
    state = loading.state_in_tables(store)
    assert wrong_statistics(store, state) == wrong_snapshot(store, state) == []
    assert recompute(store, state) == []


def rows_of(facts: Iterable[Fact]) -> dict[Any, list[tuple[Any, ...]]]:
    return {
        (predicate.name, predicate.arity): [tuple(map(value_of, row)) for row in sorted(rows)]
        for predicate, rows in naive.grouped(facts).items()
    }


def decoded(changed: ChangedRelations) -> set[Fact]:
    return {(predicate, tuple(map(text_of, row))) for predicate in changed for row in changed[predicate]}


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small stores behave like large ones: changes stay small, files are merged early."""
    monkeypatch.setattr(snapshots, "WHOLE_SHARE", 0)
    monkeypatch.setattr(snapshots, "SMALL", 10)
    monkeypatch.setattr(snapshots, "GROWTH", 2)
    monkeypatch.setattr(compaction, "MOST_SMALL_FILES", 3)
    monkeypatch.setattr(compaction, "FEWEST_ROWS", 20)


@pytest.mark.long
@settings(
    max_examples=25,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_every_version_equals_materialising(
    tmp_path_factory: pytest.TempPathFactory, eager: None, data: st.DataObject
) -> None:
    case: Case = data.draw(graph_cases(max_nodes=7) | cases(max_rules=5))
    path = tmp_path_factory.mktemp("store") / "kb"
    kb = knowledge_base(case.program, case.facts, maintain="dredc")
    kb.save(path)
    explicit = {*case.facts, *naive.explicit(case.program)}
    seen = {0: everything(kb.state())}
    for change in data.draw(updates(case, max_size=5)):
        known = set(kb.predicates)
        delete = {fact for fact in change.delete if fact[0] in known}
        algorithm = data.draw(st.sampled_from(ALGORITHMS))
        report = kb.update(insert=rows_of(change.insert), delete=rows_of(delete), algorithm=algorithm)
        explicit = (explicit - delete) | change.insert
        before, version = Store.open(path).version, kb.save()
        assert (version == before) == (not report)
        assert facts_of(kb.state(), "explicit") == explicit
        if report:
            seen[version] = everything(kb.state())
        kb = meanwhile(data, kb, path, seen)
        check_store(path)
    rules = KnowledgeBase(case.program)
    rules.update(delete=rows_of(naive.explicit(case.program)))
    rules.update(insert=rows_of(explicit), algorithm="rematerialise")
    assert facts_of(kb.state(), "facts") == facts_of(rules.state(), "facts")
    if kb.state().nr is not None:
        assert counters(kb.state()) == counters(rules.state())
    check_versions(path, seen)


def check_versions(path: Path, seen: dict[int, tuple[Any, ...]]) -> None:
    """Every version can be read, from the newest snapshot or the tables, and the changes lead from one to the next."""
    for version, expected in seen.items():
        assert everything(loading.load(Store.open(path), version).state) == expected
        assert everything(loading.state_in_tables(Store.open(path), version)) == expected
    for version in range(1, len(seen)):
        change = changes(path, version - 1, version)
        for part, added, removed in (
            (0, change.inserted, change.deleted),
            (1, change.explicit_inserted, change.explicit_deleted),
        ):
            assert decoded(added) == seen[version][part] - seen[version - 1][part]
            assert decoded(removed) == seen[version - 1][part] - seen[version][part]
    span = changes(path, 0)
    assert (seen[0][0] - decoded(span.deleted)) | decoded(span.inserted) == seen[max(seen)][0]


def chains(count: int) -> list[tuple[int, int]]:
    """Disjoint paths of ten edges each."""
    return [(20 * c + i, 20 * c + i + 1) for c in range(count) for i in range(10)]


def store_of_chains(path: Path, count: int = 300) -> KnowledgeBase:
    kb = KnowledgeBase(PATHS)
    kb.insert("edge", chains(count))
    kb.save(path)
    return kb


def snapshot_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in (path / "snapshot").rglob("data.bin"))


def test_what_is_written_is_proportional_to_the_change(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    store_of_chains(path)
    facts = Store.open(path).files()[0].rows
    size = snapshot_bytes(path)
    kb = everlog.open(path)
    report = kb.update(delete={"edge": [(4, 5)]}, insert={"edge": [(2000, "new")]}, algorithm="dredc")
    changed = sum(map(len, report.inserted.values())) + sum(map(len, report.deleted.values()))
    kb.save()
    store = Store.open(path)
    new = [file for file in store.files() if file.rows != facts]
    assert [file.rows for file in new] == [store.changes(0, 1).num_rows]
    assert changed <= (new[0].rows or 0) <= changed + 10, "only counters of neighbours change besides"
    assert [file.rows for file in store.term_files()][-1] == 1 or min(f.rows or 0 for f in store.term_files()) == 1
    assert snapshot_bytes(path) - size < 64 * 4 * changed
    assert len(list((path / "snapshot").iterdir())) == 2
    check_store(path)


def test_deleting_what_nobody_knows_adds_no_terms(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    kb = store_of_chains(path, 2)
    terms = len(kb.state().dictionary)
    report = kb.update(delete={"edge": [("no", "such"), ("no", "such"), (0, "other"), (0, 1), (1, 0)], "end": [(3,)]})
    assert (report.not_explicit, len(kb.state().dictionary)) == (4, terms)
    kb.save()
    assert len(everlog.open(path).state().dictionary) == terms == Store.open(path).terms().num_rows


def test_nothing_changed_is_no_version(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    kb = store_of_chains(path, 2)
    assert kb.save() == kb.save(path) == 0
    assert everlog.open(path).save() == 0
    kb.update(insert={"edge": [(0, 1)]}, delete={"edge": [("never", "there")]})
    assert kb.save() == 0
    assert Store.open(path).version == 0


def test_a_knowledge_base_from_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no-store"):
        KnowledgeBase("p(a) .").save()
    store_of_chains(tmp_path / "kb", 2)
    with pytest.raises(StoreError, match="store-exists"):
        KnowledgeBase("p(a) .").save(tmp_path / "kb")


def test_saving_elsewhere(tmp_path: Path) -> None:
    """A copy in another store, to which later saves append."""
    kb = store_of_chains(tmp_path / "one", 2)
    kb.insert("edge", [("a", "b")])
    assert kb.save(tmp_path / "two") == 0
    kb.insert("edge", [("b", "c")])
    assert kb.save() == 1
    assert Store.open(tmp_path / "one").version == 0
    assert ("a", "c") in everlog.open(tmp_path / "two")["path"]


def test_of_two_updaters_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    store_of_chains(path, 2)
    one, other, old = everlog.open(path), everlog.open(path), everlog.open(path, 0)
    one.insert("edge", [("one", "1")])
    other.insert("edge", [("other", "2")])
    assert one.save() == 1
    for late in (other, old):
        late.insert("edge", [("late", "3")])
        with pytest.raises(StoreError, match="another writer"):
            late.save()
    assert len(everlog.open(path)["edge"]) == 21
    assert ("other", "2") in other["edge"], "what was not saved is still there"
    check_store(path)


def test_another_writer_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kb"
    kb = store_of_chains(path, 2)
    kb.insert("edge", [("slow", "new")])

    def meanwhile() -> None:
        other = everlog.open(path)
        other.insert("edge", [("quick", "new")])
        with pytest.raises(StoreError, match="another writer is at work"):
            other.save(wait=0)
        with begin(path) as transaction:  # one that does not see the others, such as one on another machine
            append(other, transaction)

    at_step(monkeypatch, steps.TERMS_COMMITTED, meanwhile)
    with pytest.raises(StoreError, match="another-writer"):
        kb.save()
    with pytest.raises(StoreError, match="another-writer"):
        kb.save()
    monkeypatch.undo()
    check_store(path)


def test_a_compaction_in_between_is_no_conflict(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    kb = store_of_chains(path, 2)
    kb.insert("edge", [("x", "y")])
    kb.save()
    assert compact(Store.open(path)) == 2
    kb.insert("edge", [("y", "z")])
    assert kb.save() == 3
    check_store(path)
    assert ("x", "z") in everlog.open(path)["path"]


def job(path: str) -> None:
    """Open, change with new terms, a new predicate and a larger arity, save."""
    kb = everlog.open(path)
    kb.update(insert={"edge": [(5, "new")], "wide": [(1, 2, 3, "four")]}, delete={"edge": [(0, 1)]}, algorithm="dredc")
    kb.save()


@pytest.mark.long
@pytest.mark.parametrize("step", STEPS)
def test_killed_while_updating(tmp_path: Path, step: str) -> None:
    path = tmp_path / "kb"
    before = everything(store_of_chains(path, 20).state())
    kill_at(step, job, path)
    done = step in (steps.FACTS_COMMITTED, steps.STAGING_REMOVED, steps.SNAPSHOT_WRITTEN)
    found = everything(everlog.open(path).state())
    assert (found == before) is not done
    check_store(path)
    job(str(path))
    assert everything(everlog.open(path, 0).state()) == before
    expected = KnowledgeBase(PATHS)
    expected.insert("edge", [*chains(20)[1:], (5, "new")])
    expected.insert("wide", [(1, 2, 3, "four")])
    assert everything(everlog.open(path).state()) == everything(expected.state())
    check_store(path)


@pytest.mark.long
def test_layers_and_files_stay_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SMALL", 200)
    monkeypatch.setattr(compaction, "MOST_SMALL_FILES", 8)
    path = tmp_path / "kb"
    kb = store_of_chains(path)
    depths = []
    for number in range(40):
        start = 20 * number
        kb.update(insert={"edge": [(start + 10, f"n{number}")]}, delete={"edge": [(start + 3, start + 4)]})
        kb.save()
        store = Store.open(path)
        snapshot = store.snapshot()
        assert snapshot is not None
        depths.append(len(snapshot.layers))
        assert len(list((path / "snapshot").iterdir())) == depths[-1], "what is not needed is removed"
        assert len(store.files()) <= 12
    assert 3 <= max(depths) <= 4
    check_store(path)
    assert everything(everlog.open(path).state()) == everything(kb.state())


def test_a_compaction_needs_no_snapshot_of_its_own(tmp_path: Path) -> None:
    """The one before it has the same facts: it is used, built upon, and kept by a vacuum."""
    path = tmp_path / "kb"
    kb = store_of_chains(path)
    kb.update(insert={"edge": [("x", "y")]})
    kb.save()
    compact(Store.open(path))
    before = {entry.name for entry in (path / "snapshot").iterdir()}
    opened = everlog.open(path)
    vacuum(Store.open(path), keep_versions=1)
    assert {entry.name for entry in (path / "snapshot").iterdir()} == before
    opened.update(insert={"edge": [("y", "z")]})
    assert opened.save() == 3
    newest = Store.open(path).snapshot()
    assert newest is not None
    assert newest.under is not None
    check_store(path)


def test_a_snapshot_that_another_process_replaced(tmp_path: Path) -> None:
    """A state with the ids of one snapshot is not put on top of another one of the same version."""
    path = tmp_path / "kb"
    store_of_chains(path, 20).save()
    kb = everlog.open(path)
    for number in range(2):
        kb.update(insert={"edge": [(f"a{number}", f"b{number}")]})
        kb.save()
    shutil.rmtree(path / "snapshot")
    everlog.open(path)
    kb.update(insert={"edge": [("c", "d")]})
    kb.save()
    check_store(path)
    assert everything(everlog.open(path).state()) == everything(kb.state())


def test_a_large_change_makes_a_whole_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    kb = store_of_chains(path, 20)
    kb.update(insert={"edge": [(f"x{i}", f"y{i}") for i in range(2000)]})
    kb.save()
    newest = Store.open(path).snapshot()
    assert newest is not None
    assert newest.under is None
    assert len(list((path / "snapshot").iterdir())) == 1
    kb.update(insert={"edge": [("one", "more")]})
    kb.save()
    assert everything(everlog.open(path).state()) == everything(kb.state())


def test_a_layout_that_grows(tmp_path: Path) -> None:
    """Arity five needs wider keys from 4,096 terms on: in the middle of a chain of changes."""
    path = tmp_path / "kb"
    kb = KnowledgeBase("five(?a, ?b, ?a, ?b, ?a) :- edge(?a, ?b) .")
    kb.insert("edge", [(i, i + 1) for i in range(4089)])
    kb.save(path)
    for number in range(4):
        kb = everlog.open(path)
        kb.update(insert={"edge": [(f"a{number}", f"b{number}")]}, delete={"edge": [(number, number + 1)]})
        kb.save()
        assert everything(everlog.open(path).state()) == everything(kb.state())
    assert len(kb.state().dictionary) > 4096
    check_store(path)


def test_counters_that_are_not_kept_for_a_while(tmp_path: Path) -> None:
    """fbf does not keep them; the next algorithm that needs them counts again, and then they are stored."""
    path = tmp_path / "kb"
    store_of_chains(path, 30)
    for number, algorithm in enumerate(["fbf", "fbf", "dredc", "bfc", "fbf", "dredc"]):
        kb = everlog.open(path)
        kb.update(delete={"edge": [(20 * number + 5, 20 * number + 6)]}, algorithm=algorithm)  # type: ignore[arg-type]
        kb.save()
        info = Store.open(path).info()
        assert (info.bookkeeping, kb.state().nr is None) == (("none", True) if algorithm == "fbf" else ("dredc", False))
        assert everything(everlog.open(path).state()) == everything(kb.state())
        shutil.rmtree(path / "snapshot")
        assert everything(everlog.open(path).state()) == everything(kb.state())
        check_store(path)


@pytest.mark.parametrize("maintain", ["dredc", "bfc", "counting", "none"])
def test_bookkeeping_by_name(tmp_path: Path, maintain: Any) -> None:
    path = tmp_path / "kb"
    kb = KnowledgeBase(PATHS, maintain=maintain)
    kb.insert("edge", chains(5))
    kb.save(path)
    opened = everlog.open(path)
    assert (opened.state().nr is None) == (maintain in ("counting", "none"))
    assert opened.maintain == {"bfc": "dredc"}.get(maintain, maintain)
    algorithms: list[Any] = ["counting", "dredc"]
    for number, algorithm in enumerate(algorithms):
        opened.update(delete={"edge": [(5 + number, 6 + number)]}, algorithm=algorithm)
        opened.save()
        check_store(path)
        opened = everlog.open(path)
    assert opened.state().nr is not None


def test_terms_of_the_same_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kb"
    kb = store_of_chains(path, 2)
    kb.update(insert={"edge": [("twin", 1)]})
    dictionary = kb.state().dictionary
    hashes = dictionary.added.hashes
    hashes[-1] = dictionary.base.hashes[7]
    with pytest.raises(everlog.DataError, match="hash-collision"):
        kb.save()
    assert Store.open(path).version == 0
    hashes[-1] = np.int64(12345)


def test_a_transaction_that_began_before(tmp_path: Path) -> None:
    """The version that a transaction builds on counts, not the newest one."""
    path = tmp_path / "kb"
    kb = store_of_chains(path, 2)
    kb.insert("edge", [("x", "y")])
    other = everlog.open(path)
    other.insert("edge", [("p", "q")])
    with begin(path) as transaction:
        with begin(path) as before:
            append(other, before)
        with pytest.raises(StoreError, match="another-writer"):
            append(kb, transaction)
    check_store(path)
