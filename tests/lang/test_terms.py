"""Terms as Python values are checked when they are made, so that their written forms can be read."""

from __future__ import annotations

import pyarrow as pa
import pyoxigraph
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from everlog import IRI, BlankNode, KnowledgeBase, Literal, TermError
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Constant
from everlog.lang.terms import text_of, value_of
from everlog.query.cells import ntriples_terms

N_TRIPLES = pyoxigraph.RdfFormat.N_TRIPLES
IRI_LACKS = ["a b", "a\nb", "a<b", "a>b", 'a"b', "a{b", "a}b", "a|b", "a^b", "a`b", "a\\b", "\ud800"]


@pytest.mark.parametrize(
    "text", ["a b", "a\nb", "a<b", "a>b", 'a"b', "a{b", "a}b", "a|b", "a^b", "a`b", "a\\b", "\ud800"]
)
def test_iris_with_characters_that_no_iri_has(text: str) -> None:
    with pytest.raises(TermError, match="an IRI cannot contain"):
        IRI(text)
    with pytest.raises(ValueError, match="an IRI cannot contain"):
        Literal("x", text)


@pytest.mark.parametrize("label", ["", "x y", "-a", ".a", "a.", "a:b", "a\n", "a>", "\ud800"])
def test_labels_that_no_blank_node_has(label: str) -> None:
    with pytest.raises(TermError, match="cannot be the label of a blank node"):
        BlankNode(label)


@pytest.mark.parametrize("tag", ["", "e n", "en_GB", "1", "en-", "-en", "é", "en\n"])
def test_tags_that_are_no_language(tag: str) -> None:
    with pytest.raises(TermError, match="cannot be a language tag"):
        Literal("x", language=tag)


def test_a_datatype_may_be_an_iri() -> None:
    made = Literal("x", IRI("http://e.org/d"))  # type: ignore[arg-type]
    assert made == Literal("x", "http://e.org/d")
    kb = KnowledgeBase()
    kb.insert("p", [(Literal("x", IRI("http://www.w3.org/2001/XMLSchema#string")),)])  # type: ignore[arg-type]
    assert kb["p"].rows() == [("x",)]
    with pytest.raises(TermError, match="cannot have the language 'en' and the datatype"):
        Literal("x", "http://e.org/d", "en")


@given(st.text(max_size=8))
@example("größe-1")
@example("a..b")
def test_what_can_be_made_can_be_written_as_n_triples_and_in_rules(text: str) -> None:
    for make in (
        lambda: IRI(f"http://e.org/{text}"),
        lambda: BlankNode(text),
        lambda: Literal("x", f"http://e.org/{text}"),
        lambda: Literal(text, language="en-GB"),
        lambda: Literal("x", language=text),
    ):
        try:
            made = make()
            text_of(made).encode()
        except (TermError, UnicodeEncodeError):
            continue
        (written,) = ntriples_terms(pa.array([text_of(made)], pa.large_string())).to_pylist()
        (triple,) = pyoxigraph.parse(f"<a:a> <a:b> {written} .", format=N_TRIPLES, lenient=True)
        assert str(triple.object).lower() == written.lower()
        (fact,) = parse_program(f"p({written}) .").facts
        assert fact.terms == (Constant(text_of(made)),)
        assert text_of(value_of(text_of(made))) == text_of(made)


@pytest.mark.parametrize("expression", ['IRI("http://e.org/a b")', 'STRDT("x", IRI("a<b"))', 'STRLANG("x", "e n")'])
def test_a_term_that_sparql_cannot_make_is_an_error_of_the_expression(expression: str) -> None:
    kb = KnowledgeBase("p(a) .")
    assert kb.sparql(f"SELECT ?v {{ ?x a everlog:p BIND({expression} AS ?v) }}").rows() == [(None,)]
    change = kb.sparql_update(
        f"INSERT {{ ?x <http://e.org/q> ?v }} WHERE {{ ?x a everlog:p BIND({expression} AS ?v) }}"
    )
    assert [len(each.inserted) for each in change] == [0]
