"""Programs of whole ontologies, with real data."""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog import DataError, RuleError
from everlog.lang.parser import parse_program
from everlog.owl import Profile, program_of, shipped_program
from everlog.owl.programs import OVER_TRIPLES, SHIPPED, shipped_text
from tests.owl.ontologies import loaded, turtle

SKOS = "http://www.w3.org/2004/02/skos/core#"
SUB_CLASS, SUB_PROPERTY = (f"<http://www.w3.org/2000/01/rdf-schema#sub{kind}Of>" for kind in ("Class", "Property"))
LUBM_BASE = "http://www.Department0.University0.edu/"


@pytest.fixture(scope="module")
def lubm(shared_data: Path) -> Path:
    return shared_data / "lubm"


def test_lubm(lubm: Path, tmp_path: Path) -> None:
    translation = program_of(lubm / "univ-bench.ttl")
    assert len(translation.program.rules) == 98
    assert not translation.facts
    assert len(translation.untranslated) == 8
    state = loaded(translation.program, tmp_path, lubm / "data", base=LUBM_BASE).state()
    assert state.explicit.count == 100_545
    assert state.facts.count == 137_933


@pytest.mark.long
def test_lubm_as_triples(lubm: Path, tmp_path: Path) -> None:
    """The rules over triples derive all facts of the lower program, and the types that follow by scm-svf1."""
    lower = loaded(program_of(lubm / "univ-bench.ttl").program, tmp_path / "1", lubm / "data", base=LUBM_BASE)
    translation = program_of(lubm / "univ-bench.ttl", "rl")
    rl = loaded(translation.program, tmp_path / "2", lubm / "data", base=LUBM_BASE)
    assert len(rl["triple"]) == 194_770
    employee = "<http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#Employee>"
    rdf_type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    found, some = rl.query(f"triple(?x, {rdf_type}, {employee})").rows(), lower[(employee, 1)].rows()
    assert set(some) < set(found)
    assert len(found) - len(some) == 547
    for predicate, relation in lower.state().facts.items():
        if predicate.arity == 2:
            assert len(rl.query(f"triple(?x, {predicate.name}, ?y)").rows()) == len(relation)


@pytest.mark.parametrize(
    ("name", "broader", "closed"),
    [("stw-skos.ttl.gz", 13_252, 45_791), ("gemet-de.rdf.gz", 16_149, 35_048), ("UAT-5.1.0.rdf.gz", 2_645, 9_361)],
)
def test_thesauri(shared_data: Path, tmp_path: Path, name: str, broader: int, closed: int) -> None:
    kb = loaded(shipped_program("skos"), tmp_path, shared_data / "skos" / name)
    assert len(kb[f"<{SKOS}broader>"]) == len(kb[f"<{SKOS}narrower>"]) == broader
    assert len(kb[f"<{SKOS}broaderTransitive>"]) == len(kb[f"<{SKOS}narrowerTransitive>"]) == closed


def test_the_skos_vocabulary_says_less_than_the_program(shared_data: Path, tmp_path: Path) -> None:
    ontology = program_of(shared_data / "skos" / "skos.rdf").program
    mine = shipped_program("skos")
    thesaurus = shared_data / "skos" / "UAT-5.1.0.rdf.gz"
    by_ontology = loaded(ontology, tmp_path / "1", thesaurus)
    by_program = loaded(mine, tmp_path / "2", thesaurus, shared_data / "skos" / "skos.rdf")
    for predicate in by_ontology.state().facts:
        if predicate.name.startswith(f"<{SKOS}"):
            assert set(by_ontology[predicate].rows()) <= set(by_program[predicate].rows()), predicate


def test_skos_on_a_small_scheme(tmp_path: Path) -> None:
    text = f"""
        @prefix skos: <{SKOS}> .
        :s skos:hasTopConcept :a . :a skos:narrower :b . :c skos:broader :b ; skos:related :a ; skos:prefLabel "c"@en .
        :o skos:memberList ( :a :b ) . :a skos:exactMatch :x . :x skos:exactMatch :y .
    """
    kb = everlog.KnowledgeBase(program_of(turtle(tmp_path, text), "skos").program)
    assert kb.query("skos:inScheme(?x, :s)").rows() == [(everlog.IRI("http://e.org/a"),)]
    assert len(kb.query("skos:broaderTransitive(:c, ?x)").rows()) == 2
    assert len(kb.query("skos:member(:o, ?x)").rows()) == 2
    assert len(kb.query("skos:exactMatch(:y, ?x)").rows()) == 3
    assert kb.query("rdfs:label(:c, ?x)").rows() == [(everlog.Literal("c", language="en"),)]
    (violation,) = kb["everlog:violation"].rows()
    assert violation == (everlog.IRI("http://e.org/c"), "S27: what is related is not broader")


def test_ro_is_classified(shared_data: Path, tmp_path: Path) -> None:
    kb = loaded(shipped_program("rl"), tmp_path, shared_data / "ontologies" / "ro.owl.gz")
    found = kb.query(f"triple(?x, {SUB_PROPERTY}, ?y)").rows()
    assert sum(x != y for x, y in found) == 2_440


@pytest.mark.long
def test_doid_is_classified(shared_data: Path, tmp_path: Path) -> None:
    kb = loaded(shipped_program("rdfs"), tmp_path, shared_data / "ontologies" / "doid.nt.gz")
    found = kb.query(f"triple(?x, {SUB_CLASS}, ?y)").rows()
    resource = everlog.IRI("http://www.w3.org/2000/01/rdf-schema#Resource")
    assert sum(y not in (x, resource) and not str(x).startswith("http://www.w3.org/") for x, y in found) == 82_772


@pytest.mark.parametrize("name", ["ro.owl.gz", pytest.param("doid.nt.gz", marks=pytest.mark.long)])
def test_obo_ontologies_become_rules(shared_data: Path, name: str) -> None:
    """Every individual of a class is in all of its superclasses."""
    translation = program_of(shared_data / "ontologies" / name)
    assert not [each for each in translation.untranslated if each.reason.startswith("a list is broken")]
    kb = everlog.KnowledgeBase(translation.program, maintain="none")
    if name == "doid.nt.gz":
        kb.insert("<http://purl.obolibrary.org/obo/DOID_1324>", [("a tumour",)])
        above = {p.name for p in kb.predicates if p.arity == 1 and len(kb[p])}
        assert "<http://purl.obolibrary.org/obo/DOID_4>" in above
        assert any("obo/ext.owl" in note for note in translation.notes)
    else:
        kb.insert("<http://purl.obolibrary.org/obo/RO_0002571>", [("a", "b"), ("b", "c")])
        assert len(kb["<http://purl.obolibrary.org/obo/RO_0002131>"]) >= 4


def test_a_knowledge_base_takes_an_ontology(tmp_path: Path) -> None:
    some = "[ owl:onProperty :p ; owl:someValuesFrom :B ]"
    path = turtle(tmp_path, f":A rdfs:subClassOf :B , {some} . :x a :A .")
    for given in (path, str(path)):
        with pytest.warns(everlog.EverlogWarning, match="an axiom is not expressed") as caught:
            kb = everlog.KnowledgeBase(given)
        assert [warning.filename for warning in caught] == [__file__]
        assert kb[":B"].rows() == [(everlog.IRI("http://e.org/x"),)]


def test_several_ontologies_and_rules_are_one_program(tmp_path: Path) -> None:
    one = turtle(tmp_path, ":A rdfs:subClassOf :B . :x a :A .", "one.ttl")
    two = turtle(tmp_path, ":B rdfs:subClassOf :C . :y :p _:b .", "two.ttl")
    rules = tmp_path / "more.rls"
    rules.write_text("@prefix e: <http://e.org/> . found(?x) :- e:C(?x) .")
    translation = program_of([one, rules, two])
    kb = everlog.KnowledgeBase(translation.program)
    assert kb["found"].rows() == [(everlog.IRI("http://e.org/x"),)]
    assert kb.query("e:p(e:y, ?b)").rows() == kb.query(":p(:y, ?b)").rows()


@pytest.mark.parametrize("profile", sorted(SHIPPED))
def test_shipped_programs_take_ontologies_as_facts(tmp_path: Path, profile: Profile) -> None:
    path = turtle(tmp_path, ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :x a :A .")
    translation = program_of(path, profile)
    again = parse_program(translation.text())
    assert set(again.rules) == set(translation.program.rules)
    assert set(again.facts) == set(translation.facts)
    assert translation.text().startswith(shipped_text(profile))
    kb = everlog.KnowledgeBase(translation.program)
    if profile in OVER_TRIPLES:
        assert kb.query("triple(:x, rdf:type, :C)")
    else:
        assert kb[":A"].rows() == [(everlog.IRI("http://e.org/x"),)]


def test_rdfs(tmp_path: Path) -> None:
    text = """
        :p rdfs:domain :A ; rdfs:range :B ; rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r .
        :A rdfs:subClassOf :C . :C rdfs:subClassOf :D . :x :p :y .
        :m a rdfs:ContainerMembershipProperty . :l :m :n . :T a rdfs:Datatype .
    """
    kb = everlog.KnowledgeBase(program_of(turtle(tmp_path, text), "rdfs").program)
    for holds in (
        "triple(:x, :r, :y)",
        "triple(:x, rdf:type, :D)",
        "triple(:y, rdf:type, :B)",
        "triple(:p, rdfs:subPropertyOf, :r)",
        "triple(:A, rdfs:subClassOf, :D)",
        "triple(:D, rdfs:subClassOf, :D)",
        "triple(:D, rdfs:subClassOf, rdfs:Resource)",
        "triple(:p, rdf:type, rdf:Property)",
        "triple(:l, rdfs:member, :n)",
        "triple(:T, rdfs:subClassOf, rdfs:Literal)",
    ):
        assert kb.query(holds), holds
    assert not kb.query("triple(:y, rdf:type, :D)")


MALFORMED = {
    "ontology.ttl": ("@prefix : <http://e.org/> .\n:a :b :c .\n:a :b .\n", 3),
    "ontology.trig": ("<http://e.org/g> {\n<http://e.org/a> <http://e.org/b> }\n", 2),
    "ontology.nt": ("<http://e.org/a> <http://e.org/b> <http://e.org/c> .\n<http://e.org/a> oops .\n", 2),
    "ontology.nq": ("<http://e.org/a> <http://e.org/b> <http://e.org/c> <http://e.org/g> .\n\n_:a _:b _:c .\n", 3),
    "ontology.owl": (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
        '<rdf:Description rdf:about="http://e.org/a">\n</rdf:RDF>\n',
        3,
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files_are_errors_with_file_and_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text, line = MALFORMED[name]
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        program_of(path)
    place = caught.value.diagnostics[0].place
    assert place is not None
    assert (place.file, place.line) == (str(path), line)


def test_files_that_are_no_ontologies(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b\n")
    for path, code in ((table, "not-an-ontology"), (tmp_path / "none.ttl", "no-such-file")):
        with pytest.raises(DataError) as caught:
            program_of(path)
        assert caught.value.diagnostics[0].code == code
    with pytest.raises(RuleError):
        program_of(tmp_path / "none.rls")
    with pytest.raises(ValueError, match="choose one of lower"):
        program_of([], "dl")  # type: ignore[arg-type]


SCHEMA = """
:Cat rdfs:subClassOf :Animal , [ owl:onProperty :p ; owl:someValuesFrom :Cat ] ; rdfs:label "cat"@en ; a owl:Class .
:p rdfs:domain :Animal . :tom a :Cat ; rdfs:label "Tom" ; owl:sameAs :t ; owl:differentFrom :x .
"""


def test_a_knowledge_base_of_an_ontology_by_profile(tmp_path: Path) -> None:
    path = turtle(tmp_path, SCHEMA)
    lower, rl = everlog.KnowledgeBase(path), everlog.KnowledgeBase(path, profile="rl")
    assert len(lower["<http://e.org/Animal>"]) == 1
    assert len(rl.query("triple(?x, rdf:type, <http://e.org/Animal>)")) == 2
    own = everlog.KnowledgeBase("named(?x) :- triple(?x, rdfs:label, _) .", profile="rdfs")
    assert "named" in own
    with pytest.raises(ValueError, match="profile='dl'"):
        everlog.KnowledgeBase(path, profile="dl")  # type: ignore[arg-type]


def test_triples_about_classes_and_properties_are_kept_or_said_to_be_left_out(tmp_path: Path) -> None:
    path = turtle(tmp_path, SCHEMA)
    dropped, kept = program_of(path), program_of(path, schema="keep")
    assert dropped.notes == (
        "4 triples about classes and properties left out of the facts: "
        "rdfs:domain 1, rdfs:label 1, rdfs:subClassOf 1, owl:Class 1 (--schema keep keeps them)",
    )
    assert (kept.notes, kept.program.rules) == ((), dropped.program.rules)
    kb = everlog.KnowledgeBase(path, schema="keep")
    cat, animal = everlog.IRI("http://e.org/Cat"), everlog.IRI("http://e.org/Animal")
    assert kb["rdfs:subClassOf"].rows() == [(cat, animal)]
    assert len(kb["rdfs:label"]) == 2
    assert kb.sparql("SELECT ?c { ?c rdfs:subClassOf ?d }").rows() == [(cat,)]
    assert kb["<http://e.org/Animal>"].rows() == [(everlog.IRI("http://e.org/tom"),)]
    assert everlog.KnowledgeBase(path)["rdfs:label"].rows() == [(everlog.IRI("http://e.org/tom"), "Tom")]
