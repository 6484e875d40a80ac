"""A search for proofs that can be resumed: a cursor for each fact over its instances, and the facts that they need.

The instances of a fact are found a few at a time, first one, and then as many as were found before, so that at most
half of the instances of a fact were not needed. Each body atom that is to be proved, too, is an *edge* from the fact to
the body atom. The facts that a fact still needs are those that it reaches by edges without passing a proved one.

Facts are numbered as they are met. The search is over fixed sets of facts, which it keeps alive; body facts that were
deleted since are left out. See :mod:`everlog.engine.kernels.witnesses`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.engine.backward_plans import BackwardRules, excluded
from everlog.engine.factset import NONE, FactSet
from everlog.engine.kernels import witnesses
from everlog.engine.keys import BLOCK_ROWS, Column, Keys, layout_for
from everlog.engine.plan import PlannedRule
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate

Note = Callable[[PlannedRule, int], None]
"""Receives a rule and a number of instances that were considered."""

FACTS_AT_ONCE = 1 << 14
"""Maximum number of facts that a kernel searches before limits are checked."""

BEGUN_SIZE = 64
"""Number of facts for which there is room at first."""


def grown(array: npt.NDArray[Any], size: int, fill: int) -> npt.NDArray[Any]:
    """The array, or a copy with at least twice the rows if it has fewer than ``size``."""
    if len(array) >= size:
        return array
    more = np.full((max(size, 2 * len(array)), *array.shape[1:]), fill, array.dtype)
    more[: len(array)] = array
    return more


class Cursors:
    """The cursors of the facts of one predicate: a row for each fact that was begun."""

    def __init__(self, rules: BackwardRules) -> None:
        self.rules = rules
        self.count = 0
        self.values = np.zeros((BEGUN_SIZE, *rules.values.shape), np.int64)
        self.places = np.zeros((BEGUN_SIZE, *rules.places.shape), np.int64)
        self.rule_at = np.zeros(BEGUN_SIZE, np.int64)
        self.plan_at = np.full(BEGUN_SIZE, -1, np.int64)
        self.taken = np.zeros(BEGUN_SIZE, np.int64)

    def begin(self, number: int) -> Column:
        """Make rows for a number of facts."""
        first, self.count = self.count, self.count + number
        self.values, self.places = grown(self.values, self.count, 0), grown(self.places, self.count, 0)
        self.rule_at, self.taken = grown(self.rule_at, self.count, 0), grown(self.taken, self.count, 0)
        self.plan_at = grown(self.plan_at, self.count, -1)
        return np.arange(first, self.count)

    def is_open(self, rows: Column) -> npt.NDArray[np.bool_]:
        """Which of the rows may have further instances."""
        return self.rule_at[rows] < len(self.rules)


class ProofSearch:
    """The cursors of all facts that were searched, the numbers of facts, and the edges between them."""

    def __init__(
        self,
        predicates: Mapping[Predicate, int],
        compiled: Callable[[Predicate], BackwardRules],
        universe: int,
        note: Note,
    ) -> None:
        self._predicates = list(predicates)
        self._owner = predicates
        self._compiled = compiled
        self._universe = universe
        self._note = note
        self._cursors: dict[int, Cursors] = {}
        self._count = 0
        self._slots = np.full(4 * BEGUN_SIZE, -1, np.int64)
        self._owners = np.zeros(BEGUN_SIZE, np.int64)
        self._keys = np.zeros(BEGUN_SIZE, np.int64)
        self._rows = np.full(BEGUN_SIZE, -1, np.int64)
        self._newest = np.full(BEGUN_SIZE, -1, np.int64)
        self._proved = np.zeros(BEGUN_SIZE, np.bool_)
        self._seen = np.zeros(BEGUN_SIZE, np.int64)
        self._marks = 0
        self._edges = 0
        self._children = np.zeros(BEGUN_SIZE, np.int64)
        self._following = np.zeros(BEGUN_SIZE, np.int64)
        self._known_proved = NONE
        self._without: FactSet | None = None
        self._excluded: tuple[Keys, Keys]
        self._kept: list[Run] = []

    def bodies(self, facts: FactSet, without: FactSet) -> FactSet:
        """Find the next few instances of each of the facts that have no body atom in ``without``; returns their body
        atoms that are to be proved, too.
        """
        if self._without is not without:
            table, ranges, runs = excluded([without.get(p) for p in self._predicates])
            self._without, self._excluded, self._kept = without, (table, ranges), [*self._kept, *runs]
        begin = self._edges
        for predicate, relation in facts.items():
            if predicate in self._owner:
                self._advance(predicate, relation)
        children = self._children[begin : self._edges]
        self._marks += 1
        found = np.empty(min(len(children), self._count), np.int64)
        written = witnesses.distinct(children, self._seen, self._marks, found)
        return self._facts(found[:written])

    def unfinished(self, facts: FactSet, proved: FactSet, waiting: FactSet) -> FactSet:
        """The facts to go on with: the newer half of the facts that the given ones still need and that may have further
        instances, or are ``waiting``: their instances were not searched yet.
        """
        for _, numbers in self._numbered(proved - self._known_proved):
            self._proved[numbers] = True
        self._known_proved = proved
        starts = np.concatenate([np.empty(0, np.int64), *(numbers for _, numbers in self._numbered(facts))])
        pending = np.concatenate([np.empty(0, np.int64), *(numbers for _, numbers in self._numbered(waiting))])
        self._marks += 1
        found = np.empty(self._count, np.int64)
        written = witnesses.reached(
            starts, self._newest, self._following, self._children, self._proved, self._seen, self._marks, found
        )
        needed = found[:written]
        is_open = np.zeros(self._count, np.bool_)
        is_open[pending] = True
        kept = is_open[needed]
        rows, owners = self._rows[needed], self._owners[needed]
        for owner, cursors in self._cursors.items():
            mine = np.flatnonzero((owners == owner) & (rows >= 0))
            kept[mine] = cursors.is_open(rows[mine])
        unfinished = np.sort(needed[kept])
        return self._facts(unfinished[len(unfinished) // 2 :])

    def quotas(self, cursors: Cursors, rows: Column) -> Column:
        """Maximum number of instances to find for each of some facts."""
        return np.maximum(1, cursors.taken[rows])

    def _advance(self, predicate: Predicate, relation: Relation) -> None:
        owner = self._owner[predicate]
        cursors = self._cursors.get(owner)
        if cursors is None:
            cursors = self._cursors[owner] = Cursors(self._compiled(predicate))
        rules = cursors.rules
        keys = relation.keys()
        numbers = self._numbers(owner, keys)
        new = np.flatnonzero(self._rows[numbers] < 0)
        self._rows[numbers[new]] = cursors.begin(len(new))
        rows = self._rows[numbers]
        left = cursors.is_open(rows)
        keys, numbers, rows = keys[left], numbers[left], rows[left]
        quotas = self.quotas(cursors, rows)
        for first, last in _chunks(quotas):
            part = slice(first, last)
            room = int(quotas[part].sum()) * max(1, len(rules.places))
            parents, owners, found = (np.empty(room, np.int64) for _ in range(3))
            considered = np.zeros(len(rules), np.int64)
            written = witnesses.next_instances(
                numbers[part],
                rows[part],
                keys[part],
                quotas[part],
                rules.heads,
                rules.spans,
                rules.plans,
                rules.steps,
                rules.cells,
                rules.table,
                *self._excluded,
                cursors.values,
                cursors.places,
                cursors.rule_at,
                cursors.plan_at,
                considered,
                parents,
                owners,
                found,
            )
            cursors.taken[rows[part]] += quotas[part]
            self._link(parents[:written], owners[:written], found[:written])
            for rule, number in zip(rules.rules, considered.tolist(), strict=True):
                self._note(rule, number)

    def _link(self, parents: Column, owners: Column, keys: Keys) -> None:
        children = self._numbers(owners, keys)
        begin, self._edges = self._edges, self._edges + len(parents)
        self._children = grown(self._children, self._edges, 0)
        self._following = grown(self._following, self._edges, 0)
        self._children[begin : self._edges] = children
        witnesses.link(parents, children, begin, self._following, self._newest)

    # Numbers of facts ----------------------------------------------------------------------------------

    def _numbered(self, facts: FactSet) -> Iterator[tuple[Predicate, Column]]:
        for predicate, relation in facts.items():
            if predicate in self._owner:
                yield predicate, self._numbers(self._owner[predicate], relation.keys())

    def _numbers(self, owner: int | Column, keys: Keys) -> Column:
        """The numbers of facts, new ones among them."""
        most = self._count + len(keys)
        self._owners, self._keys = grown(self._owners, most, 0), grown(self._keys, most, 0)
        self._rows, self._newest = grown(self._rows, most, -1), grown(self._newest, most, -1)
        self._proved, self._seen = grown(self._proved, most, 0), grown(self._seen, most, 0)
        if len(self._slots) < 2 * most:
            self._slots = np.full(1 << (4 * most).bit_length(), -1, np.int64)
            witnesses.place_numbers(self._slots, self._owners, self._keys, self._count)
        found = np.empty(len(keys), np.int64)
        owners = np.full(len(keys), owner, np.int64) if isinstance(owner, int) else owner
        self._count = witnesses.number_facts(
            self._slots, self._owners, self._keys, self._count, owners, np.ascontiguousarray(keys), found
        )
        return found

    def _facts(self, numbers: Column) -> FactSet:
        """Facts by their different numbers."""
        if not len(numbers):
            return NONE
        owners = self._owners[numbers]
        order = np.lexsort((self._keys[numbers], owners))
        numbers, owners = numbers[order], owners[order]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        ends = [*starts[1:].tolist(), len(numbers)]
        found = {}
        for start, end in zip(starts.tolist(), ends, strict=True):
            predicate = self._predicates[owners[start]]
            layout = layout_for(predicate.arity, self._universe)
            found[predicate] = Relation.from_run(Run.of(layout, self._keys[numbers[start:end]]))
        return FactSet(found)


def _chunks(quotas: Column) -> Iterator[tuple[int, int]]:
    """Ranges of facts whose instances fit a block together; a fact with more is alone."""
    totals = np.concatenate([[0], np.cumsum(quotas)])
    first = 0
    while first < len(quotas):
        last = int(np.searchsorted(totals, totals[first] + BLOCK_ROWS, side="right")) - 1
        last = min(max(last, first + 1), first + FACTS_AT_ONCE)
        yield first, last
        first = last
