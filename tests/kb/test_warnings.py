"""Warnings of empty results: names without facts, facts that no rule reads, joins that never match."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import everlog
from everlog import IRI, KnowledgeBase, Literal
from everlog.analysis.given import KINDS
from everlog.lang.errors import Diagnostic, EverlogWarning
from everlog.store import Store

ANCESTORS = "ancestor(?x, ?y) :- parnet(?x, ?y) .\nancestor(?x, ?z) :- ancestor(?x, ?y), parnet(?y, ?z) ."
BOTH = "both(?x) :- one(?x), two(?x) ."


@contextmanager
def heard() -> Iterator[list[Diagnostic]]:
    """The warnings of Everlog, none of which Python leaves out."""
    found: list[Diagnostic] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    found += [each.message.diagnostic for each in caught if isinstance(each.message, EverlogWarning)]


def codes(found: list[Diagnostic]) -> list[str]:
    return [each.code for each in found]


# rules --------------------------------------------------------------------------------------------


def test_a_program_in_python_is_warned_of_where_the_user_called() -> None:
    with pytest.warns(EverlogWarning, match="`X` is a constant here") as caught:
        KnowledgeBase("p(X) :- q(X) .")
    assert caught[0].filename == __file__


def test_warnings_of_one_code_are_not_endless() -> None:
    rules = "\n".join(f"p{i}(?x) :- q{i}(?x, ?y) ." for i in range(25))
    with heard() as found:
        KnowledgeBase(rules)
    assert codes(found) == ["single-use"] * 11
    assert found[-1].message == "15 more warnings like these"


def test_rules_that_are_added_are_warned_of_and_those_before_not_again() -> None:
    with heard() as first:
        kb = KnowledgeBase("p(?x) :- q(?x, ?y) .")
    with heard() as second:
        kb.change_rules(add="r(X) :- q(X, X) .")
    assert (codes(first), codes(second)) == (["single-use"], ["like-a-variable"])
    assert codes(list(kb.warnings)) == ["single-use", "like-a-variable"]


def test_opening_and_copying_a_store_says_nothing(tmp_path: Path) -> None:
    with heard():
        kb = KnowledgeBase("p(?x) :- q(?x, ?y), nowhere(?x) . q(1, 2) .")
        kb.insert("unread", [(1.0,)])
        kb.save(tmp_path / "kb")
    with heard() as found:
        opened = everlog.open(tmp_path / "kb")
        opened.update(insert={"q": [(2, 3)], "unread": [(2.0,)]})
        opened.save()
        everlog.open(tmp_path / "kb", 0)["p"].rows()
    assert found == []


# names --------------------------------------------------------------------------------------------


def test_facts_under_another_name_than_rules_read() -> None:
    kb = KnowledgeBase(ANCESTORS)
    kb.insert("parent", [("ann", "bob")])
    with heard() as found:
        assert len(kb["ancestor"]) == 0
        kb.query("ancestor(?x, ?y)").rows()
        kb.update(insert={"parent": [("bob", "cid")]})
    [said] = found
    assert (said.code, said.message) == ("no-facts", "no rule and no fact gives `parnet`")
    assert said.hint == "did you mean `parent`, which has facts that no rule reads?"
    assert said.place is not None
    assert (said.place.line, said.place.column) == (1, 21)


def test_a_predicate_that_nothing_gives_unless_it_is_given_no_rows() -> None:
    rules = "free(?x) :- person(?x), ~blocked(?x) ."
    kb, other = KnowledgeBase(rules), KnowledgeBase(rules)
    kb.insert("person", [("ann",)])
    other.insert("person", [("ann",)])
    other.insert("blocked", [])
    with heard() as found:
        kb.materialise()
        kb.materialise(fresh=True)
    assert [each.message for each in found] == ["no rule and no fact gives `blocked`"]
    with heard() as found:
        other.materialise()
    assert found == []


def test_predicates_without_facts_are_told_once_while_facts_come_bit_by_bit() -> None:
    kb = KnowledgeBase(" ".join(f"all(?x) :- part{i}(?x) ." for i in range(6)))
    with heard() as found:
        for i in range(6):
            kb.insert(f"part{i}", [(i,)])
            assert len(kb["all"]) == i + 1
    assert [each.message for each in found] == ["5 predicates that rules read have no rule and no fact"]


def test_nothing_is_said_before_facts_are_inserted() -> None:
    with heard() as found:
        kb = KnowledgeBase("free(?x) :- person(?x), ~blocked(?x) . person(ann) .")
        assert kb["free"].rows() == [("ann",)]
        kb.update(insert={"person": [("bob",)]})
    assert found == []


def test_facts_that_no_rule_has_are_told_once() -> None:
    kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) .")
    kb.insert("edge", [("a", "b")])
    kb.materialise()
    with heard() as found:
        kb.update(insert={"egde": [("b", "c")]})
        kb.update(insert={"egde": [("c", "d")]})
        kb.insert("weight", [(1,)])
        kb.materialise()
    assert [(each.code, each.message) for each in found] == [
        ("unread-facts", "there are facts of `egde`, which no rule has"),
        ("unread-facts", "there are facts of `weight`, which no rule has"),
    ]
    assert found[0].hint == "did you mean `edge`? Otherwise ignore this if the facts are there for queries alone"


def test_facts_without_rules_need_no_reader() -> None:
    with heard() as found:
        kb = KnowledgeBase()
        kb.insert("edge", [("a", "b")])
        assert len(kb["edge"]) == 1
    assert found == []


def test_an_iri_with_another_number_of_arguments() -> None:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . p(?x) :- ex:q(?x) .")
    kb.insert("ex:q", [("a", "b")])
    with heard() as found:
        kb.materialise()
    assert [each.hint for each in found] == ["there are facts of `ex:q` with another number of arguments, 2"]


def test_files_that_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "parent.csv").write_text("ann,bob\n")
    (tmp_path / "notes.csv").write_text("ann,hello\n")
    (tmp_path / "blocked.csv").write_text("")
    (tmp_path / "data.nt").write_text("<a:a> <http://e.org/unread> <a:b> .\n<a:a> <http://e.org/knwos> <a:b> .\n")
    kb = KnowledgeBase(ANCESTORS + " free(?x) :- <http://e.org/knows>(?x, _), ~blocked(?x) .")
    with heard() as found:
        for name in ("parent.csv", "notes.csv", "blocked.csv", "data.nt"):
            kb.load(tmp_path / name)
        kb.update(insert={"parent": [("bob", "cid")]})
    assert [(each.message, each.place and each.place.file.rpartition("/")[2]) for each in found] == [
        ("no rule and no fact gives `parnet`", "<program>"),
        ("no rule and no fact gives `<http://e.org/knows>`", "<program>"),
        ("there are facts of `notes`, which no rule has", "notes.csv"),
    ]


def test_queued_facts_are_warned_of_before_those_of_an_update() -> None:
    kb = KnowledgeBase("free(?x) :- person(?x), ~blocked(?x) .")
    kb.insert("person", [("ann",)])
    with heard() as found:
        kb.update(insert={"person": [("bob",)]})
    assert codes(found) == ["no-facts"]


def test_deleting_from_a_predicate_that_is_not_known() -> None:
    kb = KnowledgeBase("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .")
    with heard() as found:
        assert kb.update(delete={"edg": [("a", "b")]}).not_explicit == 1
        kb.delete("edge", [("c", "d")])
        kb.delete("edgee", [("c", "d")])
        kb.update(insert={"edge": [("b", "c")]}, delete={"edge": [("b", "c")]})
    assert [(each.code, each.hint) for each in found] == [
        ("unknown-predicate", "did you mean `edge`?"),
        ("unknown-predicate", "did you mean `edge`?"),
    ]


# kinds --------------------------------------------------------------------------------------------

UTC = datetime.UTC
DAY, MOMENT = datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2)
DIFFERENT: list[tuple[Any, Any, str]] = [
    (1, 1.0, 'make both integers; pandas makes floats of integers where a value is missing: `astype("Int64")` undoes'),
    (1, Decimal(1), "make both integers or both decimals"),
    (Decimal(1), 1.0, "make both decimals or both doubles"),
    (DAY, MOMENT, "make both dates or both timestamps"),
    (MOMENT, MOMENT.replace(tzinfo=UTC), "give both a time zone"),
    ("a", IRI("http://e.org/a"), "an IRI is written <...>"),
    ("a", Literal("a", language="en"), "a string with a language"),
    ("1", 1, "make both the same kind"),
    (True, 1, "make both the same kind"),
]


@pytest.mark.parametrize(("one", "two", "hint"), DIFFERENT)
def test_keys_of_different_kinds_never_join(one: Any, two: Any, hint: str) -> None:
    kb = KnowledgeBase(BOTH)
    kb.insert("one", [(one,)])
    kb.insert("two", [(two,)])
    with heard() as found:
        assert len(kb["both"]) == 0
    [said] = found
    assert (said.code, said.place and (said.place.line, said.place.column)) == ("never-joined", (1, 26))
    assert (said.hint or "").startswith(hint)
    assert [place and place.column for _, place in said.notes] == [17]


def test_equal_terms_of_different_kinds_join(tmp_path: Path) -> None:
    rules = f"{BOTH} <http://www.w3.org/2002/07/owl#sameAs>(?x, ?y) :- equal(?x, ?y) ."
    with heard() as found:
        kb = KnowledgeBase(rules, equality="representatives")
        for name, row in (("one", ("a",)), ("two", (1,)), ("equal", ("a", 1))):
            kb.insert(name, [row])
        assert kb["both"].rows() == [(1,), ("a",)]
        kb.change_rules(add="again(?x) :- two(?x), one(?x) .")
        assert kb["again"].rows() == [(1,), ("a",)]
        kb.save(tmp_path / "kb")
        everlog.open(tmp_path / "kb").update(insert={"two": [(1.5,)]})
    assert [each for each in found if each.code == "never-joined"] == []


def test_the_upcast_of_pandas() -> None:
    people = pd.DataFrame({"id": [1, 2]})
    orders = pd.DataFrame({"who": [1, 2, None]}).dropna()
    kb = KnowledgeBase("buys(?x) :- person(?x), order(?x) .")
    kb.insert("person", people)
    kb.insert("order", orders)
    with heard() as found:
        assert len(kb["buys"]) == 0
    assert codes(found) == ["never-joined"]
    kb = KnowledgeBase("buys(?x) :- person(?x), order(?x) .")
    kb.insert("person", people)
    kb.insert("order", orders.astype("Int64"))
    with heard() as found:
        assert len(kb["buys"]) == 2
    assert found == []


@pytest.mark.parametrize(
    ("rules", "count"),
    [
        ("p(?x) :- one(?x), ~two(?x) .", 1),
        ("mid(?x) :- one(?x) . p(?x) :- mid(?x), two(?x) . q(?x) :- p(?x), one(?x) .", 1),
        ("mid(?x) :- one(?x) . mid(?x) :- two(?x) . p(?x) :- mid(?x), two(?x) .", 0),
        ("p(?x) :- one(?x), one(?x), two(?x) .", 1),
        ("p(?x, ?y) :- one(?x), two(?y) .", 0),
        ('p() :- one("a") .', 1),
        ("p() :- one(7) .", 0),
        ("p(?x) :- one(?x), ~two(alice) .", 1),
        ("mid(a) :- one(_) . p(?x) :- mid(?x), one(?x) .", 1),
        ("p(?x), q(?x) :- one(?x), two(?x) .", 1),
    ],
)
def test_kinds_go_through_rules(rules: str, count: int) -> None:
    kb = KnowledgeBase(rules)
    kb.insert("one", [(1,), (2,)])
    kb.insert("two", [(1.5,)])
    with heard() as found:
        kb.materialise()
    assert codes([each for each in found if each.code == "never-joined"]) == ["never-joined"] * count


def test_mixed_columns_and_empty_ones_are_not_warned_of() -> None:
    kb = KnowledgeBase(BOTH)
    kb.insert("one", [(1,), ("a",)])
    kb.insert("two", [(1.0,), ("b",)])
    with heard() as found:
        kb.materialise()
    assert found == []


def test_a_join_that_an_update_makes_impossible_or_that_was_so_before(tmp_path: Path) -> None:
    kb = KnowledgeBase(BOTH)
    kb.insert("one", [(1,)])
    kb.insert("two", [])
    kb.save(tmp_path / "kb")
    assert Store.open(tmp_path / "kb").info().statistics[KINDS] == {"one/1": [8], "two/1": [0]}
    kb = everlog.open(tmp_path / "kb")
    with heard() as found:
        kb.update(insert={"two": [(1.0,)]})
        kb.update(insert={"two": [(2.0,)]})
    assert codes(found) == ["never-joined"]
    kb.save()
    kb = everlog.open(tmp_path / "kb")
    with heard() as found:
        kb.update(insert={"two": [(3.0,)], "one": [(4,)]})
    assert found == []


def test_a_store_that_says_nothing_of_kinds_is_not_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = KnowledgeBase(BOTH + " one(1) .")
    monkeypatch.setattr("everlog.kb.saving.KINDS", "other")
    kb.save(tmp_path / "kb")
    assert KINDS not in Store.open(tmp_path / "kb").info().statistics
    kb = everlog.open(tmp_path / "kb")
    with heard() as found:
        kb.update(insert={"two": [(1.0,)]})
    assert found == []


def test_facts_inserted_by_sparql_count() -> None:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . p(?x) :- ex:q(?x, ?n), ex:r(?x, ?n) .")
    with heard() as found:
        kb.sparql_update('INSERT DATA { ex:a ex:q 1 } ; INSERT DATA { ex:a ex:r "1" }')
    assert codes(found) == ["never-joined"]


def test_warnings_can_be_errors_and_change_nothing() -> None:
    kb = KnowledgeBase(BOTH + " one(1) .")
    with warnings.catch_warnings():
        warnings.simplefilter("error", EverlogWarning)
        with pytest.raises(EverlogWarning, match="never the same"):
            kb.update(insert={"two": [(1.0,)]})
    assert len(kb["two"]) == 0
