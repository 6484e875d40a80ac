"""Evaluates a stratum by the local engine, in one task of one executor."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from everlog.analysis.ordinary import shown
from everlog.analysis.stratify import Stratum
from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.plans import reads
from everlog.backends.spark.rows import TaskIds, Written
from everlog.backends.spark.sharing import in_one_task
from everlog.backends.spark.workspace import Stored, Workspace
from everlog.engine.factset import as_local
from everlog.engine.limits import Limits
from everlog.lang.errors import FactLimitError
from everlog.reasoning.strata import close_stratum


@dataclass(frozen=True)
class Evaluated:
    """All facts of a stratum, and the numbers of instances and rounds that they took."""

    stored: Stored
    instances: int
    rounds: int


def evaluate(
    space: Workspace, stratum: Stratum, facts: FrameSet, explicit: FrameSet, most: int, limits: Limits
) -> Evaluated | None:
    """The facts of a stratum's predicates; None if there are more than ``most``, with the facts that it reads.

    ``facts`` are all facts below the stratum; of ``explicit`` only the facts of the stratum's predicates are used.
    """
    below = facts.restricted(reads(stratum).difference(stratum.predicates))
    given = explicit.restricted(stratum.predicates)
    rows = space.read(())
    for part in (below, given):
        rows = rows.unionAll(part.frame()) if part.possible else rows
    terms = TaskIds.of(space, (*sorted(reads(stratum)), *stratum.predicates), stratum.rules)
    timeout = None if limits.deadline is None else max(0.0, limits.deadline - time.monotonic())
    space.jobs += 1
    found = in_one_task(rows, _Evaluate(stratum, terms, most, timeout))
    if found is None:
        return None
    written, instances, rounds = found
    return Evaluated(space.stored([written]), instances, rounds)


@dataclass(frozen=True)
class _Evaluate:
    stratum: Stratum
    terms: TaskIds
    most: int
    timeout: float | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> tuple[Written, int, int] | None:
        (facts,), numbering = self.terms.read(batches)
        engine = self.terms.engine(numbering, Limits.from_now(self.most, self.timeout))
        explicit = facts.restricted(self.stratum.predicates)
        below = facts.restricted(p for p in facts if p not in self.stratum.predicates)
        try:
            found, figures = close_stratum(engine, self.stratum, below, explicit)
            engine.limits.check(found.count)
        except FactLimitError:
            return None
        return (
            self.terms.write(as_local(found.restricted(shown(self.stratum))), numbering),
            figures.instances,
            figures.rounds,
        )
