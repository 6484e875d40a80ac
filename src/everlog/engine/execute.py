"""Running a plan: blocks of bindings of bounded size pass through its steps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from everlog.engine.closed import Closed
from everlog.engine.collect import Collector, CountingCollector, NewFacts
from everlog.engine.kernels import joins, search, wide
from everlog.engine.keys import ID_BITS, Column, Keys, Layout, Mask, layout_for, pack, reorder, swapped, unpack
from everlog.engine.lazy import fetched, is_lazy
from everlog.engine.multiset import Piece
from everlog.engine.plan import Plan, PlanStep
from everlog.engine.relation import Base, Relation
from everlog.engine.runs import prefix_range
from everlog.engine.workbench import Scratch, Workbench
from everlog.lang.syntax import Atom, Constant, Term, Variable

Bindings = Mapping[Variable, Column]
Condition = Sequence[tuple[Atom, Relation]]
Part = tuple[Scratch, "Matched", Keys, int]
Found = TypeVar("Found")

SCAN = 1 << 17
"""Rows in a block that a scan passes to the next step."""

THREAD_MATCHES = 1 << 18
"""Minimum number of matches per thread."""

FRAMES_PER_STEP = 4
"""Python frames per step of a plan: blocks are passed on by recursion."""

NO_TABLE = np.empty((0, 4), np.int64)
"""The table of no runs."""


class Execution:
    """One run of a plan. ``relations`` are those of each step: one, or several for a negated atom.

    ``heads`` are the atoms to collect for each instance, by default the head of the rule.
    """

    def __init__(
        self,
        engine: Workbench,
        plan: Plan,
        relations: Sequence[tuple[Relation, ...]],
        conditions: Sequence[Condition],
        collector: Collector,
        heads: Sequence[Atom] = (),
    ) -> None:
        self.engine = engine
        self.plan = plan
        self.relations = relations
        self.conditions = conditions
        self.collector = collector
        self.heads = heads or (plan.rule.head,)
        layouts = [layout_for(head.predicate.arity, engine.universe) for head in self.heads]
        self.sinks = [collector.of(head.predicate, layout) for head, layout in zip(self.heads, layouts, strict=True)]
        self.layout, self.sink = layouts[0], self.sinks[0]
        self.instances = 0

    def run(self) -> int:
        """Collect the heads of all instances, and return the number of instances."""
        deepest = 1000 + FRAMES_PER_STEP * len(self.plan.steps)
        if sys.getrecursionlimit() < deepest:
            sys.setrecursionlimit(deepest)
        self._descend(0, 1, {})
        return self.instances

    def _descend(self, number: int, size: int, bindings: Bindings) -> None:
        if size == 0:
            return
        if number == len(self.plan.steps):
            self._finish(size, bindings)
            return
        step, relations = self.plan.steps[number], self.relations[number]
        if any(map(is_lazy, relations)):
            relations = self._fetched(step, relations, bindings)
        if step.kind in ("check", "absent"):
            mask = self._holds(step, relations, size, bindings)
            if mask.all():
                self._descend(number + 1, size, {v: bindings[v] for v in step.keep})
            else:
                kept = {v: bindings[v][mask] for v in step.keep}
                self._descend(number + 1, int(np.count_nonzero(mask)), kept)
        elif step.kind == "scan":
            self._scan(number, step, relations[0])
        else:
            self._join(number, step, relations[0], size, bindings)

    def _fetched(self, step: PlanStep, relations: Sequence[Relation], bindings: Bindings) -> tuple[Relation, ...]:
        """The relations of a step, in which all facts that it may match have been fetched."""
        if not self._known(step.bound):
            return tuple(Relation(relation.layout) for relation in relations)
        columns = step.order[: len(step.bound)]
        values = np.broadcast_arrays(*(np.atleast_1d(self._value(term, bindings)) for term in step.bound))
        bound = dict(sorted(zip(columns, values, strict=True)))
        return tuple(fetched(relation, bound) for relation in relations)

    # terms ------------------------------------------------------------------------------------

    def _value(self, term: Term, bindings: Bindings) -> Column | int:
        if isinstance(term, Variable):
            return bindings[term]
        assert isinstance(term, Constant)
        return self.engine.constant(term)

    def _known(self, terms: Sequence[Term]) -> bool:
        """Whether all constants among the terms occur in facts at all."""
        return all(self.engine.constant(term) >= 0 for term in terms if isinstance(term, Constant))

    def _prefix(self, layout: Layout, terms: Sequence[Term], size: int, bindings: Bindings) -> Keys:
        """Keys that have the values of the terms in their first columns, and zeros in the others."""
        return pack(layout, [self._value(term, bindings) for term in terms], size)

    # steps ------------------------------------------------------------------------------------

    def _scan(self, number: int, step: PlanStep, relation: Relation) -> None:
        if not self._known(step.bound):
            return
        if relation.base is not None:
            self._scan_base(number, step, relation, relation.base)
        for run in relation.runs:
            keys = run.keys(step.order)
            if step.bound:
                prefix = self._prefix(relation.layout, step.bound, 1, {})
                low, high = prefix_range(relation.layout, keys, prefix, len(step.bound))
                keys = keys[int(low[0]) : int(high[0])]
            for start in range(0, len(keys), SCAN):
                self._hand_on(number, step, relation, keys[start : start + SCAN], None, {})

    def _scan_base(self, number: int, step: PlanStep, relation: Relation, base: Base) -> None:
        if step.bound:
            self._join_base(number, step, relation, base, self._prefix(relation.layout, step.bound, 1, {}), {})
            return
        for keys in self._blocks(base, step, self.engine.block):
            self._hand_on(number, step, relation, keys, None, {})

    def _join_base(
        self, number: int, step: PlanStep, relation: Relation, base: Base, prefix: Keys, bindings: Bindings
    ) -> None:
        if not step.bound:
            for keys in self._blocks(base, step, max(1, self.engine.block // max(1, len(prefix)))):
                rows = np.repeat(np.arange(len(prefix)), len(keys))
                self._hand_on(number, step, relation, np.tile(keys, len(prefix)), rows, bindings)
            return
        for rows, others in base.matches(step.order[0], prefix >> relation.layout.width, self.engine.block):
            self._hand_on(number, step, relation, prefix[rows] | others, rows, bindings)

    def _blocks(self, base: Base, step: PlanStep, block: int) -> Iterator[Keys]:
        """Yield the pairs of a base that a step may need. A step whose terms must be equal looks up the pairs of a term
        with itself; the pairs of a closure are listed in the direction of its graph, unless a certain column has to
        lead.
        """
        if step.same:
            terms = base.terms(0)
            pairs = terms << ID_BITS | terms
            yield pairs[base.contains(pairs)]
        elif isinstance(base, Closed) and not self.plan.grouped and base.lead != step.order[0]:
            for keys in base.blocks(base.lead, block):
                yield swapped(keys)
        else:
            yield from base.blocks(step.order[0], block)

    def _hand_on(
        self, number: int, step: PlanStep, relation: Relation, keys: Keys, rows: Column | None, bindings: Bindings
    ) -> None:
        """Drop deleted facts and those whose repeated variables differ, bind the new variables, and go on."""
        self._check(self.collector.held)
        layout = relation.layout
        mask = _distinct_facts(relation, step, keys)
        for first, second in step.same:
            equal = unpack(layout, keys, first) == unpack(layout, keys, second)
            mask = equal if mask is None else mask & equal
        if mask is not None:
            keys, rows = keys[mask], rows[mask] if rows is not None else None
        found = {v: unpack(layout, keys, position) for position, v in step.binds if v in step.keep}
        if rows is not None:
            found.update({v: bindings[v][rows] for v in step.keep if v not in found})
        self._descend(number + 1, len(keys), found)

    def _check(self, rows: int) -> None:
        """Check the limits, given the number of collected rows."""
        self.engine.check(rows if self.collector.only_new else 0, self.instances, rows)

    def _join(self, number: int, step: PlanStep, relation: Relation, size: int, bindings: Bindings) -> None:
        if not self._known(step.bound):
            return
        prefix = self._prefix(relation.layout, step.bound, size, bindings)
        if not relation.layout.is_packed:
            self._join_wide(number, step, relation, prefix, bindings)
            return
        if relation.base is not None:
            self._join_base(number, step, relation, relation.base, prefix, bindings)
        if not relation.runs:
            return
        table = relation.table(step.order, indexed=bool(step.bound))
        span, shift = relation.layout.span(len(step.bound)), relation.layout.lead_shift
        matched = Matched(table, *search.ranges(table, prefix, span, shift))
        total = int(matched.totals[-1])
        last = number + 1 == len(self.plan.steps)
        if last and self.plan.grouped and self._can_group(relation):
            self._finish_groups(relation, matched, size, bindings)
            return
        for first in range(0, total, self.engine.block):
            until = min(total, first + self.engine.block)
            rows, keys = joins.expand(*matched, first, until)
            self._hand_on(number, step, relation, keys, rows, bindings)

    def _join_wide(self, number: int, step: PlanStep, relation: Relation, prefix: Keys, bindings: Bindings) -> None:
        for run in relation.runs:
            source = run.keys(step.order)
            low, high = prefix_range(relation.layout, source, prefix, len(step.bound))
            totals = np.zeros(len(prefix) + 1, np.int64)
            np.cumsum(high - low, out=totals[1:])
            for first in range(0, int(totals[-1]), self.engine.block):
                until = min(int(totals[-1]), first + self.engine.block)
                rows, positions = wide.expand_ranges(low, totals, first, until)
                self._hand_on(number, step, relation, source[positions], rows, bindings)

    def _holds(self, step: PlanStep, relations: Sequence[Relation], size: int, bindings: Bindings) -> Mask:
        """Which bindings pass a check, or the absence of a negated atom."""
        wanted = step.kind == "check"
        if not self._known(step.bound):
            return np.full(size, not wanted)
        found = np.zeros(size, np.bool_)
        for relation in relations:
            if not relation:
                continue
            if len(step.bound) == len(step.order):
                terms = [step.bound[step.order.index(c)] for c in range(len(step.order))]
                found |= relation.contains(self._prefix(relation.layout, terms, size, bindings))
            else:
                found |= self._exists(step, relation, size, bindings)
        return found if wanted else ~found

    def _exists(self, step: PlanStep, relation: Relation, size: int, bindings: Bindings) -> Mask:
        """Which bindings have a fact that agrees with them in the bound columns of the step."""
        if not step.bound:
            return np.full(size, bool(relation))
        prefix = self._prefix(relation.layout, step.bound, size, bindings)
        counts = np.zeros(size, np.int64)
        if relation.base is not None:
            counts += relation.base.match_counts(step.order[0], prefix >> relation.layout.width)
        for runs, sign in ((relation.runs, 1), (relation.tombstones, -1)):
            for run in runs:
                low, high = prefix_range(relation.layout, run.keys(step.order), prefix, len(step.bound))
                counts += sign * (high - low)
        return counts > 0

    # heads ------------------------------------------------------------------------------------

    def _finish(self, size: int, bindings: Bindings) -> None:
        for condition in self.conditions:
            met = np.zeros(size, np.bool_)
            for atom, relation in condition:
                if self._known(atom.terms):
                    met |= relation.contains(self._prefix(relation.layout, atom.terms, size, bindings))
            bindings = {v: column[met] for v, column in bindings.items()}
            size = int(np.count_nonzero(met))
        self.instances += size
        if size:
            for head, sink in zip(self.heads, self.sinks, strict=True):
                sink.add(self._prefix(sink.layout, head.terms, size, bindings))

    def _can_group(self, relation: Relation) -> bool:
        if len(self.heads) > 1 or not isinstance(self.sink, NewFacts | CountingCollector):
            return False
        return self.layout.is_packed and not relation.tombstones and relation.base is None

    def _finish_groups(self, relation: Relation, matched: Matched, size: int, bindings: Bindings) -> None:
        """Run the last join and collect its heads in one kernel, on several threads if there are enough matches."""
        self.instances += int(matched.totals[-1])
        base = self._prefix(self.layout, self.plan.rule.head.terms[:-1], size, bindings)
        free = (1 << min(relation.layout.width, self.layout.width, 31)) - 1
        parts = [
            (self.engine.scratch(thread), matched.part(first, last), base[first:last], free)
            for thread, (first, last) in enumerate(pairwise(self._thread_bounds(base, matched.totals)))
        ]
        if not isinstance(self.sink, CountingCollector):
            assert isinstance(self.sink, NewFacts)
            known = self.sink.known
            listed = not known.tombstones and known.base is None
            held = known.table(self.layout.primary) if known and listed else NO_TABLE
            for new in self._in_parallel(lambda part: self._join_groups(*part, held), parts):
                self.sink.add_new(new if listed else new[~known.contains(new)])
        else:
            for keys, weights in self._in_parallel(lambda part: self._count_groups(*part), parts):
                self.sink.add_counted(keys, weights)

    def _in_parallel(self, work: Callable[[Part], list[Found]], parts: Sequence[Part]) -> Iterator[Found]:
        """The results of the work for all parts, in the order of the parts."""
        found = map(work, parts) if len(parts) == 1 else self.engine.pool.map(work, parts)
        return chain.from_iterable(list(found))

    def _thread_bounds(self, base: Keys, totals: Keys) -> list[int]:
        """The bounds that give each thread about the same number of matches and do not cut a group."""
        bounds, size = [0], len(base)
        threads = min(self.engine.threads, int(totals[-1]) // THREAD_MATCHES)
        for thread in range(1, threads):
            row = max(int(np.searchsorted(totals, totals[-1] * thread // threads)), bounds[-1] + 1)
            if row < size:
                others = np.flatnonzero(base[row:] != base[row - 1])
                if len(others):
                    bounds.append(row + int(others[0]))
        return [*bounds, size]

    def _join_groups(self, scratch: Scratch, matched: Matched, base: Keys, free: int, held: Keys) -> list[Keys]:
        """New heads, ascending within each array; see ``kernels.joins.join_groups``."""
        row, found, count = 0, [], self.collector.held
        while row < len(base):
            self._check(count)
            row, written = joins.join_groups(
                *matched, base, free, held, self.layout.lead_shift, scratch.bits, scratch.out, row
            )
            found.append(scratch.out[:written].copy())
            count += written
        return found

    def _count_groups(self, scratch: Scratch, matched: Matched, base: Keys, free: int) -> list[Piece]:
        """Heads, ascending within each array, with their numbers; see ``kernels.joins.count_groups``."""
        row, found, count = 0, [], self.collector.held
        while row < len(base):
            self._check(count)
            row, written = joins.count_groups(
                *matched, base, free, scratch.bits, scratch.tally, scratch.out, scratch.weights, row
            )
            found.append((scratch.out[:written].copy(), scratch.weights[:written].copy()))
            count += written
        return found


class Matched(NamedTuple):
    """The places of the matches of a block of rows: the runs, and for each row and run the start and the number."""

    table: Keys
    starts: Keys
    counts: Keys
    totals: Keys

    def part(self, first: int, last: int) -> Matched:
        """The places of the matches of some of the rows."""
        return Matched(self.table, self.starts[first:last], self.counts[first:last], self.totals[first : last + 1])


def _distinct_facts(relation: Relation, step: PlanStep, keys: Keys) -> Mask | None:
    """Which keys, found in the runs in the order of the step, are no tombstones; None if all are facts."""
    if not relation.tombstones:
        return None
    primary = reorder(relation.layout, keys, step.order, relation.layout.primary)
    deleted = Relation(relation.layout, relation.tombstones)
    return ~deleted.contains(primary)
