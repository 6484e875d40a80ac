"""A stratum in one task: all that its rules read, the local engine, and all that it derives, in one executor."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa

from everlog.analysis.stratify import Stratum
from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.plans import reads
from everlog.backends.spark.rows import TaskIds, Written
from everlog.backends.spark.sharing import in_one_task
from everlog.backends.spark.workspace import Stored, Workspace
from everlog.engine.factset import as_local
from everlog.engine.limits import Limits
from everlog.lang.errors import FactLimitError
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.seminaive import close_stratum
from everlog.reasoning.statistics import Listener


@dataclass(frozen=True)
class Evaluated:
    """All facts of a stratum, and how many instances and rounds they took."""

    stored: Stored
    instances: int
    rounds: int


def evaluate(
    space: Workspace, stratum: Stratum, facts: FrameSet, explicit: FrameSet, most: int, limits: Limits
) -> Evaluated | None:
    """The facts of a stratum's predicates, or None if there are more than so many with those that it reads.

    ``facts`` are all facts below the stratum; of ``explicit`` those of its predicates count.
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
            found, figures = close_stratum(engine, self.stratum, below, explicit, 1, Listener())
            engine.limits.check(found.count)
        except FactLimitError:
            return None
        return (
            self.terms.write(as_local(found.restricted(shown(self.stratum))), numbering),
            figures.instances,
            figures.rounds,
        )


def shown(stratum: Stratum) -> list[Predicate]:
    """The predicates of a stratum without those that only modules inside it read."""
    hidden = {name for module in stratum.inner for name in module.external.values()}
    return [predicate for predicate in stratum.predicates if predicate not in hidden]


def without_modules(stratum: Stratum) -> Stratum:
    """The same stratum with the rules of the modules inside it as rules.

    >>> from everlog.analysis.check import check
    >>> from everlog.analysis.modules import with_modules
    >>> from everlog.analysis.stratify import stratify
    >>> from everlog.lang.parser import parse_program
    >>> text = "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?x, ?y) :- e(?x, ?y), p(?y, ?y) ."
    >>> (stratum,) = with_modules(stratify(check(parse_program(text)))).strata
    >>> [str(predicate) for predicate in stratum.predicates], len(stratum.rules)
    (['p external/2', 'p/2'], 1)
    >>> [str(predicate) for predicate in without_modules(stratum).predicates], len(without_modules(stratum).rules)
    (['p/2'], 2)
    """
    back = {name: p for module in stratum.inner for p, name in module.external.items()}
    predicates = tuple(shown(stratum))

    def seen(rule: Rule) -> Rule:
        head = rule.head
        return replace(rule, head=replace(head, predicate=back.get(head.predicate, head.predicate)))

    rules = [*map(seen, stratum.rules), *(rule for module in stratum.inner for rule in module.rules)]
    recursive = tuple(rule for rule in rules if any(atom.predicate in predicates for atom in rule.positive))
    nonrecursive = tuple(rule for rule in rules if rule not in recursive)
    return Stratum(stratum.index, recursive, nonrecursive, predicates)
