"""Finishes a loop by the local engine, in one task of one executor, once the facts fit there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from everlog.analysis.stratify import Stratum
from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.rows import GROUP, TaskIds, Written
from everlog.backends.spark.sharing import in_one_task
from everlog.backends.spark.workspace import Stored, Workspace
from everlog.engine.limits import Limits
from everlog.engine.rules import RuleSet
from everlog.lang.errors import LimitError
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.observers import WithinLimits
from everlog.reasoning.seminaive import close_in_rounds


@dataclass(frozen=True)
class Finished:
    """The facts that a task derived, and the numbers of instances and rounds that it took."""

    stored: Stored
    instances: int
    rounds: int


def fits(stratum: Stratum, facts: FrameSet, most: int) -> bool:
    """Whether there are at most ``most`` facts of the predicates that a stratum's recursive rules read and derive."""
    return sum(facts.sizes.get(p, 0) for p in concerned(stratum)) <= most


def concerned(stratum: Stratum) -> list[Predicate]:
    """The predicates of the heads and bodies of a stratum's recursive rules."""
    return list(dict.fromkeys(atom.predicate for rule in stratum.recursive for atom in (rule.head, *rule.body)))


def finish(space: Workspace, stratum: Stratum, facts: FrameSet, delta: FrameSet, most: int) -> Finished | None:
    """The facts that follow and are not among the given ones; None if there are more than ``most`` with these."""
    from pyspark.sql import functions as F

    rows = delta.frame().withColumn(GROUP, F.lit(1))
    old = (facts - delta).restricted(concerned(stratum))
    if old.possible:
        rows = rows.unionAll(old.frame().withColumn(GROUP, F.lit(0)))
    terms = TaskIds.of(space, {*concerned(stratum), *delta.possible}, stratum.recursive)
    space.jobs += 1
    found = in_one_task(rows, _Finish(stratum.recursive, terms, most))
    if found is None:
        return None
    written, instances, rounds = found
    return Finished(space.stored([written]), instances, rounds)


@dataclass(frozen=True)
class _Finish:
    rules: tuple[Rule, ...]
    terms: TaskIds
    most: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> tuple[Written, int, int] | None:
        (old, delta), numbering = self.terms.read(batches, groups=2)
        engine = self.terms.engine(numbering, Limits(self.most))
        old, observer = old - delta, WithinLimits(engine, old)
        try:
            closed = close_in_rounds(engine, RuleSet(self.rules), old, delta, observer)
        except LimitError:
            return None
        found = closed - old - delta
        return self.terms.write(found, numbering), engine.work.instances["forward"], max(0, observer.rounds - 1)
