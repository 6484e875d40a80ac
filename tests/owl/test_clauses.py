"""Clauses are equivalent to their axioms, and the rules of the lower bound follow from them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.owl import axioms as owl
from everlog.owl.axiom_clauses import axiom_clauses
from everlog.owl.rules import Translator
from everlog.owl.vocabulary import NOTHING, THING
from tests.owl.interpretations import Interpretation

CLASSES, PROPERTIES, INDIVIDUALS = ("<A>", "<B>", "<C>"), ("<p>", "<q>"), ("<a>", "<b>")

properties = st.builds(owl.Property, st.sampled_from(PROPERTIES), st.booleans())
names = st.builds(owl.Class, st.sampled_from([*CLASSES, THING, NOTHING]))
members = st.lists(st.sampled_from(INDIVIDUALS), min_size=1, max_size=2, unique=True).map(tuple)


def _larger(smaller: st.SearchStrategy[owl.Expression]) -> st.SearchStrategy[owl.Expression]:
    operands = st.lists(smaller, min_size=1, max_size=3).map(tuple)
    kinds = st.sampled_from(["Min", "Max", "Exact"])
    return st.one_of(
        st.builds(owl.Intersection, operands),
        st.builds(owl.ClassUnion, operands),
        st.builds(owl.Complement, smaller),
        st.builds(owl.OneOf, members),
        st.builds(owl.SomeValues, properties, smaller),
        st.builds(owl.AllValues, properties, smaller),
        st.builds(owl.HasValue, properties, st.sampled_from(INDIVIDUALS)),
        st.builds(owl.HasSelf, properties),
        st.builds(owl.Cardinality, kinds, st.integers(0, 2), properties, smaller),
    )


expressions = st.recursive(names, _larger, max_leaves=5)
axioms = st.builds(owl.SubClassOf, expressions, expressions)


@st.composite
def interpretations(draw: st.DrawFn) -> Interpretation:
    size = draw(st.integers(1, 3))
    element = st.integers(0, size - 1)
    return Interpretation(
        size,
        {name: draw(st.frozensets(element)) for name in CLASSES},
        {name: draw(st.frozensets(st.tuples(element, element))) for name in PROPERTIES},
        {name: draw(element) for name in INDIVIDUALS},
    )


@settings(max_examples=200)
@given(axioms, interpretations())
def test_an_axiom_holds_exactly_where_its_clauses_do(axiom: owl.SubClassOf, where: Interpretation) -> None:
    clauses = axiom_clauses(axiom)
    assert all(map(where.satisfies_clause, clauses)) == where.satisfies(axiom)


@settings(max_examples=150)
@given(axioms, interpretations(), st.booleans())
def test_the_lower_bound_is_sound(axiom: owl.SubClassOf, where: Interpretation, equality: bool) -> None:
    translated = Translator("lower", equality).translate(axiom)
    if where.satisfies(axiom):
        assert all(map(where.satisfies_rule, translated.rules))


@settings(max_examples=150)
@given(axioms, interpretations())
def test_what_is_translated_without_reasons_is_the_whole_axiom(axiom: owl.SubClassOf, where: Interpretation) -> None:
    translated = Translator("lower", equality=True).translate(axiom)
    if not translated.reasons and not translated.facts:
        assert all(map(where.satisfies_rule, translated.rules)) == where.satisfies(axiom)


def test_many_alternatives_are_refused_and_not_written_down() -> None:
    pairs = tuple(owl.ClassUnion((owl.Class(f"<A{i}>"), owl.Class(f"<B{i}>"))) for i in range(20))
    translated = Translator().translate(owl.SubClassOf(owl.Intersection(pairs), owl.Class("<C>")))
    assert not translated.rules
    assert translated.reasons == ("it would take more than 4,096 rules",)
