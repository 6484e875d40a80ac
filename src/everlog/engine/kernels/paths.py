"""Proofs as graphs: which facts are proved, by what, and shortest paths.

Facts are numbers. A step, the instance of a rule for example, has a head and a body; steps are given by the heads,
and by ``offsets`` of their bodies in ``body``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.engine.kernels.rows import in_row

FAR = np.int32(1 << 30)


@njit(cache=True, nogil=True)
def _index(keys, size):
    """The positions of each key below ``size``: the start of those of a key, and the positions."""
    starts = np.zeros(size + 1, np.int64)
    for i in range(keys.shape[0]):
        starts[keys[i] + 1] += 1
    for k in range(size):
        starts[k + 1] += starts[k]
    places, at = np.empty(keys.shape[0], np.int64), starts[:size].copy()
    for i in range(keys.shape[0]):
        places[at[keys[i]]] = i
        at[keys[i]] += 1
    return starts, places


@njit(cache=True, nogil=True)
def _heights(head, offsets, leaf, starts, places, step_of):
    """For each fact the minimum height of a proof by the steps, -1 if it has none; leaves have 0."""
    height = np.full(leaf.shape[0], np.int32(-1), np.int32)
    queue = np.empty(leaf.shape[0], np.int64)
    size, at = 0, 0
    for f in range(leaf.shape[0]):
        if leaf[f]:
            height[f] = 0
            queue[size] = f
            size += 1
    missing = np.empty(head.shape[0], np.int64)
    for i in range(head.shape[0]):
        missing[i] = offsets[i + 1] - offsets[i]
        if missing[i] == 0 and height[head[i]] < 0:
            height[head[i]] = 1
            queue[size] = head[i]
            size += 1
    while at < size:
        f = queue[at]
        at += 1
        for k in range(starts[f], starts[f + 1]):
            i = step_of[places[k]]
            missing[i] -= 1
            if missing[i] == 0 and height[head[i]] < 0:
                height[head[i]] = height[f] + 1
                queue[size] = head[i]
                size += 1
    return height


@njit(cache=True, nogil=True)
def survey(head, offsets, body, leaf, expanded, final, goals):
    """The state of a search backwards from goals: heights of facts, and the facts to expand next.

    ``leaf`` facts need no proof, all steps of ``expanded`` ones are given, and the heights of ``final`` ones can no
    longer change; ``final`` is updated. A height is final if it is at most the distance to a fact that is not
    expanded. Returned are the least height by these steps of each fact (-1: not proved) and the facts that are not
    expanded, but needed for a goal that is not final.
    """
    facts = leaf.shape[0]
    step_of = np.empty(body.shape[0], np.int64)
    for i in range(head.shape[0]):
        for k in range(offsets[i], offsets[i + 1]):
            step_of[k] = i
    starts, places = _index(body, facts)
    height = _heights(head, offsets, leaf, starts, places, step_of)
    distance = np.full(facts, FAR, np.int32)
    queue = np.empty(facts, np.int64)
    size, at = 0, 0
    for f in range(facts):
        if not leaf[f] and not expanded[f]:
            distance[f] = 0
            queue[size] = f
            size += 1
    while at < size:
        f = queue[at]
        at += 1
        for k in range(starts[f], starts[f + 1]):
            above = head[step_of[places[k]]]
            if distance[above] == FAR and not final[above] and not leaf[above]:
                distance[above] = distance[f] + 1
                queue[size] = above
                size += 1
    for f in range(facts):
        final[f] |= height[f] >= 0 and height[f] <= distance[f]
    starts, places = _index(head, facts)
    seen = np.zeros(facts, np.bool_)
    frontier = np.empty(facts, np.int64)
    size, found = 0, 0
    for g in range(goals.shape[0]):
        if not seen[goals[g]]:
            seen[goals[g]] = True
            queue[size] = goals[g]
            size += 1
    while size > 0:
        size -= 1
        f = queue[size]
        if leaf[f] or final[f]:
            continue
        if not expanded[f]:
            frontier[found] = f
            found += 1
            continue
        for k in range(starts[f], starts[f + 1]):
            i = places[k]
            for j in range(offsets[i], offsets[i + 1]):
                below = body[j]
                if not seen[below]:
                    seen[below] = True
                    queue[size] = below
                    size += 1
    return height, frontier[:found].copy()


@njit(cache=True, nogil=True)
def choose(order, head, offsets, body, leaf):
    """For each fact the step of its smallest proof, or -1. Of several such steps it is the first in ``order``, which
    has a step after all those that prove facts of its body.

    Returned are the steps and the sizes of the proofs, in which a fact counts as often as it is used.
    """
    best = np.full(leaf.shape[0], -1, np.int64)
    size = np.zeros(leaf.shape[0], np.float64)
    for f in range(leaf.shape[0]):
        if leaf[f]:
            size[f] = 1.0
    for n in range(order.shape[0]):
        i = order[n]
        total = 1.0
        for k in range(offsets[i], offsets[i + 1]):
            total += size[body[k]]
        f = head[i]
        if not leaf[f] and (best[f] < 0 or total < size[f]):
            best[f] = i
            size[f] = total
    return best, size


@njit(cache=True, nogil=True)
def shortest_paths(rows, row_of, offsets, following, back_offsets, preceding, sources, targets, rank):
    """For each source a shortest path of at least one edge to the target beside it, of these the first by the ranks of
    its vertices: the start of the path of each, and the positions on it, both ends included; none is empty.

    ``offsets`` and ``following`` are the edges by their sources, the others by their targets; ``rows`` and ``row_of``
    are the closure (see ``rows``), so that only positions between source and target are visited. The search
    goes from both ends, level by level, where there is less to do; it visits each position once from either.
    """
    size = row_of.shape[0]
    ahead, behind = np.full(size, np.int32(-1), np.int32), np.full(size, np.int32(-1), np.int32)
    good = np.zeros(size, np.bool_)
    first_queue, second_queue = np.empty(size, np.int64), np.empty(size, np.int64)
    bounds = np.zeros(sources.shape[0] + 1, np.int64)
    out, used = np.empty(1024, np.int64), 0
    for g in range(sources.shape[0]):
        s, t = np.int64(sources[g]), np.int64(targets[g])
        bounds[g + 1] = used
        if s < 0 or t < 0:
            continue
        behind[t] = 0
        second_queue[0] = t
        forth, forth_begin, forth_level = 0, 0, np.int32(1)
        back, back_begin, back_level = 1, 0, np.int32(0)
        met = False
        for k in range(offsets[s], offsets[s + 1]):
            v = np.int64(following[k])
            if ahead[v] < 0 and (v == t or in_row(rows, row_of[v], t)):
                ahead[v] = 1
                first_queue[forth] = v
                forth += 1
                met |= behind[v] >= 0
        while not met and forth > forth_begin and back > back_begin:
            if forth - forth_begin <= back - back_begin:
                end = forth
                forth_level += np.int32(1)
                for q in range(forth_begin, end):
                    for k in range(offsets[first_queue[q]], offsets[first_queue[q] + 1]):
                        v = np.int64(following[k])
                        if ahead[v] < 0 and (v == t or in_row(rows, row_of[v], t)):
                            ahead[v] = forth_level
                            first_queue[forth] = v
                            forth += 1
                            met |= behind[v] >= 0
                forth_begin = end
            else:
                end = back
                back_level += np.int32(1)
                for q in range(back_begin, end):
                    for k in range(back_offsets[second_queue[q]], back_offsets[second_queue[q] + 1]):
                        v = np.int64(preceding[k])
                        if behind[v] < 0 and in_row(rows, row_of[s], v):
                            behind[v] = back_level
                            second_queue[back] = v
                            back += 1
                            met |= ahead[v] >= 0
                back_begin = end
        if met:
            for q in range(forth_begin, forth):
                good[first_queue[q]] = behind[first_queue[q]] == back_level
            for q in range(forth_begin - 1, -1, -1):
                v = first_queue[q]
                for k in range(offsets[v], offsets[v + 1]):
                    w = following[k]
                    if good[w] and ahead[w] == ahead[v] + 1:
                        good[v] = True
                        break
            length = np.int64(forth_level) + np.int64(back_level)
            while used + length + 1 > out.shape[0]:
                out = np.append(out, out)
            out[used] = s
            here = s
            for step in range(1, length + 1):
                chosen = np.int64(-1)
                for k in range(offsets[here], offsets[here + 1]):
                    v = np.int64(following[k])
                    if step <= forth_level:
                        fits = good[v] and ahead[v] == step
                    else:
                        fits = behind[v] == length - step
                    if fits and (chosen < 0 or rank[v] < rank[chosen]):
                        chosen = v
                here = chosen
                out[used + step] = here
            used += length + 1
            bounds[g + 1] = used
        for q in range(forth):
            ahead[first_queue[q]] = -1
            good[first_queue[q]] = False
        for q in range(back):
            behind[second_queue[q]] = -1
    return bounds, out[:used].copy()
