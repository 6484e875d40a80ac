"""Stores that Spark has written equal those of the local engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog.backends.cascade import reasons_on_spark
from everlog.backends.spark import write
from everlog.jobs.materialise import MaterialiseJob, materialise
from everlog.jobs.reports import Report
from everlog.jobs.rules import RulesJob, change_rules
from everlog.jobs.update import UpdateJob, update
from everlog.kb.stores import open as open_store
from everlog.lang.errors import DataError, Diagnostic
from everlog.store import Store
from tests.store.verified import verify

RULES = """
person(?x) :- parent(?x, _) .
person(?y) :- parent(_, ?y) .
ancestor(?x, ?y) :- parent(?x, ?y) .
ancestor(?x, ?z) :- ancestor(?x, ?y), ancestor(?y, ?z) .
cousin(?x, ?y) :- parent(?p, ?x), parent(?p, ?y) .
cousin(?x, ?y) :- parent(?p, ?x), cousin(?p, ?q), parent(?q, ?y) .
orphan(?x) :- person(?x), ~parent(_, ?x) .
known() :- orphan(ann) .
parent(zoe, ann) .
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "rules.rls").write_text(RULES)
    names = ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"]
    rows = [(names[i // 2], names[i]) for i in range(1, len(names))]
    (tmp_path / "parent.csv").write_text("".join(f"{a},{b}\n" for a, b in rows))
    (tmp_path / "note.csv").write_text("ann,1,x\nbob,2,y\n")
    return tmp_path


def job(files: Path, name: str, **options: Any) -> MaterialiseJob:
    facts = (str(files / "parent.csv"), str(files / "note.csv"))
    return MaterialiseJob(rules=str(files / "rules.rls"), facts=facts, store=str(files / name), **options)


def table(files: Path, name: str, version: int | None = None) -> list[dict[str, Any]]:
    store = Store.open(files / name)
    return [row for batch in store.facts(version) for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("modules", "more"),
    [
        (True, ""),
        (False, ""),
        (False, "ancestor(?x, ?y) :- ancestor(?x, ?x), ancestor(?y, ?y) ."),
    ],
    ids=["modules", "rounds", "loop"],
)
@pytest.mark.slow
def test_the_same_store(spark: Any, files: Path, modules: bool, more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (files / "rules.rls").write_text(RULES + more)
    monkeypatch.setattr(write, "FEWER_ROWS", 16)
    local = materialise(job(files, "local", engine="local", modules=modules))
    on_spark = materialise(job(files, "spark", engine="spark", modules=modules, local_finish=0))
    assert table(files, "spark") == table(files, "local")
    assert on_spark.statistics.facts == local.statistics.facts
    assert on_spark.statistics.explicit == local.statistics.explicit
    assert verify(Store.open(files / "spark")) == []
    assert len(Store.open(files / "spark").files()) > 1
    assert not list((files / "spark" / "work").glob("*/*"))
    kb = open_store(files / "spark")
    assert isinstance(kb, everlog.KnowledgeBase)
    kb.update(delete={"parent": [("ann", "bob")]}, insert={"parent": [("hal", "bob")]})
    again = open_store(files / "local")
    again.update(delete={"parent": [("ann", "bob")]}, insert={"parent": [("hal", "bob")]})
    assert {p: set(kb[p]) for p in ("ancestor", "cousin", "orphan")} == {
        p: set(again[p]) for p in ("ancestor", "cousin", "orphan")
    }


def test_auto_asks_for_the_memory(spark: Any, files: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "everlog"):
        materialise(job(files, "large", memory=0, maintain="none"))
        materialise(job(files, "small", memory=1 << 40, maintain="none"))
    said = [record.message for record in caplog.records if record.message.startswith("engine ")]
    assert [message.split(",")[0] for message in said] == ["engine auto: spark", "engine auto: local"]
    assert table(files, "large") == table(files, "small")


def test_auto_asks_for_the_memory_that_an_update_takes(files: Path, caplog: pytest.LogCaptureFixture) -> None:
    kb = everlog.KnowledgeBase(RULES)
    kb.insert("parent", [("ann", "bob"), ("bob", "cid")])
    kb.save(files / "kb")
    here = UpdateJob(str(files / "kb"), delete=(str(files / "parent.csv"),))
    store = Store.open(files / "kb")
    with caplog.at_level("INFO", "everlog"):
        asked = [replace(here, memory=memory) for memory in (0, 1 << 40, None)]
        assert [reasons_on_spark(store, job) for job in asked] == [True, False, False]
        assert not reasons_on_spark(store, replace(here, memory=0, engine="local"))
    said = [record.message.split(" needed")[0] for record in caplog.records if record.message.startswith("engine ")]
    assert [message.split(":")[1] for message in said] == [
        " spark",
        " local",
        " local",
    ]


@pytest.mark.slow
def test_auto_updates_on_spark_what_does_not_fit(spark: Any, files: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("large", "small"):
        materialise(job(files, name, engine="local", modules=False))
    (files / "gone.csv").write_text("ann,bob\nnobody,ann\n")
    with caplog.at_level("INFO", "everlog"):
        for name, memory in (("large", 0), ("small", 1 << 40)):
            update(UpdateJob(str(files / name), delete=(f"parent={files}/gone.csv",), memory=memory, compact=False))
    assert table(files, "large") == table(files, "small")
    said = [record.message for record in caplog.records]
    assert sum("updated in one task" in message for message in said) == 0
    assert sum(message.startswith("updated in ") for message in said) == 1


IN_ONE_TASK, DISTRIBUTED = 1_000, 0
"""Settings of ``spark-local-finish`` for stores of a hundred rows."""


def both_updated(files: Path, steps: list[dict[str, tuple[str, ...]]], **options: Any) -> None:
    """Update the stores ``local`` and ``spark`` by their engines; check that they stay equal, and so do the
    messages.
    """
    for change in steps:
        given: dict[str, Any] = {
            side: tuple(path.replace("=", f"={files}/") for path in paths) for side, paths in change.items()
        }
        done = [
            update(UpdateJob(str(files / name), **given, **options, engine=name, compact=False))
            for name in ("local", "spark")
        ]
        assert table(files, "spark") == table(files, "local")
        local, on_spark = (each.change for each in done)
        assert on_spark.not_explicit == local.not_explicit
        for side in ("inserted", "deleted", "explicit_inserted", "explicit_deleted"):
            numbers = [{p: len(rows) for p, rows in getattr(one, side).items()} for one in (on_spark, local)]
            assert numbers[0] == numbers[1]
    newest = [Store.open(files / name) for name in ("local", "spark")]
    assert verify(newest[1]) == []
    said = [store.info().statistics for store in newest]
    assert [each["listed"] for each in said] == [sum(1 for _ in table(files, "local"))] * 2
    assert said[0]["facts"] == said[1]["facts"]
    assert newest[0].info().closures == newest[1].info().closures
    assert newest[0].info().statistics["modules"] == newest[1].info().statistics["modules"]
    last = [sum(f.rows or 0 for f in store.files()) for store in newest]
    assert last[0] == last[1]


@pytest.fixture
def steps(files: Path) -> list[dict[str, tuple[str, ...]]]:
    (files / "gone.csv").write_text("ann,bob\nnobody,ann\n")
    (files / "new.csv").write_text("hal,bob\nhal,ian\n")
    (files / "back.csv").write_text("ann,bob\n")
    return [{"delete": ("parent=gone.csv",), "insert": ("parent=new.csv",)}, {"insert": ("parent=back.csv",)}]


@pytest.mark.parametrize("look_up_rows", [IN_ONE_TASK, 10])
def test_updates_in_one_task(
    spark: Any, files: Path, steps: Any, look_up_rows: int, caplog: pytest.LogCaptureFixture
) -> None:
    """One task repairs the store by look-ups, or with the whole store if these are too many."""
    for name in ("local", "spark"):
        materialise(job(files, name, engine="local", salt=7))
    with caplog.at_level("INFO", "everlog"):
        both_updated(files, steps, algorithm="dredc", local_finish=IN_ONE_TASK, look_up_rows=look_up_rows)
    said = [record.message for record in caplog.records]
    by_look_ups = len(steps) if look_up_rows == IN_ONE_TASK else 0
    assert sum("updated in one task" in message for message in said) == len(steps)
    assert sum(f"(look-up-rows {look_up_rows})" in message for message in said) == by_look_ups
    given_up = sum(message == "not by look-ups: more than 10 rows would be read" for message in said)
    assert given_up == len(steps) - by_look_ups


@pytest.mark.slow
@pytest.mark.parametrize("before", ["rematerialise", "fbf"])
def test_counters_that_come_to_nothing(spark: Any, tmp_path: Path, before: Any) -> None:
    """They are computed anew, by the first update or for the second, and no recursive instance is left by then."""
    for name in ("local", "spark"):
        everlog.KnowledgeBase("t(?y) :- t(?x), e(?x, ?y) . t(a) . t(b) . e(a, b) .", modules=False).save(
            tmp_path / name
        )
    for name, text in (("e", "a,b\n"), ("a", "a\n"), ("b", "b\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    both_updated(tmp_path, [{"delete": ("e=e.csv", "t=a.csv")}], algorithm=before, local_finish=DISTRIBUTED)
    both_updated(tmp_path, [{"delete": ("t=b.csv",)}], algorithm="dredc", local_finish=DISTRIBUTED)
    assert len(open_store(tmp_path / "spark")["t"]) == 0


@pytest.mark.parametrize("finish", [IN_ONE_TASK, pytest.param(DISTRIBUTED, marks=pytest.mark.slow)])
def test_a_predicate_that_new_rules_brought(spark: Any, tmp_path: Path, finish: int) -> None:
    """The predicate had no facts then, so no row has its name."""
    everlog.KnowledgeBase("p(?x) :- q(?x) . q(a) .").save(tmp_path / "kb")
    (tmp_path / "more.rls").write_text("r(?x, new) :- s(?x) .")
    (tmp_path / "s.csv").write_text("b\n")
    change_rules(RulesJob(str(tmp_path / "kb"), add=(str(tmp_path / "more.rls"),)))
    update(UpdateJob(str(tmp_path / "kb"), insert=(str(tmp_path / "s.csv"),), engine="spark", local_finish=finish))
    assert verify(Store.open(tmp_path / "kb")) == []
    assert open_store(tmp_path / "kb")["r"].rows() == [("b", "new")]


@pytest.mark.slow
def test_a_name_has_one_arity_also_in_the_store(spark: Any, tmp_path: Path) -> None:
    """Of predicates that no rule has only the store knows it; one whose facts have all gone may come with another."""
    kb = everlog.KnowledgeBase("p(?x) :- q(?x) . q(a) . age(ann, 1) . <http://e.org/r>(ann) .")
    kb.save(tmp_path / "kb")
    kb = open_store(tmp_path / "kb")
    kb.update(insert={"size": [("ann", 1)]})
    kb.save()
    (tmp_path / "one.csv").write_text("ann\n")
    (tmp_path / "two.csv").write_text("ann,1\n")

    def updated(side: str, predicate: str, file: str) -> int:
        given: dict[str, Any] = {side: (f"{predicate}={tmp_path / file}.csv",)}
        job = UpdateJob(str(tmp_path / "kb"), engine="spark", local_finish=DISTRIBUTED, compact=False, **given)
        return update(job).version

    with pytest.raises(DataError, match="`size` has facts with 1 argument, and others with 2"):
        updated("insert", "size", "one")
    assert Store.open(tmp_path / "kb").version == 1
    assert updated("insert", "<http://e.org/r>", "two") == 2
    assert updated("delete", "size", "two") == 3
    assert updated("insert", "size", "one") == 4
    assert open_store(tmp_path / "kb")["size"].rows() == [("ann",)]


ROADS = """
way(?x, ?y) :- road(?x, ?y) .
way(?x, ?z) :- way(?x, ?y), way(?y, ?z) .
end(?x) :- road(_, ?x), ~road(?x, _) .
"""
TWINS = """
same(?x, ?y) :- twin(?x, ?y) .
same(?y, ?x) :- same(?x, ?y) .
same(?x, ?z) :- same(?x, ?y), same(?y, ?z) .
"""


def saved(files: Path, rules: str, facts: dict[str, Any], **options: Any) -> None:
    """The stores ``local`` and ``spark`` with the same facts."""
    for name in ("local", "spark"):
        kb = everlog.KnowledgeBase(rules)
        for predicate, rows in facts.items():
            kb.insert(predicate, rows)
        kb.save(files / name, **options)


def test_closures_that_are_not_listed_after_a_task_gave_up(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    roads = [(f"n{i}", f"n{i + 1}") for i in range(9)]
    saved(tmp_path, ROADS, {"road": roads, "way": [("n20", "n0")]}, expand_below=10)
    (tmp_path / "gone.csv").write_text("n4,n5\n")
    (tmp_path / "new.csv").write_text("n9,n30\nn3,n6\n")
    rows = sum(file.rows or 0 for file in Store.open(tmp_path / "spark").files())
    with caplog.at_level("INFO", "everlog"):
        step: dict[str, tuple[str, ...]] = {"delete": ("road=gone.csv",), "insert": ("road=new.csv",)}
        both_updated(tmp_path, [step], algorithm="dredc", local_finish=rows + 3)
    assert any("the update is distributed" in record.message for record in caplog.records)
    kb = open_store(tmp_path / "spark")
    assert len(kb["way"]) == len(open_store(tmp_path / "local")["way"])


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["dredc", "bfc", "rematerialise"])
def test_rules_that_read_closures_that_are_not_listed(spark: Any, tmp_path: Path, algorithm: Any) -> None:
    rules = f"{ROADS} {TWINS} far(?x, ?y) :- way(?x, ?y), ~road(?x, ?y), same(?x, ?x) ."
    roads, twins = [(f"n{i}", f"n{i + 1}") for i in range(9)], [("n1", "n2"), ("n2", "n3"), ("n7", "n8")]
    saved(tmp_path, rules, {"road": roads, "twin": twins}, expand_below=5)
    (tmp_path / "gone.csv").write_text("n4,n5\nn1,n2\n")
    (tmp_path / "new.csv").write_text("n9,n30\nn3,n6\n")
    steps: list[dict[str, tuple[str, ...]]] = [
        {"delete": ("road=gone.csv",), "insert": ("road=new.csv",)},
        {"delete": ("twin=gone.csv",)},
    ]
    both_updated(tmp_path, steps, algorithm=algorithm, local_finish=DISTRIBUTED)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [10, 1_000])
def test_a_limit_decides_which_closures_are_listed(spark: Any, files: Path, limit: int) -> None:
    for name in ("local", "spark"):
        materialise(job(files, name, engine=name, expand_below=limit, maintain="none"))
    stores = [Store.open(files / name) for name in ("local", "spark")]
    assert table(files, "spark") == table(files, "local")
    assert bool(stores[0].info().closures) == (limit == 10)
    assert stores[0].info().closures == stores[1].info().closures
    assert stores[0].info().statistics["facts"] == stores[1].info().statistics["facts"]
    assert stores[0].info().statistics["listed"] == stores[1].info().statistics["listed"]


def test_literals_that_rules_bring_contradict_functional_properties(tmp_path: Path, spark: Any) -> None:
    (tmp_path / "r.rls").write_text(
        "@prefix e: <http://e.org/> . "
        "triple(?x, e:age, 77) :- triple(?x, e:isOld, true) . triple(?x, e:age, 78) :- triple(?x, e:isOld, true) ."
    )
    (tmp_path / "x.ttl").write_text(
        "@prefix : <http://e.org/> . :age a <http://www.w3.org/2002/07/owl#FunctionalProperty> . :ann :isOld true ."
    )
    store = tmp_path / "kb"
    facts = (str(tmp_path / "x.ttl"),)
    materialise(MaterialiseJob(str(tmp_path / "r.rls"), facts, str(store), profile="rl", engine="local"))
    assert everlog.open(store)["everlog:violation"].rows() == [(everlog.IRI("http://e.org/ann"), "prp-fp")]


def test_rules_are_changed_in_one_task(spark: Any, tmp_path: Path) -> None:
    roads = [(f"n{i}", f"n{i + 1}") for i in range(9)]
    saved(tmp_path, ROADS, {"road": roads, "way": [("n20", "n0")]}, expand_below=10)
    (tmp_path / "more.rls").write_text("back(?x, ?y) :- road(?y, ?x) . unread(?x) :- raod(?x) . road(new, n0) .")
    results, warnings = {}, {}
    for name in ("local", "spark"):
        job = RulesJob(str(tmp_path / name), (str(tmp_path / "more.rls"),), engine=name, compact=False)
        warnings[name] = list[Diagnostic]()
        results[name] = change_rules(job, Report(warning=warnings[name].append))
        again = change_rules(replace(job, add=(), remove=job.add))
        assert again.version == 2
        assert change_rules(replace(job, add=())).version == 2
    assert list(map(str, warnings["local"])) == list(map(str, warnings["spark"]))
    assert any("raod" in found.message for found in warnings["spark"])
    one, other = results["local"].change, results["spark"].change
    assert (one.rules_added, one.rules_known) == (other.rules_added, other.rules_known)
    for side in ("inserted", "deleted", "explicit_inserted", "explicit_deleted"):
        mine, its = getattr(one, side), getattr(other, side)
        assert {str(p): len(mine[p]) for p in mine} == {str(p): len(its[p]) for p in its}
    for version in (1, 2):
        assert table(tmp_path, "spark", version) == table(tmp_path, "local", version)
        infos = [Store.open(tmp_path / name).info(version) for name in ("local", "spark")]
        assert len({(i.rules, i.bookkeeping, i.operation, str(i.closures), i.modules) for i in infos}) == 1
        assert infos[0].statistics["facts"] == infos[1].statistics["facts"]
    assert verify(Store.open(tmp_path / "spark")) == []
    assert len(open_store(tmp_path / "spark", 1)["back"]) == 10
