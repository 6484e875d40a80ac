"""Finding predicates by the ways to write them, and errors for unknown ones."""

from __future__ import annotations

import pytest

from everlog.analysis.predicates import Key, Names
from everlog.lang.errors import DataError, UnknownPredicateError
from everlog.lang.syntax import Predicate
from everlog.lang.terms import IRI

P = "http://e.org/p"
EDGE, ONE, TWO, NONE = Predicate("edge", 2), Predicate(f"<{P}>", 1), Predicate(f"<{P}>", 2), Predicate("rainy", 0)


@pytest.fixture
def names() -> Names:
    return Names([EDGE, TWO, NONE], {"ex": "http://e.org/"})


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("edge", EDGE),
        (("edge", 2), EDGE),
        (EDGE, EDGE),
        ("ex:p", TWO),
        (f"<{P}>", TWO),
        (IRI(P), TWO),
        (("ex:p", 2), TWO),
        ((f"<{P}>", 2), TWO),
        ((IRI(P), 2), TWO),
        ("rainy", NONE),
        (("rainy", 0), NONE),
    ],
)
def test_every_way_to_write_one(names: Names, key: Key, expected: Predicate) -> None:
    assert names.find(key) == expected
    assert names.knows(key)
    assert names.for_data(key, expected.arity) == expected


def test_an_iri_with_two_arities_needs_one(names: Names) -> None:
    names.add(ONE)
    assert names.knows("ex:p")
    assert names.find(("ex:p", 1)) == ONE
    assert names.for_data("ex:p", 1) == ONE
    assert names.for_data("ex:p", 3) == Predicate(f"<{P}>", 3)
    with pytest.raises(UnknownPredicateError, match="arities 2 and 1") as raised:
        names.find("ex:p")
    assert f'("<{P}>", 2)' in str(raised.value)


@pytest.mark.parametrize("key", ["egde", ("egde", 2), "edges"])
def test_an_unknown_name_gets_the_closest(names: Names, key: Key) -> None:
    assert not names.knows(key)
    with pytest.raises(KeyError, match="did you mean `edge`"):
        names.find(key)


def test_without_an_arity_none_is_made_up(names: Names) -> None:
    with pytest.raises(UnknownPredicateError, match="did you mean") as raised:
        names.find("egde")
    assert raised.value.diagnostics[0].message == "there is no predicate `egde`"


def test_a_known_name_with_another_arity(names: Names) -> None:
    with pytest.raises(UnknownPredicateError, match="`edge` is used with 3 arguments, but has 2 arguments"):
        names.find(("edge", 3))
    with pytest.raises(UnknownPredicateError, match="it is known with 2 arguments"):
        names.find(("ex:p", 1))


def test_an_undeclared_prefix(names: Names) -> None:
    with pytest.raises(UnknownPredicateError, match="nope"):
        names.find("nope:p")


def test_rows_of_the_wrong_width(names: Names) -> None:
    for key, arity in ((("edge", 2), 3), (("new", 2), 3), ("edge", 1), ("rainy", 1)):
        with pytest.raises(DataError, match="wrong-arity"):
            names.for_data(key, arity)


def test_the_arity_that_is_known_beforehand(names: Names) -> None:
    found = [names.arity_for(key) for key in ("edge", "new", ("new", 3), "ex:p", ("ex:p", 1), "rainy")]
    assert found == [2, None, 3, None, 1, 0]


def test_a_copy_is_its_own(names: Names) -> None:
    other = names.copy()
    other.add(ONE)
    assert names.all() == [EDGE, TWO, NONE]
    assert other.all() == [EDGE, TWO, ONE, NONE]
