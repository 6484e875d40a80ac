"""Answers to queries are sets of rows, equal each time."""

from __future__ import annotations

import pytest

from everlog import IRI, KnowledgeBase, RuleError, UnknownPredicateError


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . ex:likes(?x, ?y) :- likes(?x, ?y) . rainy() .")
    kb.insert("likes", [("ann", "bob"), ("bob", "ann"), ("bob", "cid"), ("cid", "cid")])
    kb.insert("age", [("ann", 1), ("bob", 1.0), ("cid", "1"), ("dan", True)])
    kb.insert("empty", [("x",)])
    kb.delete("empty", [("x",)])
    return kb


def test_columns_are_the_variables_in_order_of_appearance(kb: KnowledgeBase) -> None:
    found = kb.query("likes(?z, ?a), age(?z, ?m)")
    assert found.columns == ("z", "a", "m")
    assert len(found) == 4
    assert ("ann", "bob", 1) in found
    assert ("ann", "bob", 1.0) not in found


def test_the_same_variable_twice(kb: KnowledgeBase) -> None:
    assert kb.query("likes(?x, ?x)").rows() == [("cid",)]
    assert kb.query("likes(?x, ?y), likes(?y, ?x)").rows() == [("ann", "bob"), ("bob", "ann"), ("cid", "cid")]


def test_wildcards_are_projected_away_before_duplicates_go(kb: KnowledgeBase) -> None:
    assert kb.query("likes(?x, _)").rows() == [("ann",), ("bob",), ("cid",)]
    assert kb.query("likes(_, ?x), likes(?x, _)").columns == ("x",)
    assert len(kb.query("likes(_, _)")) == 1


def test_without_variables_true_or_false(kb: KnowledgeBase) -> None:
    for text, expected in [
        ("likes(ann, bob)", True),
        ("likes(ann, ann)", False),
        ("rainy()", True),
        ("~rainy()", False),
        ("~likes(ann, ann)", True),
        ("likes(ann, bob), ~likes(bob, _)", False),
        ("likes(ann, nobody)", False),
        ("~likes(ann, nobody)", True),
        ("empty(_)", False),
        ("~empty(_)", True),
    ]:
        found = kb.query(text)
        assert (bool(found), found.rows(), found.columns) == (expected, [()] * expected, ())


def test_unknown_constants_match_nothing(kb: KnowledgeBase) -> None:
    size = len(kb.state().dictionary)
    assert kb.query("likes(nobody, ?x)").rows() == []
    assert len(kb.query("likes(?x, _), ~likes(?x, nobody)")) == 3
    assert len(kb.state().dictionary) == size, "asking adds no terms"


def test_constants_of_every_kind(kb: KnowledgeBase) -> None:
    answers = {text: kb.query(f"age(?x, {text})").rows() for text in ("1", "1.0E0", '"1"', "true", "1.0")}
    assert answers == {"1": [("ann",)], "1.0E0": [("bob",)], '"1"': [("cid",)], "true": [("dan",)], "1.0": []}


def test_products(kb: KnowledgeBase) -> None:
    found = kb.query("likes(?a, ?b), age(?c, ?d)")
    assert len(found) == len(found.rows()) == 16
    assert len(kb.query("likes(?a, _), age(?c, _), ~likes(?a, ?c)")) == 3 * 4 - 4


def test_prefixed_names(kb: KnowledgeBase) -> None:
    assert kb.query("ex:likes(ann, ?x)").rows() == kb.query("<http://e.org/likes>(ann, ?x)").rows() == [("bob",)]
    assert kb.query("[ann, ex:likes, ?x]").rows() == [("bob",)]
    assert kb.query("likes(?x, ex:likes)").rows() == []


def test_what_is_wrong_with_a_query(kb: KnowledgeBase) -> None:
    with pytest.raises(UnknownPredicateError, match=r"did you mean .*`likes`"):
        kb.query("like(?x, ?y)")
    with pytest.raises(RuleError, match="likes"):
        kb.query("likes(?x)")
    with pytest.raises(RuleError, match="only in negated atoms"):
        kb.query("age(?x, _), ~likes(?x, ?y)")
    with pytest.raises(RuleError):
        kb.query("likes(?x, ")


def test_a_predicate_that_is_called_answer() -> None:
    kb = KnowledgeBase("answer(a, b) . answer(b, c) .")
    assert kb.query("answer(?x, ?y), answer(?y, ?z)").rows() == [("a", "b", "c")]


def test_the_order_is_the_same_each_time() -> None:
    rows = [(f"v{i % 7}", i * 37 % 101, IRI(f"http://e.org/{i}")) for i in range(100)]
    orders = []
    for given_rows in (rows, rows[::-1]):
        kb = KnowledgeBase()
        kb.insert("other", [(value,) for row in given_rows[::3] for value in row])
        kb.insert("r", given_rows)
        orders += [kb.query("r(?x, ?y, ?z)").rows(), kb.query("r(?x, ?y, ?z), r(?x, _, _)").rows()]
    assert orders[0] == sorted(rows, key=lambda row: (row[0], row[1], str(row[2])))
    assert all(order == orders[0] for order in orders)
