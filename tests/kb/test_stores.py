"""Knowledge bases saved and opened again."""

from __future__ import annotations

import shutil
import time
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pytest
from hypothesis import HealthCheck, given, settings

import everlog
from everlog import IRI, BlankNode, KnowledgeBase, Literal, StoreError
from everlog.jobs.update import UpdateJob, update
from everlog.lang.syntax import Predicate
from everlog.lang.terms import XSD, text_of
from everlog.store.compaction import compact
from everlog.store.store import Store
from tests.oracle.naive import Row
from tests.running import knowledge_base, relation
from tests.store.verified import verify
from tests.strategies import Case, cases

RULES = """
@prefix ex: <http://e.org/> .
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
ex:three(?x, ?y, "fixed") :- path(?x, ?y), ~edge(?x, ?y) .
four(?x, ?y, ?z, ?x) :- edge(?x, ?y), edge(?y, ?z) .
any() :- edge(_, _) .
none(?x) :- edge(?x, ?x) .
edge(a, b) . edge(b, c) .
"""
ODD: list[Any] = [
    1, 1.0, True, "1", Decimal("1.0"), IRI("http://e.org/1"), BlankNode("b"), Literal("A", language="en"),
    Literal("01", XSD + "integer"), "", " ", "ünï 日本 😀", "line\nbreak", 'quo"te', "\x00", float("inf"), -0.0, 2**70,
]  # fmt: skip


def everything(kb: KnowledgeBase) -> dict[Predicate, tuple[set[Row], set[Row]]]:
    """The facts that hold and those that are explicit, by predicate, as texts."""
    found = {}
    for predicate in kb.predicates:
        explicit = {tuple(map(text_of, row)) for row in kb[predicate].explicit}
        found[predicate] = (relation(kb, predicate), explicit)
    return found


def without_snapshot(path: Path) -> KnowledgeBase:
    shutil.rmtree(path / "snapshot")
    return everlog.open(path)


def example() -> KnowledgeBase:
    kb = KnowledgeBase(RULES)
    kb.insert("edge", [("c", "d"), ("c", "c")])
    kb.insert("odd", [(value, i) for i, value in enumerate(ODD)])
    return kb


def test_what_is_saved_is_opened(tmp_path: Path) -> None:
    kb, path = example(), tmp_path / "kb"
    assert kb.save(path) == 0
    expected = everything(kb)
    opened = everlog.open(path)
    assert everything(opened) == expected
    assert everything(without_snapshot(path)) == expected
    assert everything(everlog.open(path)) == expected, "the snapshot that opening left behind"
    assert opened.rules == kb.rules
    assert opened.statistics.facts == kb.statistics.facts
    assert [s.instances for s in opened.statistics.strata] == [s.instances for s in kb.statistics.strata]
    assert verify(Store.open(path)) == []


def test_odd_values_come_back_as_they_were(tmp_path: Path) -> None:
    example().save(tmp_path / "kb")
    for kb in (everlog.open(tmp_path / "kb"), without_snapshot(tmp_path / "kb")):
        found = {i: value for value, i in kb["odd"]}
        assert [(type(found[i]), text_of(found[i])) for i in range(len(ODD))] == [(type(v), text_of(v)) for v in ODD]
        assert all((value, i) in kb["odd"] for i, value in enumerate(ODD))


@pytest.mark.long
@pytest.mark.parametrize("text", ["\U0001f9ea" * 40, "\U0010fffe", "é" * 40, "<" + "z" * 40], ids=range(4))
def test_the_log_bounds_any_text(tmp_path: Path, text: str) -> None:
    """In commits of their own, as a file of many terms may have an ordinary one as its largest."""
    kb = KnowledgeBase("p(?x) :- q(?x) .")
    kb.save(tmp_path / "kb")
    for i in range(11):
        kb.update(insert={"q": [(f"{text}{i}",)]})
        kb.save()
    assert verify(Store.open(tmp_path / "kb")) == []


def test_an_opened_knowledge_base_goes_on(tmp_path: Path) -> None:
    """Changes, queries and saving again, with and without a snapshot, equal those of the knowledge base in memory."""
    kb = example()
    kb.save(tmp_path / "kb")
    for opened in (everlog.open(tmp_path / "kb"), without_snapshot(tmp_path / "kb")):
        mine = example()
        for change in (
            {"insert": {"edge": [("d", "new")], "fresh": [("x", "y", "z")]}, "delete": {"edge": [("a", "b")]}},
            {"insert": {"edge": [("a", "b")]}, "delete": {"odd": [(1, 0), (1, 1)]}},
        ):
            one, other = mine.update(**change), opened.update(**change)  # type: ignore[arg-type]
            for part in ("inserted", "deleted", "explicit_inserted", "explicit_deleted"):
                assert repr_of(getattr(one, part)) == repr_of(getattr(other, part))
            assert one.not_explicit == other.not_explicit
            assert everything(mine) == everything(opened)
        assert opened.query("path(a, ?x)").rows() == mine.query("path(a, ?x)").rows()
        version = opened.save(tmp_path / "kb", overwrite=True)
        assert everything(everlog.open(tmp_path / "kb", version)) == everything(mine)


def repr_of(changed: Any) -> dict[str, list[Any]]:
    return {str(p): changed[p].rows() for p in sorted(changed)}


def test_facts_of_the_program_that_were_deleted_stay_deleted(tmp_path: Path) -> None:
    kb = KnowledgeBase(RULES)
    kb.delete("edge", [("a", "b")])
    kb.save(tmp_path / "kb")
    for opened in (everlog.open(tmp_path / "kb"), without_snapshot(tmp_path / "kb")):
        assert opened["edge"].rows() == [("b", "c")]
        opened.materialise(fresh=True)
        assert opened["edge"].rows() == [("b", "c")]
        opened.insert("edge", [("x", "y")])
        assert opened["edge"].rows() == [("b", "c"), ("x", "y")]


@pytest.mark.parametrize(
    "rules",
    ["", "p(?x) :- q(?x) .", "p(a) :- ~q(b) .", "yes() .", "yes() :- ~no() .", "p(a) :- ~q(_, _) . r(?x) :- p(?x) ."],
)
def test_little_or_nothing_in_it(tmp_path: Path, rules: str) -> None:
    """Stores without facts, without explicit facts, and without facts that have arguments."""
    kb = KnowledgeBase(rules)
    kb.save(tmp_path / "kb")
    expected = everything(kb)
    assert everything(everlog.open(tmp_path / "kb")) == expected
    assert everything(without_snapshot(tmp_path / "kb")) == expected
    assert verify(Store.open(tmp_path / "kb")) == []


def test_overwriting_and_older_versions(tmp_path: Path) -> None:
    path = tmp_path / "kb"
    first, second = example(), KnowledgeBase("q(?x, ?y, ?z) :- p(?x, ?y, ?z) . p(1, 2, 3) .")
    first.save(path)
    with pytest.raises(StoreError, match="store-exists"):
        second.save(path)
    assert everything(everlog.open(path)) == everything(first)
    assert second.save(path, overwrite=True) == 1
    assert everything(everlog.open(path)) == everything(second)
    old = everlog.open(path, version=0)
    assert everything(old) == everything(first)
    assert old.rules == first.rules
    assert everything(everlog.open(path, version=1)) == everything(second)
    with pytest.raises(StoreError, match="no-such-version"):
        everlog.open(path, version=2)


def test_queued_changes_are_saved_too(tmp_path: Path) -> None:
    kb = example()
    kb.materialise()
    kb.insert("edge", [("late", "later")])
    kb.save(tmp_path / "kb")
    assert ("late", "later") in everlog.open(tmp_path / "kb")["path"]


def test_options_of_an_opened_knowledge_base(tmp_path: Path) -> None:
    example().save(tmp_path / "kb")
    kb = everlog.open(tmp_path / "kb", max_facts=3)
    assert len(kb["edge"]) == 4
    with pytest.raises(everlog.LimitError):
        kb.update(insert={"edge": [("p", "q")]})


def test_there_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not-a-store"):
        everlog.open(tmp_path / "nowhere")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match="not-a-store"):
        example().save(tmp_path / "other")
    assert [entry.name for entry in (tmp_path / "other").iterdir()] == ["file"]


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(case=cases())
def test_any_knowledge_base_comes_back(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    path = tmp_path_factory.mktemp("store") / "kb"
    kb = knowledge_base(case.program, case.facts)
    kb.save(path)
    expected = everything(kb)
    for opened in (everlog.open(path), without_snapshot(path)):
        assert everything(opened) == expected
    shutil.rmtree(path)


def test_a_store_that_another_tool_has_optimised(tmp_path: Path) -> None:
    """Its files are not in our order: a fact that was deleted would come back. Restored, the store is as it was; a
    version on top of that commit, which says nothing about rules, has all that the one before said."""
    kb = everlog.KnowledgeBase("p(?x) :- q(?x) . q(a) . q(b) .")
    kb.save(tmp_path / "kb")
    kb.update(insert={"q": [("c",)]}, delete={"q": [("a",)]})
    kb.save()
    facts = deltalake.DeltaTable(tmp_path / "kb" / "facts")
    facts.optimize.compact()
    with pytest.raises(StoreError, match=r"other-tool.*written by another tool"):
        everlog.open(tmp_path / "kb")
    facts.restore(1)
    again = everlog.open(tmp_path / "kb")
    assert again["p"].rows() == [("b",), ("c",)]
    again.update(insert={"wide": [("a", "b", "c")]})
    again.save()
    assert everlog.open(tmp_path / "kb")["p"].rows() == [("b",), ("c",)]
    assert verify(Store.open(tmp_path / "kb")) == []


def test_changes_have_the_figures_of_the_updates_as_far_as_versions_record_them(tmp_path: Path) -> None:
    kb, store = KnowledgeBase("p(?x) :- q(?x) . q(a) ."), tmp_path / "kb"
    kb.save(store)
    for number, algorithm in enumerate(("bfc", "dredc")):
        table = tmp_path / f"{number}.csv"
        table.write_text(f"b{number}\n")
        update(UpdateJob(str(store), insert=(f"q={table}",), delete=(), algorithm=algorithm))  # type: ignore[arg-type]
    kb = everlog.open(store)
    kb.update(insert={"q": [("c",)]}, algorithm="dred")
    kb.save()
    bfc, *_, neither = followed = list(everlog.follow(store, 0, stop=lambda: True))
    assert [each.change.stats.algorithm for each in followed] == ["bfc", "dredc", ""]
    assert bfc.change.explicit_inserted["q"].rows() == bfc.inserted["p"].rows() == [("b0",)]
    assert " by bfc in " in bfc.change._repr_html_()
    assert " by " not in neither.change._repr_html_()
    whole = everlog.changes(store, 0)
    assert whole.stats.algorithm == "bfc, dredc"
    assert whole.stats.total_instances == sum(each.change.stats.total_instances for each in followed) > 0


def test_a_known_predicate_that_did_not_change_has_no_rows_in_the_changes_of_a_store(tmp_path: Path) -> None:
    kb = KnowledgeBase("p(?x) :- q(?x) . r(?x) :- s(?x) . q(a) .")
    kb.insert("unread", [(1,)])
    kb.save(tmp_path / "kb")
    kb.update(insert={"q": [("b",)]})
    kb.save()
    found = everlog.changes(tmp_path / "kb", 0)
    assert (found.inserted["p"].rows(), found.deleted["p"].rows(), found.inserted["r"].rows()) == ([("b",)], [], [])
    assert ("p" in found.inserted, "p" in found.deleted, "r" in found.inserted) == (True, False, False)
    assert found.inserted["unread"].rows() == []
    with pytest.raises(everlog.UnknownPredicateError):
        found.inserted["nowhere"]


def test_names_have_the_letters_of_every_language(tmp_path: Path) -> None:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . größer(?ä, ?ö), ex:größer(?ä, ?ö) :- 名前(?ä, ?ö) .")
    kb.insert("名前", [("é", "straße")])
    assert kb.query("größer(?länge, straße)").rows() == [("é",)]
    assert kb.query("größer(?länge, _)").to_arrow().column_names == ["länge"]
    assert kb.sparql("SELECT ?länge { ?länge everlog:größer ?y ; ex:größer ?y }").rows() == [("é",)]
    kb.save(tmp_path / "kb")
    opened = everlog.open(tmp_path / "kb")
    assert list(opened["größer"]) == list(opened["ex:größer"]) == [("é", "straße")]
    change = opened.change_rules(remove="größer(?x, ?y) :- 名前(?x, ?y) .")
    assert list(change.deleted["größer"]) == [("é", "straße")]


def test_a_store_with_hyphens_in_variables_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = KnowledgeBase("p(?a_b) :- q(?a_b) . q(1) .")
    monkeypatch.setattr("everlog.kb.knowledge_base.print_program", lambda program: "p(?a-b) :- q(?a-b) .\nq(1) .\n")
    kb.save(tmp_path / "kb")
    monkeypatch.undo()
    assert without_snapshot(tmp_path / "kb").query("p(?x)").rows() == [(1,)]


def test_a_time_stands_for_the_newest_version_by_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = KnowledgeBase("p(?x) :- q(?x) .")
    for number in range(3):
        kb.insert("q", [(number,)])
        kb.save(tmp_path / "kb")
        time.sleep(0.002)  # commits are stamped with milliseconds
    stamps = [info.timestamp for info in Store.open(tmp_path / "kb").versions()]
    just_before = [stamp - timedelta(microseconds=1) for stamp in stamps]
    assert [len(everlog.open(tmp_path / "kb", stamp)["p"]) for stamp in stamps] == [1, 2, 3]
    assert [len(everlog.open(tmp_path / "kb", stamp)["p"]) for stamp in just_before[1:]] == [1, 2]
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "America/New_York")
        time.tzset()
        assert len(everlog.open(tmp_path / "kb", datetime.now())["p"]) == 3
    time.tzset()
    assert len(everlog.open(tmp_path / "kb", stamps[-1].astimezone(timezone(timedelta(hours=5))))["p"]) == 3
    with pytest.raises(StoreError, match="there was no version"):
        everlog.open(tmp_path / "kb", just_before[0])
    changes = everlog.changes(tmp_path / "kb", stamps[0], stamps[-1])
    assert len(changes.inserted["p"]) == 2


CLOSED = "path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."


@pytest.mark.parametrize("chosen", [True, False])
@pytest.mark.parametrize("between", ["nothing", "an update", "a compaction", "a save elsewhere"])
def test_a_store_remembers_whether_modules_are_wanted(tmp_path: Path, chosen: bool, between: str) -> None:
    """Also one whose rules have none when it is saved."""
    path = tmp_path / "kb"
    kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) . edge(b, c) .", modules=chosen)
    kb.save(path)
    if between == "an update":
        kb.insert("edge", [("c", "d")])
        kb.save()
    elif between == "a compaction":
        kb.insert("edge", [("c", "d")])
        kb.save()
        compact(Store.open(path))
    elif between == "a save elsewhere":
        path = tmp_path / "other"
        everlog.open(tmp_path / "kb").save(path)
    for add, remove in ((CLOSED, None), (None, CLOSED)):
        opened = everlog.open(path)
        opened.change_rules(add=add, remove=remove)
        assert bool(opened.program.special) == (chosen and remove is None)
        opened.save()
    opened = everlog.open(path)
    opened.change_rules(add=CLOSED)
    assert bool(opened.program.special) == chosen


def test_modules_that_are_refused_on_opening_stay_off(tmp_path: Path) -> None:
    KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .").save(tmp_path / "kb")
    opened = everlog.open(tmp_path / "kb", modules=False)
    opened.change_rules(add=CLOSED)
    assert not opened.program.special
    opened.save()
    assert Store.open(tmp_path / "kb").info().modules is False


def test_a_store_that_does_not_say_whether_modules_are_wanted_gets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was before stores said so."""
    with monkeypatch.context() as patched:
        patched.setattr("everlog.kb.saving.wants_modules", lambda kb: None)
        KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .").save(tmp_path / "kb")
    assert Store.open(tmp_path / "kb").info().modules is None
    opened = everlog.open(tmp_path / "kb")
    opened.change_rules(add=CLOSED)
    assert opened.program.special
