"""Rules from axioms: the rules of each construct in the lower and in the upper bound."""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog import IRI
from everlog.lang.parser import parse_program
from everlog.lang.printer import print_atom, print_rule
from everlog.owl import program_of
from everlog.owl.programs import Profile, Translation
from everlog.owl.rules import (
    ANNOTATION,
    DISJUNCTION,
    EQUALITY,
    EVERYTHING,
    EXISTENTIAL,
    LITERALS,
)
from tests.owl.ontologies import EX, turtle


def made(directory: Path, text: str, profile: Profile = "lower", equality: bool = False) -> Translation:
    return program_of(turtle(directory, text), profile, equality=equality)


def rules(translation: Translation) -> list[str]:
    prefixes = translation.program.prefixes
    printed = [print_rule(rule, prefixes).removesuffix(" .") for part in translation.parts for rule in part.rules]
    return printed + [print_atom(fact, prefixes) for fact in translation.facts]


def reasons(translation: Translation) -> list[str]:
    return [each.reason for each in translation.untranslated]


LOWER = {
    ":A rdfs:subClassOf :B .": [":B(?x) :- :A(?x)"],
    ":A rdfs:subClassOf [ owl:intersectionOf ( :B :C ) ] .": [":B(?x) :- :A(?x)", ":C(?x) :- :A(?x)"],
    "[ owl:intersectionOf ( :A :B ) ] rdfs:subClassOf :C .": [":C(?x) :- :A(?x), :B(?x)"],
    "[ owl:unionOf ( :A :B ) ] rdfs:subClassOf :C .": [":C(?x) :- :A(?x)", ":C(?x) :- :B(?x)"],
    "[ owl:onProperty :p ; owl:someValuesFrom :B ] rdfs:subClassOf :C .": [":C(?x) :- :p(?x, ?y), :B(?y)"],
    "[ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] rdfs:subClassOf :C .": [":C(?x) :- :p(?x, _)"],
    "[ owl:onProperty :p ; owl:minCardinality 1 ] rdfs:subClassOf :C .": [":C(?x) :- :p(?x, _)"],
    "[ owl:onProperty :p ; owl:hasValue :v ] rdfs:subClassOf :C .": [":C(?x) :- :p(?x, :v)"],
    "[ owl:onProperty :p ; owl:hasSelf true ] rdfs:subClassOf :C .": [":C(?x) :- :p(?x, ?x)"],
    "[ owl:oneOf ( :a :b ) ] rdfs:subClassOf :C .": [":C(:a)", ":C(:b)"],
    "[ owl:onProperty :p ; owl:someValuesFrom [ owl:oneOf ( :a 1 ) ] ] rdfs:subClassOf :C .": [
        ":C(?x) :- :p(?x, :a)",
        ":C(?x) :- :p(?x, 1)",
    ],
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :B ] .": [":B(?x) :- :A(?y), :p(?y, ?x)"],
    ":A rdfs:subClassOf [ owl:onProperty [ owl:inverseOf :p ] ; owl:allValuesFrom :B ] .": [
        ":B(?x) :- :A(?y), :p(?x, ?y)"
    ],
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue :v ] .": [":p(?x, :v) :- :A(?x)"],
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom [ owl:oneOf ( :v ) ] ] .": [":p(?x, :v) :- :A(?x)"],
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasSelf true ] .": [":p(?x, ?x) :- :A(?x)"],
    ":A rdfs:subClassOf [ owl:unionOf ( :B [ owl:complementOf :C ] ) ] .": [":B(?x) :- :A(?x), :C(?x)"],
    ":p rdfs:domain :A .": [":A(?x) :- :p(?x, _)"],
    ":p rdfs:range :A .": [":A(?x) :- :p(_, ?x)"],
    ":p rdfs:subPropertyOf :q .": [":q(?x, ?y) :- :p(?x, ?y)"],
    ":p rdfs:subPropertyOf [ owl:inverseOf :q ] .": [":q(?x, ?y) :- :p(?y, ?x)"],
    ":p owl:propertyChainAxiom ( :q :r :s ) .": [":p(?x, ?y) :- :q(?x, ?z), :r(?z, ?u), :s(?u, ?y)"],
    ":p owl:equivalentProperty :q .": [":q(?x, ?y) :- :p(?x, ?y)", ":p(?x, ?y) :- :q(?x, ?y)"],
    ":p owl:inverseOf :q .": [":q(?x, ?y) :- :p(?y, ?x)", ":p(?x, ?y) :- :q(?y, ?x)"],
    ":p a owl:SymmetricProperty .": [":p(?x, ?y) :- :p(?y, ?x)"],
    ":p a owl:TransitiveProperty .": [":p(?x, ?y) :- :p(?x, ?z), :p(?z, ?y)"],
    ":a a :A ; :p :b .": [":A(:a)", ":p(:a, :b)"],
    ":a a [ owl:onProperty :p ; owl:hasValue :b ] .": [":p(:a, :b)"],
    ":a a [ owl:onProperty :p ; owl:allValuesFrom :B ] .": [":B(?x) :- :p(:a, ?x)"],
    ":A rdfs:subClassOf owl:Thing . owl:Nothing rdfs:subClassOf :A .": [],
    ":A rdfs:subClassOf :A . :p rdfs:subPropertyOf :p .": [],
}


@pytest.mark.parametrize("text", LOWER)
def test_lower(tmp_path: Path, text: str) -> None:
    translation = made(tmp_path, text)
    assert sorted(rules(translation)) == sorted(LOWER[text])
    assert reasons(translation) == []


UNTRANSLATED = {
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .": EXISTENTIAL,
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality 1 ] .": EXISTENTIAL,
    ":A rdfs:subClassOf [ owl:unionOf ( :B :C ) ] .": DISJUNCTION,
    "[ owl:onProperty :p ; owl:minCardinality 2 ] rdfs:subClassOf :A .": DISJUNCTION,
    "[ owl:onProperty :p ; owl:allValuesFrom :B ] rdfs:subClassOf :A .": DISJUNCTION,
    ":p a owl:FunctionalProperty .": EQUALITY,
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality 1 ] .": EQUALITY,
    ":A owl:hasKey ( :p ) .": EQUALITY,
    ":p a owl:DatatypeProperty , owl:FunctionalProperty .": LITERALS,
    ":p rdfs:range xsd:int .": LITERALS,
    "[ owl:onProperty :p ; owl:someValuesFrom xsd:int ] rdfs:subClassOf :A .": LITERALS,
    ":D a rdfs:Datatype ; owl:equivalentClass xsd:int .": LITERALS,
    ":l a owl:AnnotationProperty ; rdfs:domain :A .": ANNOTATION,
    "[ owl:onProperty owl:topObjectProperty ; owl:someValuesFrom :B ] rdfs:subClassOf :A .": EVERYTHING,
    ":A owl:unionOf :b .": "a list is broken: each cell needs one member and one rest, and an end",
}


@pytest.mark.parametrize("text", UNTRANSLATED)
def test_what_is_not_expressed_is_listed_with_the_reason(tmp_path: Path, text: str) -> None:
    translation = made(tmp_path, text)
    assert rules(translation) == []
    assert reasons(translation) == [UNTRANSLATED[text]]
    assert not translation.untranslated[0].partly
    assert UNTRANSLATED[text] in translation.text()


def test_an_axiom_may_be_expressed_in_part(tmp_path: Path) -> None:
    text = ":A owl:equivalentClass [ owl:intersectionOf ( :B [ owl:onProperty :p ; owl:someValuesFrom :C ] ) ] ."
    translation = made(tmp_path, text)
    assert rules(translation) == [":B(?x) :- :A(?x)", ":A(?x) :- :B(?x), :p(?x, ?y), :C(?y)"]
    assert [(each.reason, each.partly) for each in translation.untranslated] == [(EXISTENTIAL, True)]


EQUAL = {
    ":p a owl:FunctionalProperty .": ["owl:sameAs(?x, ?y) :- :p(?z, ?x), :p(?z, ?y)"],
    ":p a owl:InverseFunctionalProperty .": ["owl:sameAs(?x, ?y) :- :p(?x, ?z), :p(?y, ?z)"],
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:maxQualifiedCardinality 1 ; owl:onClass :B ] .": [
        "owl:sameAs(?x, ?y) :- :A(?z), :p(?z, ?x), :p(?z, ?y), :B(?x), :B(?y)"
    ],
    ":A rdfs:subClassOf [ owl:oneOf ( :a ) ] .": ["owl:sameAs(?x, :a) :- :A(?x)"],
    ":A owl:hasKey ( :p ) .": ["owl:sameAs(?x, ?y) :- :p(?x, ?z), :p(?y, ?z), :A(?x), :A(?y)"],
    ":a owl:sameAs :b .": ["owl:sameAs(:a, :b)"],
}


@pytest.mark.parametrize("text", EQUAL)
def test_equality(tmp_path: Path, text: str) -> None:
    translation = made(tmp_path, text, equality=True)
    assert rules(translation) == EQUAL[text]
    assert reasons(translation) == []


def test_equals_replace_each_other(tmp_path: Path) -> None:
    text = ":p a owl:FunctionalProperty . :A rdfs:subClassOf :B . :a :p :x , :y . :x a :A . :y owl:differentFrom :x ."
    kb = everlog.KnowledgeBase(made(tmp_path, text, equality=True).program)
    assert (IRI(EX + "y"),) in kb[(IRI(EX + "B"), 1)]
    assert {row[0] for row in kb["everlog:violation"].rows()} == {IRI(EX + "x"), IRI(EX + "y")}


VIOLATIONS = {
    ":A owl:disjointWith :B . :x a :A , :B .": "DisjointClasses(:A :B)",
    "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) . :x a :A , :C .": "DisjointClasses(:A :B :C)",
    ":A rdfs:subClassOf [ owl:complementOf :B ] . :x a :A , :B .": "SubClassOf(:A ComplementOf(:B))",
    ":A rdfs:subClassOf owl:Nothing . :x a :A .": "SubClassOf(:A owl:Nothing)",
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality 0 ] . :x a :A ; :p :y .": (
        "SubClassOf(:A MaxCardinality(0 :p owl:Thing))"
    ),
    ":p owl:propertyDisjointWith :q . :x :p :y ; :q :y .": "DisjointProperties(:p :q)",
    ":p a owl:IrreflexiveProperty . :x :p :x .": "IrreflexiveProperty(:p)",
    ":p a owl:AsymmetricProperty . :x :p :x .": "AsymmetricProperty(:p)",
    "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :x ; owl:assertionProperty :p ; "
    "owl:targetIndividual :y . :x :p :y .": "NegativePropertyAssertion(:p :x :y)",
    ":p rdfs:subPropertyOf owl:bottomObjectProperty . :x :p :y .": "SubPropertyOf(:p owl:bottomObjectProperty)",
}


@pytest.mark.parametrize("text", VIOLATIONS)
def test_contradictions_are_reported(tmp_path: Path, text: str) -> None:
    kb = everlog.KnowledgeBase(made(tmp_path, text).program)
    assert kb["everlog:violation"].rows() == [(IRI(EX + "x"), VIOLATIONS[text])]


def test_what_holds_of_everything_holds_of_what_is_known(tmp_path: Path) -> None:
    text = """
        owl:Thing rdfs:subClassOf :A . :p a owl:ReflexiveProperty . :d a owl:DatatypeProperty .
        :x :q :y ; :d 1 .
    """
    kb = everlog.KnowledgeBase(made(tmp_path, text).program)
    individuals = {IRI(EX + "x"), IRI(EX + "y")}
    assert {row[0] for row in kb[(IRI(EX + "A"), 1)].rows()} == individuals
    assert set(kb[(IRI(EX + "p"), 2)].rows()) == {(each, each) for each in individuals}


def test_upper_makes_constants_of_existentials(tmp_path: Path) -> None:
    text = ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom [ owl:intersectionOf ( :B :C ) ] ] . :x a :A ."
    translation = made(tmp_path, text, "upper")
    assert reasons(translation) == []
    kb = everlog.KnowledgeBase(translation.program)
    ((_, new),) = kb[(IRI(EX + "p"), 2)].rows()
    assert str(new).startswith("urn:everlog:some:")
    assert kb[(IRI(EX + "B"), 1)].rows() == kb[(IRI(EX + "C"), 1)].rows() == [(new,)]


def test_upper_has_one_constant_for_each_quantifier(tmp_path: Path) -> None:
    some = "[ owl:onProperty :p ; owl:someValuesFrom :B ]"
    text = f":A rdfs:subClassOf {some} . :C rdfs:subClassOf {some} . :x a :A , :C . :y a :A ."
    kb = everlog.KnowledgeBase(made(tmp_path, text, "upper").program)
    assert len(kb[(IRI(EX + "B"), 1)]) == 2
    assert len(kb[(IRI(EX + "p"), 2)]) == 3


def test_upper_makes_conjunctions_of_disjunctions(tmp_path: Path) -> None:
    text = ":A rdfs:subClassOf [ owl:unionOf ( :B :C ) ] ."
    assert rules(made(tmp_path, text, "upper")) == [":B(?x) :- :A(?x)", ":C(?x) :- :A(?x)"]


def test_upper_counts(tmp_path: Path) -> None:
    text = ":A rdfs:subClassOf [ owl:onProperty :p ; owl:qualifiedCardinality 2 ; owl:onClass :B ] . :x a :A ."
    kb = everlog.KnowledgeBase(made(tmp_path, text, "upper").program)
    assert len(kb[(IRI(EX + "B"), 1)]) == 2
    everything_equal = made(tmp_path, text, "upper", equality=True)
    assert reasons(everything_equal) == []
    assert len(everlog.KnowledgeBase(everything_equal.program)["owl:sameAs"]) == 4


def test_upper_derives_what_lower_does(tmp_path: Path, shared_data: Path) -> None:
    lower, upper = (program_of(shared_data / "lubm" / "univ-bench.ttl", p).program for p in ("lower", "upper"))
    assert set(lower.rules) < set(upper.rules)


def test_swrl(tmp_path: Path) -> None:
    text = """
        :v a swrl:Variable . :w a swrl:Variable .
        [] a swrl:Imp ;
            swrl:body ( [ a swrl:ClassAtom ; swrl:classPredicate :A ; swrl:argument1 :v ]
                        [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :p ;
                          swrl:argument1 :v ; swrl:argument2 :w ] ) ;
            swrl:head ( [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :q ;
                          swrl:argument1 :w ; swrl:argument2 :c ] ) .
    """
    assert rules(made(tmp_path, text)) == [":q(?x, :c) :- :p(?y, ?x), :A(?y)"]


@pytest.mark.long
@pytest.mark.parametrize("profile", ["lower", "upper"])
@pytest.mark.parametrize("equality", [False, True])
@pytest.mark.parametrize("name", ["lubm/univ-bench.ttl", "skos/skos.rdf", "ontologies/ro.owl.gz"])
def test_the_text_of_a_program_says_the_same(shared_data: Path, name: str, profile: Profile, equality: bool) -> None:
    translation = program_of(shared_data / name, profile, equality=equality)
    again = parse_program(translation.text())
    assert set(again.rules) == set(translation.program.rules)
    assert set(again.facts) == set(translation.facts)
    assert dict(again.prefixes) == dict(translation.program.prefixes)
