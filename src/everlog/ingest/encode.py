"""From texts to ids: facts become rows of 64-bit hashes, and each term's text is returned once.

Encoding needs no coordination: an id is a hash of the text. Two texts count as the same term only if a second,
independent hash agrees, too; so texts whose ids collide are both returned, and the dictionary (see
:mod:`everlog.ingest.dictionary`) finds them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.hashing import hash_texts
from everlog.engine.kernels.hashing import remember
from everlog.ingest.room import own_share
from everlog.store.schema import TERMS

_CHECK_SALT = 0x5EED
"""The salt of the second hash, which tells texts with the same id apart."""

_MOST_REMEMBERED = 1 << 22
"""Number of terms after which an encoder clears its table of known terms."""


class EncodedBlock(NamedTuple):
    """Facts as ids, and the terms and predicates in them that were not seen before."""

    facts: pa.RecordBatch
    terms: pa.RecordBatch


class Encoder:
    """Encodes batches one after the other, and returns each term once.

    It forgets what it has seen after a few million terms, so that its memory is bounded; a term may then be returned
    again.

    >>> texts = pa.record_batch({"predicate": ["p/2", "p/2"], "c0": ["1", "2"], "c1": ["1", "1"]})
    >>> facts, terms = Encoder().encode(texts)
    >>> facts.num_rows, facts.schema.names, terms.column("text").to_pylist()
    (2, ['predicate', 'c0', 'c1'], ['p/2', '1', '2'])
    """

    def __init__(self, salt: int = 0) -> None:
        self.salt = salt
        self._seen = _Seen()

    def encode(self, batch: pa.RecordBatch) -> EncodedBlock:
        """The facts of a batch of texts, and the terms in it that are new to this encoder."""
        encoded = [self._column(column) for column in batch.columns]
        columns, ids, texts = zip(*encoded, strict=True)
        facts = pa.RecordBatch.from_arrays(list(columns), names=batch.schema.names)
        terms = pa.RecordBatch.from_arrays([pa.array(np.concatenate(ids)), pa.concat_arrays(texts)], schema=TERMS)
        return EncodedBlock(facts, terms)

    def _column(self, texts: pa.Array) -> tuple[pa.Array, NDArray[np.int64], pa.Array]:
        """A column of ids (null where the text is) and the new terms in it as ids and texts."""
        if texts.null_count == len(texts):
            return pa.nulls(len(texts), pa.int64()), np.empty(0, np.int64), pa.array([], pa.string())
        ids = hash_texts(texts, self.salt)
        if texts.null_count == 0:
            column = pa.array(ids)
        else:
            column = pa.array(ids, mask=texts.is_null().to_numpy(zero_copy_only=False))
            texts, ids = texts.drop_null(), column.drop_null().to_numpy()
        fresh = self._seen.add(ids, hash_texts(texts, salt=self.salt ^ _CHECK_SALT))
        return column, ids[fresh], texts.take(pa.array(fresh)).cast(pa.string())


class _Seen:
    """The (id, check) pairs returned so far, in a hash table that is at most half full."""

    def __init__(self) -> None:
        self._slots = np.zeros((0, 2), np.int64)
        self._used = 0
        self._share = own_share()

    def add(self, ids: NDArray[np.int64], checks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add pairs, and return the positions of the new ones, each pair once."""
        if self._used > _MOST_REMEMBERED * self._share:
            self._slots, self._used = np.zeros((0, 2), np.int64), 0
        if (ids == ids[0]).all() and (checks == checks[0]).all():
            ids, checks = ids[:1], checks[:1]
        self._make_room(len(ids))
        fresh: NDArray[np.int64] = remember(self._slots, ids, checks)
        self._used += len(fresh)
        return fresh

    def _make_room(self, count: int) -> None:
        needed = 2 * (self._used + count)
        if needed <= len(self._slots):
            return
        used = self._slots[self._slots[:, 1] != 0]
        self._slots = np.zeros((1 << max(16, needed.bit_length()), 2), np.int64)
        remember(self._slots, used[:, 0].copy(), used[:, 1].copy())
