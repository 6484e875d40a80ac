"""The order of terms: unbound, blank nodes, IRIs, literals (SPARQL 1.1, section 15.1).

Among literals, whose order the standard leaves open where ``<`` is undefined, numbers come first, by value, then
strings by their characters, then the others by datatype, value and text.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.engine.keys import Column, Mask
from everlog.lang.terms import Literal
from everlog.query.sparql.expressions import is_exact, matching
from everlog.query.sparql.pool import TermPool, distinct_ids
from everlog.query.sparql.terms import BOOLEAN, RANKS, ExpressionError, Node, number_of
from everlog.query.sparql.values import MOMENTS, comparable

BLANK, NAMED, NUMBER, STRING, OTHER = range(1, 6)


def ranks(terms: TermPool, ids: Column) -> Column:
    """A number for each row in the order of the terms, equal for terms of equal value.

    >>> from everlog.engine.dictionary import Dictionary
    >>> terms = TermPool(Dictionary())
    >>> ranks(terms, terms.add_all(['"b"', None, "10", "9.0", "9", "<http://e.org/>"])).tolist()
    [4, 0, 3, 2, 2, 1]
    """
    different, places = distinct_ids(ids)
    bound = different >= 0
    texts = terms.texts(different[bound])
    kinds = np.zeros(len(different), np.int64)
    kinds[bound] = _kinds(texts)
    keys = np.zeros(len(different), np.int64)
    for kind in range(BLANK, OTHER + 1):
        chosen = kinds == kind
        if chosen.any():
            own = texts.filter(pa.array(chosen[bound]))
            keys[chosen] = _by_text(own) if kind in (BLANK, NAMED, STRING) else _by_value(terms, different[chosen], own)
    order = np.lexsort([keys, kinds])
    changed = np.ones(len(order), np.bool_)
    changed[1:] = (keys[order][1:] != keys[order][:-1]) | (kinds[order][1:] != kinds[order][:-1])
    dense = np.empty(len(order), np.int64)
    dense[order] = np.cumsum(changed) - 1
    return dense[places]


VALUED = frozenset({*RANKS, BOOLEAN, *MOMENTS})
"""The datatypes whose literals have values that are compared."""


def without_value(terms: TermPool, ids: Column) -> Mask:
    """A mask of the rows with an ill-typed literal, such as ``"soon"^^xsd:dateTime``."""
    different, places = distinct_ids(ids)
    found = matching(terms.texts(different), r'\^\^<[^"]*>$')
    rows = np.flatnonzero(found)
    found[rows] = [_is_ill_typed(node) for node in terms.watched(terms.nodes(different[rows]))]
    return found[places]


def _is_ill_typed(node: Node) -> bool:
    if not isinstance(node, Literal) or node.datatype not in VALUED:
        return False
    try:
        comparable(node)
    except ExpressionError:
        return True
    return False


def _kinds(texts: pa.LargeStringArray) -> Column:
    found = np.full(len(texts), OTHER, np.int64)
    for kind, pattern in (
        (BLANK, "^_"),
        (NAMED, "^<"),
        (STRING, r'(?s)^".*"(@[^"]*)?$'),
        (
            NUMBER,
            r'(?s)^-?[0-9]|^"[^"]*"\^\^<[^"]*#(float|double|decimal|[a-zA-Z]*([iI]nteger|[lL]ong|[iI]nt|[sS]hort|[bB]yte))>$',
        ),
    ):
        found[matching(texts, pattern)] = kind
    return found


def _by_text(texts: pa.LargeStringArray) -> Column:
    """Ranks by the order of the characters, without the quotes of strings."""
    quoted = pc.if_else(pc.starts_with(texts, '"'), pc.replace_substring_regex(texts, r'(?s)^"(.*)"', "\\1\x00"), texts)
    order = pc.sort_indices(quoted).to_numpy()
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order))
    return found


def _by_value(terms: TermPool, ids: Column, texts: pa.LargeStringArray) -> Column:
    """Ranks by the order of the values, equal for equal numbers."""
    if is_exact(texts).all():
        _, places = np.unique(pc.cast(texts, pa.float64()).to_numpy(), return_inverse=True)
        return np.asarray(places, np.int64)
    valued = zip(terms.nodes(ids), texts.to_pylist(), strict=True)
    keys = [_key(node, text) for node, text in terms.watched(valued)]
    ordered = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([ordered[key] for key in keys], np.int64)


def _key(node: Node, text: str) -> tuple[Any, ...]:
    number = number_of(node)
    if number is not None:
        return (1, "", Decimal(0)) if number.is_nan else (0, "", Decimal(number.value))
    assert isinstance(node, Literal)
    try:
        return (2, *comparable(node), text)
    except ExpressionError:
        return (3, node.datatype or "", text)
