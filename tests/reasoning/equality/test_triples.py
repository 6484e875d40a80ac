"""Representatives with ``rl``: the triples equal those of the rules for equality, after every update."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import everlog
from everlog import IRI
from everlog.lang.terms import Value
from everlog.owl import program_of
from everlog.reasoning.equality import Equality
from tests.owl.ontologies import turtle

OWL = "http://www.w3.org/2002/07/owl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SAME = IRI(f"{OWL}sameAs")
HOW: tuple[Equality, ...] = ("off", "representatives")
Row = tuple[Value, ...]


def e(name: str) -> IRI:
    return IRI(f"http://e.org/{name}")


SCHEMA: list[Row] = [
    (e("f"), IRI(f"{RDF}type"), IRI(f"{OWL}FunctionalProperty")),
    (e("g"), IRI(f"{RDF}type"), IRI(f"{OWL}InverseFunctionalProperty")),
    (e("q"), IRI(f"{RDF}type"), IRI(f"{OWL}TransitiveProperty")),
    (e("p"), IRI(f"{RDFS}subPropertyOf"), e("q")),
    (e("A"), IRI(f"{RDFS}subClassOf"), e("B")),
    (e("A"), IRI(f"{OWL}disjointWith"), e("C")),
    (e("q"), IRI(f"{RDFS}domain"), e("C")),
]


def any_triple(chance: random.Random) -> Row:
    """A triple over few names, so that many individuals, classes, properties and values become equal."""
    subject, kind = e(chance.choice("abcdxyz")), chance.random()
    if kind < 0.15:
        return subject, SAME, e(chance.choice("abcdxyz"))
    if kind < 0.2:
        return e(chance.choice("pqfg")), SAME, e(chance.choice("pqr"))
    if kind < 0.25:
        return subject, IRI(f"{OWL}differentFrom"), e(chance.choice("abcd"))
    if kind < 0.35:
        return subject, IRI(f"{RDF}type"), e(chance.choice("ABC"))
    value: Value = chance.choice([1, 2, 3]) if chance.random() < 0.2 else e(chance.choice("abcdxyz"))
    return subject, e(chance.choice("pqrfg")), value


def seen(kb: everlog.KnowledgeBase) -> tuple[set[Row], set[Row]]:
    return set(kb["triple"].rows()), set(kb.violations.rows())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_the_triples_are_those_of_the_rules(seed: int) -> None:
    chance = random.Random(seed)
    rules, merged = (everlog.KnowledgeBase(program_of([], "rl", equality=how).program, equality=how) for how in HOW)
    given = [*SCHEMA, *(any_triple(chance) for _ in range(14))]
    for step in range(4):
        before = seen(merged)[0]
        inserted = [any_triple(chance) for _ in range(2)] if step else given
        deleted = chance.sample(given, 3) if step else []
        changes = [kb.update(insert={"triple": inserted}, delete={"triple": deleted}) for kb in (rules, merged)]
        given = [*(row for row in given if row not in deleted), *inserted]
        assert seen(merged) == seen(rules)
        reported = set(changes[1].inserted["triple"].rows()), set(changes[1].deleted["triple"].rows())
        assert reported == (seen(merged)[0] - before, before - seen(merged)[0])


def test_store_and_proofs(tmp_path: Path) -> None:
    """A store has the triples of all names, continues with representatives when opened, and explains the triples."""
    text = ":f a owl:FunctionalProperty . :x :f :a , :b . :a :likes :tea . :b owl:sameAs :c . :x :age 1 , 2 ."
    kb = everlog.KnowledgeBase(turtle(tmp_path, text), profile="rl", equality="representatives")
    likes = kb.query("triple(?x, <http://e.org/likes>, <http://e.org/tea>)").rows()
    assert likes == [(e("a"),), (e("b"),), (e("c"),)]
    kb.save(tmp_path / "kb")
    opened = everlog.open(tmp_path / "kb")
    assert opened.equality == "representatives"
    assert set(opened["triple"].rows()) == set(kb["triple"].rows())
    proof = str(opened.explain("triple(<http://e.org/c>, <http://e.org/likes>, <http://e.org/tea>)"))
    assert "FunctionalProperty" in proof
    gone = opened.update(delete={"triple": [(e("x"), e("f"), e("a"))]}).deleted["triple"].rows()
    assert (e("c"), e("likes"), e("tea")) in gone
    assert opened.query("triple(?x, <http://e.org/likes>, _)").rows() == [(e("a"),)]


@pytest.mark.slow
def test_public_ontologies(shared_data: Path) -> None:
    for path in sorted((shared_data / "owl2rl").glob("*.nt.gz")):
        if not path.name.endswith(".closure.nt.gz"):
            rules, merged = (everlog.KnowledgeBase(path, profile="rl", equality=how, maintain="none") for how in HOW)
            assert seen(merged) == seen(rules), path.name
