"""A materialised workload and one update of it, on the engine itself: what is timed is the algorithm.

States are values, so every update starts from the same one and nothing has to be undone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.maintenance.workloads import Facts
from everlog.analysis.check import check
from everlog.analysis.stratify import Kind, stratify
from everlog.engine.factset import NONE, FactSet
from everlog.engine.limits import Limits
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.lang.errors import LimitError
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import SignedChange
from everlog.reasoning.materialisation import Materialisation, nonrecursive_counts, recursive_counts, with_trace
from everlog.reasoning.seminaive import seminaive
from everlog.reasoning.update import Algorithm, update

ALGORITHMS: tuple[Algorithm, ...] = ("counting", "dred", "fbf", "dredc", "bfc", "auto")
REMATERIALISE = "rematerialise"
REMATERIALISE_COUNTED = "rematerialise with counters"
COLUMNS = (*ALGORITHMS, REMATERIALISE_COUNTED, REMATERIALISE)
COUNTED = ("dredc", "bfc", "auto", REMATERIALISE_COUNTED)
"""They start from both counters; Counting starts from its trace, and the others from the facts alone."""


@dataclass(frozen=True)
class Run:
    """One update: ``done`` is None if it was cut off."""

    seconds: float
    done: SignedChange | None

    def figures(self) -> dict[str, Any]:
        """Its statistics, as far as they are counts."""
        if self.done is None:
            return {}
        stats = self.done.statistics
        kept = ("algorithm", "reason", "overdeleted", "rederived", "checked", "proved", "blocked")
        return {"instances": stats.instances, **{name: getattr(stats, name) for name in kept}}


class Setting:
    """A program with its materialisation in the three forms that the algorithms start from."""

    def __init__(self, rules: str, facts: Facts, stratification: Kind, heads_first: bool = False) -> None:
        self.program = stratify(check(parse_program(rules)), stratification)
        self.universe = 1 + max(int(rows.max()) for rows in facts.values())
        self.heads_first = heads_first
        self.seconds: dict[str, float] = {}
        explicit = self.encoded(facts)
        began = time.perf_counter()
        found, statistics = seminaive(self.engine(), self.program, explicit)
        self.bare = Materialisation(explicit, found.settled(), instances=statistics.instances)
        self.seconds["first"] = time.perf_counter() - began

    def prepare(self, traced: bool = True) -> None:
        """Compute the bookkeeping."""
        began = time.perf_counter()
        nr = nonrecursive_counts(self.engine(), self.program, self.bare)
        self.seconds["nonrecursive"] = time.perf_counter() - began
        rec = recursive_counts(self.engine(), self.program, self.bare)
        self.seconds["counters"] = time.perf_counter() - began
        self.counted = replace(self.bare, nr=nr, rec=rec)
        if traced:
            began = time.perf_counter()
            self.traced = with_trace(self.engine(), self.program, self.bare)
            self.seconds["trace"] = time.perf_counter() - began

    def encoded(self, facts: Facts) -> FactSet:
        """Facts as the engine has them."""
        return FactSet(
            {
                Predicate(name, rows.shape[1]): Relation.from_columns(
                    [np.ascontiguousarray(column) for column in rows.T], self.universe, len(rows)
                )
                for name, rows in facts.items()
            }
        )

    def engine(self, limit: float | None = None) -> Engine:
        deadline = None if limit is None else time.monotonic() + limit
        engine = Engine(self.universe, {}, limits=Limits(deadline=deadline))
        engine.heads_first = self.heads_first
        return engine

    def state(self, column: str) -> Materialisation:
        """What an algorithm starts from."""
        return self.traced if column == "counting" else self.counted if column in COUNTED else self.bare

    def run(
        self,
        column: str,
        old: Materialisation,
        delete: FactSet = NONE,
        insert: FactSet = NONE,
        limit: float | None = None,
    ) -> Run:
        """One timed update, stopped after ``limit`` seconds."""
        algorithm: Any = REMATERIALISE if column.startswith(REMATERIALISE) else column
        engine = self.engine(limit)
        began = time.perf_counter()
        try:
            done = update(engine, self.program, old, delete, insert, algorithm)
        except LimitError:
            return Run(time.perf_counter() - began, None)
        return Run(time.perf_counter() - began, done)

    def again(self, column: str, done: SignedChange) -> Materialisation:
        """The state after an update with all that the next one by the same algorithm needs."""
        new = done.materialisation
        return replace(new, nr=None, rec=None) if column not in COUNTED else new
