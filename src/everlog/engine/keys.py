"""How the columns of a fact become a sort key.

A fact of arity one or two is one 64-bit key. A fact of higher arity is one key as long as the ids
are narrow enough, and several words (a row of a two-dimensional array) once they are not. A
layout says which; :func:`layout_for` picks it from the number of terms, and a relation whose
layout has become too narrow is packed again (``Relation.fitted``), so that nothing overflows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.int64]
Column = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Order = tuple[int, ...]

KEY_BITS = 63
"""Bits of a packed key; the sign bit is not used."""

ID_BITS = 32
"""Bits of an id in keys of arity one and two and in keys of several words; ids are below 2**31 - 1."""

ID_MASK = (1 << ID_BITS) - 1
"""The bits of the last id of a key."""

LARGEST_ID = (1 << 31) - 1
"""No id is larger, so that ids fit 32 bits with a sign."""

BLOCK_ROWS = 1 << 20
"""Maximum number of rows that are made, listed or looked up at once, which bounds the memory for them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns of ``width`` bits, ``per_word`` of them in a word, the first one leading."""

    arity: int
    width: int
    per_word: int
    indexed: bool = True
    """Whether large runs have an index of the leading column, which takes memory and makes look-ups faster."""

    @property
    def words(self) -> int:
        return max(1, -(-self.arity // self.per_word))

    @property
    def is_packed(self) -> bool:
        """Whether a fact is a single word."""
        return self.arity <= self.per_word

    @property
    def lead_shift(self) -> int:
        """Bits by which a packed key is shifted to the right to get its leading column."""
        return self.width * max(0, self.arity - 1)

    @property
    def primary(self) -> Order:
        return tuple(range(self.arity))

    def fits(self, universe: int) -> bool:
        """Whether ids below ``universe`` fit the columns, and so does ``universe`` itself.

        The end of a range of keys is that of the next id, which must not overflow either.
        """
        return universe < 1 << min(self.width, 31)

    def place(self, position: int) -> tuple[int, int]:
        """The word and the shift of a column."""
        word = position // self.per_word
        in_word = min(self.per_word, self.arity - word * self.per_word)
        return word, self.width * (in_word - 1 - position % self.per_word)

    def span(self, bound: int) -> int:
        """Number of packed keys that share their first ``bound`` columns."""
        return 1 << self.width * (self.arity - bound) if bound else np.iinfo(np.int64).max

    def empty(self) -> Keys:
        return np.empty(0 if self.is_packed else (0, self.words), np.int64)


@lru_cache(maxsize=4096)
def layout_for(arity: int, universe: int) -> Layout:
    """The layout of facts of this arity over ids below ``universe``.

    >>> layout_for(3, 1000).words, layout_for(3, 10_000_000).words
    (1, 2)
    """
    if arity <= 2:
        return Layout(arity, ID_BITS, 2)
    packed = Layout(arity, KEY_BITS // arity, arity)
    return packed if packed.width and packed.fits(universe) else Layout(arity, ID_BITS, 2)


def pack(layout: Layout, columns: Iterable[Column | int], size: int) -> Keys:
    """Keys made of columns; a single number stands for a column of that number."""
    words = [np.zeros(size, np.int64) for _ in range(layout.words)]
    for position, column in enumerate(columns):
        word, shift = layout.place(position)
        words[word] |= column << shift if shift else column
    return words[0] if layout.is_packed else np.stack(words, axis=1)


def unpack(layout: Layout, keys: Keys, position: int) -> Column:
    """One column of the keys."""
    word, shift = layout.place(position)
    column = keys if layout.is_packed else keys[:, word]
    if shift:
        column = column >> shift
    return column & ((1 << layout.width) - 1) if position % layout.per_word else column


def columns_of(layout: Layout, keys: Keys) -> list[Column]:
    """All columns of the keys."""
    return [unpack(layout, keys, position) for position in range(layout.arity)]


def swapped(keys: Keys) -> Keys:
    """Keys of pairs, each read the other way round, in the order of the given ones.

    >>> swapped(np.array([3 << 32 | 5])).tolist() == [5 << 32 | 3]
    True
    """
    turned: Keys = (keys & ID_MASK) << ID_BITS | keys >> ID_BITS
    return turned


def reorder(layout: Layout, keys: Keys, source: Order, target: Order) -> Keys:
    """The keys with their columns in another order. They are not sorted."""
    if source == target:
        return keys
    if layout.arity == 2:
        return (keys << layout.width) | (keys >> layout.width)
    columns = [unpack(layout, keys, source.index(column)) for column in target]
    return pack(layout, columns, len(keys))


def sort_unique(keys: Keys) -> Keys:
    """The distinct keys, ascending. The memory of ``keys`` may be reused."""
    if keys.ndim == 1:
        from everlog.engine.kernels.sets import squeeze

        keys.sort()
        return keys[: squeeze(keys)]
    ordered = keys[np.lexsort(keys.T[::-1])]
    return ordered[first_of_equal(ordered)]


def first_of_equal(keys: Any) -> Mask:
    """Marks the first of each group of equal neighbours."""
    first = np.ones(len(keys), np.bool_)
    changes = keys[1:] != keys[:-1]
    first[1:] = changes if keys.ndim == 1 else changes.any(axis=1)
    return first
