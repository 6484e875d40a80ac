"""The kinds of terms by the bytes of their texts agree with those by their texts."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.engine.kinds import ByPredicate, add_kinds, kinds_of
from everlog.lang import kinds
from everlog.lang.kinds import kind_of
from everlog.lang.syntax import Predicate
from everlog.lang.terms import XSD, literal_text, text_of

LEXICAL = st.text('aZ09-+:.TE"<>@^é', max_size=12)
DATATYPES = [XSD + name for name in ("date", "dateTime", "double", "decimal", "time")] + ["http://e.org/date"]
TEXTS = (
    st.builds(literal_text, LEXICAL, st.sampled_from(DATATYPES))
    | st.builds(literal_text, LEXICAL, language=st.sampled_from(["en", "de-at"]))
    | st.builds(
        text_of, st.integers() | st.floats() | st.decimals(allow_nan=False, allow_infinity=False) | st.booleans()
    )
    | st.builds(text_of, LEXICAL | st.datetimes() | st.dates() | st.datetimes(timezones=st.timezones()))
    | st.sampled_from(["<>", "<http://e.org/a>", "_:b", '""'])
)


@given(st.lists(TEXTS))
def test_a_column_has_the_kinds_of_its_texts(texts: list[str]) -> None:
    expected = functools.reduce(operator.or_, map(kind_of, texts), 0)
    assert (
        kinds_of([pa.array(texts, pa.large_string()), pa.array(texts, pa.string()).slice(len(texts) // 2)])[0]
        == expected
    )


@given(st.lists(st.tuples(st.integers(0, 3), TEXTS), min_size=1))
def test_a_batch_has_the_kinds_of_each_predicate(rows: list[tuple[int, str]]) -> None:
    names = [f"p{number}/1" for number, _ in rows]
    batch = pa.record_batch(
        {"predicate": names, "c0": [text for _, text in rows], "c1": pa.nulls(len(rows), pa.string())}
    )
    found: ByPredicate = {}
    add_kinds(found, batch, np.array([number * 8 for number, _ in rows]))
    for number in {number for number, _ in rows}:
        own = functools.reduce(operator.or_, (kind_of(text) for other, text in rows if other == number))
        assert found[Predicate(f"p{number}", 1)] == (own,)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f'"2026-01-01T00:00:00"^^<{XSD}dateTime>', kinds.LOCAL_TIME),
        (f'"2026-01-01T00:00:00Z"^^<{XSD}dateTime>', kinds.ZONED_TIME),
        (f'"2026-01-01T00:00:00.5-05:00"^^<{XSD}dateTime>', kinds.ZONED_TIME),
        (f'"2026-01-01"^^<{XSD}date>', kinds.DATE),
        (f'"NaN"^^<{XSD}double>', kinds.DOUBLE),
        (f'"007"^^<{XSD}integer>', kinds.OTHER),
        ('"1"', kinds.STRING),
        ("-0.5", kinds.DECIMAL),
        ("1.0E0", kinds.DOUBLE),
        ("-7", kinds.INTEGER),
    ],
)
def test_kinds_of_texts(text: str, kind: int) -> None:
    assert (kind_of(text), kinds_of([pa.array([text])])) == (kind, (kind,))
