"""Recursion that decomposes, closed in one stage.

The facts of the recursion and the relations that are partitioned with it are partitioned by the value that the
rules carry (:mod:`everlog.analysis.decompose`), into many small *slices*, so that a heavy value delays only one of
them. Each slice is closed by the local engine in a Python worker; the other relations that the rules read are in
shared memory. There is no loop in the driver, and no facts are exchanged after the partitioning.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from everlog.analysis.decompose import Decomposition
from everlog.analysis.stratify import Stratum
from everlog.backends.spark.sharing import (
    SENT_ROWS,
    SharedNumbering,
    columns_by_tag,
    fact_set,
    share,
    shared_facts,
    tagged,
)
from everlog.engine.factset import FactSet, as_local
from everlog.engine.keys import Column, Order, columns_of
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.engine.tables import argument_names
from everlog.lang.syntax import Predicate, Rule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SELDOM = 1_000
"""Number of facts that join orders assume for each relation that is not shared, and at least for one that is."""


def close_decomposed(
    session: SparkSession,
    rules: Sequence[Rule],
    decomposition: Decomposition,
    facts: Mapping[Predicate, DataFrame],
    work: Path,
    *,
    slices: int,
    least: int,
    constants: Mapping[str, int],
    sizes: Mapping[Predicate, int],
    ids: Mapping[Predicate, int],
) -> DataFrame | None:
    """All facts of the predicates of a decomposed recursion, as a stage that runs whenever they are used.

    ``slices`` is the maximum number of slices; there are fewer where a slice would be given fewer facts than ``least``.
    ``constants`` are the ids of the rules' constants. With several predicates the column ``predicate``
    has their ``ids``; facts of predicates without an id are left out. None if there are no facts to start with.
    """
    derived = tuple(decomposition.carried)
    along = [(p, i) for p, i in (*decomposition.carried.items(), *decomposition.copartitioned) if p in facts]
    if not along:
        return None
    everywhere = {p: facts[p] for p in decomposition.shared if p in facts}
    shared = share(everywhere, work, orders_of(rules, decomposition.shared, derived, sizes))
    width = max(p.arity for p, _ in along)
    slice_of = tagged([(facts[p], tag, i) for tag, (p, i) in enumerate(along)], width)
    given = sum(sizes.get(p, 0) for p, _ in along)
    slices = max(1, min(slices, given // least)) if given else slices
    partitioned = slice_of.repartition(slices, "key").drop("key")
    numbers = tuple(map(ids.get, derived))
    task = CloseSlice(tuple(rules), tuple(p for p, _ in along), derived, numbers, shared, constants)
    return partitioned.mapInArrow(task, task.schema)


def orders_of(
    rules: Sequence[Rule], shared: Iterable[Predicate], derived: Container[Predicate], sizes: Mapping[Predicate, int]
) -> dict[Predicate, frozenset[Order]]:
    """The orders in which join plans read the shared relations, which are sorted once and not by every worker."""
    found: dict[Predicate, set[Order]] = {predicate: set() for predicate in shared}
    for rule in RuleSet(rules).rules:
        atoms = (*rule.positive, *rule.negative)
        counts = [max(sizes.get(a.predicate, 0), SELDOM) if a.predicate in found else SELDOM for a in atoms]
        for pivot, atom in enumerate(rule.positive):
            if atom.predicate in derived:
                for step in rule.plan(pivot, counts).steps:
                    if step.atom.predicate in found:
                        found[step.atom.predicate].add(step.order)
    return {predicate: frozenset(orders) for predicate, orders in found.items()}


@dataclass(frozen=True)
class CloseSlice:
    """Closes the facts of a partition, given as :func:`tagged` rows; returns all facts of the derived predicates."""

    rules: tuple[Rule, ...]
    predicates: tuple[Predicate, ...]
    """The predicate of each tag. A predicate with two tags is partitioned by two of its arguments."""
    derived: tuple[Predicate, ...]
    ids: tuple[int | None, ...]
    """The ids of the derived predicates; None for those whose facts are left out of the result."""
    shared: Path | None
    constants: Mapping[str, int]

    @property
    def schema(self) -> str:
        """The columns of the result, in Spark's notation."""
        width = max(predicate.arity for predicate in self.derived)
        several = ["predicate long"] if len(self.derived) > 1 else []
        return ", ".join([*several, *(f"{name} long" for name in argument_names(width))])

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        columns = columns_by_tag(batches, [predicate.arity for predicate in self.predicates])
        if not any(len(mine[0]) for mine in columns):
            return
        below, ids = shared_facts(self.shared)
        named = np.array(list(self.constants.values()), np.int64)
        slice_facts, numbering = fact_set(self.predicates, columns, ids, named)
        del columns
        closed = self._closed(slice_facts, below, numbering)
        for number, predicate in zip(self.ids, self.derived, strict=True):
            if number is not None:
                yield from self._batches(number, closed.relation(predicate), numbering)

    def _closed(self, slice_facts: FactSet, below: FactSet, numbering: SharedNumbering) -> FactSet:
        from everlog.reasoning.observers import ignore_rounds
        from everlog.reasoning.ways import close

        numbers = numbering.numbers_of(np.array(list(self.constants.values()), np.int64))
        engine = Engine(numbering.universe, dict(zip(self.constants, numbers.tolist(), strict=True)), threads=1)
        seeds = slice_facts.restricted(self.derived)
        around = slice_facts.restricted(p for p in slice_facts if p not in self.derived)
        facts = around.replaced(below.fitted(numbering.universe))
        stratum = Stratum.of_rules(1, self.rules, (), self.derived)
        return as_local(close(engine, stratum, facts, seeds, ignore_rounds))

    def _batches(self, number: int, relation: Relation, numbering: SharedNumbering) -> Iterator[pa.RecordBatch]:
        keys = relation.keys()
        width = max(predicate.arity for predicate in self.derived)
        for start in range(0, len(keys), SENT_ROWS):
            columns = columns_of(relation.layout, keys[start : start + SENT_ROWS])
            size = len(keys[start : start + SENT_ROWS])
            ids: list[Column] = [numbering.ids(column) for column in columns]
            ids += [np.zeros(size, np.int64)] * (width - len(columns))
            named = dict(zip(argument_names(len(ids)), ids, strict=True))
            if len(self.derived) > 1:
                named = {"predicate": np.full(size, number, np.int64), **named}
            yield pa.record_batch(named)
