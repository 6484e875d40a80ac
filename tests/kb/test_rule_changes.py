"""Knowledge bases and stores whose rules change: the changes are exact, and no other facts are touched."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import everlog
from everlog import KnowledgeBase
from everlog.lang.errors import EverlogError, LimitError, RuleError
from everlog.lang.printer import print_program
from everlog.lang.syntax import Predicate, Program
from everlog.reasoning.materialisation import Materialisation, with_counters
from everlog.store import Store, steps
from everlog.store.compaction import compact
from tests.kb.test_store_updates import decoded
from tests.oracle import naive
from tests.reasoning.modules.test_generated import changed, everything, findings
from tests.reasoning.modules.test_graphs import by_name, quoted
from tests.reasoning.test_rule_changes import Pools, closures, opposites, others, subset
from tests.running import knowledge_base, relation
from tests.store.small import at_step
from tests.store.verified import verify
from tests.strategies import graph_cases, updates

ALGORITHMS: list[Any] = ["auto", "dredc", "bfc", "dred", "fbf", "counting", "rematerialise"]
PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."
ENDS = "end(?x) :- path(_, ?x), ~edge(?x, _) ."
EDGES = [("a", "b"), ("b", "c"), ("c", "d")]
HEALTH = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def small(rules: str = PATHS, **options: Any) -> KnowledgeBase:
    kb = KnowledgeBase(rules, **options)
    kb.insert("edge", EDGES)
    kb.materialise()
    return kb


def text(rules: Iterable[Any], facts: Iterable[Any] = ()) -> str:
    return print_program(Program(tuple(rules), tuple(facts)))


def assert_counters(kb: KnowledgeBase) -> None:
    """Check that the counters equal newly computed ones."""
    kept = kb._reasoner.with_hidden()
    fresh = with_counters(kb._reasoner.engine(), kb.program, Materialisation(kept.explicit, kept.facts))
    assert kept.nr is None or (kept.nr == fresh.nr and kept.rec == fresh.rec)


def written_closures() -> st.SearchStrategy[Pools]:
    """Closures whose constants are texts as a program has them."""
    return closures().map(lambda drawn: Pools(quoted(drawn.case), drawn.pools))


def graphs() -> st.SearchStrategy[Pools]:
    return graph_cases(max_nodes=5).map(lambda case: Pools(case, (case.program.rules,)))


# exactness ---------------------------------------------------------------------------------------


@given(data=st.data(), drawn=others() | written_closures() | opposites())
def test_everything_is_as_the_new_rules_say(data: st.DataObject, drawn: Pools) -> None:
    """Texts of rules and facts in, the oracle's facts and their difference out."""
    case = drawn.case
    rules = subset(data, data.draw(st.sampled_from(drawn.pools)))
    options = {
        "modules": data.draw(st.booleans()),
        "stratification": data.draw(st.sampled_from(["levels", "single"])),
        "maintain": data.draw(st.sampled_from(["dredc", "counting", "none"])),
    }
    kb = knowledge_base(text(rules), case.facts, **options)
    explicit, before = set(case.facts), naive.flat(naive.materialise(Program(rules), case.facts))
    for change in data.draw(updates(case, max_size=2)):
        new = subset(data, data.draw(st.sampled_from(drawn.pools)))
        gone, come = set(rules).difference(new), set(new).difference(rules)
        unknown = data.draw(st.sampled_from([(), tuple(set(new).intersection(rules))]))
        facts = [[rule_fact(fact) for fact in sorted(part)] for part in (change.delete, change.insert)]
        algorithm = data.draw(st.sampled_from(ALGORITHMS))
        done = kb.change_rules(text([*come, *unknown], facts[1]), text(gone, facts[0]), algorithm=algorithm)
        assert (len(done.rules_added), len(done.rules_removed)) == (len(come), len(gone))
        rules, wanted = new, (explicit - change.delete) | change.insert
        after = naive.flat(naive.materialise(Program(rules), wanted))
        found = {predicate: relation(kb, predicate) for predicate in kb.predicates}
        assert naive.flat(found) == after
        assert (decoded(done.inserted), decoded(done.deleted)) == (after - before, before - after)
        assert decoded(done.explicit_inserted) == wanted - explicit
        assert decoded(done.explicit_deleted) == explicit - wanted
        assert_counters(kb)
        explicit, before = wanted, after


def rule_fact(fact: Any) -> Any:
    from everlog.lang.syntax import Atom, Constant

    return Atom(fact[0], tuple(map(Constant, fact[1])))


def test_what_goes_and_comes_back_is_no_change() -> None:
    kb = small(PATHS + ENDS)
    linear = "path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
    change = kb.change_rules(add=linear, remove="path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
    assert not change.inserted
    assert not change.deleted
    assert change
    assert change.rules_added == (linear,)
    assert change.rules_removed == ("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .",)
    assert len(kb["path"]) == 6


def test_facts_in_the_texts_are_explicit_changes() -> None:
    kb = small()
    change = kb.change_rules(add=ENDS + "edge(d, e) . edge(a, b) .", remove="edge(b, c) . edge(x, y) . edge(a, b) .")
    assert change.explicit_inserted["edge"].rows() == [("d", "e")]
    assert change.explicit_deleted["edge"].rows() == [("b", "c")]
    assert change.not_explicit == 1
    assert kb["end"].rows() == [("b",), ("e",)]
    assert "edge(d, e) ." in kb.rules


def test_names_of_variables_and_order_do_not_matter() -> None:
    kb = small(PATHS + ENDS)
    change = kb.change_rules(add="end(?u) :- path(?any, ?u), ~edge(?u, _) .")
    assert change.rules_known == ("end(?u) :- path(?any, ?u), ~edge(?u, _) .",)
    assert not change
    assert kb.change_rules(remove="path(?a, ?b) :- path(?c, ?b), path(?a, ?c) .").deleted["path"].rows() == [
        ("a", "c"),
        ("a", "d"),
        ("b", "d"),
    ]
    with pytest.raises(RuleError, match="there is no rule"):
        kb.change_rules(remove="path(?a, ?b) :- edge(?b, ?a) .")


def test_prefixes_hold_and_may_be_declared() -> None:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . ex:p(?x) :- ex:q(?x) . ex:q(ex:a) .")
    assert kb.change_rules(add="ex:r(?x) :- ex:p(?x) .").inserted["ex:r"].rows() == [(everlog.IRI("http://e.org/a"),)]
    kb.change_rules(add="@prefix ex: <http://other.org/> . @prefix o: <http://o.org/> . ex:r(?x) :- o:p(?x) . o:p(1) .")
    assert kb["<http://other.org/r>"].rows() == kb["o:p"].rows() == [(1,)]
    assert len(kb["ex:r"]) == 1
    assert "<http://other.org/r>(?x) :- o:p(?x) ." in kb.rules
    assert KnowledgeBase(kb.rules)["ex:r"].rows() == kb["ex:r"].rows()


def test_paths_and_programs(tmp_path: Path) -> None:
    (tmp_path / "ends.rls").write_text(ENDS)
    kb = small()
    assert kb.change_rules(add=tmp_path / "ends.rls").inserted["end"].rows() == [("d",)]
    from everlog.lang.parser import parse_program

    assert kb.change_rules(remove=parse_program(ENDS)).deleted["end"].rows() == [("d",)]
    assert kb["end"].rows() == []


def test_a_predicate_may_lose_everything_and_come_with_another_arity() -> None:
    kb = small(PATHS + ENDS)
    change = kb.change_rules(remove=ENDS)
    assert change.deleted["end"].rows() == [("d",)]
    kb.change_rules(add="end(?x, ?y) :- edge(?x, ?y) .")
    assert len(kb["end"]) == 3


def test_new_constants() -> None:
    kb = small()
    kb.change_rules(add="near(?x, home) :- path(?x, d) . path(d, brand_new) :- edge(_, d) .")
    assert kb["near"].rows() == [("a", "home"), ("b", "home"), ("c", "home")]
    assert ("a", "brand_new") in kb["path"]


def test_changes_that_wait_come_first() -> None:
    kb = small()
    kb.insert("edge", [("d", "e")])
    assert kb.change_rules(add=ENDS).inserted["end"].rows() == [("e",)]


def test_representatives_are_computed_anew() -> None:
    kb = KnowledgeBase("@prefix owl: <http://www.w3.org/2002/07/owl#> . p(?x) :- q(?x) .", equality="representatives")
    kb.insert("q", [("a",)])
    kb.insert("r", [("b",)])
    kb.materialise()
    change = kb.change_rules(add="owl:sameAs(?x, ?y) :- q(?x), r(?y) .")
    assert change.inserted["p"].rows() == [("b",)]
    assert change.stats.algorithm == "rematerialise"
    assert "anew" in change.stats.reason
    assert kb.change_rules(remove="owl:sameAs(?x, ?y) :- q(?x), r(?y) .").deleted["p"].rows() == [("b",)]


# errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("add", "remove", "code"),
    [
        ("", "path(?y, ?x) :- edge(?x, ?y) .", "unknown-rule"),
        ("end(?x) :- .", "", "syntax"),
        ("edge(?x, ?y) :- path(?x, ?y), ~end(?x) .", "", "negation-cycle"),
        ("end(?x, ?y) :- edge(?x, ?y) .", "", "arity"),
        ("other(?x) :- edge(?x) .", "", "arity"),
        ("other(?x) :- edge(?y, _) .", "", "unsafe-variable"),
    ],
)
def test_after_an_error_all_is_as_before(add: str, remove: str, code: str) -> None:
    kb = small(PATHS + ENDS)
    facts, rules = everything(kb), kb.rules
    with pytest.raises(EverlogError) as error:
        kb.change_rules(add + " edge(x, y) .", remove + "path(?x, ?y) :- edge(?x, ?y) .")
    assert error.value.diagnostics[0].code == code
    assert (everything(kb), kb.rules) == (facts, rules)
    assert kb.change_rules(add="edge(x, y) .").inserted["end"].rows() == [("y",)]


def test_a_limit_leaves_all_as_before() -> None:
    kb = small("two(?x, ?y) :- edge(?x, ?y) .", max_facts=9)
    with pytest.raises(LimitError):
        kb.change_rules(add="two(?x, ?y) :- edge(?x, _), edge(?y, _) .", remove="two(?x, ?y) :- edge(?x, ?y) .")
    assert len(kb["two"]) == 3
    assert kb.change_rules(remove="two(?x, ?y) :- edge(?x, ?y) .").deleted["two"].rows() == EDGES


def test_the_closest_rules_are_named() -> None:
    kb = small(PATHS + ENDS)
    with pytest.raises(RuleError) as error:
        kb.change_rules(remove="end(?x) :- path(?x, _), ~edge(?x, _) .\nfar(?x) :- edge(?x, ?x) .")
    first, second = error.value.diagnostics
    assert first.hint is not None
    assert first.hint.startswith("the closest there is: `end(?x) :- path(_, ?x), ~edge(?x, _) .`")
    assert second.place is not None
    assert second.place.line == 2


# cost --------------------------------------------------------------------------------------------


def test_a_rule_with_few_instances_costs_few() -> None:
    """With a million facts, a closure among them, facts that a rule does not concern are neither considered
    nor copied.
    """
    size = 400_000
    kb = KnowledgeBase(
        """
        friend(?x, ?y) :- knows(?x, ?y) .
        above(?x, ?y) :- boss(?x, ?y) .
        above(?x, ?z) :- above(?x, ?y), above(?y, ?z) .
        lonely(?x) :- special(?x), ~friend(?x, _) .
        """
    )
    numbers = np.arange(size)
    kb.insert("knows", np.column_stack([numbers, (numbers * 7919 + 1) % size]))
    kb.insert("boss", np.column_stack([numbers[1:2000], numbers[1:2000] // 2]))
    kb.insert("person", numbers[:200_000, None])
    kb.insert("special", [(1,), (size + 5,)])
    assert kb.materialise().facts > 1_000_000
    before = kb.facts_with_hidden()
    rule = "liked(?x) :- friend(?x, ?y), special(?y), person(?y) ."
    for algorithm in ALGORITHMS[:-2]:
        change = kb.change_rules(add=rule, algorithm=algorithm)
        assert len(change.inserted["liked"]) == 1
        assert change.stats.total_instances <= 5
        change = kb.change_rules(remove=rule, algorithm=algorithm)
        assert len(change.deleted["liked"]) == 1
        assert change.stats.total_instances <= 5
    after = kb.facts_with_hidden()
    assert {*before} == {*after}
    assert all(after[predicate] is before[predicate] for predicate in before)


# stores ------------------------------------------------------------------------------------------


@pytest.mark.long
@settings(max_examples=4, suppress_health_check=HEALTH)
@given(data=st.data(), drawn=written_closures())
def test_stores_follow(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, drawn: Pools) -> None:
    check_stores(tmp_path_factory.mktemp("stores"), data, drawn)


@pytest.mark.slow
@settings(max_examples=100, suppress_health_check=HEALTH)
@given(data=st.data(), drawn=written_closures() | graphs())
def test_many_stores_follow(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, drawn: Pools) -> None:
    check_stores(tmp_path_factory.mktemp("stores"), data, drawn)


def check_stores(place: Path, data: st.DataObject, drawn: Pools) -> None:
    """Stores that list no pairs of closures, some, and all of them; no version changes later."""
    case = drawn.case
    pool = case.program.rules
    rules = subset(data, pool)
    limits = {"none": 0, "some": data.draw(st.integers(1, 9)), "listed": 10**9}
    maintain = data.draw(st.sampled_from(["dredc", "none"]))
    kbs = {name: knowledge_base(text(rules), case.facts, maintain=maintain) for name in limits}
    for name, kb in kbs.items():
        kb.save(place / name, expand_below=limits[name])
    expected = [everything(kbs["listed"])]
    versions = {name: [0] for name in limits}
    for change in (*data.draw(updates(case, max_size=2)), None):
        algorithm: Any = data.draw(st.sampled_from(ALGORITHMS))
        again, rewrite, bare, turn = (data.draw(st.booleans()) for _ in range(4))
        new = subset(data, pool)
        for name, limit in limits.items():
            if bare:
                for path in (place / name / "snapshot").glob("v*"):
                    path.rename(place / f"{name}-{path.name}")
            if again:
                kbs[name] = everlog.open(place / name)
            if change is not None and turn:
                kbs[name].update(*map(by_name, (change.insert, change.delete)), algorithm=algorithm)
            else:
                gone, come = ([r for r in one if r not in other] for one, other in ((rules, new), (new, rules)))
                kbs[name].change_rules(text(come), text(gone), algorithm=algorithm)
            kbs[name].save(expand_below=limit)
            if rewrite:
                compact(Store.open(place / name))
            versions[name].append(Store.open(place / name).version)
        rules = rules if change is not None and turn else new
        expected.append(everything(kbs["listed"]))
    fresh = KnowledgeBase(text(rules))
    for predicate in kbs["listed"].state().explicit:
        fresh.insert(predicate, kbs["listed"][predicate].explicit.rows())
    assert everything(fresh) == expected[-1]
    for name, at in versions.items():
        for step, facts in enumerate(expected):
            assert everything(everlog.open(place / name, at[step])) == facts
            for start in range(step):
                listed = changed(place / "listed", versions["listed"][start], versions["listed"][step])
                assert changed(place / name, at[start], at[step]) == listed
    for name in limits:
        assert not findings(place / name)


def test_a_version_has_its_rules_and_its_change(tmp_path: Path) -> None:
    kb = small()
    kb.save(tmp_path / "kb")
    change = kb.change_rules(add=ENDS)
    assert kb.save() == 1
    found = everlog.changes(tmp_path / "kb", 0)
    assert decoded(found.inserted) == decoded(change.inserted)
    assert not found.deleted
    assert Store.open(tmp_path / "kb").info().operation == "rules"
    assert "end" not in everlog.open(tmp_path / "kb", 0)
    kb = everlog.open(tmp_path / "kb")
    assert kb.update(insert={"edge": [("d", "e")]}).inserted["end"].rows() == [("e",)]
    assert kb.save() == 2
    assert not kb.change_rules(add=ENDS)
    assert kb.save() == 2


def test_rules_without_facts_make_a_version(tmp_path: Path) -> None:
    kb = small()
    kb.save(tmp_path / "kb")
    assert not kb.change_rules(add="none(?x) :- edge(?x, ?x) .").inserted
    assert kb.save() == 1
    assert "none(?x) :- edge(?x, ?x) ." in everlog.open(tmp_path / "kb").rules


def test_files_are_as_large_as_the_change(tmp_path: Path) -> None:
    kb = KnowledgeBase("friend(?x, ?y) :- knows(?x, ?y) .")
    numbers = np.arange(50_000)
    kb.insert("knows", np.column_stack([numbers, numbers + 1]))
    kb.insert("special", [(7,)])
    kb.save(tmp_path / "kb")
    size = sum(file.stat().st_size for file in (tmp_path / "kb").rglob("*") if file.is_file())
    kb = everlog.open(tmp_path / "kb")
    kb.change_rules(add="liked(?x) :- friend(?x, ?y), special(?y) .")
    assert kb.save() == 1
    store = Store.open(tmp_path / "kb")
    old = {file.name for file in store.files(0)}
    assert [file.rows for file in store.files() if file.name not in old] == [1]
    grown = sum(file.stat().st_size for file in (tmp_path / "kb").rglob("*") if file.is_file()) - size
    assert grown < size / 20


def closure_store(place: Path, rules: str, expand_below: int) -> KnowledgeBase:
    kb = KnowledgeBase(rules)
    kb.insert("edge", [(f"n{i}", f"n{i + 1}") for i in range(50)])
    kb.save(place, expand_below=expand_below)
    return everlog.open(place)


def test_a_closure_that_outgrows_the_limit_is_not_listed(tmp_path: Path) -> None:
    kb = closure_store(tmp_path / "kb", "path(?x, ?y) :- edge(?x, ?y) .", 100)
    kb.change_rules(add="path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
    kb.save(expand_below=100)
    store = Store.open(tmp_path / "kb")
    assert [closure["predicate"] for closure in store.info().closures] == ["path/2"]
    assert store.info().statistics["listed"] == 100
    assert len(everlog.open(tmp_path / "kb")["path"]) == 50 * 51 // 2
    assert len(everlog.open(tmp_path / "kb", 0)["path"]) == 50
    assert len(everlog.changes(tmp_path / "kb", 0).inserted["path"]) == 50 * 51 // 2 - 50
    assert not findings(tmp_path / "kb")


def test_what_is_no_closure_any_more_is_listed(tmp_path: Path) -> None:
    rules = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."
    kb = closure_store(tmp_path / "kb", rules, 100)
    kb.change_rules(remove="path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .")
    kb.save()
    assert Store.open(tmp_path / "kb").info().closures == ()
    assert len(everlog.open(tmp_path / "kb")["path"]) == 50
    assert len(everlog.open(tmp_path / "kb", 0)["path"]) == 50 * 51 // 2
    assert len(everlog.changes(tmp_path / "kb", 0).deleted["path"]) == 50 * 51 // 2 - 50
    assert not findings(tmp_path / "kb")


def test_a_closure_that_becomes_another_one(tmp_path: Path) -> None:
    rules = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."
    kb = closure_store(tmp_path / "kb", rules, 100)
    change = kb.change_rules(add="path(?x, ?y) :- path(?y, ?x) .")
    assert len(kb["path"]) == 51 * 51
    kb.save()
    (closure,) = Store.open(tmp_path / "kb").info().closures
    assert closure["kind"] == "symmetric-transitive"
    assert len(everlog.changes(tmp_path / "kb", 0).inserted["path"]) == len(change.inserted["path"])
    assert not findings(tmp_path / "kb")


def test_a_writer_that_was_faster(tmp_path: Path) -> None:
    kb = small()
    kb.save(tmp_path / "kb")
    other = everlog.open(tmp_path / "kb")
    other.change_rules(add=ENDS)
    other.save()
    kb.insert("edge", [("d", "e")])
    with pytest.raises(everlog.StoreError):
        kb.save()


def test_an_error_while_saving_leaves_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = small()
    kb.save(tmp_path / "kb")
    kb.change_rules(add=ENDS)

    def fail() -> None:
        raise OSError("no room")

    with monkeypatch.context() as patch:
        at_step(patch, steps.FACTS_MOVED, fail)
        with pytest.raises(Exception, match="no room"):
            kb.save()
    assert Store.open(tmp_path / "kb").version == 0
    assert "end" not in everlog.open(tmp_path / "kb")
    assert kb.save() == 1
    assert everlog.open(tmp_path / "kb")["end"].rows() == [("d",)]


def test_predicates_are_known_by_rules_alone_and_stay_known_without_them() -> None:
    kb = small()
    kb.change_rules(add="none(?x) :- nowhere(?x) . nowhere(a) .")
    assert Predicate("nowhere", 1) in kb.predicates
    change = kb.change_rules(remove="none(?x) :- nowhere(?x) . nowhere(a) .")
    assert (change.deleted["none"].rows(), change.inserted["none"].rows()) == ([("a",)], [])
    assert Predicate("nowhere", 1) in kb.predicates
    assert (kb["nowhere"].rows(), kb["none"].rows(), kb.query("none(?x), ~nowhere(?x)").rows()) == ([], [], [])


def test_a_name_that_nothing_has_any_more_may_come_back_with_another_arity() -> None:
    kb = small()
    kb.change_rules(add="none(?x) :- nowhere(?x) .")
    kb.change_rules(remove="none(?x) :- nowhere(?x) .")
    kb.change_rules(add="none(?x, ?y) :- path(?x, ?y) .")
    assert len(kb["none"]) == len(kb["path"])
    assert [p for p in kb.predicates if p.name == "none"] == [Predicate("none", 2)]


HEAD = """@prefix : <http://e.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def test_an_ontology_that_is_added_brings_facts_of_predicates_no_rule_mentions(tmp_path: Path) -> None:
    """Their names are among the terms, so that the store can be read without its snapshot."""
    (tmp_path / "a.ttl").write_text(HEAD + ":A a owl:Class; rdfs:subClassOf :B. :B a owl:Class. :old a :A.")
    (tmp_path / "c.ttl").write_text(HEAD + ":A a owl:Class; rdfs:subClassOf :C. :C a owl:Class. :new a :Component.")
    KnowledgeBase(tmp_path / "a.ttl").save(tmp_path / "kb")
    kb = everlog.open(tmp_path / "kb")
    change = kb.change_rules(add=tmp_path / "c.ttl")
    new = [(everlog.IRI("http://e.org/new"),)]
    assert change.inserted["<http://e.org/Component>"].rows() == kb["<http://e.org/Component>"].rows() == new
    assert kb.save() == 1
    shutil.rmtree(tmp_path / "kb" / "snapshot")
    assert everlog.open(tmp_path / "kb")["<http://e.org/Component>"].rows() == new
    assert verify(Store.open(tmp_path / "kb")) == []
