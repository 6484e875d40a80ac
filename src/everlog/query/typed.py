"""Columns of terms as Arrow columns of values.

A column whose terms are all of one kind has the type of that kind, independently of the values. A value is used only if
it can be converted back to its term, so that writing a column and reading it again gives equal facts.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from everlog.engine.hashing import text_buffers
from everlog.engine.kernels.numbers import canonical_doubles
from everlog.lang.terms import DAY, TIME, XSD, Value, value_of
from everlog.query.cells import cells

BATCH_ROWS = 1 << 16
"""Number of rows in an Arrow batch of a result."""

FEW = 100
"""Maximum number of texts that are converted one by one."""

DECIMAL = pa.decimal128(38, 18)
"""Decimals of up to 20 digits before the point and 18 after it. Arrow misreads longer ones without an error."""

_FIRST = datetime.datetime(1, 1, 1)


@dataclass(frozen=True)
class TypedKind:
    """A kind of terms with an Arrow type: a pattern of their texts, and the text around the lexical form."""

    pattern: str
    type: pa.DataType
    suffix: str = ""
    """The end of every text of the kind; empty if lexical forms are bare."""
    smallest: object = None
    """Smallest value that Python can represent."""


def _literals(lexical: str, datatype: str, kind: pa.DataType, smallest: object) -> TypedKind:
    suffix = f'"^^<{XSD}{datatype}>'
    return TypedKind(f'^"{lexical}{re.escape(suffix)}$', kind, suffix, smallest)


INTEGERS = TypedKind(r"^-?[0-9]{1,19}$", pa.int64())
FINITE_DOUBLES = TypedKind(r"^-?[0-9.]+E", pa.float64())
TYPED_KINDS = (
    INTEGERS,
    TypedKind(rf'^-?[0-9.]+E|^"(?:-?INF|NaN)"\^\^<{XSD}double>$', pa.float64()),
    TypedKind(r"^-?[0-9]{1,20}\.[0-9]{1,18}$", DECIMAL),
    TypedKind(r"^(?:true|false)$", pa.bool_()),
    _literals(DAY, "date", pa.date32(), _FIRST.date()),
    _literals(f"{DAY}T{TIME}", "dateTime", pa.timestamp("us"), _FIRST),
    _literals(f"{DAY}T{TIME}Z", "dateTime", pa.timestamp("us", "UTC"), _FIRST.replace(tzinfo=datetime.UTC)),
)
"""The kinds of texts that become values of a type of Arrow, in the order in which they are tried."""


def typed_texts(texts: pa.LargeStringArray) -> pa.Array:
    """Texts of terms as values of one type if they are of one kind, otherwise as readable text.

    >>> typed_texts(pa.array(["1", "2"], pa.large_string())).type, typed_texts(pa.array(['"a"'])).to_pylist()
    (DataType(int64), ['a'])
    >>> typed_texts(pa.array([f'"2026-01-31"^^<{XSD}date>'])).to_pylist()
    [datetime.date(2026, 1, 31)]
    """
    first = texts[0].as_py() if len(texts) else ""
    for kind in TYPED_KINDS:
        if re.match(kind.pattern, first) and (values := _values(texts, kind)) is not None:
            return values
    if pc.all(pc.match_substring_regex(texts, r'(?s)^".*"$')).as_py() is not False:
        return pc.utf8_slice_codeunits(texts, 1, -1)
    if pc.all(pc.starts_with(texts, "<")).as_py():
        return texts
    return cells(texts, {})


def _values(texts: pa.LargeStringArray, kind: TypedKind) -> pa.Array | None:
    """The values of texts, None if some text is of another kind or its value does not fit the type."""
    if not pc.all(pc.match_substring_regex(texts, kind.pattern)).as_py():
        return None
    if kind.suffix:
        texts = pc.utf8_slice_codeunits(texts, 1, -len(kind.suffix))
    elif pa.types.is_floating(kind.type):
        texts = pc.replace_substring_regex(texts, r'^"(.*)"\^\^.*$', r"\1")
    try:
        values = pc.cast(texts, kind.type)
    except pa.ArrowInvalid:  # an integer over 64 bits, the 31st of February
        return None
    if pa.types.is_floating(kind.type):
        return values if _exact(values, texts) else None
    if kind.smallest is None:
        return values
    fits = pc.greater_equal(pc.min(values), pa.scalar(kind.smallest, kind.type))
    return values if fits.as_py() else None


def values_of(texts: pa.LargeStringArray) -> list[Value]:
    """:func:`everlog.lang.terms.value_of` of each text; many numbers are read as a column.

    >>> values_of(pa.array(["1", '"a"'], pa.large_string()))
    [1, 'a']
    """
    if len(texts) > FEW:
        first = texts[0].as_py()
        for kind in (INTEGERS, FINITE_DOUBLES):
            values = _values(texts, kind) if re.match(kind.pattern, first) else None
            if values is not None:
                found: list[Value] = values.to_pylist()
                return found
    return [value_of(text) for text in texts.to_pylist()]


def _exact(doubles: pa.DoubleArray, texts: pa.Array) -> bool:
    """Whether writing the doubles gives the texts that they were read from; not with too many digits, and not for
    1.0E400."""
    doubles, texts = doubles.drop_null(), texts.drop_null().cast(pa.large_string())
    finite = pc.is_finite(doubles)
    if not pc.all(finite, min_count=0).as_py():
        others = texts.filter(pc.invert(finite))
        if not pc.all(pc.match_substring_regex(others, "^(?:-?INF|NaN)$")).as_py():
            return False
        doubles, texts = doubles.filter(finite), texts.filter(finite)
    return bool(_written(doubles).equals(texts))


def _written(doubles: pa.DoubleArray) -> pa.LargeStringArray:
    """The canonical texts of finite doubles."""
    data, offsets = canonical_doubles(*text_buffers(doubles.cast(pa.large_string())))
    return pa.LargeStringArray.from_buffers(len(doubles), pa.py_buffer(offsets), pa.py_buffer(data))
