"""Reachability: strongly connected components, and for each the set of positions it reaches.

A *row* is a set of positions, closed under reachability, in the smaller of two forms: ascending
intervals, a word each (first << 32 | last), or the 64-bit words of a bitmap from some word on.
``rows[r]`` is (address, number of words, first word of a bitmap or -1, number of positions, number of
vertices that have the row).
Sets are united in a *board*: a bitmap of all positions, with a summary that has a bit for each
word touched, so that taking a set off the board costs what the set costs; its last two words say
between which of its others that is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.engine.kernels.memory import run_index, run_keys, trailing_zeros, words_at
from everlog.engine.kernels.search import key_range

ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
INTERVALS = -1
FAR = np.uint64(1 << 62)


@njit(cache=True, nogil=True)
def popcount(word):
    """The number of bits set in a 64-bit word."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def highest_bit(word):
    """The position of the highest bit set in a nonzero 64-bit word."""
    found = 0
    for step in (32, 16, 8, 4, 2, 1):
        if word >> np.uint64(step) != 0:
            word >>= np.uint64(step)
            found += step
    return found


@njit(cache=True, nogil=True)
def strong_components(offsets, targets):
    """The component of each vertex, numbered so that a component comes after those it reaches (Tarjan, iterative).

    The successors of ``v`` are ``targets[offsets[v]:offsets[v + 1]]``; negative ones are left out.
    Returns the components, and the vertices in the order in which components were completed.
    """
    size = offsets.shape[0] - 1
    component = np.full(size, -1, np.int32)
    low = np.zeros(size, np.int32)
    number = np.zeros(size, np.int32)
    following = np.zeros(size, np.int64)
    stack = np.empty(size, np.int32)
    path = np.empty(size, np.int32)
    order = np.empty(size, np.int32)
    counter, on_stack, done, components = 0, 0, 0, 0
    for root in range(size):
        if number[root] != 0:
            continue
        depth = 1
        path[0] = root
        while depth > 0:
            v = path[depth - 1]
            if number[v] == 0:
                counter += 1
                number[v] = counter
                low[v] = counter
                following[v] = offsets[v]
                stack[on_stack] = v
                on_stack += 1
            descended = False
            while following[v] < offsets[v + 1]:
                w = targets[following[v]]
                if w < 0 or component[w] >= 0:
                    following[v] += 1
                elif number[w] == 0:
                    path[depth] = w
                    depth += 1
                    descended = True
                    break
                else:
                    low[v] = min(low[v], low[w])
                    following[v] += 1
            if descended:
                continue
            depth -= 1
            if low[v] == number[v]:
                while True:
                    on_stack -= 1
                    w = stack[on_stack]
                    component[w] = components
                    order[done] = w
                    done += 1
                    if w == v:
                        break
                components += 1
    return component, order


@njit(inline="always")
def _note(summary, low, high):
    """Remember that the words of the summary from low to high may not be zero."""
    summary[-2] = min(summary[-2], np.uint64(low))
    summary[-1] = max(summary[-1], np.uint64(high))


@njit(inline="always")
def _mark(board, summary, position):
    word = position >> 6
    _note(summary, word >> 6, word >> 6)
    board[word] |= ONE << np.uint64(position & 63)
    summary[word >> 6] |= ONE << np.uint64(word & 63)


@njit(inline="always")
def _touch(summary, first, last):
    """Note that the words from first to last may have positions."""
    low, high = first >> 6, last >> 6
    head, tail = ALL << np.uint64(first & 63), ALL >> np.uint64(63 - (last & 63))
    _note(summary, low, high)
    if low == high:
        summary[low] |= head & tail
    else:
        summary[low] |= head
        for word in range(low + 1, high):
            summary[word] = ALL
        summary[high] |= tail


@njit(inline="always")
def _fill(board, summary, first, last):
    """Put the positions from first to last on the board."""
    low, high = first >> 6, last >> 6
    head, tail = ALL << np.uint64(first & 63), ALL >> np.uint64(63 - (last & 63))
    if low == high:
        board[low] |= head & tail
    else:
        board[low] |= head
        for word in range(low + 1, high):
            board[word] = ALL
        board[high] |= tail
    _touch(summary, low, high)


@njit(cache=True, nogil=True)
def put_row(board, summary, rows, row):
    """Unite the board with a row."""
    words = words_at(rows[row, 0], rows[row, 1])
    first = rows[row, 2]
    if first == INTERVALS:
        for i in range(words.shape[0]):
            _fill(board, summary, np.int64(words[i] >> np.uint64(32)), np.int64(words[i] & np.uint64(0xFFFFFFFF)))
    elif words.shape[0] > 0:
        for i in range(words.shape[0]):
            board[first + i] |= words[i]
        _touch(summary, first, first + words.shape[0] - 1)


@njit(cache=True, nogil=True)
def drop_row(board, rows, row):
    """Take the positions of a row off the board."""
    words = words_at(rows[row, 0], rows[row, 1])
    first = rows[row, 2]
    if first != INTERVALS:
        for i in range(words.shape[0]):
            board[first + i] &= ~words[i]
        return
    for i in range(words.shape[0]):
        low, high = np.int64(words[i] >> np.uint64(32)), np.int64(words[i] & np.uint64(0xFFFFFFFF))
        head, tail = ALL << np.uint64(low & 63), ALL >> np.uint64(63 - (high & 63))
        low, high = low >> 6, high >> 6
        if low == high:
            board[low] &= ~(head & tail)
        else:
            board[low] &= ~head
            for word in range(low + 1, high):
                board[word] = 0
            board[high] &= ~tail


@njit(cache=True, nogil=True)
def measure_board(board, summary):
    """What is on the board: number of positions, number of intervals, first and last word touched (-1 if none)."""
    count, intervals, first, last = 0, 0, -1, -1
    for s in range(np.int64(summary[-2]), np.int64(summary[-1]) + 1):
        if summary[s] == 0:
            continue
        begin, end = s << 6, min((s + 1) << 6, board.shape[0])
        if first < 0:
            first = begin + trailing_zeros(summary[s])
        last = s
        before = board[begin - 1] if begin > 0 else np.uint64(0)
        intervals += popcount(board[begin] & ~((board[begin] << ONE) | (before >> np.uint64(63))))
        count += popcount(board[begin])
        for word in range(begin + 1, end):
            bits = board[word]
            count += popcount(bits)
            intervals += popcount(bits & ~((bits << ONE) | (board[word - 1] >> np.uint64(63))))
    if last >= 0:
        last = (last << 6) + highest_bit(summary[last])
    return count, intervals, first, last


@njit(cache=True, nogil=True)
def wipe(board, summary):
    """Empty the board."""
    for s in range(np.int64(summary[-2]), np.int64(summary[-1]) + 1):
        if summary[s] != 0:
            for word in range(s << 6, min((s + 1) << 6, board.shape[0])):
                board[word] = 0
            summary[s] = 0
    summary[-2], summary[-1] = FAR, np.uint64(0)


@njit(cache=True, nogil=True)
def take_row(board, summary, intervals, first, last, out, at):
    """Write the board in its smaller form to ``out[at:]`` and empty it; returns words written, and first word or -1."""
    window = last - first + 1
    if window <= intervals:
        for i in range(window):
            out[at + i] = board[first + i]
        wipe(board, summary)
        return window, first
    n = 0
    start, end = np.int64(-1), np.int64(-2)
    for s in range(np.int64(summary[-2]), np.int64(summary[-1]) + 1):
        touched = summary[s]
        while touched != 0:
            word = (s << 6) + trailing_zeros(touched)
            touched &= touched - ONE
            bits = board[word]
            board[word] = 0
            base = word << 6
            while bits != 0:
                low = trailing_zeros(bits)
                rest = ~(bits >> np.uint64(low))
                length = 64 - low if rest == 0 else min(trailing_zeros(rest), 64 - low)
                if base + low == end + 1:
                    end += length
                else:
                    if end >= 0:
                        out[at + n] = (np.uint64(start) << np.uint64(32)) | np.uint64(end)
                        n += 1
                    start, end = base + low, base + low + length - 1
                if low + length >= 64:
                    bits = np.uint64(0)
                else:
                    bits &= ALL << np.uint64(low + length)
        summary[s] = 0
    summary[-2], summary[-1] = FAR, np.uint64(0)
    if end >= 0:
        out[at + n] = (np.uint64(start) << np.uint64(32)) | np.uint64(end)
        n += 1
    return n, np.int64(INTERVALS)


@njit(cache=True, nogil=True)
def same_row(board, summary, rows, row, count):
    """Whether the board, which has ``count`` positions, is just the row."""
    if rows[row, 3] != count:
        return False
    words = words_at(rows[row, 0], rows[row, 1])
    first = rows[row, 2]
    if first != INTERVALS:
        for i in range(words.shape[0]):
            if board[first + i] != words[i]:
                return False
        return True
    for i in range(words.shape[0]):
        low, high = np.int64(words[i] >> np.uint64(32)), np.int64(words[i] & np.uint64(0xFFFFFFFF))
        for word in range(low >> 6, (high >> 6) + 1):
            wanted = ALL
            if word == low >> 6:
                wanted &= ALL << np.uint64(low & 63)
            if word == high >> 6:
                wanted &= ALL >> np.uint64(63 - (high & 63))
            if board[word] & wanted != wanted:
                return False
    return True


@njit(cache=True, nogil=True)
def close_components(
    begin, bounds, members, position, offsets, targets, inside, old_row, dirty, row_of, changed, rows, used, work, out
):
    """The rows of components, each after those it reaches.

    Component ``k`` has the local vertices ``members[bounds[k]:bounds[k + 1]]``; vertex ``v`` is at ``position[v]`` and
    has the edges ``targets[offsets[v]:offsets[v + 1]]``, positions too, ``inside`` says in which component. A component
    is closed again if it is dirty or reaches a position that changed; otherwise, or if the set comes out as it was
    in ``old_row[k]``, that row is kept. ``row_of`` and ``changed`` are brought up to date, new rows are put into
    ``rows[used:]``, their sets into ``out``. ``work`` is the board and its summary. Returns the component to go on
    with (there are more if ``out`` is full), and how many rows and words are used.
    """
    board, summary = work
    base = out.ctypes.data
    at = 0
    for k in range(begin, bounds.shape[0] - 1):
        first, last = bounds[k], bounds[k + 1]
        again = dirty[k] or old_row[k] < 0
        if not again:
            for m in range(first, last):
                v = members[m]
                for e in range(offsets[v], offsets[v + 1]):
                    if changed[targets[e]]:
                        again = True
                        break
                if again:
                    break
        if not again:
            continue
        inner = last - first > 1
        for m in range(first, last):
            v = members[m]
            for e in range(offsets[v + 1] - 1, offsets[v] - 1, -1):
                target = targets[e]
                if inside[e] == k:
                    inner = True
                elif (board[target >> 6] >> np.uint64(target & 63)) & ONE == 0:
                    _mark(board, summary, target)
                    put_row(board, summary, rows, row_of[target])
        if inner:
            for m in range(first, last):
                _mark(board, summary, position[members[m]])
        count, intervals, low, high = measure_board(board, summary)
        if old_row[k] >= 0 and same_row(board, summary, rows, old_row[k], count):
            wipe(board, summary)
            continue
        if at + min(intervals, high - low + 1) > out.shape[0]:
            wipe(board, summary)
            return k, used, at
        written, form = np.int64(0), np.int64(INTERVALS)
        if count > 0:
            written, form = take_row(board, summary, intervals, low, high, out, at)
        rows[used, 0], rows[used, 1], rows[used, 2], rows[used, 3] = base + 8 * at, written, form, count
        rows[used, 4] = last - first
        at += written
        for m in range(first, last):
            row_of[position[members[m]]] = used
            changed[position[members[m]]] = True
        used += 1
    return bounds.shape[0] - 1, used, at


@njit(cache=True, nogil=True)
def ancestors(table, shift, seeds, marked):
    """The positions from which a seed can be reached, seeds first; ``table`` has the edges by their targets.

    ``marked`` is an array of zeros over all positions, in which they are marked.
    """
    queue = np.empty(marked.shape[0], np.int32)
    size, head = 0, 0
    mask = (np.int64(1) << shift) - 1
    for i in range(seeds.shape[0]):
        if not marked[seeds[i]]:
            marked[seeds[i]] = True
            queue[size] = seeds[i]
            size += 1
    while head < size:
        wanted = np.int64(queue[head]) << shift
        head += 1
        for r in range(table.shape[0]):
            keys, index = run_keys(table, r), run_index(table, r)
            low, high = key_range(keys, index, wanted, mask + 1, shift)
            for i in range(low, high):
                source = keys[i] & mask
                if not marked[source]:
                    marked[source] = True
                    queue[size] = source
                    size += 1
    return queue[:size].copy()


@njit(cache=True, nogil=True)
def looked_up(table, width, vertices):
    """The entries of vertices (state << 32 | term) in a table by state and term; -1 for what is outside."""
    found = np.full(vertices.shape[0], -1, np.int32)
    for i in range(vertices.shape[0]):
        term, at = vertices[i] & 0xFFFFFFFF, (vertices[i] >> 32) * width + (vertices[i] & 0xFFFFFFFF)
        if term < width and at < table.shape[0]:
            found[i] = table[at]
    return found


@njit(cache=True, nogil=True)
def in_row(rows, row, position):
    """Whether a position is in a row."""
    words = words_at(rows[row, 0], rows[row, 1])
    first = rows[row, 2]
    if first != INTERVALS:
        word = (position >> 6) - first
        return 0 <= word < words.shape[0] and (words[word] >> np.uint64(position & 63)) & ONE != 0
    low, high = 0, words.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if np.int64(words[middle] & np.uint64(0xFFFFFFFF)) < position:
            low = middle + 1
        else:
            high = middle
    return low < words.shape[0] and np.int64(words[low] >> np.uint64(32)) <= position


@njit(cache=True, nogil=True)
def reaches(rows, row_of, sources, targets):
    """For each pair of positions whether the first reaches the second; negative ones do not."""
    found = np.zeros(sources.shape[0], np.bool_)
    for i in range(sources.shape[0]):
        if sources[i] >= 0 and targets[i] >= 0:
            found[i] = in_row(rows, row_of[sources[i]], targets[i])
    return found


@njit(cache=True, nogil=True)
def expand_rows(rows, wanted, total):
    """The positions in each of the wanted rows (negative: none): number of the row in ``wanted``, and position."""
    numbers = np.empty(total, np.int64)
    positions = np.empty(total, np.int64)
    n = 0
    for i in range(wanted.shape[0]):
        if wanted[i] < 0:
            continue
        begin = n
        words = words_at(rows[wanted[i], 0], rows[wanted[i], 1])
        first = rows[wanted[i], 2]
        if first == INTERVALS:
            for j in range(words.shape[0]):
                low, high = np.int64(words[j] >> np.uint64(32)), np.int64(words[j] & np.uint64(0xFFFFFFFF))
                for position in range(low, high + 1):
                    positions[n] = position
                    n += 1
        else:
            for j in range(words.shape[0]):
                bits = words[j]
                base = (first + j) << 6
                while bits != 0:
                    positions[n] = base + trailing_zeros(bits)
                    bits &= bits - ONE
                    n += 1
        numbers[begin:n] = i
    return numbers, positions


@njit(cache=True, nogil=True)
def expand_differences(rows, lefts, rights, work, total):
    """The positions that are in the left row of a pair and not in the right one; negative rows are empty.

    With a negative ``total`` only their number is found.
    """
    board, summary = work
    numbers = np.empty(max(total, 0), np.int64)
    positions = np.empty(max(total, 0), np.int64)
    n = 0
    for i in range(lefts.shape[0]):
        if lefts[i] < 0:
            continue
        put_row(board, summary, rows, lefts[i])
        if rights[i] >= 0:
            drop_row(board, rows, rights[i])
        for s in range(np.int64(summary[-2]), np.int64(summary[-1]) + 1):
            touched = summary[s]
            while touched != 0:
                word = (s << 6) + trailing_zeros(touched)
                touched &= touched - ONE
                bits = board[word]
                if total < 0:
                    n += popcount(bits)
                    continue
                while bits != 0:
                    numbers[n], positions[n] = i, (word << 6) + trailing_zeros(bits)
                    bits &= bits - ONE
                    n += 1
        wipe(board, summary)
    return n, numbers, positions


@njit(cache=True, nogil=True)
def count_within(rows, wanted, mask):
    """For each wanted row how many of its positions are in a bitmap of all positions."""
    counts = np.zeros(wanted.shape[0], np.int64)
    for i in range(wanted.shape[0]):
        if wanted[i] < 0:
            continue
        words = words_at(rows[wanted[i], 0], rows[wanted[i], 1])
        first = rows[wanted[i], 2]
        if first != INTERVALS:
            for j in range(words.shape[0]):
                counts[i] += popcount(words[j] & mask[first + j])
            continue
        for j in range(words.shape[0]):
            low, high = np.int64(words[j] >> np.uint64(32)), np.int64(words[j] & np.uint64(0xFFFFFFFF))
            for word in range(low >> 6, (high >> 6) + 1):
                bits = mask[word]
                if word == low >> 6:
                    bits &= ALL << np.uint64(low & 63)
                if word == high >> 6:
                    bits &= ALL >> np.uint64(63 - (high & 63))
                counts[i] += popcount(bits)
    return counts


@njit(cache=True, nogil=True)
def copy_rows(rows, wanted, table, words):
    """Copy rows, to be numbered from 1, and their words."""
    at = 0
    base = words.ctypes.data
    for i in range(wanted.shape[0]):
        source = words_at(rows[wanted[i], 0], rows[wanted[i], 1])
        words[at : at + source.shape[0]] = source
        table[i + 1] = rows[wanted[i]]
        table[i + 1, 0] = base + 8 * at
        at += source.shape[0]
