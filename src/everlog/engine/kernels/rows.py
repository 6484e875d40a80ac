"""Sets of positions: a board, in which they are united, and rows, which take few words.

A *row* is cut into chunks of 2^16 positions, as in Roaring bitmaps. Each chunk that has a position is
in the row's directory, which is at its end, as a word: number of the chunk (16 bits), kind (2), payload (46).

- ``ONE``: one interval, first << 16 | last within the chunk;
- ``FULL``: all positions, of a number of further chunks as well;
- ``RUNS``: start << 16 | n - 1; at the start there are n such intervals, two a word;
- ``BITMAP``: start << 16 | first group << 8 | number of groups. A group is 64 words of 64 positions; at the start
  there are, for each group, a mask of the words that follow and a mask of those that are all ones, and then these
  words.

The smaller of the last two is taken, so the words of a row depend on its set alone. ``rows[r]`` is (address;
entries of the directory << 32 | number of words; number of positions << 32 | number of vertices that have the row).

A *board* is a bitmap of all positions, with a summary that has a bit for each word touched, so that taking
a set off the board costs the size of the set; the last two words of the summary are the range of its other words
that may not be zero. The third part of the board has room for a directory.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.engine.kernels.memory import bit_count, trailing_zeros, words_at

ONE, FULL, RUNS, BITMAP = 0, 1, 2, 3
"""The kinds of chunks."""

BIT = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
FAR = np.uint64(1 << 62)
"""The first word of an empty range of the summary; it is above all words."""

LOW = 0xFFFFFFFF
"""The lower 32 bits of a word."""

PAYLOAD = np.uint64((1 << 46) - 1)
"""The bits of the payload in a word of a directory."""

CHUNK = 1 << 16
"""Number of positions of a chunk."""

GROUPS = 16
"""Groups, which are words of the summary, in a chunk."""


@njit(inline="always")
def _note(summary, low, high):
    """Remember that the words of the summary from low to high may not be zero."""
    summary[-2] = min(summary[-2], np.uint64(low))
    summary[-1] = max(summary[-1], np.uint64(high))


@njit(inline="always")
def mark(board, summary, position):
    """Put a position on the board."""
    word = position >> 6
    _note(summary, word >> 6, word >> 6)
    board[word] |= BIT << np.uint64(position & 63)
    summary[word >> 6] |= BIT << np.uint64(word & 63)


@njit(inline="always")
def _fill_bits(words, first, last):
    """Set the bits from first to last; returns the numbers of the first and the last word."""
    low, high = first >> 6, last >> 6
    head, tail = ALL << np.uint64(first & 63), ALL >> np.uint64(63 - (last & 63))
    if low == high:
        words[low] |= head & tail
    else:
        words[low] |= head
        for word in range(low + 1, high):
            words[word] = ALL
        words[high] |= tail
    return low, high


@njit(inline="always")
def _fill(board, summary, first, last):
    """Put the positions from first to last on the board."""
    low, high = _fill_bits(board, first, last)
    low, high = _fill_bits(summary, low, high)
    _note(summary, low, high)


@njit(inline="always")
def _run(words, at, number):
    """An interval of a chunk, first << 16 | last."""
    return np.int64((words[at + (number >> 1)] >> np.uint64((number & 1) << 5)) & np.uint64(LOW))


@njit(cache=True, nogil=True)
def put_row(board, summary, rows, row):
    """Unite the board with a row."""
    size = rows[row, 1] & LOW
    words = words_at(rows[row, 0], size)
    for e in range(size - (rows[row, 1] >> 32), size):
        base = np.int64(words[e] >> np.uint64(48)) << 16
        kind, payload = np.int64(words[e] >> np.uint64(46)) & 3, np.int64(words[e] & PAYLOAD)
        at = payload >> 16
        if kind == ONE:
            _fill(board, summary, base + at, base + (payload & 0xFFFF))
        elif kind == FULL:
            _fill(board, summary, base, base + ((payload + 1) << 16) - 1)
        elif kind == RUNS:
            for i in range((payload & 0xFFFF) + 1):
                run = _run(words, at, i)
                _fill(board, summary, base + (run >> 16), base + (run & 0xFFFF))
        else:
            groups = payload & 0xFF
            first, following = (base >> 12) + ((payload >> 8) & 0xFF), at + 2 * groups
            _note(summary, first, first + groups - 1)
            for g in range(groups):
                begin = (first + g) << 6
                rest, ones = words[at + 2 * g], words[at + 2 * g + 1]
                summary[first + g] |= rest | ones
                if rest == ALL:
                    for i in range(64):
                        board[begin + i] |= words[following + i]
                    following += 64
                    continue
                while rest != 0:
                    board[begin + trailing_zeros(rest)] |= words[following]
                    following += 1
                    rest &= rest - BIT
                while ones != 0:
                    board[begin + trailing_zeros(ones)] = ALL
                    ones &= ones - BIT


@njit(cache=True, nogil=True)
def wipe(board, summary):
    """Empty the board."""
    for s in range(np.int64(summary[-2]), np.int64(summary[-1]) + 1):
        if summary[s] != 0:
            board[s << 6 : min((s + 1) << 6, board.shape[0])] = 0
            summary[s] = 0
    summary[-2], summary[-1] = FAR, np.uint64(0)


@njit(cache=True, nogil=True)
def _measure(board, summary, first, last):
    """The numbers of positions, of intervals, and of words that are neither zeros nor all ones in groups of a chunk."""
    count, runs, mixed = 0, 0, 0
    previous = np.uint64(0)
    for s in range(first, last + 1):
        if summary[s] == 0:
            previous = np.uint64(0)
            continue
        for word in range(s << 6, min((s + 1) << 6, board.shape[0])):
            bits = board[word]
            count += bit_count(bits)
            runs += bit_count(bits & ~((bits << BIT) | (previous >> np.uint64(63))))
            mixed += np.int64(bits + BIT > BIT)
            previous = bits
    return count, runs, mixed


@njit(cache=True, nogil=True)
def _write_runs(board, summary, first, last, out, at):
    """Write the intervals of a chunk's groups to ``out[at:]``, two a word; returns the place of the next word."""
    n, start, end = 0, np.int64(-1), np.int64(-2)
    origin = (first // GROUPS) * CHUNK
    for s in range(first, last + 2):
        touched = summary[s] if s <= last else BIT
        while touched != 0:
            base = (((s << 6) + trailing_zeros(touched)) << 6) - origin
            bits = board[(origin + base) >> 6] if s <= last else BIT
            touched &= touched - BIT
            while bits != 0:
                low = trailing_zeros(bits)
                rest = ~(bits >> np.uint64(low))
                length = 64 - low if rest == 0 else min(trailing_zeros(rest), 64 - low)
                bits = np.uint64(0) if low + length >= 64 else bits & (ALL << np.uint64(low + length))
                if base + low == end + 1 and s <= last:
                    end += length
                    continue
                if end >= 0:
                    run = np.uint64(start << 16 | end)
                    if n & 1:
                        out[at + (n >> 1)] |= run << np.uint64(32)
                    else:
                        out[at + (n >> 1)] = run
                    n += 1
                start, end = base + low, base + low + length - 1
    return at + ((n + 1) >> 1)


@njit(cache=True, nogil=True)
def _write_bitmap(board, first, last, out, at):
    """Write the masks of the groups, and their words that are neither zeros nor all ones; returns the place of the
    next word."""
    following = at + 2 * (last - first + 1)
    for s in range(first, last + 1):
        mixed, ones = np.uint64(0), np.uint64(0)
        for word in range(s << 6, min((s + 1) << 6, board.shape[0])):
            bits = board[word]
            if bits == ALL:
                ones |= BIT << np.uint64(word & 63)
            elif bits != 0:
                mixed |= BIT << np.uint64(word & 63)
                out[following] = bits
                following += 1
        out[at], out[at + 1] = mixed, ones
        at += 2
    return following


@njit(cache=True, nogil=True)
def take_row(board, summary, directory, out, start):
    """Write the board as a row to ``out[start:]`` and empty it; returns entries, words and positions.

    There must be room for 2 words for each of the summary and 1 for each of the board and of the directory.
    """
    at, entries, count, after_full = start, 0, 0, -1
    low, high = np.int64(summary[-2]), np.int64(summary[-1])
    if low > high:
        return entries, 0, count
    for chunk in range(low // GROUPS, high // GROUPS + 1):
        first, last = max(low, chunk * GROUPS), min(high, chunk * GROUPS + GROUPS - 1)
        while first < last and summary[first] == 0:
            first += 1
        while first < last and summary[last] == 0:
            last -= 1
        positions, runs, mixed = _measure(board, summary, first, last)
        if positions == 0:
            continue
        count += positions
        name, groups = np.uint64(chunk) << np.uint64(48), last - first + 1
        if positions == CHUNK:
            if after_full == chunk:
                directory[entries - 1] += BIT
                entries -= 1
            else:
                directory[entries] = name | np.uint64(FULL << 46)
            after_full = chunk + 1
        elif runs == 1:
            _write_runs(board, summary, first, last, out, at)
            directory[entries] = name | np.uint64(ONE << 46) | (out[at] & np.uint64(LOW))
        elif (runs + 1) >> 1 <= 2 * groups + mixed:
            directory[entries] = name | np.uint64(RUNS << 46 | (at - start) << 16 | (runs - 1))
            at = _write_runs(board, summary, first, last, out, at)
        else:
            window = (first - chunk * GROUPS) << 8 | groups
            directory[entries] = name | np.uint64(BITMAP) << np.uint64(46) | np.uint64((at - start) << 16 | window)
            at = _write_bitmap(board, first, last, out, at)
        entries += 1
    wipe(board, summary)
    out[at : at + entries] = directory[:entries]
    return entries, at + entries - start, count


@njit(cache=True, nogil=True)
def same_words(rows, row, out, at, size):
    """Whether a row has these words and no others."""
    if rows[row, 1] & LOW != size:
        return False
    words = words_at(rows[row, 0], size)
    for i in range(size):
        if words[i] != out[at + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def in_row(rows, row, position):
    """Whether a position is in a row."""
    size = rows[row, 1] & LOW
    words = words_at(rows[row, 0], size)
    chunk, inside = position >> 16, position & 0xFFFF
    first = size - (rows[row, 1] >> 32)
    low, high = first, size
    while low < high:
        middle = (low + high) >> 1
        if np.int64(words[middle] >> np.uint64(48)) <= chunk:
            low = middle + 1
        else:
            high = middle
    if low == first:
        return False
    entry = words[low - 1]
    begins, kind, payload = np.int64(entry >> np.uint64(48)), np.int64(entry >> np.uint64(46)) & 3, entry & PAYLOAD
    at = np.int64(payload) >> 16
    if kind == FULL:
        return chunk <= begins + np.int64(payload)
    if begins != chunk:
        return False
    if kind == ONE:
        return at <= inside <= np.int64(payload) & 0xFFFF
    if kind == RUNS:
        return _in_runs(words, at, (np.int64(payload) & 0xFFFF) + 1, inside)
    return _in_bitmap(words, at, (np.int64(payload) >> 8) & 0xFF, np.int64(payload) & 0xFF, inside)


@njit(inline="always")
def _in_runs(words, at, runs, inside):
    low, high = 0, runs
    while low < high:
        middle = (low + high) >> 1
        if _run(words, at, middle) & 0xFFFF < inside:
            low = middle + 1
        else:
            high = middle
    return low < runs and _run(words, at, low) >> 16 <= inside


@njit(inline="always")
def _in_bitmap(words, at, first, groups, inside):
    group, bit = (inside >> 12) - first, BIT << np.uint64((inside >> 6) & 63)
    if group < 0 or group >= groups:
        return False
    mixed = words[at + 2 * group]
    if mixed & bit == 0:
        return words[at + 2 * group + 1] & bit != 0
    following = at + 2 * groups + bit_count(mixed & (bit - BIT))
    for g in range(group):
        following += bit_count(words[at + 2 * g])
    return (words[following] >> np.uint64(inside & 63)) & BIT != 0


@njit(cache=True, nogil=True)
def reaches(rows, row_of, sources, targets):
    """Whether the second of each pair of positions is in the row of the first; negative ones are not."""
    found = np.zeros(sources.shape[0], np.bool_)
    for i in range(sources.shape[0]):
        if sources[i] >= 0 and targets[i] >= 0:
            found[i] = in_row(rows, row_of[sources[i]], targets[i])
    return found


@njit(inline="always")
def _list(board, without, summary, positions, n):
    """Write the positions that are on the board and not in another bitmap to ``positions[n:]``; returns the end."""
    for s in range(np.int64(summary[-2]), np.int64(summary[-1]) + 1):
        touched = summary[s]
        while touched != 0:
            word = (s << 6) + trailing_zeros(touched)
            touched &= touched - BIT
            bits = board[word] & ~without[word]
            if bits == ALL:
                for bit in range(64):
                    positions[n + bit] = (word << 6) + bit
                n += 64
                continue
            while bits != 0:
                positions[n] = (word << 6) + trailing_zeros(bits)
                bits &= bits - BIT
                n += 1
    return n


@njit(inline="always")
def _count(board, mask, summary):
    """The number of positions that are on the board and in a bitmap."""
    count = 0
    for s in range(np.int64(summary[-2]), np.int64(summary[-1]) + 1):
        if summary[s] != 0:
            for word in range(s << 6, min((s + 1) << 6, board.shape[0])):
                count += bit_count(board[word] & mask[word])
    return count


@njit(cache=True, nogil=True)
def expand_rows(rows, lefts, rights, work, others, total):
    """The positions that are in the left row of a pair and not in the right one; negative rows are empty.

    Returns the number of the pair, and the position; ``total`` is the number of all.
    """
    board, summary, _ = work
    other, other_summary, _ = others
    numbers = np.empty(total, np.int64)
    positions = np.empty(total, np.int64)
    n = 0
    for i in range(lefts.shape[0]):
        if lefts[i] < 0:
            continue
        begin = n
        put_row(board, summary, rows, lefts[i])
        if rights[i] >= 0:
            put_row(other, other_summary, rows, rights[i])
        n = _list(board, other, summary, positions, n)
        numbers[begin:n] = i
        wipe(board, summary)
        wipe(other, other_summary)
    return numbers, positions


@njit(cache=True, nogil=True)
def united(rows, wanted, work):
    """All positions that any of the wanted rows has."""
    board, summary, _ = work
    for row in wanted:
        put_row(board, summary, rows, row)
    positions = np.empty(_count(board, board, summary), np.int64)
    _list(board, np.zeros_like(board), summary, positions, 0)
    return positions


@njit(cache=True, nogil=True)
def count_common(rows, lefts, rights, work, others):
    """The number of positions that both rows of a pair have, summed over all pairs."""
    board, summary, _ = work
    other, other_summary, _ = others
    count = 0
    for i in range(lefts.shape[0]):
        put_row(board, summary, rows, lefts[i])
        put_row(other, other_summary, rows, rights[i])
        count += _count(board, other, summary)
        wipe(board, summary)
        wipe(other, other_summary)
    return count


@njit(cache=True, nogil=True)
def expand_through(rows, row_of, starts, begin, offsets, targets, unwanted, work, others, block):
    """The positions outside a bitmap that starts reach through certain edges, each with the number of its start.

    The edges of a position are ``targets[offsets[position]:offsets[position + 1]]``. Returns the start to go on with
    when ``block`` or more are found, too.
    """
    board, summary, _ = work
    other, other_summary, _ = others
    size = row_of.shape[0]
    numbers = np.empty(block + size, np.int64)
    positions = np.empty(block + size, np.int64)
    n = 0
    while begin < starts.shape[0] and n < block:
        mark(board, summary, starts[begin])
        put_row(board, summary, rows, row_of[starts[begin]])
        for s in range(np.int64(summary[-2]), np.int64(summary[-1]) + 1):
            touched = summary[s]
            while touched != 0:
                word = (s << 6) + trailing_zeros(touched)
                touched &= touched - BIT
                bits = board[word]
                if offsets[word << 6] == offsets[min(size, (word + 1) << 6)]:
                    continue
                while bits != 0:
                    position = (word << 6) + trailing_zeros(bits)
                    bits &= bits - BIT
                    for e in range(offsets[position], offsets[position + 1]):
                        target = targets[e]
                        if (other[target >> 6] >> np.uint64(target & 63)) & BIT == 0:
                            mark(other, other_summary, target)
                            put_row(other, other_summary, rows, row_of[target])
        wipe(board, summary)
        first, n = n, _list(other, unwanted, other_summary, positions, n)
        numbers[first:n] = begin
        wipe(other, other_summary)
        begin += 1
    return begin, numbers[:n].copy(), positions[:n].copy()


@njit(cache=True, nogil=True)
def count_within(rows, wanted, work, mask):
    """For each wanted row (negative: none) the number of its positions that are in a bitmap of all positions."""
    board, summary, _ = work
    counts = np.zeros(wanted.shape[0], np.int64)
    for i in range(wanted.shape[0]):
        if wanted[i] < 0:
            continue
        put_row(board, summary, rows, wanted[i])
        counts[i] = _count(board, mask, summary)
        wipe(board, summary)
    return counts


@njit(cache=True, nogil=True)
def copy_rows(rows, wanted, table, words):
    """Copy rows, to be numbered from 1, and their words."""
    at = 0
    base = words.ctypes.data
    for i in range(wanted.shape[0]):
        size = rows[wanted[i], 1] & LOW
        words[at : at + size] = words_at(rows[wanted[i], 0], size)
        table[i + 1] = rows[wanted[i]]
        table[i + 1, 0] = base + 8 * at
        at += size
