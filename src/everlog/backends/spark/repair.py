"""Repairs modules after a change of their inputs: finds the facts that they lose and derive newly.

A closure is repaired in one task, by the local engine: its graph is made from the facts that fed it, and then changed.
Pairs that stay are neither read nor listed, so the store need not list them. A virtual union compares only changed
facts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from everlog.analysis.modules.module import SpecialModule
from everlog.backends.spark.factset import FrameSet, PendingFacts, Predicates
from everlog.backends.spark.rows import GROUP, TaskIds, Written
from everlog.backends.spark.sharing import in_one_task
from everlog.backends.spark.workspace import Workspace
from everlog.engine.tables import argument_names
from everlog.reasoning.modules.kinds import implementation
from everlog.reasoning.modules.union.description import VirtualUnion
from everlog.store.groups import Mask, Place, joined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class ModuleChange:
    """All facts before and after a change of a module's inputs, and the facts deleted and inserted by that change."""

    old: FrameSet
    new: FrameSet
    deleted: FrameSet
    inserted: FrameSet


def repair(
    space: Workspace, module: SpecialModule, change: ModuleChange, edges: int, pairs: int
) -> tuple[FrameSet, FrameSet] | None:
    """The facts that a module loses and those that it derives newly; None if one task gave up.

    ``edges`` is the maximum number of facts that feed the module, ``pairs`` that of facts that change.
    """
    if type(module) in REPAIRS:
        return REPAIRS[type(module)](space, module, change)
    return repair_in_one_task(space, module, change, edges, pairs)


def repair_in_one_task(
    space: Workspace, module: SpecialModule, change: ModuleChange, edges: int, pairs: int
) -> tuple[FrameSet, FrameSet] | None:
    """The facts that a module loses and derives newly, found in one task by the module's own implementation."""
    from pyspark.sql import functions as F

    rows = space.read(()).withColumn(GROUP, F.lit(0))
    for group, facts in enumerate((change.old, change.deleted, change.inserted)):
        part = facts.restricted(module.inputs)
        if part.possible:
            rows = rows.unionAll(part.frame().withColumn(GROUP, F.lit(group)))
    terms = TaskIds.of(space, (*module.inputs, *module.predicates))
    space.jobs += 1
    found = in_one_task(rows, _Repair(module, terms, edges, pairs))
    if found is None:
        return None
    underived, derived = (FrameSet.of(space, space.stored([written])) for written in found)
    return underived, derived


@dataclass(frozen=True)
class _Repair:
    module: SpecialModule
    terms: TaskIds
    edges: int
    pairs: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> tuple[Written, Written] | None:
        held, rows = [], 0
        for batch in batches:
            held.append(batch)
            rows += batch.num_rows
            if rows > self.edges:
                return None
        (old, deleted, inserted), numbering = self.terms.read(held, groups=3)
        sides = implementation(self.module).changed(old, (old - deleted) | inserted, deleted, inserted)
        if sum(side.count for side in sides) > self.pairs:
            return None
        underived, derived = (self.terms.write(side, numbering) for side in sides)
        return underived, derived


def repair_union(space: Workspace, module: VirtualUnion, change: ModuleChange) -> tuple[FrameSet, FrameSet]:
    """The facts that a union loses and derives newly.

    A fact deleted from a part is lost unless a part still has it; a fact inserted into one is new unless one had it.
    """
    before, after = (_united(space, module, facts, is_scan=True) for facts in (change.old, change.new))
    deleted, inserted = (_united(space, module, facts) for facts in (change.deleted, change.inserted))
    return deleted - after, inserted - before


REPAIRS: Mapping[type[SpecialModule], Callable[[Workspace, Any, ModuleChange], tuple[FrameSet, FrameSet]]] = {
    VirtualUnion: repair_union
}
"""The functions that repair modules of kinds that are not repaired in one task."""


def _united(space: Workspace, module: VirtualUnion, facts: FrameSet, is_scan: bool = False) -> FrameSet:
    """The facts of a union, given those of its parts."""
    parts = facts.restricted(module.inputs)
    if not parts.possible:
        return parts

    there = frozenset([module.predicate])

    def frame(wanted: Predicates = there, mask: Mask | None = None) -> DataFrame:
        from pyspark.sql import functions as F

        found = []
        for part in (part for part in module.parts if part.predicate in parts.possible):
            rows = parts.frame([part.predicate], None if part.inverted else mask)
            names = argument_names(2)
            number = F.lit(space.names.id(module.predicate)).cast("long").alias("predicate")
            swapped = names[::-1] if part.inverted else names
            turned = [F.col(one).alias(name) for one, name in zip(swapped, names, strict=True)]
            found.append(rows.select(number, *turned, *space.keys[3:]))
        rows = functools.reduce(lambda a, b: a.unionAll(b), found)
        return rows if len(found) == 1 else rows.distinct()

    def touched(wanted: Predicates, argument: int) -> Mask | None:
        return joined(parts.touched([p.predicate], 1 - argument if p.inverted else argument) for p in module.parts)

    def places(wanted: Predicates, argument: int) -> list[Place]:
        return [place for p in module.parts if not p.inverted for place in parts.places([p.predicate], argument)]

    depth = 1 + parts.shallow().depth
    step = PendingFacts(frame, there, parts.most, depth, is_scan, touched=touched, pruned=frame, places=places)
    return FrameSet.of(space, step)
