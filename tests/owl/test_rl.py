"""The OWL 2 RL/RDF rules, compared with closures of another system; rules that these do not use have tests of their
own."""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog.lang.internal import TRIPLE
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Atom, Constant, Program
from everlog.lang.terms import text_of
from everlog.owl import program_of, shipped_program
from everlog.owl.graph import Triple, read_document
from everlog.reasoning.equality import Equality
from tests.owl.ontologies import graph_of, turtle

MISSPELT = "<http://www.w3.org/2001/XMLSchema#NMTOKEN>"
"""A datatype that the reference spells NMToken."""

LITERAL_SUBJECTS = {"91"}
"""The one ontology whose closure has triples that the reference leaves out: those with a literal as subject."""


def closure(triples: set[Triple]) -> set[Triple]:
    program = shipped_program("rl")
    facts = [Atom(TRIPLE, tuple(map(Constant, triple))) for triple in triples]
    kb = everlog.KnowledgeBase(Program(program.rules, (*program.facts, *facts), program.prefixes), maintain="none")
    found = (tuple(map(text_of, row)) for row in kb["triple"].rows())
    return {(s, p, o) for s, p, o in found if MISSPELT not in (s, p, o)}


def triples_of(path: Path) -> set[Triple]:
    """The triples of a file; files that are compared have no blank nodes."""
    return set(graph_of(read_document([str(path)])).triples)


@pytest.mark.long
def test_closures_of_real_ontologies(shared_data: Path) -> None:
    folder = shared_data / "owl2rl"
    axioms = triples_of(folder / "axioms.nt")
    names = sorted(path.name.removesuffix(".closure.nt.gz") for path in folder.glob("*.closure.nt.gz"))
    assert len(names) == 91
    different = {}
    for name in names:
        found = closure(axioms | triples_of(folder / f"{name}.nt.gz"))
        expected = triples_of(folder / f"{name}.closure.nt.gz")
        if found != expected:
            different[name] = (found - expected, expected - found)
    assert different.keys() == LITERAL_SUBJECTS
    for more, missing in different.values():
        assert not missing
        assert all(subject.startswith('"') for subject, _, _ in more)


FEATURES = """
:A a owl:Class . :B a owl:Class .
:C owl:intersectionOf ( :A :B ) . :U owl:unionOf ( :A :B ) . :O owl:oneOf ( :o1 :o2 ) .
:r owl:propertyChainAxiom ( :p :q :p ) . :K owl:hasKey ( :k1 :k2 ) . :Long owl:hasKey ( :k1 ) .
:M owl:onProperty :p ; owl:maxCardinality "1"^^xsd:nonNegativeInteger .
:Q owl:onProperty :q ; owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onClass :A .
:T owl:onProperty :q ; owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onClass owl:Thing .
:f a owl:FunctionalProperty . :g a owl:InverseFunctionalProperty . :q a owl:TransitiveProperty .
:a a :A , :B ; :p :b ; :f :f1 , :f2 . :b :q :c . :c :q :d . :d :p :e . :e a :A . :g1 :g :m . :g2 :g :m .
:x a :K ; :k1 :y1 ; :k2 :y2 . :z a :K ; :k1 :y1 ; :k2 :y2 . :w a :K ; :k1 :y1 .
:m1 a :M ; :p :n1 , :n2 . :mq a :Q ; :q :v1 , :v2 , :v3 . :v1 a :A . :v2 a :A . :mt a :T ; :q :u1 , :u2 .
"""
HOLDS = """
:a a :C . :e a :U . :o2 a :O . :a :r :e . :x owl:sameAs :z . :z owl:sameAs :x . :f1 owl:sameAs :f2 .
:g2 owl:sameAs :g1 . :n1 owl:sameAs :n2 . :v1 owl:sameAs :v2 . :u1 owl:sameAs :u2 . :b :q :d .
:C rdfs:subClassOf :A . :A rdfs:subClassOf :U . :a :f :f2 . :A rdfs:subClassOf owl:Thing .
"""
DOES_NOT_HOLD = """
:e a :C . :x owl:sameAs :w . :a :r :d . :v1 owl:sameAs :v3 . :b :r :e . :o1 owl:sameAs :o2 . :U rdfs:subClassOf :A .
"""


def test_lists_keys_chains_and_cardinalities(tmp_path: Path) -> None:
    found = closure(triples_of(turtle(tmp_path, FEATURES)))
    assert triples_of(turtle(tmp_path, HOLDS, "holds.ttl")) <= found
    assert not triples_of(turtle(tmp_path, DOES_NOT_HOLD, "not.ttl")) & found


VIOLATIONS = {
    "eq-diff1": ":x owl:sameAs :y ; owl:differentFrom :y .",
    "eq-diff2": "[] a owl:AllDifferent ; owl:members ( :z :x :y ) . :x owl:sameAs :y .",
    "eq-diff3": "[] a owl:AllDifferent ; owl:distinctMembers ( :z :x :y ) . :x owl:sameAs :y .",
    "prp-irp": ":p a owl:IrreflexiveProperty . :x :p :x .",
    "prp-asyp": ":p a owl:AsymmetricProperty . :x :p :y . :y :p :x .",
    "prp-pdw": ":p owl:propertyDisjointWith :q . :x :p :y ; :q :y .",
    "prp-adp": "[] a owl:AllDisjointProperties ; owl:members ( :r :p :q ) . :x :p :y ; :q :y .",
    "prp-npa1": "[] owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetIndividual :y . :x :p :y .",
    "prp-npa2": "[] owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetValue 1 . :x :p 1 .",
    "cls-nothing2": ":x a owl:Nothing .",
    "cls-com": ":A owl:complementOf :B . :x a :A , :B .",
    "cls-maxc1": ':A owl:onProperty :p ; owl:maxCardinality "0"^^xsd:nonNegativeInteger . :x a :A ; :p :y .',
    "cls-maxqc1": ':A owl:onProperty :p ; owl:maxQualifiedCardinality "0"^^xsd:nonNegativeInteger ; owl:onClass :B . '
    ":x a :A ; :p :y . :y a :B .",
    "cls-maxqc2": ':A owl:onProperty :p ; owl:maxQualifiedCardinality "0"^^xsd:nonNegativeInteger ; '
    "owl:onClass owl:Thing . :x a :A ; :p :y .",
    "prp-fp": ":p a owl:FunctionalProperty . :x :p 30 , 31 . :y :q 30 . :z :p 30 .",
    "prp-ifp": ":q a owl:InverseFunctionalProperty ; owl:inverseOf :p . :x :p 30 , 31 .",
    "prp-key": ":p rdfs:range :A ; owl:inverseOf :i . :A owl:hasKey ( :i ) . :y :p :x , 30 .",
    "cls-maxc2": ':A owl:onProperty :p ; owl:maxCardinality "1"^^xsd:nonNegativeInteger . :x a :A ; :p 1 , 2 .',
    "cls-maxqc3": ':A owl:onProperty :p ; owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onClass :B . '
    ":p rdfs:range :B . :x a :A ; :p 1 , 2 .",
    "cls-maxqc4": ':A owl:onProperty :p ; owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; '
    'owl:onClass owl:Thing . :x a :A ; :p "a"@en , "a"@de .',
    "dt-diff": ':x owl:sameAs "x" .',
    "cax-dw": ":A owl:disjointWith :B . :x a :A , :B .",
    "cax-adc": "[] a owl:AllDisjointClasses ; owl:members ( :C :A :B ) . :x a :A , :B .",
}


def test_every_contradiction_is_reported_by_its_rule(tmp_path: Path) -> None:
    x = everlog.IRI("http://e.org/x")
    for rule, text in VIOLATIONS.items():
        kb = everlog.KnowledgeBase(program_of(turtle(tmp_path, text), "rl").program, maintain="none")
        found = kb["everlog:violation"].rows()
        assert (x, rule) in found, rule
        assert {other for _, other in found} == {rule}, rule


FUNCTIONAL = """
:age a owl:FunctionalProperty . :ann :age 30 , 31 . :bob :age 30 . :tea :degrees 30 .
:kid owl:sameAs :tom . :kid :age 7 . :tom :age 7 . :a owl:sameAs "u" , "v" . :b :says "u" .
"""


@pytest.mark.parametrize("equality", ["off", "representatives"])
def test_different_literals_are_not_the_same(tmp_path: Path, equality: Equality) -> None:
    """Two values of a functional property are a violation, and derive no facts about other individuals with these
    values."""
    translation = program_of(turtle(tmp_path, FUNCTIONAL), "rl", equality=equality)
    kb = everlog.KnowledgeBase(translation.program, equality=equality)
    same = kb.query("triple(?x, owl:sameAs, ?y)").rows()
    literals = [(x, y) for x, y in same if not isinstance(x, everlog.IRI) and x != y]
    assert literals == []
    ages = {(str(x), y) for x, y in kb.query("triple(?x, <http://e.org/age>, ?y)").rows()}
    assert ages == {
        (f"http://e.org/{x}", y) for x, y in (("ann", 30), ("ann", 31), ("bob", 30), ("kid", 7), ("tom", 7))
    }
    assert len(kb.query("triple(<http://e.org/tea>, <http://e.org/degrees>, ?y)")) == 1
    ann, a = everlog.IRI("http://e.org/ann"), everlog.IRI("http://e.org/a")
    assert kb["everlog:violation"].rows() == [(a, "dt-diff"), (ann, "prp-fp")]
    repaired = kb.update(delete={"triple": [(ann, everlog.IRI("http://e.org/age"), 31)]})
    assert repaired.deleted["everlog:violation"].rows() == [(ann, "prp-fp")]
    kb.insert("triple", [(everlog.IRI("http://e.org/bob"), everlog.IRI("http://e.org/age"), 32)])
    assert kb.query("everlog:violation(<http://e.org/bob>, ?rule)").rows() == [("prp-fp",)]


BY_RULES = """
@prefix e: <http://e.org/> .
triple(?x, e:age, 77) :- triple(?x, e:isOld, true) .
triple(?x, e:age, 78) :- triple(?x, e:isOld, true) .
"""
OLD = """
:age a owl:FunctionalProperty . :ann :isOld true .
"""


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("equality", ["rules", "representatives"])
def test_literals_that_rules_bring_are_not_the_same(tmp_path: Path, equality: Equality, later: bool) -> None:
    translation = program_of(turtle(tmp_path, OLD), "rl", equality=equality)
    rules = parse_program(BY_RULES)
    if later:
        kb = everlog.KnowledgeBase(translation.program, equality=equality)
        assert kb["everlog:violation"].rows() == []
        kb.change_rules(add=rules)
    else:
        kb = everlog.KnowledgeBase(with_rules(translation.program, rules), equality=equality)
    same = kb.query("triple(?x, owl:sameAs, ?y)").rows()
    assert [(x, y) for x, y in same if x != y] == []
    assert kb["everlog:violation"].rows() == [(everlog.IRI("http://e.org/ann"), "prp-fp")]


def with_rules(program: Program, other: Program) -> Program:
    return Program((*program.rules, *other.rules), program.facts, program.prefixes, program.data)


def test_every_rule_of_the_tables_is_there_or_named_as_left_out() -> None:
    text = (Path(everlog.__file__).parent / "owl" / "shipped" / "rl.rls").read_text()
    tables = """
        eq-ref eq-sym eq-trans eq-rep-s eq-rep-p eq-rep-o eq-diff1 eq-diff2 eq-diff3 prp-ap prp-dom prp-rng prp-fp
        prp-ifp prp-irp prp-symp prp-asyp prp-trp prp-spo1 prp-spo2 prp-eqp1 prp-eqp2 prp-pdw prp-adp prp-inv1 prp-inv2
        prp-key prp-npa1 prp-npa2 cls-thing cls-nothing1 cls-nothing2 cls-int1 cls-int2 cls-uni cls-com cls-svf1
        cls-svf2 cls-avf cls-hv1 cls-hv2 cls-maxc1 cls-maxc2 cls-maxqc1 cls-maxqc2 cls-maxqc3 cls-maxqc4 cls-oo cax-sco
        cax-eqc1 cax-eqc2 cax-dw cax-adc dt-type1 dt-type2 dt-eq dt-diff dt-not-type scm-cls scm-sco scm-eqc1 scm-eqc2
        scm-op scm-dp scm-spo scm-eqp1 scm-eqp2 scm-dom1 scm-dom2 scm-rng1 scm-rng2 scm-hv scm-svf1 scm-svf2 scm-avf1
        scm-avf2 scm-int scm-uni
    """
    comments = " ".join(line for line in text.splitlines() if line.startswith("%"))
    assert [name for name in tables.split() if name not in comments] == []
