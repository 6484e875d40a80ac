"""The search for proofs: backwards from the goals in layers, all goals at once, until the least heights are known.

A layer expands facts: all instances of rules that derive them are found, and for facts of closures a shortest path.
Facts in their bodies that are neither given nor known are expanded in the next layer, as long as a goal may depend on
them, which is surveyed at intervals. After k layers every proof of height k has been found, so that the first proofs
found are the lowest (``kernels.paths``).

Of the lowest proofs of a fact the smallest is chosen, given the proofs of its premises; ties are broken by the position
of the rule, then by the terms. Each fact has one proof, in which it does not occur again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from everlog.engine.kernels import paths
from everlog.engine.keys import Column, Mask
from everlog.lang.syntax import Predicate
from everlog.query.explain.instances import instances
from everlog.query.explain.paths import Paths
from everlog.query.explain.steps import Steps
from everlog.query.explain.subject import ModulePaths, Subject
from everlog.query.explain.table import Facts

UNPROVED = np.int32(1 << 30)

FEW = 20
"""Maximum number of facts of a closure for which paths other than the shortest are searched."""

UNSURVEYED = 8
"""A survey takes time for all facts. The next one follows when there are 1/N more facts than at the last one: so a deep
proof takes few surveys, and few facts are expanded that no goal depends on."""


class Search:
    """The facts and steps found from some goals."""

    def __init__(self, subject: Subject, known: dict[int, Paths] | None = None) -> None:
        self.subject = subject
        self.facts = Facts(subject.engine.universe)
        self.steps = Steps()
        self.leaf: Mask = np.zeros(0, np.bool_)
        self.height = np.zeros(0, np.int32)
        self._expanded: Mask = np.zeros(0, np.bool_)
        self._opened: Mask = np.zeros(0, np.bool_)
        self._final: Mask = np.zeros(0, np.bool_)
        self._paths = {} if known is None else known
        self.shortest_only: list[int] = []
        """Facts of closures of which not all paths were found."""

    def run(self, goals: Column) -> None:
        """Find the best proof of each goal, if there is one."""
        self.prepare()
        frontier, surveyed = np.unique(goals[~self.leaf[goals]]), 0
        while len(frontier) or len(frontier := self._closures(goals)):
            met = len(self.facts)
            self.expand(frontier)
            if len(self.facts) - surveyed < surveyed // UNSURVEYED and len(new := self._unexpanded_from(met)):
                frontier = new
            else:
                surveyed, frontier = len(self.facts), self._survey(goals)
        self._survey(goals)

    def expand(self, frontier: Column, every_path: bool = False) -> None:
        """Find all steps that prove some facts: by rules and shortest paths, or by all rules if they were expanded
        before.

        With ``every_path`` other paths are found, too, if the facts are few.
        """
        again = self._expanded[frontier]
        wanted = self.facts.by_predicate(frontier[~again])
        self._match(wanted, {n for predicate in wanted for n in self.subject.direct(predicate)})
        for predicate, numbers in wanted.items():
            if predicate in self.subject.paths_of:
                self._follow(predicate, numbers, every_path and len(numbers) <= FEW)
        more = self.facts.by_predicate(frontier[again])
        self._match(more, {n for p in more for n in self.subject.by_head[p] if n not in self.subject.direct(p)})
        self._expanded[frontier] = True
        self._opened[frontier[again]] = True
        self.prepare()

    def _follow(self, predicate: Predicate, numbers: Column, every_path: bool) -> None:
        finder, complete = self._finder(self.subject.paths_of[predicate]), False
        if every_path:
            found, complete = finder.several(self.facts, predicate, numbers)
        else:
            found = finder.steps(self.facts, predicate, numbers)
        self.steps.add(found)
        self.shortest_only += [] if complete else numbers.tolist()

    def _unexpanded_from(self, first: int) -> Column:
        """The facts, from a given number on, that were neither given nor expanded."""
        return first + np.flatnonzero(~self.leaf[first:] & ~self._expanded[first:])

    def unexpanded(self) -> Column:
        """The facts that were neither given nor expanded."""
        return np.flatnonzero(~self.leaf & ~self._expanded)

    def _match(self, wanted: dict[Predicate, Column], rules: Iterable[int]) -> None:
        for found in instances(self.subject, self.facts, wanted, sorted(rules)):
            self.steps.add(found)

    def _finder(self, of: ModulePaths) -> Paths:
        if id(of.module) not in self._paths:
            self._paths[id(of.module)] = Paths(self.subject, of)
        return self._paths[id(of.module)]

    def _survey(self, goals: Column) -> Column:
        self.height, frontier = paths.survey(
            self.steps.head, self.steps.offsets, self.steps.body, self.leaf, self._expanded, self._final, goals
        )
        return frontier

    def _closures(self, goals: Column) -> Column:
        """Facts of closures to expand by all rules if a goal has no proof: their shortest path may use the fact to
        prove.
        """
        if not len(self.height) or (self.height[goals] >= 0).all():
            return goals[:0]
        closures = [self.facts.predicates.index(p) for p in self.subject.paths_of if p in self.facts.predicates]
        every = np.flatnonzero(self._expanded & ~self._opened & (self.height < 0))
        return every[np.isin(self.facts.predicates_of(every), closures)]

    def prepare(self) -> None:
        """Record which of the new facts were given."""
        old, size = len(self.leaf), len(self.facts)
        if size == old:
            return
        new = np.zeros(size - old, np.bool_)
        self.leaf = np.append(self.leaf, new)
        self._expanded, self._opened = np.append(self._expanded, new), np.append(self._opened, new)
        self._final = np.append(self._final, new)
        for predicate, numbers in self.facts.by_predicate(np.arange(old, size)).items():
            columns = self.facts.columns(predicate, numbers)
            self.leaf[numbers] = self.subject.is_explicit(predicate, columns, len(numbers))

    @cached_property
    def best(self) -> Column:
        """The step by which each fact is proved, -1 for given ones and those that are not proved."""
        steps = self.steps
        needed = self.height[steps.body]
        needed[needed < 0] = UNPROVED
        tallest = np.zeros(len(steps.head), np.int32)
        some = np.flatnonzero(np.diff(steps.offsets))
        if len(some):
            tallest[some] = np.maximum.reduceat(needed, steps.offsets[some])
        heights = self.height[steps.head]
        lowest = np.flatnonzero((heights == tallest + 1) & ~self.leaf[steps.head])
        order = steps.ordered(self.subject, lowest, heights[lowest].astype(np.int64))
        best, _ = paths.choose(order, steps.head, steps.offsets, steps.body, self.leaf)
        return np.asarray(best)
