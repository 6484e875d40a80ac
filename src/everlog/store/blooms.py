"""Parquet's Bloom filters, which tell which values a column of a row group may have.

A filter consists of blocks of eight words of 32 bits. The upper half of a value's hash selects its block, the lower
half one bit in each word of the block. A value was not written unless all its bits are set. The format is the
split-block filter of the Parquet specification, with xxHash64 of the plain bytes of a value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

SALT = np.array(
    [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31], np.uint32
)
"""The multipliers that choose the bit in each word of a block."""

WORDS = len(SALT)
BLOCK_BYTES = 4 * WORDS
"""Bytes of a block."""

SIZE_FIELD = 0x15
"""The byte that begins the size in a header (Thrift's compact protocol)."""

FORM = bytes.fromhex("1c1c0000" * 3 + "00")
"""The bytes that follow the size in a header (Thrift's compact protocol): split blocks, xxHash, not compressed, end."""

MOST_DIGITS = 5
"""Maximum number of 7-bit digits of a size of 32 bits."""


@dataclass(frozen=True, eq=False)
class Bloom:
    """The filter of a column in a row group: the words of its blocks.

    >>> from everlog.engine.hashing import hash_numbers
    >>> none, all_ = np.zeros((1, 8), np.uint32), np.full((1, 8), 2**32 - 1, np.uint32)
    >>> [Bloom(words).may_have(hash_numbers(np.array([1, 2]))).tolist() for words in (none, all_)]
    [[False, False], [True, True]]
    """

    words: NDArray[np.uint32]

    @classmethod
    def of(cls, buffer: bytes) -> Bloom:
        """The filter in the bytes of a file, from its header to its end. Bytes that are no such filter are an error.

        >>> Bloom.of(bytes([0x15, 64]) + FORM + bytes(32)).words.shape
        (1, 8)
        """
        size, start = _size(buffer)
        if buffer[start : start + len(FORM)] != FORM:
            raise ValueError("a Bloom filter of another kind than split blocks, xxHash and no compression")
        start += len(FORM)
        if size <= 0 or size % BLOCK_BYTES or len(buffer) != start + size:
            raise ValueError(f"a Bloom filter of {size} bytes, of which there are {len(buffer) - start}")
        words = np.frombuffer(buffer, "<u4", offset=start)
        return cls(words.astype(np.uint32, copy=False).reshape(-1, WORDS))

    def may_have(self, hashed: Hashes) -> NDArray[np.bool_]:
        """Which values, given by their hashes, may be in the column; the others are not."""
        half = np.uint64(32)
        block = ((hashed >> half) * np.uint64(len(self.words))) >> half
        bit = (hashed.astype(np.uint32)[:, None] * SALT) >> np.uint32(27)
        are_set = (self.words[block.astype(np.intp)] >> bit) & np.uint32(1)
        found: NDArray[np.bool_] = np.logical_and.reduce(are_set, axis=1)
        return found


def _size(buffer: bytes) -> tuple[int, int]:
    """The number of bytes of a filter by its header, and where the number ends in the header."""
    if buffer[:1] != bytes([SIZE_FIELD]):
        raise ValueError("no header of a Bloom filter")
    number = 0
    for place, digit in enumerate(buffer[1 : 1 + MOST_DIGITS]):
        number |= (digit & 0x7F) << (7 * place)
        if digit < 0x80:
            return (number >> 1) ^ -(number & 1), place + 2
    raise ValueError("the header of a Bloom filter has no size")


def read_bloom(path: str, offset: int, length: int) -> Bloom:
    """The filter at a place in a file, as its footer names it; nothing else is read."""
    with open(path, "rb", buffering=0) as file:
        file.seek(offset)
        return Bloom.of(file.read(length))
