"""The rows that a version adds are exactly the changes since the one before, for every kind of change."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import everlog
from everlog import KnowledgeBase
from everlog.kb import saving
from everlog.kb.history import changes
from everlog.lang.errors import EverlogError
from everlog.lang.printer import print_program
from everlog.lang.syntax import Program
from everlog.lang.terms import text_of
from everlog.reasoning.change import MOST_SUMMANDS
from everlog.settings import EXPAND_BELOW
from everlog.store import Store
from everlog.store.codec import change_of, dictionary_of
from tests.kb.test_store_updates import ALGORITHMS, check_store, decoded, everything, facts_of, rows_of
from tests.oracle.naive import Fact
from tests.running import knowledge_base
from tests.store.verified import verify
from tests.strategies import Case, cases, graph_cases, updates

SHARED = [HealthCheck.too_slow, HealthCheck.data_too_large]
SIDES = ("inserted", "deleted", "explicit_inserted", "explicit_deleted")


def changed(kb: KnowledgeBase, case: Case, data: st.DataObject) -> None:
    """Change facts or rules in a random way."""
    how = data.draw(st.sampled_from([*ALGORITHMS, "queue", "fresh", "rules"]))
    if how == "fresh":
        kb.materialise(fresh=True)
    elif how == "rules":
        rules = data.draw(st.lists(st.sampled_from(case.program.rules), max_size=2)) if case.program.rules else []
        text = print_program(Program(tuple(rules)))
        now = set(kb.rules.splitlines())
        gone = "\n".join(line for line in text.splitlines() if line in now)
        come = "\n".join(line for line in text.splitlines() if line not in now)
        algorithm: Any = data.draw(st.sampled_from(ALGORITHMS))
        kb.change_rules(add=come, remove=gone, algorithm=algorithm)
    else:
        drawn = data.draw(updates(case))[:1]
        insert, delete = ({}, {}) if not drawn else (rows_of(drawn[0].insert), rows_of(drawn[0].delete))
        if how == "queue":
            for queue, facts in ((kb.delete, delete), (kb.insert, insert)):
                for predicate, rows in facts.items():
                    queue(predicate, rows)
        else:
            kb.update(insert=insert, delete=delete, algorithm=how)


def rows_added(store: Store, version: int) -> dict[str, set[Fact]]:
    """The listed facts that the rows of a version add and remove."""
    rows = store.changes(version - 1, version)
    dictionary = dictionary_of(store.terms(version), store.info(version).salt)
    found = change_of(rows, dictionary)
    sides: dict[str, set[Fact]] = {side: set() for side in SIDES}
    for part, names in ((found.holds, SIDES[:2]), (found.explicit, SIDES[2:])):
        for predicate, multiset in part.items():
            columns = [dictionary.decode(column).to_pylist() for column in multiset.relation().columns()]
            for at, sign in enumerate(multiset.whole()[1].tolist()):
                assert sign in (1, -1)
                sides[names[sign < 0]].add((predicate, tuple(column[at] for column in columns)))
    return sides


@settings(max_examples=60, suppress_health_check=SHARED)
@given(st.data())
def test_a_version_adds_what_changed(data: st.DataObject) -> None:
    check(data)


@pytest.mark.slow
@settings(max_examples=1_000, suppress_health_check=SHARED)
@given(st.data())
def test_many_versions_add_what_changed(data: st.DataObject) -> None:
    check(data)


def check(data: st.DataObject) -> None:
    case = data.draw(graph_cases(max_nodes=6) | cases(max_rules=5))
    options: dict[str, Any] = {"modules": data.draw(st.booleans())}
    options["maintain"] = data.draw(st.sampled_from(["dredc", "none", "counting"]))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "kb"
        kb = knowledge_base(case.program, case.facts, **options)
        kb.save(path, expand_below=data.draw(st.sampled_from([EXPAND_BELOW, 0, 3])))
        for _ in range(data.draw(st.integers(1, 3))):
            if data.draw(st.booleans()):
                kb = everlog.open(path)
            before, version = kb.listed(), Store.open(path).version
            for _ in range(data.draw(st.integers(1, 3))):
                try:
                    changed(kb, case, data)
                except EverlogError:
                    return
            after = kb.listed()
            kb.save()
            now = Store.open(path).version
            while Store.open(path).info(now).operation in ("compact", "widen"):
                now -= 1
            sides = {
                "inserted": facts_of(after, "facts") - facts_of(before, "facts"),
                "deleted": facts_of(before, "facts") - facts_of(after, "facts"),
                "explicit_inserted": facts_of(after, "explicit") - facts_of(before, "explicit"),
                "explicit_deleted": facts_of(before, "explicit") - facts_of(after, "explicit"),
            }
            if now == version:
                assert not any(sides.values())
                continue
            said = changes(path, version, now)
            assert {side: decoded(getattr(said, side)) for side in SIDES} == sides
            stored = kb.stored(kb.state().generated) if kb.saved is None else kb.saved.snapshot.state
            generated = stored.generated
            added = rows_added(Store.open(path), now)
            for side in SIDES[2:]:
                assert added[side] == sides[side]
            if not Store.open(path).info(version).closures and not generated:
                assert added == sides
            assert everything(everlog.open(path).listed())[:2] == everything(after)[:2]
        check_store(path)


PATHS = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .
"""


@pytest.mark.parametrize("algorithm", ["dredc", "bfc", "dred", "fbf"])
def test_states_are_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: Any) -> None:
    """The changes of one update and of several are written as they are; only facts derived again are compared."""

    def compared(*states: object) -> Any:
        raise AssertionError("two states are compared")

    kb = KnowledgeBase(PATHS)
    kb.insert("edge", [(f"n{i}", f"n{i + 1}") for i in range(9)])
    kb.save(tmp_path / "kb")
    monkeypatch.setattr(saving, "difference", compared)
    if algorithm in ("dredc", "bfc"):
        monkeypatch.setattr(saving, "counts_changed", compared)
    kb = everlog.open(tmp_path / "kb")
    kb.update(insert={"edge": [("n9", "x")]}, algorithm=algorithm)
    kb.update(delete={"edge": [("n3", "n4")]}, insert={"edge": [("y", "n0")]}, algorithm=algorithm)
    assert kb.save() == 1
    found = changes(tmp_path / "kb", 0)
    assert {tuple(map(text_of, row)) for row in found.explicit_inserted["edge"]} == {('"n9"', '"x"'), ('"y"', '"n0"')}
    kb.materialise(fresh=True)
    with pytest.raises(AssertionError, match="two states"):
        kb.save()


def test_a_change_of_rules_compares_no_counters_but_those_computed_anew(tmp_path: Path) -> None:
    """The differences of counters that a change of the rules keeps are those of the facts that it touches."""
    kb = KnowledgeBase(PATHS, modules=False)
    kb.insert("edge", [(f"n{i}", f"n{i + 1}") for i in range(9)])
    kb.save(tmp_path / "kb")
    kb.change_rules(add="back(?y, ?x) :- edge(?x, ?y) .", remove="two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .")
    assert kb.since is not None
    (_, change), *_ = kb.since.parts
    for summands in (change.nr_summands, change.rec_summands):
        assert summands is not None
        touched = {str(predicate) for part in (*summands.plus, *summands.minus) for predicate in part}
        assert touched <= {"back/2", "two/2"}
    assert change.nr is not None
    assert {str(predicate): len(multiset.whole()[0]) for predicate, multiset in change.nr.items()} == {
        "back/2": 9,
        "two/2": 8,
    }
    kb.save()
    assert verify(Store.open(tmp_path / "kb")) == []


def test_a_long_series_of_updates_keeps_few_summands(tmp_path: Path) -> None:
    """The changes since a version do not grow with the number of updates, and a save still writes their sum."""
    kb = KnowledgeBase("p(?x, ?z) :- e(?x, ?y), f(?y, ?z) . f(a, b) .")
    kb.save(tmp_path / "kb")
    for number in range(3 * MOST_SUMMANDS):
        kb.update(insert={"e": [(number, "a")]}, delete={"e": [(number - 2, "a")]})
    assert kb.since is not None
    (_, change), *_ = kb.since.parts
    assert change.nr_summands is not None
    assert max(len(change.nr_summands.plus), len(change.nr_summands.minus)) <= MOST_SUMMANDS
    kb.save()
    assert Store.open(tmp_path / "kb").version == 1
    assert len(everlog.open(tmp_path / "kb")["p"]) == 2
    assert verify(Store.open(tmp_path / "kb")) == []
