"""A materialised workload and its updates, run directly on the engine, so that only the algorithm is timed.

States are immutable, so every update starts from the initial state and nothing has to be undone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from bench.maintenance.workloads import Facts
from everlog.analysis.check import check
from everlog.analysis.stratify import Kind, StratifiedProgram, stratify
from everlog.engine.factset import NONE, FactSet
from everlog.engine.limits import Limits
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.lang.errors import LimitError
from everlog.lang.parser import parse_program
from everlog.lang.syntax import Constant, Predicate
from everlog.reasoning.change import SignedChange
from everlog.reasoning.materialisation import Materialisation, nonrecursive_counts, recursive_counts, with_trace
from everlog.reasoning.modules.kinds import with_modules
from everlog.reasoning.names import Algorithm
from everlog.reasoning.strata import close_strata
from everlog.reasoning.update import update

ALGORITHMS: tuple[Algorithm, ...] = ("counting", "dred", "fbf", "dredc", "bfc", "auto")
REMATERIALISE = "rematerialise"
REMATERIALISE_COUNTED = "rematerialise with counters"
COLUMNS = (*ALGORITHMS, REMATERIALISE_COUNTED, REMATERIALISE)
Result = TypeVar("Result")
COUNTED = ("dredc", "bfc", "auto", REMATERIALISE_COUNTED)
"""The algorithms that start from both counters. Counting starts from its trace, the others from the facts alone."""


def relations_of(facts: Facts, universe: int) -> FactSet:
    return FactSet(
        {
            Predicate(name, rows.shape[1]): Relation.from_columns(
                [np.ascontiguousarray(column) for column in rows.T], universe, len(rows)
            )
            for name, rows in facts.items()
        }
    )


def limits_of(seconds: float | None) -> Limits:
    """Limits that stop an engine after a number of seconds."""
    return Limits(deadline=None if seconds is None else time.monotonic() + seconds)


def timed(work: Callable[[], Result]) -> tuple[float, Result | None]:
    """The seconds of some work on an engine, and its result; None if it was stopped at a limit."""
    began = time.perf_counter()
    try:
        result: Result | None = work()
    except LimitError:
        result = None
    return time.perf_counter() - began, result


@dataclass(frozen=True)
class UpdateRun:
    """One timed update; ``done`` is None if it was stopped at the time limit."""

    seconds: float
    done: SignedChange | None

    def figures(self) -> dict[str, Any]:
        if self.done is None:
            return {}
        stats = self.done.statistics
        kept = ("algorithm", "reason", "overdeleted", "rederived", "checked", "proved", "blocked")
        return {"instances": stats.instances, **{name: getattr(stats, name) for name in kept}}


def numbered_constants(program: StratifiedProgram, first: int) -> dict[str, int]:
    """The constants of the rules, numbered from ``first``."""
    atoms = (atom for rule in program.program.rules for atom in (rule.head, *rule.body))
    texts = {term.text for atom in atoms for term in atom.terms if isinstance(term, Constant)}
    return {text: first + number for number, text in enumerate(sorted(texts))}


class Setting:
    """A program, with modules if wanted, and its materialisation in the three forms that algorithms start from: bare,
    counted and traced. Constants of the rules are numbered after the terms of the facts."""

    def __init__(self, rules: str, facts: Facts, stratification: Kind, modules: bool = False) -> None:
        plain = stratify(check(parse_program(rules)), stratification)
        self.program = with_modules(plain) if modules else plain
        terms = 1 + max(int(rows.max()) for rows in facts.values() if len(rows))
        self.constants = numbered_constants(plain, terms)
        self.universe = terms + len(self.constants)
        self.seconds: dict[str, float] = {}
        explicit = self.encoded(facts)
        began = time.perf_counter()
        results, statistics = close_strata(self.engine(), self.program, explicit)
        self.bare = Materialisation(explicit, results.settled(), instances=statistics.instances)
        self.seconds["first"] = time.perf_counter() - began
        began = time.perf_counter()
        nr = nonrecursive_counts(self.engine(), self.program, self.bare)
        self.seconds["nonrecursive"] = time.perf_counter() - began
        rec = recursive_counts(self.engine(), self.program, self.bare)
        self.seconds["counters"] = time.perf_counter() - began
        self.counted = replace(self.bare, nr=nr, rec=rec)
        began = time.perf_counter()
        self.traced = with_trace(self.engine(), self.program, self.bare)
        self.seconds["trace"] = time.perf_counter() - began

    def encoded(self, facts: Facts) -> FactSet:
        """The facts as relations of the engine; explicit facts of a module's predicate have a hidden predicate."""
        return relations_of(facts, self.universe).renamed(self.program.external)

    def engine(self, limit: float | None = None) -> Engine:
        """An engine that stops with an error after ``limit`` seconds."""
        return Engine(self.universe, self.constants, limits=limits_of(limit))

    def state(self, column: str) -> Materialisation:
        return self.traced if column == "counting" else self.counted if column in COUNTED else self.bare

    def run(
        self,
        column: str,
        old: Materialisation,
        delete: FactSet = NONE,
        insert: FactSet = NONE,
        limit: float | None = None,
    ) -> UpdateRun:
        """Time one update, stopped after ``limit`` seconds."""
        algorithm: Any = REMATERIALISE if column.startswith(REMATERIALISE) else column
        engine = self.engine(limit)
        return UpdateRun(*timed(lambda: update(engine, self.program, old, delete, insert, algorithm)))

    def state_after(self, column: str, done: SignedChange) -> Materialisation:
        """The state after an update, with the bookkeeping that the next update by this algorithm starts from."""
        new = done.materialisation
        return replace(new, nr=None, rec=None) if column not in COUNTED else new
