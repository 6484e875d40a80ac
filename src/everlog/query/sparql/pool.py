"""The terms of one evaluation: those of the dictionary with their ids, and computed terms with ids after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.engine.dictionary import Dictionary
from everlog.engine.keys import Column, Mask
from everlog.engine.limits import Limits
from everlog.query.sparql.terms import Node, node_of, text_of_node

UNBOUND = -1
"""The id in a column where there is no term."""

BETWEEN = 1 << 12
"""Number of terms that are handled one by one between two checks of the limits."""

T = TypeVar("T")


class TermPool(Mapping[str, int]):
    """Ids of terms by their canonical texts and back. The dictionary is only read.

    >>> terms = TermPool(Dictionary())
    >>> terms.add('"new"'), terms['"new"'], terms.texts(np.array([0])).to_pylist()
    (0, 0, ['"new"'])
    """

    def __init__(self, dictionary: Dictionary, limits: Limits | None = None) -> None:
        self.dictionary = dictionary
        self.limits = limits or Limits()
        self.known = len(dictionary)
        """Ids below this number are those of the dictionary."""
        self._added: list[str] = []
        self._ids: dict[str, int] = {}
        self._nodes: dict[int, Node] = {}

    def __len__(self) -> int:
        return self.known + len(self._added)

    def __iter__(self) -> Iterator[str]:
        yield from self.texts(np.arange(len(self))).to_pylist()

    def __getitem__(self, text: str) -> int:
        """The id of a text, -1 if there is none."""
        found = self._ids.get(text)
        if found is None:
            found = self.dictionary.find(text)
            if found >= self.known:
                return UNBOUND
            if found >= 0:
                self._ids[text] = found
        return found

    def add(self, text: str) -> int:
        """The id of a text, a new one if the text is unknown."""
        found = self[text]
        if found < 0:
            found = self._ids[text] = len(self)
            self._added.append(text)
        return found

    def add_all(self, texts: Sequence[str | None]) -> Column:
        """The ids of texts, unbound for None."""
        missing = [text for text in dict.fromkeys(texts) if text is not None and text not in self._ids]
        if len(missing) > 8:
            found = self.dictionary.lookup(pa.array(missing, pa.large_string()))
            found[found >= self.known] = UNBOUND
            for text, at in zip(missing, found.tolist(), strict=True):
                self._ids[text] = at if at >= 0 else len(self)
                if at < 0:
                    self._added.append(text)
        else:
            for text in missing:
                self.add(text)
        return np.array([UNBOUND if text is None else self._ids[text] for text in self.watched(texts)], np.int64)

    def texts(self, ids: Column) -> pa.LargeStringArray:
        """The texts of ids, null where they are unbound."""
        if not self._added and (not len(ids) or ids.min() >= 0):
            return self.dictionary.decode(ids)
        base = (ids >= 0) & (ids < self.known)
        added = ids >= self.known
        places = np.full(len(ids), -1, np.int64)
        places[base] = np.arange(np.count_nonzero(base))
        places[added] = np.count_nonzero(base) + np.arange(np.count_nonzero(added))
        own = pa.array([self._added[i] for i in (ids[added] - self.known).tolist()], pa.large_string())
        both = pa.concat_arrays([self.dictionary.decode(ids[base]), own])
        return both.take(pa.array(places, mask=places < 0))

    def nodes(self, ids: Column) -> list[Node]:
        """The nodes of bound ids; each is parsed once."""
        wanted: list[int] = ids.tolist()
        missing = [i for i in dict.fromkeys(wanted) if i not in self._nodes]
        if missing:
            texts = self.texts(np.array(missing, np.int64)).to_pylist()
            self._nodes.update(self.watched(zip(missing, map(node_of, texts), strict=True)))
        return [self._nodes[i] for i in wanted]

    def add_nodes(self, nodes: Sequence[Node | None]) -> Column:
        """The ids of nodes, unbound for None."""
        return self.add_all([None if node is None else text_of_node(node) for node in self.watched(nodes)])

    def mapped(self, function: Callable[..., Any], ids: Column) -> tuple[list[Any], Column]:
        """The values of a function of the distinct terms of a column, and for each row the index of its value."""
        different, places = distinct_ids(ids)
        return [function(node) for node in self.watched(self.nodes(different))], places

    def watched(self, items: Iterable[T]) -> Iterator[T]:
        """The items, with a check of the limits every ``BETWEEN`` items."""
        for number, item in enumerate(items):
            if number % BETWEEN == 0:
                self.limits.check(0)
            yield item


def with_beginning(terms: TermPool, ids: Column, *beginnings: str) -> Mask:
    """A mask of the terms whose texts have one of the beginnings: ``<`` for IRIs, ``_`` for blank nodes."""
    different, places = distinct_ids(ids)
    texts = terms.texts(different)
    found = np.zeros(len(different), np.bool_)
    for beginning in beginnings:
        found |= pc.starts_with(texts, beginning).to_numpy(zero_copy_only=False).astype(np.bool_)
    return found[places]


SPARSE = 4
"""Maximum number of possible values for each row with which values are marked in an array instead of sorted."""


def distinct_ids(ids: Column) -> tuple[Column, Column]:
    """The distinct values of a column, ascending, and the index of each row's value among them.

    >>> distinct_ids(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]))
    """
    if not len(ids):
        return ids, ids
    low, high = int(ids.min()), int(ids.max())
    if high - low > SPARSE * len(ids) + 1024:
        return _sorted_ids(ids)
    seen = np.zeros(high - low + 1, np.bool_)
    seen[ids - low] = True
    different = np.flatnonzero(seen)
    ranks = np.cumsum(seen, dtype=np.int64) - 1
    return different + low, ranks[ids - low]


def _sorted_ids(ids: Column) -> tuple[Column, Column]:
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    first = np.ones(len(ids), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    places = np.empty(len(ids), np.int64)
    places[order] = np.cumsum(first) - 1
    return ordered[first], places
