"""SPARQL updates of knowledge bases with rules: explicit facts change, and derived facts with them."""

from __future__ import annotations

import pytest

import everlog
from everlog import IRI, BlankNode, KnowledgeBase

RULES = """
@prefix ex: <http://e.org/> .
ancestor(?x, ?y) :- parent(?x, ?y) .
ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
ex:Person(?x) :- ex:knows(?x, _) .
parent(ann, bob) . parent(bob, cid) . ex:knows(ex:a, ex:b) .
"""


@pytest.fixture
def family() -> KnowledgeBase:
    return KnowledgeBase(RULES)


def e(name: str) -> IRI:
    return IRI(f"http://e.org/{name}")


def test_insert_data_derives(family: KnowledgeBase) -> None:
    (change,) = family.sparql_update("INSERT DATA { 'cid' everlog:parent 'dan' . ex:c ex:knows 42 ; a ex:Cat }")
    assert sorted(change.explicit_inserted["parent"]) == [("cid", "dan")]
    assert sorted(change.inserted["ancestor"]) == [("ann", "dan"), ("bob", "dan"), ("cid", "dan")]
    assert family["ex:Cat"].rows() == [(e("c"),)]
    assert (e("c"),) in family["ex:Person"]


def test_delete_data_deletes_explicit_facts_only(family: KnowledgeBase) -> None:
    (change,) = family.sparql_update("DELETE DATA { 'ann' everlog:ancestor 'bob' . 'x' everlog:parent 'y' }")
    assert not change
    assert change.not_explicit == 2
    (change,) = family.sparql_update("DELETE DATA { 'bob' everlog:parent 'cid' }")
    assert sorted(change.deleted["ancestor"]) == [("ann", "cid"), ("bob", "cid")]


def test_delete_insert_where_is_about_what_holds(family: KnowledgeBase) -> None:
    request = "DELETE { ?x everlog:parent ?y } INSERT { ?x ex:above ?y } WHERE { ?x everlog:ancestor ?y }"
    (change,) = family.sparql_update(request)
    assert len(family["parent"]) == len(family["ancestor"]) == 0
    assert sorted(family["ex:above"]) == [("ann", "bob"), ("ann", "cid"), ("bob", "cid")]
    assert change.not_explicit == 1


def test_what_is_deleted_and_inserted_stays(family: KnowledgeBase) -> None:
    (change,) = family.sparql_update("DELETE { ?x ex:knows ?y } INSERT { ?x ex:knows ?y } WHERE { ?x ex:knows ?y }")
    assert not change
    assert len(family["ex:knows"]) == 1


def test_operations_see_those_before_them(family: KnowledgeBase) -> None:
    request = """INSERT DATA { ex:b ex:knows ex:c } ;
        INSERT { ?x ex:meets ?z } WHERE { ?x ex:knows/ex:knows ?z } ;
        DELETE WHERE { ?x ex:knows ex:c }"""
    changes = family.sparql_update(request)
    assert len(changes) == 3
    assert family["ex:meets"].rows() == [(e("a"), e("c"))]
    assert family["ex:knows"].rows() == [(e("a"), e("b"))]


def test_a_request_is_all_or_nothing(family: KnowledgeBase) -> None:
    before = {p: set(family[p]) for p in family.predicates}
    with pytest.raises(everlog.DataError):
        family.sparql_update("INSERT DATA { 'x' everlog:parent 'y' } ; INSERT DATA { 'x' a everlog:parent }")
    assert {p: set(family[p]) for p in family.predicates if len(family[p])} == before
    with pytest.raises(everlog.RuleError, match="LOAD is not supported"):
        family.sparql_update("INSERT DATA { 'x' everlog:parent 'y' } ; LOAD <file.ttl>")
    assert {p: set(family[p]) for p in family.predicates if len(family[p])} == before


def test_blank_nodes_are_new_in_each_solution(family: KnowledgeBase) -> None:
    family.sparql_update("INSERT { _:b ex:of ?x ; ex:says ?y } WHERE { ?x everlog:parent ?y }")
    found = family["ex:of"].rows()
    assert len({node for node, _ in found}) == 2
    assert all(isinstance(node, BlankNode) for node, _ in found)
    assert {node for node, _ in found} == {node for node, _ in family["ex:says"]}
    family.sparql_update("INSERT DATA { _:b ex:of 1 } ; INSERT DATA { _:c ex:of 1 }")
    assert len(family["ex:of"]) == 4


def test_clear_leaves_what_is_no_triple(family: KnowledgeBase) -> None:
    family.insert("road", [("a", 1, "b")])
    family.sparql_update("CLEAR DEFAULT")
    assert {str(p) for p in family.predicates if len(family[p])} == {"road/3"}


def test_triples_go_where_triples_are() -> None:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . triple(?y, ex:q, ?x) :- triple(?x, ex:p, ?y) .")
    kb.sparql_update("INSERT DATA { ex:a ex:p ex:b . ex:a a ex:C }")
    assert len(kb["triple"]) == 3
    assert kb.sparql("ASK { ex:b ex:q ex:a . ex:a a ex:C }")


def test_literals_are_no_subjects_where_triples_are() -> None:
    kb = KnowledgeBase("@prefix ex: <http://e.org/> . triple(?y, ex:q, ?x) :- triple(?x, ex:p, ?y) .")
    with pytest.raises(everlog.RuleError, match='the literal "a" cannot be the subject'):
        kb.sparql_update("INSERT DATA { 'a' ex:p ex:b }")
    kb.sparql_update("INSERT DATA { ex:a ex:p 1 , ex:b } ; INSERT { ?y ex:seen ?x } WHERE { ?x ex:p ?y }")
    assert [row for row in kb["triple"].explicit.rows() if row[1] == IRI("http://e.org/seen")] == [
        (IRI("http://e.org/b"), IRI("http://e.org/seen"), IRI("http://e.org/a"))
    ]


def test_wrong_requests(family: KnowledgeBase) -> None:
    with pytest.raises(everlog.RuleError, match="blank node cannot be deleted"):
        family.sparql_update("DELETE DATA { _:b ex:p 1 }")
    with pytest.raises(everlog.RuleError, match="variable"):
        family.sparql_update("INSERT DATA { ?x ex:p 1 }")
    with pytest.raises(everlog.RuleError, match="cannot read on"):
        family.sparql_update("INSERT { ?x ex:p 1 }")
    with pytest.raises(everlog.DataError, match="arguments"):
        family.sparql_update("INSERT DATA { 'x' a everlog:parent }")


def test_many_updates_equal_starting_over(family: KnowledgeBase) -> None:
    for i in range(5):
        family.sparql_update(f"INSERT {{ ?y everlog:parent '{i}' }} WHERE {{ ?x everlog:parent ?y }}")
        family.sparql_update(
            f"DELETE {{ ?x everlog:parent ?y }} WHERE {{ ?x everlog:parent ?y . ?z everlog:parent '{i - 1}' }}"
        )
    fresh = KnowledgeBase(RULES.rsplit("parent(ann", 1)[0])
    for name in ("parent", "ex:knows"):
        fresh.insert(name, list(family[name].explicit))
    assert set(fresh["ancestor"]) == set(family["ancestor"])
