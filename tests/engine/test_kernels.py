"""Each kernel equals an implementation in NumPy or plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from everlog.engine.kernels import joins, search, sets, texts, wide
from everlog.engine.keys import Layout, layout_for, pack
from everlog.engine.runs import NO_INDEX, Run, table_of

Keys = NDArray[np.int64]
PAIR = layout_for(2, 0)
SHIFT = PAIR.lead_shift


def keys_of(*pairs: tuple[int, int]) -> Keys:
    return np.array(sorted({a << 32 | b for a, b in pairs}), np.int64)


small = st.integers(0, 9)
key_sets = st.sets(st.integers(0, 40)).map(lambda found: np.array(sorted(found), np.int64))
key_lists = st.lists(st.integers(0, 12)).map(lambda found: np.array(sorted(found), np.int64))
pair_sets = st.sets(st.tuples(small, small), max_size=40).map(lambda found: keys_of(*found))


class Runs:
    """Runs of pairs with or without an index of their first column, kept alive beside their table."""

    def __init__(self, parts: list[Keys], indexed: bool) -> None:
        self.runs = [Run.of(PAIR, part) for part in parts]
        if indexed:
            for run in self.runs:
                size = int(run.keys()[-1] >> SHIFT) + 2 if len(run) else 1
                run._indexes[PAIR.primary] = search.leading_offsets(run.keys(), SHIFT, size)
        rows = []
        for run in self.runs:
            index = run._indexes.get(PAIR.primary, NO_INDEX)
            rows.append((run.keys().ctypes.data, len(run), index.ctypes.data, len(index)))
        self.table = np.array(rows, np.int64).reshape(len(rows), 4)


# sets ---------------------------------------------------------------------------------------------


@given(key_lists)
def test_squeeze(keys: Keys) -> None:
    expected = np.unique(keys)
    assert sets.squeeze(keys) == len(expected)
    assert keys[: len(expected)].tolist() == expected.tolist()


@given(key_sets, key_sets)
def test_merge(left: Keys, right: Keys) -> None:
    assert sets.merge(left, right).tolist() == np.union1d(left, right).tolist()


@given(*[st.dictionaries(st.integers(0, 20), st.integers(-2, 2).filter(bool))] * 2)
def test_add_weights(left: dict[int, int], right: dict[int, int]) -> None:
    def arrays(weights: dict[int, int]) -> tuple[Keys, Keys]:
        return np.array(sorted(weights), np.int64), np.array([weights[k] for k in sorted(weights)], np.int64)

    keys, weights = sets.add_weights(*arrays(left), *arrays(right))
    both = {k: left.get(k, 0) + right.get(k, 0) for k in sorted({*left, *right})}
    assert list(zip(keys.tolist(), weights.tolist(), strict=True)) == [(k, w) for k, w in both.items() if w]


@given(key_lists)
def test_count_equal(keys: Keys) -> None:
    found, weights = sets.count_equal(keys)
    assert list(zip(found.tolist(), weights.tolist(), strict=True)) == sorted(Counter(keys.tolist()).items())


# search -------------------------------------------------------------------------------------------


@given(key_sets, st.integers(-1, 42), st.integers(0, 40))
def test_gallop_and_lower_bound(keys: Keys, key: int, low: int) -> None:
    low = min(low, len(keys))
    expected = max(low, int(np.searchsorted(keys, key)))
    assert search.gallop(keys, key, low, len(keys)) == expected
    assert search.lower_bound(keys, key, low, len(keys)) == expected


@given(pair_sets)
def test_leading_offsets(keys: Keys) -> None:
    leads = keys >> SHIFT
    offsets = search.leading_offsets(keys, SHIFT, 12)
    assert offsets.tolist() == np.searchsorted(leads, np.arange(12)).tolist()


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("bound", [1, 2])
@given(st.lists(pair_sets, max_size=3), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=12))
def test_ranges(indexed: bool, bound: int, parts: list[Keys], wanted: list[tuple[int, int]]) -> None:
    runs = Runs(parts, indexed)
    prefixes = np.array([a << 32 | (b if bound == 2 else 0) for a, b in wanted] + [-1], np.int64)
    span = PAIR.span(bound)
    starts, counts, totals = search.ranges(runs.table, prefixes, span, SHIFT)
    for i, prefix in enumerate(prefixes.tolist()):
        for r, part in enumerate(parts):
            found = part[starts[i, r] : starts[i, r] + counts[i, r]].tolist()
            assert found == ([k for k in part.tolist() if prefix <= k < prefix + span] if prefix >= 0 else [])
    assert totals.tolist() == [0, *np.cumsum(counts.sum(axis=1)).tolist()]


@given(pair_sets)
def test_ranges_of_everything(keys: Keys) -> None:
    runs = Runs([keys], indexed=False)
    _, counts, totals = search.ranges(runs.table, np.zeros(3, np.int64), PAIR.span(0), SHIFT)
    assert counts[:, 0].tolist() == [len(keys)] * 3
    assert totals[-1] == 3 * len(keys)


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("indexed", [False, True])
@given(st.lists(pair_sets, max_size=3), st.lists(st.tuples(st.integers(-1, 11), st.integers(0, 11)), max_size=30))
def test_contained(indexed: bool, ascending: bool, parts: list[Keys], wanted: list[tuple[int, int]]) -> None:
    runs = Runs(parts, indexed)
    keys = np.array([a << 32 | b for a, b in (sorted(wanted) if ascending else wanted)], np.int64)
    known = {key for part in parts for key in part.tolist()}
    assert search.contained(runs.table, keys, SHIFT).tolist() == [key in known for key in keys.tolist()]


# joins --------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.lists(pair_sets, min_size=1, max_size=3), st.lists(st.integers(0, 11), max_size=6))
def test_expand_in_every_window(parts: list[Keys], wanted: list[int]) -> None:
    runs = Runs(parts, indexed=False)
    prefixes = np.array(wanted, np.int64) << 32
    starts, counts, totals = search.ranges(runs.table, prefixes, PAIR.span(1), SHIFT)
    every = [(i, k) for i, a in enumerate(wanted) for part in parts for k in part.tolist() if k >> 32 == a]
    assert totals[-1] == len(every)
    windows = [(first, last) for first in range(len(every)) for last in range(first, len(every) + 1)]
    for first, last in windows[:: max(1, len(windows) // 60)]:
        rows, keys = joins.expand(runs.table, starts, counts, totals, first, last)
        assert list(zip(rows.tolist(), keys.tolist(), strict=True)) == every[first:last]


class Groups:
    """A join of rows (group, join value) with pairs, whose heads are (group, second of the pair)."""

    def __init__(self, rows: list[tuple[int, int]], pairs: list[Keys], known: list[Keys], universe: int) -> None:
        self.rows = sorted(rows)
        self.pairs, self.known = Runs(pairs, indexed=False), Runs(known, indexed=True)
        self.base = np.array([group << 32 for group, _ in self.rows], np.int64)
        values = np.array([value << 32 for _, value in self.rows], np.int64)
        self.ranges = search.ranges(self.pairs.table, values, PAIR.span(1), SHIFT)
        self.bits = np.zeros((universe >> 6) + 1, np.uint64)

    def expected(self) -> list[int]:
        pairs = np.concatenate([run.keys() for run in self.pairs.runs])
        known = np.concatenate([run.keys() for run in self.known.runs] + [np.empty(0, np.int64)])
        found = [group << 32 | (pairs[pairs >> 32 == value] & 0xFFFFFFFF) for group, value in self.rows]
        return np.setdiff1d(np.concatenate(found), known).tolist() if found else []

    def found(self, room: int) -> tuple[list[int], int]:
        """The heads, and the number of calls of the kernel that found them with ``room`` places for heads."""
        out, row, heads, goes = np.full(room, -7, np.int64), 0, [], 0
        while row < len(self.base):
            free = (1 << 31) - 1
            after, written = joins.join_groups(
                self.pairs.table, *self.ranges, self.base, free, self.known.table, SHIFT, self.bits, out, row
            )
            assert after > row, "no group was done although there is room for any"
            assert not self.bits.any(), "the bitmap is to be left as it was"
            heads += out[:written].tolist()
            row, goes = after, goes + 1
        return heads, goes


@given(
    st.lists(st.tuples(st.integers(0, 4), small), max_size=20),
    st.lists(pair_sets, min_size=1, max_size=3),
    st.lists(pair_sets, max_size=2),
    st.sampled_from([64, 100, 1000]),
)
def test_join_groups_that_are_small(
    rows: list[tuple[int, int]], pairs: list[Keys], known: list[Keys], room: int
) -> None:
    groups = Groups(rows, pairs, known, universe=10)
    heads, _ = groups.found(room)
    assert heads == groups.expected()


@pytest.mark.long
@pytest.mark.parametrize("universe", [200, 5_000, 200_000])
@pytest.mark.parametrize("known_share", [0.0, 0.3, 1.0], ids=["new", "some-known", "much-known"])
def test_join_groups_that_are_large(universe: int, known_share: float) -> None:
    """Groups below and above the sort threshold; much known against the group means it is looked up, not cleared."""
    random = np.random.default_rng(universe)
    fanouts = [1, 5, 31, 33, 300, universe // 2]
    pairs = [keys_of(*((v, int(b)) for v, n in enumerate(fanouts) for b in random.integers(0, universe, n)))]
    rows = [(group, int(value)) for group in range(8) for value in random.integers(0, len(fanouts), 1 + group % 3)]
    full = [b for b in range(universe) if random.random() < known_share]
    known = [keys_of(*((group, b) for group in (1, 2, 5, 9) for b in full)), keys_of((3, 0), (3, universe - 1))]
    groups = Groups(rows, pairs, known, universe)
    expected = groups.expected()
    room = groups.bits.shape[0] << 6
    heads, goes = groups.found(room)
    assert heads == expected
    assert goes > 1 or len(expected) < room
    assert groups.found(100 * room) == (expected, 1)


def test_join_groups_uses_every_way_of_removing_what_is_known() -> None:
    """A bitmap cleared by few known heads, one against many, and a sorted group; ids up to the last of the universe."""
    universe = 4096
    last = universe - 1
    pairs = [keys_of(*((0, b) for b in range(0, universe, 2)), *((1, b) for b in (1, 5, last))), keys_of((0, last))]
    known = [keys_of(*((0, b) for b in range(100)), *((1, b) for b in range(universe)), *((2, b) for b in range(10)))]
    groups = Groups([(0, 0), (1, 0), (2, 1), (3, 1)], pairs, known, universe)
    heads, _ = groups.found(universe << 1)
    assert heads == groups.expected()
    by_group = Counter(head >> 32 for head in heads)
    assert by_group == {0: universe // 2 - 50 + 1, 2: 1, 3: 3}


# keys of several words ----------------------------------------------------------------------------


rows_of_words = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20)


@given(st.builds(lambda found: sorted(set(found)), rows_of_words), rows_of_words)
def test_wide_lower_bounds(rows: list[tuple[int, int]], wanted: list[tuple[int, int]]) -> None:
    found = wide.lower_bounds(np.array(rows, np.int64).reshape(-1, 2), np.array(wanted, np.int64).reshape(-1, 2))
    assert found.tolist() == [sum(row < each for row in rows) for each in wanted]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4)), min_size=1, max_size=8))
def test_expand_ranges_in_every_window(found: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in found], np.int64)
    totals = np.cumsum([0, *(count for _, count in found)], dtype=np.int64)
    every = [(i, start + k) for i, (start, count) in enumerate(found) for k in range(count)]
    for first in range(len(every)):
        for last in range(first, len(every) + 1):
            rows, positions = wide.expand_ranges(starts, totals, first, last)
            assert list(zip(rows.tolist(), positions.tolist(), strict=True)) == every[first:last]


# texts --------------------------------------------------------------------------------------------


def buffers(found: list[bytes]) -> tuple[Any, Any]:
    offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return frozen(np.frombuffer(b"".join(found), np.uint8)), frozen(offsets)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def few_hashes(found: list[bytes], hashes: int) -> Keys:
    """Hashes over all of int64, with so few different values that most texts collide."""
    spread = (1 << 63) // max(1, hashes)
    return np.array([(sum(text) * 7 % hashes) * 2 * spread - (1 << 63) for text in found], np.int64)


words = st.lists(st.binary(max_size=3), max_size=20)


@pytest.mark.parametrize("hashes", [1, 3, 1000])
@given(words, words)
def test_intern_with_colliding_hashes(hashes: int, old: list[bytes], new: list[bytes]) -> None:
    old = list(dict.fromkeys(old))
    slots = np.full(128, -1, np.int32)
    old_hashes = few_hashes(old, hashes)
    texts.fill_slots(old_hashes, len(old), slots)
    old_data, old_offsets = (np.array(a) for a in buffers(old))
    ids, fresh = texts.intern(
        *buffers(new), frozen(few_hashes(new, hashes)), old_data, old_offsets, old_hashes, len(old), slots, 100
    )
    numbers = {text: number for number, text in enumerate(dict.fromkeys([*old, *new]), 100)}
    assert ids.tolist() == [numbers[text] for text in new]
    assert [new[i] for i in fresh] == [text for text in dict.fromkeys(new) if text not in old]
    assert sorted(slots[slots >= 0].tolist()) == list(range(len(numbers)))


@pytest.mark.parametrize("hashes", [1, 3, 1000])
@given(words, words)
def test_lookup_sorted_with_colliding_hashes(hashes: int, old: list[bytes], wanted: list[bytes]) -> None:
    old = list(dict.fromkeys(old))
    by_hash = np.argsort(few_hashes(old, hashes), kind="stable")
    ordered = [old[i] for i in by_hash]
    ids = texts.lookup_sorted(
        *buffers(wanted),
        frozen(few_hashes(wanted, hashes)),
        *buffers(ordered),
        frozen(few_hashes(ordered, hashes)),
    )
    assert ids.tolist() == [ordered.index(text) if text in ordered else -1 for text in wanted]


int64s = st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.sets(int64s | st.integers(0, 50), max_size=60), st.lists(int64s | st.integers(-2, 52), max_size=30))
def test_ranks(known: set[int], wanted: list[int]) -> None:
    """Texts are found even if hashes are not spread evenly, so that the expected place is wrong."""
    ordered = sorted(known)
    asked = [*wanted, *ordered[::9]]
    found = texts.ranks(frozen(np.array(ordered, np.int64)), frozen(np.array(asked, np.int64)))
    assert found.tolist() == [ordered.index(number) if number in known else -1 for number in asked]


def test_ranks_far_from_the_expected_place() -> None:
    known = np.concatenate([np.arange(-(1 << 63), -(1 << 63) + 5_000), np.arange((1 << 63) - 5_000, (1 << 63) - 1)])
    asked = np.concatenate([known[::-7], [0, -1, 1 << 62]])
    expected = np.searchsorted(known, asked)
    expected[-3:] = -1
    for part in (slice(None), slice(-20, None)):
        assert texts.ranks(frozen(known), frozen(asked[part])).tolist() == expected[part].tolist()


# runs of any layout -------------------------------------------------------------------------------


@pytest.mark.parametrize("universe", [1 << 20, (1 << 21) - 1])
def test_the_last_id_is_found_in_every_column(universe: int) -> None:
    """The end of the range of keys does not overflow."""
    layout: Layout = layout_for(3, universe)
    last = universe - 1
    run = Run.of(layout, pack(layout, [np.array([last])] * 3, 1))
    for bound in (1, 2, 3):
        prefix = pack(layout, [last] * bound, 1)
        _, counts, _ = search.ranges(table_of([run], layout.primary), prefix, layout.span(bound), layout.lead_shift)
        assert counts.tolist() == [[1]]
