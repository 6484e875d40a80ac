"""Reachability: strongly connected components, and for each of them the row of positions that it reaches."""

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.engine.kernels.memory import run_index, run_keys
from everlog.engine.kernels.rows import BIT, mark, put_row, same_words, take_row
from everlog.engine.kernels.search import key_range

NO_ROW = 0
"""The row of vertices that reach nothing."""


@njit(cache=True, nogil=True)
def strong_components(offsets, targets):
    """The component of each vertex, numbered so that a component comes after those it reaches (Tarjan, iterative).

    The successors of ``v`` are ``targets[offsets[v]:offsets[v + 1]]``; negative ones are skipped.
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


@njit(cache=True, nogil=True)
def close_components(
    begin, bounds, members, position, offsets, targets, inside, old_row, dirty, row_of, changed, rows, used, work, out
):
    """The rows of components, each after those it reaches.

    Component ``k`` has the local vertices ``members[bounds[k]:bounds[k + 1]]``; vertex ``v`` is at ``position[v]`` and
    has the edges ``targets[offsets[v]:offsets[v + 1]]``, also positions; ``inside`` has their components. A component
    is closed again if it is dirty or reaches a position that changed; otherwise, or if its set is still that of
    ``old_row[k]``, that row is used. ``row_of`` and ``changed`` are brought up to date, new rows are put into
    ``rows[used:]``, their words into ``out``. ``work`` is the board. Returns the component to go on
    with (there are more if ``out`` may be too small for the next), and the numbers of rows and words used.
    """
    board, summary, directory = work
    base = out.ctypes.data
    largest = board.shape[0] + 2 * summary.shape[0] + directory.shape[0]
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
        if at + largest > out.shape[0]:
            return k, used, at
        inner = last - first > 1
        for m in range(first, last):
            v = members[m]
            for e in range(offsets[v + 1] - 1, offsets[v] - 1, -1):
                target = targets[e]
                if inside[e] == k:
                    inner = True
                elif (board[target >> 6] >> np.uint64(target & 63)) & BIT == 0:
                    mark(board, summary, target)
                    put_row(board, summary, rows, row_of[target])
        if inner:
            for m in range(first, last):
                mark(board, summary, position[members[m]])
        entries, size, count = take_row(board, summary, directory, out, at)
        if old_row[k] >= 0 and same_words(rows, old_row[k], out, at, size):
            continue
        row = NO_ROW
        if count > 0:
            row = used
            rows[row, 0], rows[row, 1], rows[row, 2] = base + 8 * at, entries << 32 | size, count << 32 | last - first
            at += size
            used += 1
        for m in range(first, last):
            row_of[position[members[m]]] = row
            changed[position[members[m]]] = True
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
def leading_to(table, gone, shift, wanted, size, patience):
    """The positions from which each of the wanted ones (negative: none) can be reached by at least one edge.

    ``table`` has the edges by their targets, ``gone`` the deleted ones among them, ``size`` is the number of
    positions. Returns the number of edges followed, and for each position found its wanted one's number and itself;
    these are not complete if more than ``patience`` edges were followed.
    """
    seen = np.zeros(size, np.int32)
    numbers, found = np.empty(64, np.int64), np.empty(64, np.int64)
    n, work = 0, 0
    mask = (np.int64(1) << shift) - 1
    for i in range(wanted.shape[0]):
        here, head = np.int64(wanted[i]), n
        while here >= 0 and work <= patience:
            for r in range(table.shape[0]):
                keys = run_keys(table, r)
                low, high = key_range(keys, run_index(table, r), here << shift, mask + 1, shift)
                work += high - low
                for k in range(low, high):
                    source = keys[k] & mask
                    if seen[source] == i + 1 or _is_in(gone, keys[k], shift):
                        continue
                    seen[source] = i + 1
                    if n == found.shape[0]:
                        numbers, found = np.append(numbers, numbers), np.append(found, found)
                    numbers[n], found[n] = i, source
                    n += 1
            here = np.int64(-1)
            if head < n:
                here = found[head]
                head += 1
        work += 1
        if work > patience:
            break
    return work, numbers[:n].copy(), found[:n].copy()


@njit(inline="always")
def _is_in(table, key, shift):
    """Whether one of the runs has a key."""
    for r in range(table.shape[0]):
        low, high = key_range(run_keys(table, r), run_index(table, r), key, 1, shift)
        if low < high:
            return True
    return False


@njit(cache=True, nogil=True)
def looked_up(table, width, vertices):
    """The entries of vertices (state << 32 | term) in a table by state and term; -1 for vertices outside the table."""
    found = np.full(vertices.shape[0], -1, np.int32)
    for i in range(vertices.shape[0]):
        term, at = vertices[i] & 0xFFFFFFFF, (vertices[i] >> 32) * width + (vertices[i] & 0xFFFFFFFF)
        if term < width and at < table.shape[0]:
            found[i] = table[at]
    return found


@njit(cache=True, nogil=True)
def found_at(vertex_at, places, vertices):
    """The positions of vertices, which ``places`` has in the order of its vertices; -1 for vertices without one."""
    found = np.full(vertices.shape[0], -1, np.int32)
    for i in range(vertices.shape[0]):
        low, high = 0, places.shape[0]
        while low < high:
            middle = (low + high) >> 1
            if vertex_at[places[middle]] < vertices[i]:
                low = middle + 1
            else:
                high = middle
        if low < places.shape[0] and vertex_at[places[low]] == vertices[i]:
            found[i] = places[low]
    return found
