"""Rules backwards as tables of numbers, by which kernels find the instances of one fact after the other.

The rules of a predicate are compiled for two fixed sets of facts: one for positive body atoms, one for negated ones.
See :mod:`everlog.engine.kernels.witnesses` for the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from everlog.engine.kernels import witnesses as w
from everlog.engine.keys import Layout, Order, layout_for
from everlog.engine.plan import Lead, Plan, PlannedRule, PlanStep
from everlog.engine.relation import Relation
from everlog.engine.runs import Run, table_of
from everlog.lang.syntax import Constant, Predicate, Variable

Table = npt.NDArray[np.int64]
Cell = tuple[int, int, int, int, int]

MOST_COLUMNS = 2
"""Maximum arity of the body atoms of a rule that has a plan for each atom that may come second. The plans of such rules
use two sort orders of a relation at most; rules with wider atoms have one plan.
"""


class Terms(Protocol):
    """The ids of terms: all are below ``universe``."""

    universe: int

    def constant(self, constant: Constant) -> int:
        """The id of a constant, -1 if it occurs in no fact."""


@dataclass(frozen=True)
class BodyFacts:
    """The facts in which positive and negated atoms are matched."""

    positive: Callable[[Predicate], Relation]
    negative: Callable[[Predicate], Relation]
    chained: Mapping[Predicate, int]
    """The numbers of the predicates whose facts are to be proved, too."""


def is_listed(relation: Relation) -> bool:
    """Whether kernels can read a relation: all its facts are in runs, and each is one word."""
    return relation.base is None and relation.layout.is_packed


def is_packed(predicate: Predicate, universe: int) -> bool:
    """Whether a fact of a predicate is one word."""
    return layout_for(predicate.arity, universe).is_packed


class RunTables:
    """Collects tables of runs, and keeps the runs alive."""

    def __init__(self) -> None:
        self._tables: list[Table] = []
        self._kept: list[Relation] = []
        self._count = 0

    def add(self, relation: Relation, order: Order) -> tuple[int, int]:
        """Add the runs of a relation in an order; returns the range of their rows."""
        return self._add(relation, relation.table(order))

    def add_tombstones(self, relation: Relation, order: Order) -> tuple[int, int]:
        """Add the tombstones of a relation in an order; returns the range of their rows."""
        return self._add(relation, table_of(relation.tombstones, order))

    def _add(self, relation: Relation, table: Table) -> tuple[int, int]:
        self._tables.append(table)
        self._kept.append(relation)
        self._count += len(table)
        return self._count - len(table), self._count

    @cached_property
    def table(self) -> Table:
        """The table of all runs that were added."""
        return np.concatenate([np.empty((0, 4), np.int64), *self._tables])


class BackwardRules:
    """The rules of one head predicate as tables; rules that have no instances are left out."""

    def __init__(self, predicate: Predicate, rules: Sequence[PlannedRule], sources: BodyFacts, terms: Terms) -> None:
        self.predicate = predicate
        self.rules: list[PlannedRule] = []
        self._sources, self._terms = sources, terms
        self._rows = RunTables()
        self._layout = layout_for(predicate.arity, terms.universe)
        self._steps: list[list[int]] = []
        self._cells: list[list[Cell]] = []
        self._heads: list[list[Cell]] = []
        plans: list[tuple[int, int]] = []
        spans: list[tuple[int, int]] = []
        self.variables: list[list[Variable]] = []
        """The variables of each rule, by their numbers."""
        for rule in rules:
            self._numbers: dict[Variable, int] = {}
            compiled = [plan for each in self._plans(rule) if (plan := self._plan(each)) is not None]
            if compiled:
                spans.append((len(plans), len(plans) + len(compiled)))
                plans += compiled
                self.rules.append(rule)
                self._heads.append(self._head)
                self.variables.append(list(self._numbers))
        most = max(map(len, self.variables), default=0)
        longest = max((last - first for first, last in plans), default=0)
        self.values, self.places = np.zeros(most, np.int64), np.zeros((longest, 3), np.int64)
        """The state of a search for the instances of one fact."""
        self.heads = _filled(self._heads, predicate.arity)
        self.spans = np.array(spans, np.int64).reshape(len(spans), 2)
        self.plans = np.array(plans, np.int64).reshape(len(plans), 2)
        self.steps = np.array(self._steps, np.int64).reshape(len(self._steps), w.STEP_COLUMNS)
        self.cells = _filled(self._cells, max(map(len, self._cells), default=0))
        self.table = self._rows.table

    def __len__(self) -> int:
        return len(self.rules)

    def _plans(self, rule: PlannedRule) -> Sequence[Plan]:
        """The plans that begin with the head; none if there is a positive atom without facts."""
        backwards, head = rule.backwards, rule.rule.head
        if any(self._unknown(term) for term in head.terms):
            return ()
        found = [self._sources.positive(atom.predicate) for atom in rule.positive]
        if not all(found):
            return ()
        sizes = [1, *map(len, found), *(len(self._sources.negative(atom.predicate)) for atom in rule.negative)]
        if all(atom.predicate.arity <= MOST_COLUMNS for atom in rule.positive):
            return backwards.by_first_join(sizes)
        return [backwards.plan(0, sizes, True, Lead.PIVOT)]

    def _unknown(self, term: object) -> bool:
        return isinstance(term, Constant) and self._terms.constant(term) < 0

    def _plan(self, plan: Plan) -> tuple[int, int] | None:
        """Compile the steps of a plan after the head; returns their range, None if a positive atom has no match."""
        self._head = []
        for position, term in enumerate(plan.rule.head.terms):
            shift, mask = _place(self._layout, position)
            if isinstance(term, Constant):
                self._head.append((w.CONSTANT, shift, shift, mask, self._terms.constant(term)))
            else:
                assert isinstance(term, Variable)
                role = w.SAME if any(plan.rule.head.terms[p] == term for p in range(position)) else w.BINDS
                self._head.append((role, shift, shift, mask, self._number(term)))
        begin = len(self._steps)
        for step in plan.steps:
            if step.body == 0 and step.kind != "absent":
                continue
            unknown = any(map(self._unknown, step.bound))
            if step.kind == "absent":
                relation = self._sources.negative(step.atom.predicate)
                if relation and not unknown:
                    self._add(step, relation)
            elif unknown:
                del self._steps[begin:], self._cells[begin:]
                return None
            else:
                self._add(step, self._sources.positive(step.atom.predicate))
        return begin, len(self._steps)

    def _number(self, variable: Variable) -> int:
        return self._numbers.setdefault(variable, len(self._numbers))

    def _add(self, step: PlanStep, relation: Relation) -> None:
        layout, arity = relation.layout, len(step.order)
        absent = step.kind == "absent"
        runs = self._rows.add(relation, step.order)
        tombstones = self._rows.add_tombstones(relation, step.order if absent else layout.primary)
        bits = layout.width * (arity - len(step.bound))
        chained = -1 if absent else self._sources.chained.get(step.atom.predicate, -1)
        kind = w.ABSENT if absent else w.JOIN
        self._steps.append([kind, *runs, *tombstones, layout.lead_shift, len(step.bound), bits, arity, chained])
        binds = dict(step.binds)
        firsts = {second: first for first, second in step.same}
        cells: list[Cell] = []
        for position, column in enumerate(step.order):
            shift, mask = _place(layout, position)
            primary, _ = _place(layout, column)
            if position < len(step.bound):
                term = step.bound[position]
                role = w.CONSTANT if isinstance(term, Constant) else w.VARIABLE
                value = self._terms.constant(term) if isinstance(term, Constant) else self._number(term)
            elif position in binds:
                role, value = w.BINDS, self._number(binds[position])
            elif position in firsts:
                role, value = w.SAME, self._number(binds[firsts[position]])
            else:
                role, value = w.WILD, 0
            cells.append((role, shift, primary, mask, value))
        self._cells.append(cells)


def _place(layout: Layout, position: int) -> tuple[int, int]:
    """The shift and the mask of a column of packed keys."""
    return layout.place(position)[1], (1 << layout.width) - 1


def _filled(cells: Sequence[Sequence[Cell]], columns: int) -> Table:
    """Rows of cells as one array, filled up with zeros."""
    found = np.zeros((len(cells), columns, w.CELL_COLUMNS), np.int64)
    for row, mine in enumerate(cells):
        for column, cell in enumerate(mine):
            found[row, column] = cell
    return found


def excluded(relations: Sequence[Relation | None]) -> tuple[Table, Table, Sequence[Run]]:
    """The table of facts that are left out, the range of rows of each predicate, and the runs, to be kept alive."""
    tables, ranges, at = [np.empty((0, 4), np.int64)], np.zeros((len(relations), 2), np.int64), 0
    runs: list[Run] = []
    for number, relation in enumerate(relations):
        if relation is not None:
            settled = relation.settled() if relation.tombstones else relation
            table = settled.table(settled.layout.primary)
            tables.append(table)
            runs += settled.runs
            ranges[number] = at, at + len(table)
            at += len(table)
    return np.concatenate(tables), ranges, runs
