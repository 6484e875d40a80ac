"""An update in one task reads the row groups that the change can touch, and gives up if that is too much."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.backends import cascade
from everlog.backends.lookup import facts, rows
from everlog.backends.too_much import GivenUp
from everlog.jobs import changing
from everlog.jobs.update import UpdateJob, update
from everlog.kb.stores import open as open_store
from everlog.lang.syntax import Predicate
from everlog.store import Store
from tests.backends.lookup.changing import looked_up, read, rows_in
from tests.oracle.naive import Fact
from tests.store.test_groups import regrouped, spoilt

Changed = Mapping[str, Sequence[tuple[str, ...]]]
"""Maps the names of predicates to their rows."""

FARTHER = """
guest(?z, ?x) :- house(?y, ?z), met(?x, ?y) .
street(?x, ?w) :- met(?x, ?y), house(?y, ?z), road(?z, ?w), ~closed(?w, ?z) .
led(?x, ?y) :- leads(?x, ?y) .
led(?x, ?z) :- leads(?x, ?y), led(?y, ?z), ~free(?z) .
"""
TOUCHED = ["p7", "h7", "r7", "v1300", "p8", "h8", "r8", "l40", "l41", "l42", "l43", "l44", "f"]
"""The terms that can be first arguments of facts touched by a change of ``house``, ``met`` and ``leads``."""


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    """The stores ``spark`` and ``local`` with equal facts, in small row groups."""
    kb = everlog.KnowledgeBase(FARTHER)
    kb.insert("met", [(f"v{i}", f"p{i % 300}") for i in range(1_200)])
    kb.insert("house", [(f"p{i}", f"h{i}") for i in range(300)])
    kb.insert("road", [(f"h{i}", f"r{i}") for i in range(600)])
    kb.insert("closed", [(f"r{i}", f"h{i}") for i in range(300, 600)])
    kb.insert("leads", [(f"l{i}", f"l{i + 1}") for i in range(600) if i % 5 != 4])
    kb.insert("free", [("f",)])
    kb.save(tmp_path / "spark")
    regrouped(tmp_path / "spark", 8)
    shutil.copytree(tmp_path / "spark", tmp_path / "local")
    return tmp_path


CHANGE: dict[str, Any] = {
    "delete": {"house": [("p7", "h7")], "leads": [("l41", "l42")]},
    "insert": {"met": [("v1300", "p8")]},
}


def given(changed: Changed) -> Iterable[Fact]:
    return {(Predicate(p, len(row)), tuple(f'"{cell}"' for cell in row)) for p, each in changed.items() for row in each}


def spoil(store: Path) -> None:
    """Overwrite all row groups that the change cannot touch."""
    guests = [f"v{i}" for i in (7, 307, 607, 907)]
    spoiled, total = spoilt(store, [*TOUCHED, *guests], "p7", "h7", "l41", "l42")
    assert spoiled > total // 3


def updated_here(store: Path, algorithm: Any) -> None:
    kb = open_store(store)
    kb.update(**CHANGE, algorithm=algorithm)
    kb.save()


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ["auto", "dredc", "bfc", "dred", "fbf"])
def test_other_row_groups_may_be_spoilt(stores: Path, algorithm: Any) -> None:
    """Guests are looked up by second arguments, roads by terms that the change does not have, leaders backwards."""
    there = stores / "spark"
    sizes = {file.name: file.rows or 0 for file in Store.open(there).files()}
    spoil(there)
    found = looked_up(there, given(CHANGE["delete"]), given(CHANGE["insert"]), algorithm=algorithm)
    assert not isinstance(found, GivenUp)
    assert read(found) < sum(sizes.values()) // 5
    updated_here(stores / "local", algorithm)
    changes = Store.open(there).changes(0, 1)
    assert changes == Store.open(stores / "local").changes(0, 1)
    assert sum(file.rows or 0 for file in Store.open(there).files() if file.name not in sizes) == len(changes)


def test_a_change_that_touches_nothing_reads_what_it_names(stores: Path) -> None:
    spoil(stores / "spark")
    found = looked_up(stores / "spark", given({"house": [("p7", "h8")]}), given({"road": [("h8", "r8")]}))
    assert not isinstance(found, GivenUp)
    assert not found
    assert found.not_explicit == 1
    assert read(found) <= 2 * 8 * 3


@pytest.mark.long
@pytest.mark.parametrize("limit", ["rows", "facts"])
def test_what_is_too_much_for_a_task(stores: Path, limit: str) -> None:
    shutil.copytree(stores / "spark", stores / "again")
    whole = looked_up(stores / "spark", given(CHANGE["delete"]), given(CHANGE["insert"]))
    assert not isinstance(whole, GivenUp)
    few, many = (read(whole) - 1, 1 << 20) if limit == "rows" else (20, 2_000)
    given_up = looked_up(stores / "again", given(CHANGE["delete"]), given(CHANGE["insert"]), **{limit: few})
    assert isinstance(given_up, GivenUp)
    assert given_up.reason == f"more than {few:,} {'rows would be read' if limit == 'rows' else 'facts would be held'}"
    assert Store.open(stores / "again").version == 0
    found = looked_up(stores / "again", given(CHANGE["delete"]), given(CHANGE["insert"]), **{limit: many})
    assert not isinstance(found, GivenUp)
    assert rows_in(stores / "again") == rows_in(stores / "spark")


def test_too_many_terms(stores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "UNIVERSE", 10)
    found = looked_up(stores / "spark", given(CHANGE["delete"]), ())
    assert found == GivenUp("more than 10 terms would be held")


def test_no_memory(stores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(rows.RowReader, "of", full)
    found = looked_up(stores / "spark", given(CHANGE["delete"]), ())
    assert found == GivenUp("the worker's memory is used up")


@pytest.mark.parametrize(
    ("rules", "options", "algorithm", "reason"),
    [
        ("p(?x) :- q(?x) .", {}, "rematerialise", "everything would be derived again"),
        ("p(?x) :- q(?x) .", {"maintain": "none"}, "dredc", "all derivations would be counted"),
        (
            "p(?x, ?y) :- q(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . q(?x, ?y) :- p(?x, ?y), r(?y) .",
            {},
            "dredc",
            "modules and rules depend on each other",
        ),
    ],
)
def test_what_needs_all_facts(tmp_path: Path, rules: str, options: Any, algorithm: Any, reason: str) -> None:
    kb = everlog.KnowledgeBase(rules, **options)
    kb.insert("s", [("a",), ("b",)])
    kb.save(tmp_path / "kb")
    assert looked_up(tmp_path / "kb", given({"s": [("a",)]}), (), algorithm=algorithm) == GivenUp(reason)


def built(path: Path, rules: str, given: Changed, rows: int | None = None, **options: Any) -> Path:
    """Make a store in row groups of a given number of rows."""
    kb = everlog.KnowledgeBase(rules)
    for predicate, each in given.items():
        kb.insert(predicate, list(each))
    kb.save(path, **options)
    if rows is not None:
        regrouped(path, rows)
    return path


def test_what_is_derived_is_not_explicit(tmp_path: Path) -> None:
    """The deleted facts are as many as the row group of their predicate has rows."""
    store = built(tmp_path / "kb", "p(?x) :- q(?x) .", {"q": [("a",)], "z": [(f"z{i}",) for i in range(20)]}, rows=1)
    found = looked_up(store, given({"p": [("a",)]}), ())
    assert not isinstance(found, GivenUp)
    assert (bool(found), found.not_explicit, Store.open(store).version) == (False, 1, 0)


@pytest.mark.parametrize("algorithm", ["auto", "rematerialise"])
@pytest.mark.parametrize("rules", ["t(?x, ?y) :- s(?x, ?y) .", "t(?x, ?z) :- t(?x, ?y), t(?y, ?z) ."])
def test_nothing_is_derived_again_whatever_the_strata(tmp_path: Path, rules: str, algorithm: Any) -> None:
    """More than half of the explicit facts change."""
    store = built(tmp_path / "kb", rules, {"t": [("a", "b"), ("b", "c")]}, expand_below=0)
    found = looked_up(store, (), given({"t": [("c", "d"), ("d", "e")]}), algorithm=algorithm)
    assert found == GivenUp("everything would be derived again")


def test_without_rules_nothing_is_derived_again(tmp_path: Path) -> None:
    """More than half of the explicit facts change."""
    store = built(tmp_path / "kb", "", {"t": [("a", "b"), ("b", "c")]}, expand_below=0)
    found = looked_up(store, (), given({"t": [("c", "d"), ("d", "e")]}))
    assert not isinstance(found, GivenUp)
    assert found.inserted == {Predicate("t", 2): 2}
    again = looked_up(store, (), given({"t": [("c", "d"), ("d", "e")]}), algorithm="rematerialise")
    assert again == GivenUp("everything would be derived again")


@pytest.mark.parametrize("maintain", ["dredc", "none"])
@pytest.mark.parametrize("facts", [1 << 20, 5_000])
def test_what_follows_counts(tmp_path: Path, maintain: Any, facts: int) -> None:
    """Few facts are looked up, and many follow."""
    kb = everlog.KnowledgeBase("p(?x, ?z) :- go(?g), e(?x, ?g), f(?g, ?z) .", maintain=maintain)
    kb.insert("e", [(f"a{i}", "g") for i in range(100)])
    kb.insert("f", [("g", f"b{i}") for i in range(100)])
    kb.save(tmp_path / "kb")
    found = looked_up(tmp_path / "kb", (), given({"go": [("g",)]}), facts=facts)
    assert isinstance(found, GivenUp) == (facts == 5_000)


@pytest.mark.parametrize(
    ("rules", "few", "algorithm"),
    [
        ('n(?x) :- e(?x, _), m("all", ?x) .', 60, "dredc"),
        ('n("all", ?x) :- e(?x, _) .', 60, "dredc"),
        ('n("all", ?x) :- e(?x, _) .', 60, "bfc"),
    ],
)
def test_by_the_argument_that_selects(tmp_path: Path, rules: str, few: int, algorithm: Any) -> None:
    """All facts of a predicate have one first argument."""
    facts = {"e": [(f"a{i}", "x") for i in range(1_000)], "m": [("all", f"a{i}") for i in range(1_000)]}
    store = built(tmp_path / "kb", rules, facts, rows=8)
    found = looked_up(store, given({"e": [("a7", "x")]}), given({"e": [("new", "x")]}), algorithm=algorithm)
    assert not isinstance(found, GivenUp)
    assert read(found) <= few
    assert len(Store.open(store).changes(0, 1)) == 4 - (few == 60 and "m(" in rules)


def test_the_edges_of_a_closure_and_not_its_pairs(tmp_path: Path) -> None:
    """Pairs that only the closure derives are neither numbered nor held."""
    rules = "t(?x, ?y) :- l(?x, ?y) . t(?x, ?z) :- t(?x, ?y), l(?y, ?z) ."
    chain = [(f"c{i}", f"c{i + 1}") for i in range(100)]
    store = built(tmp_path / "kb", rules, {"l": chain, "z": [("z",)]})
    found = looked_up(store, (), given({"l": [("x", "y")]}), facts=500)
    assert not isinstance(found, GivenUp)
    assert {p.name: size for p, size in found.inserted.items()} == {"l": 1, "t": 1}


LOOKED_UP = "updated in one task: {} rows looked up of {}"


def files_of(directory: Path) -> dict[str, Any]:
    """The options of a job for the change."""
    sides: dict[str, Any] = {}
    for side, changed in CHANGE.items():
        for predicate, each in changed.items():
            path = directory / f"{side}-{predicate}.csv"
            path.write_text("".join(",".join(row) + "\n" for row in each))
            sides[side] = (*sides.get(side, ()), f"{predicate}={path}")
    return sides


def test_by_default(spark: Any, stores: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where Spark reasons, an update is done by look-ups without an option for it."""
    total = sum(file.rows or 0 for file in Store.open(stores / "spark").files())
    spoil(stores / "spark")
    with caplog.at_level("INFO", "everlog"):
        done = update(UpdateJob(str(stores / "spark"), **files_of(stores), engine="spark", compact=False))
    updated_here(stores / "local", "auto")
    assert Store.open(stores / "spark").changes(0, 1) == Store.open(stores / "local").changes(0, 1)
    assert done.change.stats.algorithm == "dredc"
    logged = [record.message for record in caplog.records if "looked up" in record.message]
    assert len(logged) == 1
    rows = int(logged[0].split()[4])
    assert rows < total // 5
    assert logged[0].startswith(LOOKED_UP.format(rows, total))
    assert Store.open(stores / "spark").info().statistics["update"]["looked_up"] == rows


class StartedError(Exception):
    """Raised in place of starting Spark."""


@pytest.mark.parametrize("look_up_rows", [1 << 20, 50])
def test_a_store_that_does_not_fit_needs_no_spark_for_a_small_change(
    stores: Path, monkeypatch: pytest.MonkeyPatch, look_up_rows: int
) -> None:
    """This process updates by look-ups; Spark is started only if these are more than allowed."""

    def start(master: str | None) -> Any:
        raise StartedError

    monkeypatch.setattr(cascade, "needs_spark_to_update", lambda *arguments: True)
    monkeypatch.setattr(changing, "session", start)
    spoil(stores / "spark")
    job = UpdateJob(str(stores / "spark"), **files_of(stores), compact=False, look_up_rows=look_up_rows)
    if look_up_rows == 50:
        with pytest.raises(StartedError):
            update(job)
        assert Store.open(stores / "spark").version == 0
        assert [path.name for path in (stores / "spark" / "work").iterdir()] == ["guard"]
        return
    done = update(job)
    updated_here(stores / "local", "auto")
    assert Store.open(stores / "spark").changes(0, 1) == Store.open(stores / "local").changes(0, 1)
    assert (done.version, "start Spark" in done.seconds) == (1, False)
