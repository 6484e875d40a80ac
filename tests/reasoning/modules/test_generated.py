"""Stores with and without listed pairs of closures give equal results at every version."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import everlog
from everlog import KnowledgeBase
from everlog.cli.stats import collect
from everlog.engine.closed import Closed
from everlog.kb.recompute import recompute, wrong_snapshot, wrong_statistics
from everlog.lang.printer import print_program
from everlog.lang.syntax import Predicate
from everlog.query import ordered
from everlog.store import Store, steps
from everlog.store.compaction import compact
from everlog.store.loading import state_in_tables
from tests.cli.running import CommandLine
from tests.processes import kill_at
from tests.reasoning.modules.test_graphs import by_name, mutual_cases, quoted
from tests.reasoning.modules.test_updates import module_cases
from tests.running import knowledge_base, relation
from tests.store.verified import verify
from tests.strategies import Case, updates

pytestmark = pytest.mark.usefixtures("closures_in_graphs")

RULES = """
above(?x, ?y) :- parent(?x, ?y), ~dead(?x) .
above(?x, ?z) :- above(?x, ?y), above(?y, ?z) .
below(?y, ?x) :- above(?x, ?y) .
kin(?x, ?y) :- above(?x, ?y) .
kin(?x, ?y) :- kin(?y, ?x) .
kin(?x, ?z) :- kin(?x, ?y), kin(?y, ?z) .
"""
NEVER = 10**9


@pytest.fixture
def command_line(capfdbinary: pytest.CaptureFixture[bytes]) -> CommandLine:
    return CommandLine(capfdbinary)


def everything(kb: KnowledgeBase) -> dict[Predicate, set[Any]]:
    found = {predicate: relation(kb, predicate) for predicate in kb.predicates}
    return {predicate: rows for predicate, rows in found.items() if rows}


def changed(path: Path, first: int, last: int) -> list[dict[Predicate, Any]]:
    found = everlog.changes(path, first, last)
    parts = (found.inserted, found.deleted, found.explicit_inserted, found.explicit_deleted)
    for part in parts:
        assert all(len(set(part[p].rows())) == len(part[p]) for p in part)
    return [{p: sorted(part[p].rows(), key=str) for p in part} for part in parts]


def figures(path: Path) -> Any:
    found = collect(Store.open(path), None)
    return found["facts"], found["explicit"], found["predicates"]


def findings(path: Path) -> list[str]:
    store = Store.open(path)
    state = state_in_tables(store)
    return [
        *verify(store),
        *wrong_statistics(store, state),
        *wrong_snapshot(store, state),
        *recompute(store, state),
    ]


CASES = module_cases() | mutual_cases()
HEALTH = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.mark.long
@settings(max_examples=6, suppress_health_check=HEALTH)
@given(case=CASES, data=st.data())
def test_same_as_listed(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    check_same(tmp_path_factory.mktemp("stores"), quoted(case), data)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=HEALTH)
@given(case=CASES, data=st.data())
def test_many_same_as_listed(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    check_same(tmp_path_factory.mktemp("stores"), quoted(case), data)


def check_same(place: Path, case: Case, data: st.DataObject) -> None:
    """Update a store that lists no pairs of closures, one that lists some, and one that lists all; compare them."""
    maintain = data.draw(st.sampled_from(["dredc", "none"]))
    limits = {"none": 0, "some": data.draw(st.integers(1, 9)), "listed": NEVER}
    kbs = {name: knowledge_base(print_program(case.program), case.facts, maintain=maintain) for name in limits}
    for name, kb in kbs.items():
        kb.save(place / name, expand_below=limits[name])
    for change in data.draw(updates(case)):
        algorithm: Any = data.draw(st.sampled_from(["dredc", "bfc", "fbf", "dred", "counting", "auto"]))
        again, rewrite, bare = (data.draw(st.booleans()) for _ in range(3))
        for name in limits:
            if bare:
                for path in (place / name / "snapshot").glob("v*"):
                    path.rename(place / f"{name}-{path.name}")
            if again:
                kbs[name] = everlog.open(place / name)
            kbs[name].update(*map(by_name, (change.insert, change.delete)), algorithm=algorithm)
            kbs[name].save()
            if rewrite:
                compact(Store.open(place / name))
    newest = {name: Store.open(place / name).version for name in limits}
    assert len(set(newest.values())) == 1
    for version in range(newest["listed"] + 1):
        expected = everything(everlog.open(place / "listed", version))
        for name in ("none", "some"):
            assert everything(everlog.open(place / name, version)) == expected
            for start in range(-1, version):
                assert changed(place / name, start, version) == changed(place / "listed", start, version)
    for name in ("none", "some"):
        assert figures(place / name) == figures(place / "listed")
        assert not findings(place / name)


def family(place: Path, **options: Any) -> KnowledgeBase:
    kb = KnowledgeBase(RULES)
    kb.insert("parent", [(f"a{i}", f"a{i + 1}") for i in range(60)] + [(f"b{i}", f"b{i + 1}") for i in range(30)])
    kb.insert("above", [("a5", "b5"), ("z", "a1")])
    kb.insert("dead", [("b7",)])
    kb.save(place, **options)
    return kb


def test_what_is_listed(tmp_path: Path) -> None:
    kb = family(tmp_path / "kb", expand_below=100)
    info = Store.open(tmp_path / "kb").info()
    assert [(closure["predicate"], closure["kind"]) for closure in info.closures] == [
        ("above/2", "transitive"),
        ("below/2", "union"),
        ("kin/2", "symmetric-transitive"),
    ]
    facts, terms = (pl.read_delta(str(tmp_path / "kb" / table)) for table in ("facts", "terms"))
    names = terms.rename({"id": "predicate", "text": "name"})
    counts = dict(facts.join(names, on="predicate").group_by("name").agg(pl.sum("holds")).rows())
    assert counts == {"above/2": 91, "kin/2": 91, "parent/2": 90, "dead/1": 1}
    change = kb.update(delete={"parent": [("a3", "a4")]})
    kb.save()
    assert len(change.deleted["above"]) > 50
    assert sorted(file.rows or 0 for file in Store.open(tmp_path / "kb").files()) == [3, 273]


def test_a_limit_is_for_each_relation(tmp_path: Path) -> None:
    kb = family(tmp_path / "kb")
    sizes = {name: len(kb[name]) for name in ("above", "kin")}
    kb.save(tmp_path / "other", expand_below=sizes["above"])
    assert [each["predicate"] for each in Store.open(tmp_path / "other").info().closures] == ["kin/2"]
    assert Store.open(tmp_path / "kb").info().closures == ()


def test_the_form_stays_until_it_is_made_anew(tmp_path: Path) -> None:
    kb = KnowledgeBase(RULES)
    kb.insert("parent", [(1, 2)])
    kb.save(tmp_path / "kb", expand_below=5)
    kb.update(insert={"parent": [(i, i + 1) for i in range(2, 20)]})
    assert kb.save(expand_below=5) == 1
    assert Store.open(tmp_path / "kb").info().closures == ()
    kb.save(tmp_path / "kb", overwrite=True, expand_below=5)
    assert len(Store.open(tmp_path / "kb").info().closures) == 3
    kb.update(delete={"parent": [(3, 4)]})
    kb.save()
    kb.save(tmp_path / "kb", overwrite=True)
    expected = [everything(everlog.open(tmp_path / "kb", version)) for version in range(5)]
    for first in range(5):
        for last in range(first + 1, 5):
            inserted, deleted, *_ = changed(tmp_path / "kb", first, last)
            for predicate in expected[0]:
                before, after = expected[first][predicate], expected[last][predicate]
                assert len(inserted.get(predicate, ())) == len(after - before)
                assert len(deleted.get(predicate, ())) == len(before - after)


@pytest.mark.parametrize("how", [{"modules": False}, {"stratification": "single"}])
def test_opened_without_modules(tmp_path: Path, how: dict[str, Any]) -> None:
    expected = family(tmp_path / "kb", expand_below=0)
    kb = everlog.open(tmp_path / "kb", **how)
    assert everything(kb) == everything(expected)
    for each in (kb, expected):
        each.update(delete={"parent": [("a3", "a4")], "above": [("z", "a1")]})
    kb.save()
    assert everything(everlog.open(tmp_path / "kb")) == everything(expected)
    assert len(everlog.changes(tmp_path / "kb", 0).deleted["above"]) > 50
    assert not findings(tmp_path / "kb")


def job(path: str) -> None:
    kb = everlog.open(path)
    kb.update(insert={"parent": [("a60", "new")]}, delete={"parent": [("a3", "a4")]})
    kb.save()


@pytest.mark.long
@pytest.mark.parametrize(
    "step", [steps.FACTS_HALFWAY, steps.FACTS_MOVED, steps.FACTS_COMMITTED, steps.SNAPSHOT_WRITTEN]
)
def test_killed_while_updating(tmp_path: Path, step: str) -> None:
    path = tmp_path / "kb"
    before = everything(family(path, expand_below=0))
    kill_at(step, job, path)
    done = step in (steps.FACTS_COMMITTED, steps.SNAPSHOT_WRITTEN)
    assert (everything(everlog.open(path)) == before) is not done
    assert not findings(path)
    job(str(path))
    expected = family(tmp_path / "other")
    expected.update(insert={"parent": [("a60", "new")]}, delete={"parent": [("a3", "a4")]})
    assert everything(everlog.open(path)) == everything(expected)
    assert everything(everlog.open(path, 0)) == before
    assert not findings(path)


COMMANDS = (
    ("export", "--format", "csv", "--output", "OUT"),
    ("export", "--format", "csv", "--output", "OUT", "--at", "0"),
    ("export", "--format", "csv", "--explicit", "--output", "OUT"),
    ("changes", "--from", "-1", "--format", "csv"),
    ("changes", "--from", "0", "--explicit"),
    ("query", "above(a3, ?x), ~above(?x, a20)", "--format", "csv"),
    ("query", "kin(?x, b3)", "--at", "0", "--format", "csv"),
    ("verify", "--quiet"),
)


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands(tmp_path: Path, command_line: CommandLine, command: tuple[str, ...]) -> None:
    outputs = []
    for name, limit in (("generated", 0), ("listed", NEVER)):
        kb = family(tmp_path / name, expand_below=limit)
        kb.update(insert={"parent": [("a60", "new")]}, delete={"parent": [("a3", "a4")]})
        kb.save()
        out = tmp_path / f"out-{name}"
        arguments = [str(out) if argument == "OUT" else argument for argument in command[1:]]
        ran = command_line(command[0], str(tmp_path / name), *arguments)
        files = {path.name: sorted(path.read_text().splitlines()) for path in out.glob("*.csv")}
        outputs.append((sorted(ran.out.splitlines()), files))
    assert outputs[0] == outputs[1]


def refuse(*_: Any) -> NoReturn:
    raise AssertionError("all pairs were listed at once")


def test_pairs_are_not_listed_at_once(
    tmp_path: Path, command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    family(tmp_path / "kb", expand_below=0)
    monkeypatch.setattr(ordered, "SORTED_BELOW", 10)
    monkeypatch.setattr(Closed, "sorted_keys", refuse)
    for command in (*COMMANDS[:4], *COMMANDS[5:], ("stats",)):
        out = tmp_path / "out" / str(abs(hash(command)))
        arguments = [str(out) if argument == "OUT" else argument for argument in command[1:]]
        assert command_line(command[0], str(tmp_path / "kb"), *arguments).status == 0
