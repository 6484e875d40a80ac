"""The knowledge base as section "Python" of the design promises it, line by line."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everlog
from everlog import IRI, BlankNode, DataError, KnowledgeBase, Literal, RuleError, UnknownPredicateError
from everlog.lang.syntax import Predicate
from everlog.lang.terms import XSD, text_of, value_of
from everlog.reasoning.statistics import Listener, RoundEvent
from tests.oracle import naive
from tests.oracle.naive import Fact, Row
from tests.running import knowledge_base, relation
from tests.strategies import Case, cases, facts, lists

CLOSURE = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."


def closure(*edges: tuple[Any, Any], modules: bool = True) -> KnowledgeBase:
    kb = KnowledgeBase(CLOSURE, modules=modules)
    kb.insert("edge", list(edges))
    return kb


# rules --------------------------------------------------------------------------------------------


def test_rules_from_a_path_a_text_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rules.rls"
    path.write_text(CLOSURE, encoding="utf-8")
    for rules in (CLOSURE, path, str(path)):
        kb = KnowledgeBase(rules)
        kb.insert("edge", [("a", "b"), ("b", "c")])
        assert len(kb["path"]) == 3
    assert KnowledgeBase().materialise().facts == 0
    assert KnowledgeBase("% nothing\n").predicates == []


@pytest.mark.parametrize("option", ["stratification", "maintain", "engine"])
def test_an_option_names_its_choices(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option}='nope': choose one of"):
        KnowledgeBase(**{option: "nope"})  # type: ignore[arg-type]


def test_an_algorithm_that_there_is_not() -> None:
    kb = closure(("a", "b"))
    with pytest.raises(ValueError, match="choose one of"):
        kb.update(insert={"edge": [("b", "c")]}, algorithm="nope")  # type: ignore[arg-type]
    assert len(kb["edge"]) == 1


# inserting ----------------------------------------------------------------------------------------

COLUMNS = {"who": ["alice", "bob"], "years": [42, 7]}
MAKERS: dict[str, Callable[[], Any]] = {
    "rows": lambda: [("alice", 42), ("bob", 7)],
    "lists": lambda: [["alice", 42], ["bob", 7]],
    "generator": lambda: (row for row in [("alice", 42), ("bob", 7)]),
    "columns": lambda: COLUMNS,
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "arrow": lambda: pa.table(COLUMNS),
    "batch": lambda: pa.record_batch(COLUMNS),
    "structured": lambda: np.array([("alice", 42), ("bob", 7)], dtype=[("who", "U8"), ("years", "i2")]),
    "objects": lambda: np.array([("alice", 42), ("bob", 7)], dtype=object),
}


@pytest.mark.parametrize("form", MAKERS)
def test_rows_in_every_form(form: str) -> None:
    kb = KnowledgeBase()
    kb.insert("age", MAKERS[form]())
    assert kb["age"].rows() == [("alice", 42), ("bob", 7)]
    kb.delete("age", MAKERS[form]())
    assert kb["age"].rows() == []


def test_numpy_numbers() -> None:
    kb = KnowledgeBase()
    kb.insert("n", np.array([[1, 2], [3, 4]], np.int16))
    kb.insert("x", np.array([0.5, 2.0], np.float32))
    assert kb["n"].rows() == [(1, 2), (3, 4)]
    assert kb["x"].rows() == [(0.5,), (2.0,)]


def test_rows_repeated_in_and_between_calls_count_once() -> None:
    kb = closure(("a", "b"), ("a", "b"))
    kb.insert("edge", [("a", "b")])
    assert len(kb["edge"]) == len(kb["edge"].explicit) == 1


# keys ---------------------------------------------------------------------------------------------


def test_every_way_to_write_a_predicate() -> None:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . ex:p(?x, ?y) :- edge(?x, ?y) . ex:p(?x) :- ex:p(?x, _) .")
    kb.insert("edge", [("a", "b")])
    kb.insert("ex:p", [("c",)])
    kb.insert(IRI("http://e.org/p"), [("c", "d")])
    for key in (("ex:p", 2), ("<http://e.org/p>", 2), (IRI("http://e.org/p"), 2), Predicate("<http://e.org/p>", 2)):
        assert len(kb[key]) == 2
        assert key in kb
    assert kb["ex:p", 1].rows() == [("a",), ("c",)]
    with pytest.raises(KeyError, match="arities"):
        kb["ex:p"]
    assert "ex:p" in kb
    assert "ex:q" not in kb
    assert ("ex:p", 3) not in kb


def test_deleting_goes_by_the_width_of_the_rows() -> None:
    kb = KnowledgeBase()
    kb.insert("<http://e.org/p>", [("a",), ("b",)])
    kb.insert("<http://e.org/p>", [("a", "b")])
    kb.delete("<http://e.org/p>", [("a",)])
    assert kb["<http://e.org/p>", 1].rows() == [("b",)]
    assert kb["<http://e.org/p>", 2].rows() == [("a", "b")]


def test_known_and_empty_has_length_zero() -> None:
    kb = KnowledgeBase("p(?x) :- q(?x), ~r(?x, _) .")
    for name in ("p", "q", "r"):
        assert (len(kb[name]), kb[name].rows(), len(kb[name].explicit)) == (0, [], 0)
    kb.insert("s", [("a",)])
    kb.delete("s", [("a",)])
    assert len(kb["s"]) == 0


def test_unknown_is_a_key_error_with_the_closest() -> None:
    kb = closure(("a", "b"))
    for ask in (lambda: kb["pth"], lambda: kb.query("pth(?x, ?y)")):
        with pytest.raises(KeyError, match="did you mean `path`"):
            ask()
        with pytest.raises(UnknownPredicateError):
            ask()


def test_a_wrong_arity_changes_nothing() -> None:
    kb = closure(("a", "b"))
    kb.materialise()
    wrong: list[Callable[[], object]] = [
        lambda: kb.insert("edge", [("a",)]),
        lambda: kb.delete("edge", [("a", "b", "c")]),
        lambda: kb.insert(("edge", 3), [("a", "b", "c")]),
        lambda: kb.insert(("new", 2), [("a",)]),
        lambda: kb.insert("new", [("a",), ("a", "b")]),
        lambda: kb.update(insert={"edge": [("b", "c")], "path": [("c",)]}),
        lambda: kb.update(insert={"new": [("b", "c")]}, delete={"edge": [("a",)]}),
        lambda: kb.update(insert={"new": [("b", "c")], ("new", 1): [("a",)]}),
        lambda: kb.insert("edge", [("a", None)]),
        lambda: kb.insert("edge", [("a", object())]),
        lambda: kb.insert("edge", "ab"),
    ]
    for attempt in wrong:
        with pytest.raises(DataError):
            attempt()
        assert kb._queue == []
        assert kb.predicates == [Predicate("path", 2), Predicate("edge", 2)]
        assert kb["path"].rows() == [("a", "b")]
    with pytest.raises((DataError, RuleError, KeyError)):
        kb.query("edge(?x)")


def test_no_rows_do_not_make_up_an_arity() -> None:
    kb = KnowledgeBase()
    kb.insert("p", [])
    kb.insert("<http://e.org/p>", [])
    kb.update(insert={"q": []}, delete={"r": []})
    assert kb.predicates == []
    kb.insert("p", [("a", "b")])
    kb.insert("p", [])
    kb.insert(("q", 3), [])
    kb.insert("s", pd.DataFrame({"a": [], "b": []}))
    assert kb["p"].rows() == [("a", "b")]
    assert (len(kb["q"]), kb["q"].columns, kb["s"].columns) == (0, ("c0", "c1", "c2"), ("c0", "c1"))


def test_no_arguments() -> None:
    kb = KnowledgeBase("rainy() :- cloudy(today), ~dry() . wet() :- rainy() .")
    kb.insert("cloudy", [("today",)])
    assert (kb["wet"].rows(), len(kb["wet"]), () in kb["wet"]) == ([()], 1, True)
    change = kb.update(insert={"dry": [()]})
    assert (change.inserted["dry"].rows(), change.deleted["wet"].rows()) == ([()], [()])
    assert (kb["wet"].rows(), len(kb["wet"]), () in kb["wet"]) == ([], 0, False)
    kb.delete("dry", [()])
    assert kb["rainy"].rows() == [()]
    kb.insert("dry", [])
    assert len(kb["dry"]) == 0


# values -------------------------------------------------------------------------------------------

ODD: list[Any] = [
    1,
    1.0,
    True,
    "1",
    Decimal("1.0"),
    "1.0",
    "true",
    IRI("1"),
    BlankNode("1"),
    Literal("1", language="en"),
    Literal("01", XSD + "integer"),
    "<1>",
    '"1"',
    '"1"@en',
    "_:1",
    "",
    " ",
    "ünï 日本 😀",
    "line\nbreak\ttab",
    -0.0,
    0.0,
    0,
    False,
    float("inf"),
    2**70,
    -(2**63),
    1e-300,
    Decimal("123456789.000000001"),
]


def same(left: object, right: object) -> bool:
    return type(left) is type(right) and text_of(left) == text_of(right)


def test_values_are_told_apart_by_kind() -> None:
    kb = KnowledgeBase("both(?x) :- v(?x), w(?x) .")
    kb.insert("v", [(value,) for value in ODD])
    for i, value in enumerate(ODD):
        assert (value,) in kb["v"]
        change = kb.update(insert={"w": [(value,)]}, delete={"w": [(ODD[i - 1],)]})
        assert [row for (row,) in kb["both"] if not same(row, value)] == []
        assert [other for other in ODD if (other,) in kb["both"]] == [o for o in ODD if same(o, value)]
        assert len(change.inserted["both"]) == 1
    assert len(kb["v"]) == len(ODD)
    assert all(any(same(found, value) for (found,) in kb["v"]) for value in ODD)


def test_not_a_number_is_a_term_like_others() -> None:
    kb = KnowledgeBase()
    kb.insert("v", [(float("nan"),), (float("nan"),)])
    assert len(kb["v"]) == 1
    assert (float("nan"),) in kb["v"]


def test_what_is_no_row_of_the_relation_is_not_in_it() -> None:
    kb = closure(("a", "b"))
    for row in (
        ("a",),
        ("a", "b", "c"),
        "ab",
        ["a", "b"],
        ("b", "a"),
        ("nowhere", "b"),
        3,
        (None, "b"),
        ("a", "\ud800"),
    ):
        assert row not in kb["edge"]


# explicit and derived -----------------------------------------------------------------------------


def test_statistics() -> None:
    stats = closure(("a", "b"), ("b", "c"), ("c", "d"), modules=False).materialise()
    assert (stats.facts, stats.explicit, stats.derived, stats.instances) == (9, 3, 6, 6)
    assert stats.rounds >= 3
    assert stats.seconds > 0
    assert sum(stratum.instances for stratum in stats.strata) == 6


def test_statistics_of_modules() -> None:
    stats = closure(("a", "b"), ("b", "c"), ("c", "d")).materialise()
    assert (stats.facts, stats.explicit, stats.derived, stats.instances) == (9, 3, 6, 0)


def test_progress_is_reported() -> None:
    events: list[RoundEvent] = []
    closure(("a", "b"), ("b", "c"), ("c", "d")).materialise(progress=Listener(events.append))
    assert sum(event.new_facts for event in events) == 6
    assert events[-1].facts == 9


def test_reading_brings_up_to_date() -> None:
    kb = closure(("a", "b"))
    assert len(kb["path"]) == 1
    kb.insert("edge", [("b", "c")])
    assert len(kb.query("path(?x, ?y)")) == 3
    kb.delete("edge", [("a", "b")])
    assert kb.materialise().facts == 2
    assert kb.statistics.facts == 2
    kb.insert("edge", [("c", "d")])
    assert kb.statistics.facts == 5


def test_rows_that_were_asked_for_stay_as_they_were() -> None:
    kb = closure(("a", "b"))
    old = kb["path"]
    answers = kb.query("path(?x, ?y)")
    kb.insert("edge", [("b", "c")])
    kb.delete("edge", [("a", "b")])
    assert kb["path"].rows() == [("b", "c")]
    assert old.rows() == answers.rows() == [("a", "b")]
    assert ("b", "c") not in old


def test_derived_and_explicit() -> None:
    kb = closure(("a", "b"))
    kb.insert("path", [("a", "b"), ("x", "y")])
    assert kb["path"].rows() == [("a", "b"), ("x", "y")]
    kb.delete("edge", [("a", "b")])
    assert kb["path"].rows() == [("a", "b"), ("x", "y")]
    kb.delete("path", [("a", "b")])
    assert kb["path"].rows() == kb["path"].explicit.rows() == [("x", "y")]


def test_facts_of_the_program_can_be_deleted() -> None:
    kb = KnowledgeBase(CLOSURE + " edge(a, b) . edge(b, c) .")
    kb.delete("edge", [("a", "b")])
    assert kb["path"].rows() == [("b", "c")]
    assert kb.materialise(fresh=True).facts == 2
    kb.insert("edge", [("a", "b")])
    assert len(kb["path"]) == 3


def test_starting_over_gives_the_same() -> None:
    kb = closure(("a", "b"), ("b", "c"))
    kb.update(delete={"edge": [("a", "b")]}, insert={"edge": [("c", "d")]})
    before = kb["path"].rows()
    again = kb.materialise(fresh=True)
    assert kb["path"].rows() == before
    assert again.facts == len(before) + 2
    assert kb.materialise() is again


# updates ------------------------------------------------------------------------------------------


def test_a_fact_in_both_ends_explicit() -> None:
    kb = closure(("a", "b"))
    change = kb.update(insert={"edge": [("a", "b"), ("x", "y")]}, delete={"edge": [("a", "b"), ("x", "y"), ("n", "o")]})
    assert kb["edge"].rows() == [("a", "b"), ("x", "y")]
    assert change.explicit_inserted["edge"].rows() == [("x", "y")]
    assert "edge" not in change.explicit_deleted
    assert change.deleted["path"].rows() == []
    assert change.not_explicit == 2


def test_deleting_what_is_only_derived_is_counted() -> None:
    kb = closure(("a", "b"), ("b", "c"))
    change = kb.update(delete={"path": [("a", "b"), ("a", "c"), ("q", "q")], "edge": [("z", "z")]})
    assert change.not_explicit == 4
    assert not change
    assert len(kb["path"]) == 3


def test_the_keys_of_a_change() -> None:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . ex:p(?x) :- q(?x) .")
    change = kb.update(insert={"q": [("a",)], "new": [(1, 2)]})
    assert set(change.inserted) == {Predicate("q", 1), Predicate("<http://e.org/p>", 1), Predicate("new", 2)}
    assert len(change.inserted) == 3
    assert change.inserted["ex:p"].rows() == change.inserted[IRI("http://e.org/p")].rows() == [("a",)]
    assert (len(change.deleted), bool(change)) == (0, True)
    for part in (change.deleted, change.explicit_deleted):
        assert (part["q"].rows(), part["q"].columns, len(part["ex:p"])) == ([], ("c0",), 0)
        assert ("q" in part, "q" in change.inserted, "nowhere" in part, list(part)) == (False, True, False, [])
        with pytest.raises(UnknownPredicateError, match="did you mean `new`"):
            part["neww"]
    assert change.stats.algorithm == "rematerialise"


def test_an_update_after_queued_changes_reports_only_its_own() -> None:
    kb = closure(("a", "b"))
    kb.insert("edge", [("b", "c")])
    change = kb.update(insert={"edge": [("c", "d")]})
    assert change.explicit_inserted["edge"].rows() == [("c", "d")]
    assert change.inserted["path"].rows() == [("a", "d"), ("b", "d"), ("c", "d")]


def texts_of(changed: Any) -> set[Fact]:
    return {(p, tuple(map(text_of, row))) for p in changed for row in changed[p].rows()}


def given_rows(found: set[Fact]) -> dict[Any, list[tuple[Any, ...]]]:
    return {p: [tuple(map(value_of, row)) for row in rows] for p, rows in naive.grouped(found).items()}


@settings(max_examples=40)
@given(cases(max_rules=5), st.data())
def test_changes_are_exactly_the_difference(case: Case, data: st.DataObject) -> None:
    """After each of several updates: the explicit facts, the materialisation, and what is reported."""
    kb = knowledge_base(case.program, case.facts)
    explicit = {*case.facts, *naive.explicit(case.program)}
    before = naive.flat(naive.materialise(replace_facts(case), explicit))
    for _ in range(data.draw(st.integers(1, 3))):
        insert = set(data.draw(lists(facts(case.predicates, case.domain), max_size=5)))
        delete = set(data.draw(lists(facts(case.predicates, case.domain), max_size=5)))
        change = kb.update(insert=given_rows(insert), delete=given_rows(delete))
        new = (explicit - delete) | insert
        after = naive.flat(naive.materialise(replace_facts(case), new))
        assert texts_of(change.inserted) == after - before
        assert texts_of(change.deleted) == before - after
        assert texts_of(change.explicit_inserted) == new - explicit
        assert texts_of(change.explicit_deleted) == explicit - new
        assert change.not_explicit == len(delete - explicit)
        assert {(p, row) for p in kb.predicates for row in relation(kb, p)} == after
        explicit, before = new, after


def replace_facts(case: Case) -> Any:
    """The program without facts of its own, which may have been deleted."""
    return replace(case.program, facts=())


# rules that are easy to get wrong -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("p(a) :- ~q(b) .", {("a",)}),
        ("p(a) :- ~q(b) . q(b) .", set()),
        ("p(a) :- ~e(_, _) .", set()),
        ("p(a) :- ~f(_, _) .", {("a",)}),
        ("p(?x) :- e(?x, _), ~f(_, _) .", {("n1",), ("n2",), ("n3",), ("n4",)}),
        ("p(?x) :- e(?x, _), ~e(_, ?x) .", {("n1",)}),
        ("p(?x, ?x, k, ?x) :- e(?x, n4) .", {("n3", "n3", "k", "n3"), ("n4", "n4", "k", "n4")}),
        ("p(k, k) :- e(?x, ?x) .", {("k", "k")}),
        ("p(k) :- e(?x, ?y), e(?y, ?x) .", {("k",)}),
        ("p(?x) :- e(?x, ?y), e(?y, ?z), e(?z, ?x) .", {("n4",)}),
        ("p(?x, ?w) :- e(?x, ?y), e(?y, ?z), e(?z, ?w) .", {("n1", "n4"), ("n2", "n4"), ("n3", "n4"), ("n4", "n4")}),
        ("p(?x) :- e(?x, ?x), ~e(?x, n1) .", {("n4",)}),
        ("p(?x, ?y) :- u(?x), u(?y) .", {("n1", "n1")}),
        ("p(?x) :- e(_, ?x), e(?x, _), e(n1, n2), ~u(?x) .", {("n2",), ("n3",), ("n4",)}),
        ("p(?x) :- u(?x), e(nowhere, ?x) .", set()),
        ("p(?x) :- u(?x), ~e(nowhere, ?x) .", {("n1",)}),
        ("p(?x) :- u(?x), ~e(nowhere, _) .", {("n1",)}),
        ("p() :- e(n1, n2), ~e(n2, n1) .", {()}),
        ("p() :- z(), e(_, _) . z() .", {()}),
        ("p(?x) :- " + ", ".join(["e(?x, ?y)"] * 40) + " .", {("n1",), ("n2",), ("n3",), ("n4",)}),
        ("p(?x9) :- e(?x0, ?x1), " + ", ".join(f"e(?x{i}, ?x{i + 1})" for i in range(1, 9)) + " .", {("n4",)}),
        ("q(?x) :- e(?x, _) . p(?x) :- q(?x), e(?x, ?y), ~u(?x), q(?y), ~u(?y) .", {("n2",), ("n3",), ("n4",)}),
        ("p(?x) :- u(?x) . p(?y) :- p(?x), e(?x, ?y) . p(?x) :- p(?x), p(?x) .", {("n1",), ("n2",), ("n3",), ("n4",)}),
    ],
)
def test_odd_rules(rules: str, expected: set[tuple[str, ...]]) -> None:
    """Over the chain n1 -> n2 -> n3 -> n4 -> n4, u(n1), and no f at all."""
    kb = KnowledgeBase(rules)
    kb.insert("e", [("n1", "n2"), ("n2", "n3"), ("n3", "n4"), ("n4", "n4")])
    kb.insert("u", [("n1",)])
    assert set(kb["p"]) == expected


def test_printed_rules_read_back_the_same() -> None:
    kb = KnowledgeBase('@prefix ex: <http://e.org/> . ex:p(?x, 1.0, "a b"@en) :- q(?x, _), ~r(?x, _) . q(true, "1") .')
    again = KnowledgeBase(kb.rules)
    assert again.rules == kb.rules
    assert [list(map(text_of, row)) for row in again["ex:p"]] == [["true", "1.0", '"a b"@en']]


def test_the_memory_is_reported() -> None:
    kb = closure(*[(i, i + 1) for i in range(50)])
    kb.materialise()
    assert kb.nbytes >= 8 * kb.statistics.facts


def row_set(rows: list[tuple[Any, ...]]) -> set[Row]:
    return {tuple(map(text_of, row)) for row in rows}


def test_large_groups_and_many_rounds_agree_with_arithmetic() -> None:
    """Closure of a cycle with chords: everything reaches everything."""
    size = 400
    kb = closure(*[(i, (i + 1) % size) for i in range(size)], *[(i, i * 7 % size) for i in range(0, size, 5)])
    assert len(kb["path"]) == size * size
    assert len(kb.query("path(0, ?x)")) == size
    cut = kb.update(delete={"edge": [(i, (i + 1) % size) for i in range(1, size)]})
    assert len(kb["path"]) == size * size - len(cut.deleted["path"])
    assert row_set(kb["path"].rows()) == row_set(closure_of(kb["edge"].rows())["path"].rows())


def closure_of(edges: list[tuple[Any, ...]]) -> KnowledgeBase:
    return closure(*[(a, b) for a, b in edges])


def test_a_copy_goes_its_own_way() -> None:
    kb = closure(("a", "b"))
    kb.insert("edge", [("b", "c")])
    before, other = copy(kb), copy(kb)
    other.insert("edge", [("c", "d")])
    other.insert("new", [("a",)])
    kb.update(insert={"edge": [("b", "e")]})
    kb.change_rules(add="far(?x) :- path(?x, _) .")
    kb.max_facts = 1
    assert (before.max_facts, "far" in before, "new" in before) == (None, False, False)
    assert before["path"].rows() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert (len(other["path"]), len(kb["path"]), len(kb["far"])) == (6, 5, 2)


def test_the_package_offers_what_it_says() -> None:
    assert all(hasattr(everlog, name) for name in everlog.__all__)
    with pytest.raises(AttributeError, match="nowhere"):
        everlog.nowhere  # noqa: B018


def test_a_file_of_rules_may_have_any_extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("rules.dl", "more rules.txt", "sub/rules.v2"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("p(?x) :- q(?x) . q(a) .")
        assert KnowledgeBase(name).query("p(?x)").rows() == [("a",)]
    with pytest.raises(RuleError, match="unreadable-file"):
        KnowledgeBase("no/such/rules.dl")
    assert len(KnowledgeBase("% a comment.only").predicates) == 0
