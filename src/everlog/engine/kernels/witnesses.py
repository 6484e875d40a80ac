"""Instances of rules with given heads, fact by fact and one at a time.

The rules of one predicate are tables of numbers (:mod:`everlog.engine.backward_plans` makes them). A rule has one plan
or several, a plan has steps, and a step matches one body atom in a few runs. ``steps`` has a row for each step; its
columns are the constants below. ``cells`` has a row for each step and column of its atom, in the order of the step.

The search for the instances of a fact is a nested loop over the steps of a plan. Its state is the value of each
variable (``values``) and the place reached in each step: the run, the next position in it, and the end (``places``).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.engine.kernels.memory import run_index, run_keys
from everlog.engine.kernels.search import key_range, lower_bound

KIND, FIRST_RUN, LAST_RUN, FIRST_GRAVE, LAST_GRAVE, LEAD, BOUND, SPAN_BITS, ARITY, CHAINED = range(10)
"""Columns of ``steps``: the kind; rows of the table of runs, and of tombstones; the shift of the leading column; number
of bound columns, and of bits of a key after them; the arity; the number of the predicate if its facts are to be proved,
too, or -1.
"""

STEP_COLUMNS = 10

JOIN, ABSENT = range(2)
"""Kinds of steps: the fact of a positive atom, or the absence of facts of a negated one."""

ROLE, SHIFT, PRIMARY_SHIFT, CELL_MASK, VALUE = range(5)
"""Columns of ``cells``: the role; the shift of the column in keys of the sort order of the step, and in keys of the
primary order; the mask of a column; the constant, or the number of the variable.
"""

CELL_COLUMNS = 5

VARIABLE, CONSTANT, BINDS, SAME, WILD = range(5)
"""Roles: a variable that is bound, a constant, a variable that the step binds, one that it has bound, a wildcard."""


@njit(cache=True, nogil=True)
def _prefix(step, cells, values):
    """The key with the bound columns of a step, and zeros in the others."""
    key = np.int64(0)
    for c in range(step[BOUND]):
        value = cells[c, VALUE] if cells[c, ROLE] == CONSTANT else values[cells[c, VALUE]]
        key |= value << cells[c, SHIFT]
    return key


@njit(cache=True, nogil=True)
def _place_of(table, run, key, lead):
    """The position of a key in a run, -1 if it is not there."""
    keys, index = run_keys(table, run), run_index(table, run)
    low, high = np.int64(0), np.int64(keys.shape[0])
    if index.shape[0] > 0:
        value = key >> lead
        if value + 1 >= index.shape[0]:
            return np.int64(-1)
        low, high = np.int64(index[value]), np.int64(index[value + 1])
    low = np.int64(lower_bound(keys, key, low, high))
    return low if low < high and keys[low] == key else np.int64(-1)


@njit(cache=True, nogil=True)
def _range(step, table, run, prefix):
    """The positions of the keys of a run that have a prefix."""
    keys = run_keys(table, run)
    if step[BOUND] == 0:
        return np.int64(0), np.int64(keys.shape[0])
    if step[SPAN_BITS] == 0:
        low = _place_of(table, run, prefix, step[LEAD])
        return max(low, np.int64(0)), low + 1
    low, high = key_range(keys, run_index(table, run), prefix, np.int64(1) << step[SPAN_BITS], step[LEAD])
    return np.int64(low), np.int64(high)


@njit(cache=True, nogil=True)
def _matches(step, table, prefix):
    """Number of keys in the runs of a step that have a prefix."""
    total = np.int64(0)
    for run in range(step[FIRST_RUN], step[LAST_RUN]):
        low, high = _range(step, table, run, prefix)
        total += high - low
    return total


@njit(cache=True, nogil=True)
def _is_absent(step, cells, table, values):
    """Whether no fact agrees with the bound columns of a negated atom. Its tombstones have the order of the step."""
    prefix = _prefix(step, cells, values)
    found = _matches(step, table, prefix)
    for run in range(step[FIRST_GRAVE], step[LAST_GRAVE]):
        low, high = _range(step, table, run, prefix)
        found -= high - low
    return found == 0


@njit(cache=True, nogil=True)
def _holds(table, first, last, key, lead):
    """Whether a key is in some runs."""
    for run in range(first, last):
        if _place_of(table, run, key, lead) >= 0:
            return True
    return False


@njit(cache=True, nogil=True)
def _primary(step, cells, key):
    """A key of the sort order of a step in the primary order."""
    primary = np.int64(0)
    for c in range(step[ARITY]):
        primary |= ((key >> cells[c, SHIFT]) & cells[c, CELL_MASK]) << cells[c, PRIMARY_SHIFT]
    return primary


@njit(cache=True, nogil=True)
def _fits(step, cells, table, without, without_ranges, key, values):
    """Bind the variables of a step to a key; whether the key is a fact of the step that agrees with itself."""
    for c in range(step[BOUND], step[ARITY]):
        value = (key >> cells[c, SHIFT]) & cells[c, CELL_MASK]
        if cells[c, ROLE] == BINDS:
            values[cells[c, VALUE]] = value
        elif value != values[cells[c, VALUE]]:
            return False
    chained = step[CHAINED]
    skips = chained >= 0 and without_ranges[chained, 0] < without_ranges[chained, 1]
    if step[FIRST_GRAVE] == step[LAST_GRAVE] and not skips:
        return True
    primary = _primary(step, cells, key)
    if _holds(table, step[FIRST_GRAVE], step[LAST_GRAVE], primary, step[LEAD]):
        return False
    return not (skips and _holds(without, without_ranges[chained, 0], without_ranges[chained, 1], primary, step[LEAD]))


@njit(cache=True, nogil=True)
def _last_kept(steps, cells, first, last, table, without, without_ranges, places):
    """The step at which to go on after an instance: the first one whose fact is excluded by now, or the last one."""
    for s in range(first, last):
        step = steps[s]
        chained = step[CHAINED]
        if step[KIND] == JOIN and chained >= 0 and without_ranges[chained, 0] < without_ranges[chained, 1]:
            place = places[s - first]
            key = _primary(step, cells[s], run_keys(table, place[0])[place[1] - 1])
            if _holds(without, without_ranges[chained, 0], without_ranges[chained, 1], key, step[LEAD]):
                return s
    return last - 1


@njit(cache=True, nogil=True)
def _next(steps, cells, first, last, table, without, without_ranges, values, places, fresh):
    """Go to the next instance of a plan, whose steps are ``first`` to ``last``; whether there is one.

    ``fresh`` begins the search; otherwise it goes on after the instance that was found last. Facts of that instance may
    be excluded by now.
    """
    forward = fresh
    s = first if fresh else _last_kept(steps, cells, first, last, table, without, without_ranges, places)
    while True:
        if forward and s == last:
            return True
        if not forward and s < first:
            return False
        step = steps[s]
        if step[KIND] == ABSENT:
            forward = forward and _is_absent(step, cells[s], table, values)
            s += 1 if forward else -1
            continue
        place = places[s - first]
        if forward:
            place[0], place[1], place[2] = step[FIRST_RUN] - 1, 0, 0
        prefix = _prefix(step, cells[s], values)
        forward = False
        while True:
            if place[1] < place[2]:
                key = run_keys(table, place[0])[place[1]]
                place[1] += 1
                if _fits(step, cells[s], table, without, without_ranges, key, values):
                    forward = True
                    break
            else:
                place[0] += 1
                if place[0] >= step[LAST_RUN]:
                    break
                place[1], place[2] = _range(step, table, place[0], prefix)
        s += 1 if forward else -1


@njit(cache=True, nogil=True)
def _unifies(head, key, values):
    """Bind the variables of a head to a fact; whether they agree. ``head`` has the cells of the head."""
    for c in range(head.shape[0]):
        value = (key >> head[c, SHIFT]) & head[c, CELL_MASK]
        if head[c, ROLE] == BINDS:
            values[head[c, VALUE]] = value
        elif value != (head[c, VALUE] if head[c, ROLE] == CONSTANT else values[head[c, VALUE]]):
            return False
    return True


@njit(cache=True, nogil=True)
def _chosen(plans, first, last, steps, cells, table, values):
    """Of the plans ``first`` to ``last``, the one whose first join has the fewest matches for the values of a head; -1
    if one has none.
    """
    best, least = first, np.int64(-1)
    if last - first == 1:
        return best
    for p in range(first, last):
        s = plans[p, 0]
        while s < plans[p, 1] and steps[s, KIND] == ABSENT:
            s += 1
        if s < plans[p, 1]:
            found = _matches(steps[s], table, _prefix(steps[s], cells[s], values))
            if found == 0:
                return -1
            if least < 0 or found < least:
                best, least = p, found
    return best


@njit(cache=True, nogil=True)
def first_instances(
    wanted, heads, rules, plans, steps, cells, table, without, without_ranges, values, places, considered
):
    """Which of the wanted facts have an instance; each is searched until its first one.

    Rule r has the head ``heads[r]`` and the plans ``rules[r, 0]`` to ``rules[r, 1]``, plan p the steps ``plans[p, 0]``
    to ``plans[p, 1]``. ``considered`` counts the instances by rule.
    """
    found = np.zeros(wanted.shape[0], np.bool_)
    for i in range(wanted.shape[0]):
        for r in range(rules.shape[0]):
            if not _unifies(heads[r], wanted[i], values):
                continue
            p = _chosen(plans, rules[r, 0], rules[r, 1], steps, cells, table, values)
            if p >= 0 and _next(
                steps, cells, plans[p, 0], plans[p, 1], table, without, without_ranges, values, places, True
            ):
                considered[r] += 1
                found[i] = True
                break
    return found


@njit(cache=True, nogil=True)
def next_instances(
    numbers, rows, facts, quotas, heads, rules, plans, steps, cells, table, without, without_ranges,
    values, places, rule_at, plan_at, considered, parents, owners, keys,
):  # fmt: skip
    """Find the next instances of some facts, up to a quota each, and write their chained body atoms.

    Fact i has the number ``numbers[i]``, and its state is in row ``rows[i]`` of ``values``, ``places``, ``rule_at`` and
    ``plan_at``; a plan of -1 has not begun. It has no instance left once ``rule_at`` is the number of rules. For each
    body atom that is to be proved, too, the number of the fact is written to ``parents``, that of the predicate to
    ``owners`` and the key to ``keys``. Returns how many were written.
    """
    written = 0
    for i in range(rows.shape[0]):
        row, left = rows[i], quotas[i]
        while left > 0 and rule_at[row] < rules.shape[0]:
            r, fresh = rule_at[row], plan_at[row] < 0
            if fresh:
                if not _unifies(heads[r], facts[i], values[row]):
                    rule_at[row] += 1
                    continue
                plan_at[row] = _chosen(plans, rules[r, 0], rules[r, 1], steps, cells, table, values[row])
                if plan_at[row] < 0:
                    rule_at[row] += 1
                    continue
            first, last = plans[plan_at[row], 0], plans[plan_at[row], 1]
            if not _next(steps, cells, first, last, table, without, without_ranges, values[row], places[row], fresh):
                rule_at[row] += 1
                plan_at[row] = -1
                continue
            left -= 1
            considered[r] += 1
            for s in range(first, last):
                if steps[s, KIND] == JOIN and steps[s, CHAINED] >= 0:
                    place = places[row, s - first]
                    parents[written], owners[written] = numbers[i], steps[s, CHAINED]
                    keys[written] = _primary(steps[s], cells[s], run_keys(table, place[0])[place[1] - 1])
                    written += 1
    return written


@njit(cache=True, nogil=True)
def _slot(slots, owners, keys, owner, key):
    """The slot of a hash table that has the number of a fact, or the free one where it belongs."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(owner) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(32)
    mask = np.uint64(slots.shape[0] - 1)
    at = mixed & mask
    while slots[at] >= 0 and (keys[slots[at]] != key or owners[slots[at]] != owner):
        at = (at + np.uint64(1)) & mask
    return at


@njit(cache=True, nogil=True)
def number_facts(slots, owners, keys, count, owner, wanted, out):
    """Write the numbers of facts to ``out``; facts without one get the next. Returns how many facts have a number.

    Fact n is of predicate ``owners[n]`` and has the key ``keys[n]``. The size of ``slots`` is a power of two above the
    number of facts, free slots are -1.
    """
    for i in range(wanted.shape[0]):
        at = _slot(slots, owners, keys, owner[i], wanted[i])
        if slots[at] < 0:
            slots[at], owners[count], keys[count] = count, owner[i], wanted[i]
            count += 1
        out[i] = slots[at]
    return count


@njit(cache=True, nogil=True)
def place_numbers(slots, owners, keys, count):
    """Fill an empty hash table with the facts that have numbers."""
    for n in range(count):
        slots[_slot(slots, owners, keys, owners[n], keys[n])] = n


@njit(cache=True, nogil=True)
def link(parents, children, begin, following, newest):
    """Add edges to the lists of their parents; their numbers begin at ``begin``. ``newest`` has the last edge of each
    fact, ``following`` the edge before each.
    """
    for i in range(parents.shape[0]):
        following[begin + i] = newest[parents[i]]
        newest[parents[i]] = begin + i


@njit(cache=True, nogil=True)
def distinct(numbers, seen, mark, out):
    """Write the different ones of some numbers; returns how many there are. See ``reached``."""
    written = 0
    for i in range(numbers.shape[0]):
        if seen[numbers[i]] != mark:
            seen[numbers[i]] = mark
            out[written] = numbers[i]
            written += 1
    return written


@njit(cache=True, nogil=True)
def reached(starts, newest, following, children, proved, seen, mark, out):
    """Write all facts that are reached from the starts without passing a proved fact; returns their number.

    ``seen`` is set to ``mark`` for facts that were reached, and has other numbers before.
    """
    written = 0
    for i in range(starts.shape[0]):
        if seen[starts[i]] != mark and not proved[starts[i]]:
            seen[starts[i]] = mark
            out[written] = starts[i]
            written += 1
    at = 0
    while at < written:
        edge = newest[out[at]]
        at += 1
        while edge >= 0:
            child = children[edge]
            if seen[child] != mark and not proved[child]:
                seen[child] = mark
                out[written] = child
                written += 1
            edge = following[edge]
    return written
