"""The dictionary: which dense id stands for which text.

Texts lie one after the other in a buffer, in the layout of Arrow's large strings; beside them their
hashes, which are their ids in a store. There are two parts:

- the *base*, in ascending order of the hashes, as a snapshot has it (it may be memory-mapped, and
  opening it costs nothing): id = rank, found by binary search;
- *added* texts after it, in order of arrival, found by a table of slots.

Nothing is ever removed. There is no Python object per term.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.hashing import hash_text, hash_texts, text_buffers
from everlog.engine.kernels import texts as kernels
from everlog.engine.keys import LARGEST_ID
from everlog.lang.codes import Code
from everlog.lang.errors import LimitError

MAX_TERMS = LARGEST_ID
"""Ids are below this, so that two ids fit one 64-bit key, and so does the end of a range of keys."""

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Texts:
    """Texts in one buffer, with their hashes: text i is ``data[offsets[i]:offsets[i + 1]]``."""

    data: Bytes
    offsets: Numbers
    hashes: Numbers

    def __len__(self) -> int:
        return len(self.hashes)

    def to_arrow(self) -> pa.LargeStringArray:
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_string(), len(self), buffers)

    @classmethod
    def of(cls, array: pa.Array, salt: int = 0) -> Texts:
        """The texts of an Arrow array of strings, which must have no nulls."""
        large = array.cast(pa.large_string())
        data, offsets = text_buffers(large)
        return cls(data, np.asarray(offsets, np.int64), hash_texts(large, salt=salt))


NO_TEXTS = Texts(np.empty(0, np.uint8), np.zeros(1, np.int64), np.empty(0, np.int64))


class Dictionary:
    """Maps texts to dense ids and back; the module's docstring describes its two parts.

    >>> d = Dictionary()
    >>> d.encode(pa.array(['"a"', '"b"', '"a"'])).tolist()
    [0, 1, 0]
    >>> d.decode(np.array([1, 0])).to_pylist(), d.find('"b"'), d.find('"c"')
    (['"b"', '"a"'], 1, -1)
    """

    def __init__(self, base: Texts = NO_TEXTS, salt: int = 0) -> None:
        _require_room(len(base))
        self.base = base
        self.salt = salt
        self._count = 0
        self._data: Bytes = np.empty(1 << 12, np.uint8)
        self._offsets: Numbers = np.zeros(1 << 8, np.int64)
        self._hashes: Numbers = np.empty(1 << 8, np.int64)
        self._slots: NDArray[np.int32] = np.full(1 << 9, -1, np.int32)
        self._slotted = 0

    def __len__(self) -> int:
        return len(self.base) + self._count

    @property
    def added(self) -> Texts:
        """The texts after the base."""
        used = int(self._offsets[self._count])
        return Texts(self._data[:used], self._offsets[: self._count + 1], self._hashes[: self._count])

    @property
    def nbytes(self) -> int:
        base = self.base.data.nbytes + self.base.offsets.nbytes + self.base.hashes.nbytes
        return base + self._data.nbytes + self._offsets.nbytes + self._hashes.nbytes + self._slots.nbytes

    def hashes(self) -> Numbers:
        """The hash of every text, by id."""
        return np.concatenate([self.base.hashes, self.added.hashes]) if self._count else self.base.hashes

    def encode(self, array: pa.Array) -> Numbers:
        """The ids of texts; new ones are added."""
        texts = Texts.of(array, self.salt)
        if not len(self.base):
            return self._intern(texts)
        ids = self._in_base(texts)
        missing = np.flatnonzero(ids < 0)
        if len(missing):
            ids[missing] = self._intern(_gathered(texts, missing))
        return ids

    def extend(self, new: Texts) -> None:
        """Add texts that the dictionary does not have, in their order. They get slots at the next look-up."""
        self._append(new)

    def lookup(self, array: pa.Array) -> Numbers:
        """The ids of texts, -1 for texts that the dictionary does not have. Nothing is added."""
        texts = Texts.of(array, self.salt)
        ids = self._in_base(texts)
        if self._count:
            missing = np.flatnonzero(ids < 0)
            wanted = _gathered(texts, missing)
            self._reserve_slots(self._count)
            added = kernels.lookup_slots(*_buffers(wanted), self._data, self._offsets, self._hashes, self._slots)
            ids[missing] = np.where(added >= 0, len(self.base) + added, -1)
        return ids

    def find(self, text: str) -> int:
        """The id of one text, or -1."""
        hashed, encoded = hash_text(text, salt=self.salt), text.encode()
        at = int(np.searchsorted(self.base.hashes, hashed))
        while at < len(self.base) and self.base.hashes[at] == hashed:
            if _bytes_at(self.base, at) == encoded:
                return at
            at += 1
        self._reserve_slots(self._count)
        added, mask = self.added, len(self._slots) - 1
        slot = hashed & mask
        while (held := int(self._slots[slot])) >= 0:
            if added.hashes[held] == hashed and _bytes_at(added, held) == encoded:
                return len(self.base) + held
            slot = (slot + 1) & mask
        return -1

    def decode(self, ids: Numbers) -> pa.LargeStringArray:
        """The texts of ids."""
        if not self._count:
            return _gathered_arrow(self.base, ids)
        added = ids >= len(self.base)
        if not len(self.base) or added.all():
            return _gathered_arrow(self.added, ids - len(self.base))
        if not added.any():
            return _gathered_arrow(self.base, ids)
        both = pa.concat_arrays(
            [_gathered_arrow(self.base, ids[~added]), _gathered_arrow(self.added, ids[added] - len(self.base))]
        )
        places = np.empty(len(ids), np.int64)
        places[np.concatenate([np.flatnonzero(~added), np.flatnonzero(added)])] = np.arange(len(ids))
        return both.take(pa.array(places))

    def ranked(self) -> tuple[Dictionary, Numbers]:
        """A dictionary with these texts as its base, in ascending order of hashes, and the new id of each old one."""
        if not self._count:
            return self, np.arange(len(self), dtype=np.int64)
        hashes = self.hashes()
        order = np.argsort(hashes, kind="stable")
        ids = np.empty(len(order), np.int64)
        ids[order] = np.arange(len(order))
        data, offsets = text_buffers(self.decode(order))
        return Dictionary(Texts(data, np.asarray(offsets, np.int64), hashes[order]), self.salt), ids

    def _in_base(self, texts: Texts) -> Numbers:
        return _lookup(texts, self.base)

    def _intern(self, texts: Texts) -> Numbers:
        self._reserve_slots(self._count + len(texts))
        ids, fresh = kernels.intern(
            *_buffers(texts), self._data, self._offsets, self._hashes, self._count, self._slots, len(self.base)
        )
        self._append(_gathered(texts, fresh) if len(fresh) < len(texts) else texts)
        self._slotted = self._count
        return ids

    def _append(self, new: Texts) -> None:
        try:
            _require_room(len(self) + len(new))
        except LimitError:
            self._fill_slots(len(self._slots))
            raise
        used, start = int(self._offsets[self._count]), int(new.offsets[0])
        size = int(new.offsets[-1]) - start
        self._data = _grown(self._data, used, used + size)
        self._offsets = _grown(self._offsets, self._count + 1, self._count + 1 + len(new))
        self._hashes = _grown(self._hashes, self._count, self._count + len(new))
        self._data[used : used + size] = new.data[start : start + size]
        self._offsets[self._count + 1 : self._count + 1 + len(new)] = new.offsets[1:] + (used - start)
        self._hashes[self._count : self._count + len(new)] = new.hashes
        self._count += len(new)

    def _reserve_slots(self, count: int) -> None:
        """Make slots for ``count`` texts, and put those that are in the dictionary into theirs."""
        size = len(self._slots)
        while size < 2 * count:
            size *= 2
        if size > len(self._slots) or self._slotted < self._count:
            self._fill_slots(size)

    def _fill_slots(self, size: int) -> None:
        self._slots = np.full(size, -1, np.int32)
        kernels.fill_slots(self._hashes, self._count, self._slots)
        self._slotted = self._count


class Constants(Mapping[str, int]):
    """Maps the texts of constants to ids. Each is looked up once; that a text has no id is not remembered, since it may
    be added later.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._ids: dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        if text not in self._ids:
            found = self._dictionary.find(text)
            if found < 0:
                return found
            self._ids[text] = found
        return self._ids[text]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


Item = TypeVar("Item", bound=np.generic)


def _require_room(terms: int) -> None:
    if terms > MAX_TERMS:
        raise LimitError.of(Code.TOO_MANY_TERMS, f"more than {MAX_TERMS:,} different terms", None, "split the data")


def _grown(array: NDArray[Item], used: int, needed: int) -> NDArray[Item]:
    if needed <= len(array):
        return array
    larger = np.empty(max(needed, len(array) * 3 // 2), array.dtype)
    larger[:used] = array[:used]
    return larger


def _frozen(array: NDArray[Item]) -> NDArray[Item]:
    """The array as read-only, so that kernels are compiled for one type whatever buffer a text comes from."""
    view = array.view()
    view.flags.writeable = False
    return view


def _buffers(texts: Texts) -> tuple[NDArray[Any], ...]:
    return _frozen(texts.data), _frozen(texts.offsets), _frozen(texts.hashes)


def _lookup(wanted: Texts, ordered: Texts) -> Numbers:
    if not len(ordered) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    ids: Numbers = kernels.lookup_sorted(*_buffers(wanted), *_buffers(ordered))
    return ids


def _gathered(texts: Texts, positions: Numbers) -> Texts:
    offsets = np.empty(len(positions) + 1, np.int64)
    kernels.gather_sizes(_frozen(texts.offsets), positions, offsets)
    data = np.empty(int(offsets[-1]), np.uint8)
    kernels.gather_bytes(_frozen(texts.data), _frozen(texts.offsets), positions, data, 0)
    return Texts(data, offsets, texts.hashes[positions])


def _gathered_arrow(texts: Texts, positions: Numbers) -> pa.LargeStringArray:
    return _gathered(texts, np.ascontiguousarray(positions)).to_arrow()


def _bytes_at(texts: Texts, at: int) -> bytes:
    return texts.data[texts.offsets[at] : texts.offsets[at + 1]].tobytes()
