"""Ids of terms and predicates in stores: xxHash64 of their UTF-8 text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from everlog.engine.kernels.hashing import xxhash64_texts

SEED = 42
"""The seed of Spark's ``xxhash64`` expression."""

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number, near 2^64 divided by the golden ratio, by which columns of rows are multiplied to mix them."""


def seed_of(salt: int = 0) -> int:
    """The seed for a salt.

    Spark's expression has a fixed seed, but hashes several columns by using the hash of one as the
    seed for the next. So salt 0 is ``xxhash64(text)``, any other is ``xxhash64(salt, text)`` with
    the salt as a bigint.

    >>> seed_of(), seed_of(1) != seed_of(2)
    (42, True)
    """
    return SEED if salt == 0 else xxhash.xxh64_intdigest(salt.to_bytes(8, "little", signed=True), SEED)


def hash_text(text: str, salt: int = 0) -> int:
    """The id of one text.

    >>> hash_text('"alice"') == int(hash_texts(pa.array(['"alice"']))[0])
    True
    """
    digest = xxhash.xxh64_intdigest(text.encode(), seed_of(salt))
    return digest - (1 << 64) if digest >> 63 else digest


def short_digest(text: str) -> str:
    """Twelve hexadecimal digits of the hash of a text, for names that are made from it.

    >>> short_digest("a")
    '88e4fe59adf7'
    """
    return xxhash.xxh64_hexdigest(text.encode(), SEED)[:12]


def hash_texts(texts: pa.Array | pa.ChunkedArray, salt: int = 0) -> NDArray[np.int64]:
    """The ids of an array of strings, read from its Arrow buffers without a copy.

    The hash of a null is that of whatever its slot holds, so callers have to mask nulls afterwards.

    >>> hash_texts(pa.array(["", "a"])).tolist()
    [-7444071767201028348, -8582455328737087284]
    """
    if isinstance(texts, pa.ChunkedArray):
        parts = [hash_texts(chunk, salt) for chunk in texts.chunks]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)
    data, offsets = text_buffers(texts)
    hashes: NDArray[np.int64] = xxhash64_texts(data, offsets, np.uint64(seed_of(salt)))
    return hashes


def hash_numbers(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The xxHash64, with seed 0, of the eight bytes of each number, as Parquet's Bloom filters have it.

    >>> int(hash_numbers(np.array([7]))[0]) == xxhash.xxh64_intdigest((7).to_bytes(8, "little"))
    True
    """
    data = np.frombuffer(np.ascontiguousarray(numbers, "<i8").tobytes(), np.uint8)
    offsets = np.arange(0, len(data) + 1, 8)
    offsets.flags.writeable = False  # as those of texts are, for which the kernel is compiled
    hashes: NDArray[np.int64] = xxhash64_texts(data, offsets, np.uint64(0))
    return hashes.view(np.uint64)


def text_buffers(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int32] | NDArray[np.int64]]:
    """The bytes and the offsets of a string array: text i is ``bytes[offsets[i]:offsets[i + 1]]``.

    >>> data, offsets = text_buffers(pa.array(["ab", "c"]).slice(1))
    >>> offsets.tolist(), data[2:3].tobytes()
    ([2, 3], b'c')
    """
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        raise TypeError(f"expected an array of strings, got {texts.type}")
    _, offset_buffer, data_buffer = texts.buffers()
    dtype = np.dtype(np.int64 if pa.types.is_large_string(texts.type) else np.int32)
    if len(texts) == 0:
        return np.empty(0, np.uint8), np.zeros(1, dtype)
    offsets = np.frombuffer(offset_buffer, dtype, len(texts) + 1, texts.offset * dtype.itemsize)
    data = np.empty(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    return data, offsets
