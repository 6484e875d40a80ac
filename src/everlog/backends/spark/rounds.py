"""Recursion that does not decompose, in rounds of one stage each, over facts that stay in slices.

The facts of the recursion are spread over *slices*, and each slice keeps its facts, sorted, in files. In a round a task
takes the facts that were sent to its slice, drops those that the slice has, keeps the new ones, applies the rules to
them by the local engine, and sends the derived facts to their slices. The relations that rules read beside recursive
atoms are in memory that all workers of a host share. So a fact moves once for each round in which it is derived, and
known facts do not move; the rounds end when no facts were sent.

Where no rule has two recursive atoms, a hash of the whole fact determines its slice. Where rules have two, the facts
that they join are in the same slice, by a hash of the joined arguments, and a predicate may need several
partitionings, each by other arguments (:mod:`everlog.analysis.partitioning`): a fact is sent to the first of them, its
*home*, and once it is found to be new there, to the others. An instance of a rule is found in the one slice where its
facts meet, in the round in which the last of them arrives there, so each instance is found once. Rules with more
recursive atoms are applied in steps (:mod:`everlog.analysis.binary`); facts between the steps are left out of the
result.

One task numbers all terms before the first round, so that a fact is a key of the local engine in all rounds. Tasks
write into directories of their own and return these, so a task may be run again, and the loss of an executor loses no
facts.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from everlog.analysis.binary import Unconnected, binarise
from everlog.analysis.linear import other_predicates
from everlog.analysis.partitioning import PartitionedRules, Partitioning, partitioned
from everlog.backends.executors import SparkRunner
from everlog.backends.spark.decomposed import orders_of
from everlog.backends.spark.factset import FrameSet
from everlog.backends.spark.rows import TaskIds, Written
from everlog.backends.spark.sharing import NO_IDS, Orders, SharedNumbering, in_one_task, shared_facts, write_facts
from everlog.backends.spark.slices import Held, Sent, SliceFacts, Spread, received, send
from everlog.backends.spark.workspace import Stored, Workspace
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Keys, Order, reorder
from everlog.engine.limits import Limits
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Predicate, Rule
from everlog.reasoning.fixpoint import fixpoint

RoundObserver = Callable[[int, int], None]
"""Receives the numbers of new facts and of instances of a round."""


@dataclass(frozen=True)
class InRounds:
    """All facts of the recursion, and how many instances and rounds they took.

    A rule that is applied in steps has the instances of its last step.
    """

    stored: Stored
    instances: int
    rounds: int


def close_in_rounds(
    space: Workspace,
    rules: Sequence[Rule],
    derived: Sequence[Predicate],
    facts: FrameSet,
    *,
    slices: int,
    observer: RoundObserver = lambda new, instances: None,
) -> InRounds:
    """All facts of the derived predicates of recursive rules.

    The observer is called after each round, since only then the number of its new facts is known.

    The recursive atoms of each rule have to be connected, and no derived predicate may have arity 0.
    """
    beside = other_predicates(rules, derived)
    steps = binarise(rules, derived)
    assert not isinstance(steps, Unconnected)
    plan = partitioned(steps, derived)
    spread = Spread({copy.name: len(copy.by) for copies in plan.partitionings.values() for copy in copies}, slices)
    terms = TaskIds.of(space, (*derived, *beside), rules)
    orders = orders_of(plan.rules, beside, spread.predicates, facts.sizes)
    given = facts.restricted((*derived, *beside))
    space.jobs += 1
    shared, first = in_one_task(given.frame(), _Prepare(terms, plan, spread, orders))
    slots = [_Slice(tuple(derived), terms, plan, spread, shared, number) for number in range(slices)]
    instances = rounds = 0

    def step(waiting: _Waiting) -> _Waiting:
        nonlocal instances, rounds
        chosen = [slot.receiving(waiting.sent) for slot in slots]
        space.jobs += 1
        done = SparkRunner(space.spark).run(_Slice.round, [slot for slot in chosen if slot.sent])
        read = {sent.directory for sent in waiting.sent}
        for found in done:
            read.update(held.directory for held in set(slots[found.number].held).difference(found.held))
            slots[found.number] = replace(slots[found.number], held=found.held)
        for directory in read:
            shutil.rmtree(directory, ignore_errors=True)
        considered = sum(found.instances for found in done)
        instances, rounds = instances + considered, rounds + 1
        observer(sum(found.new for found in done), considered)
        return _Waiting([found.sent for found in done if found.sent])

    fixpoint(_Waiting([first] if first else []), step)
    space.jobs += 1
    return InRounds(_listed(space, slots), instances, rounds)


@dataclass(frozen=True)
class _Waiting:
    """The facts sent to slices in a round. Some may be known there."""

    sent: Sequence[Sent]

    @property
    def count(self) -> int:
        return sum(sum(sent.counts) for sent in self.sent)

    def __bool__(self) -> bool:
        return bool(self.sent)


def _listed(space: Workspace, slots: Sequence[_Slice]) -> Stored:
    """All facts of the slices, stored with the ids of their terms."""
    return space.stored(SparkRunner(space.spark).run(_Slice.listed, [slot for slot in slots if slot.held]))


# tasks ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Prepare:
    """Numbers all terms, shares the relations that rules read, and sends the given facts to their slices."""

    terms: TaskIds
    plan: PartitionedRules
    spread: Spread
    orders: Orders

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> tuple[Path, Sent | None]:
        (facts,), numbering = self.terms.read(batches)
        work = Path(self.terms.directory)
        beside = facts.restricted(p for p in facts if p not in self.plan.partitionings)
        shared = write_facts(work, beside, numbering.own, self.orders)
        given = facts.restricted(self.plan.partitionings)
        return shared, send(_homeward(given, self.plan), self.spread, numbering.universe, work)


@dataclass(frozen=True)
class _Done:
    """The result of a slice's round: its files, the facts it sent, and the numbers of new facts and of instances."""

    number: int
    held: tuple[Held, ...]
    sent: Sent | None = None
    new: int = 0
    instances: int = 0


@dataclass(frozen=True)
class _Slice:
    """One slice: the files of its facts, and the facts sent to it."""

    derived: tuple[Predicate, ...]
    terms: TaskIds
    plan: PartitionedRules
    spread: Spread
    shared: Path
    number: int
    held: tuple[Held, ...] = ()
    sent: tuple[Sent, ...] = ()

    def receiving(self, waiting: Iterable[Sent]) -> _Slice:
        """The slice with the sent facts that are for it."""
        return replace(self, sent=tuple(sent for sent in waiting if sent.counts[self.number]))

    def round(self) -> _Done:
        """Keep the new facts of those that were sent, and send the facts derived from them."""
        below, ids = shared_facts(self.shared)
        kept = SliceFacts(self.held, self.spread.layouts(len(ids)))
        delta = self._new(kept)
        if not delta:
            return _Done(self.number, self.held)
        engine = self.terms.engine(SharedNumbering(ids, NO_IDS), Limits())
        facts = below.replaced({copy: kept.with_new(copy, delta.relation(copy)) for copy in self.spread.predicates})
        found = engine.match(RuleSet(self.plan.rules), facts, facts, changed=[(delta, NONE)]).facts()
        work = Path(self.terms.directory)
        sent = send(_homeward(found, self.plan) | _onward(delta, self.plan), self.spread, len(ids), work)
        new = sum(len(delta.relation(self.plan.home(predicate).name)) for predicate in self.derived)
        instances = sum(n for rule, n in engine.work.by_rule.items() if rule.head.predicate in self.derived)
        return _Done(self.number, kept.extended(delta, work), sent, new, instances)

    def _new(self, kept: SliceFacts) -> FactSet:
        """The facts that were sent and that the slice does not have; facts sent by a home are known to be new."""
        homes = {copies[0].name for copies in self.plan.partitionings.values()}
        found = {}
        for tag, (copy, layout) in enumerate(kept.layouts.items()):
            keys = received(self.sent, self.number, tag)
            if keys:
                relation = Relation.from_keys(layout, np.concatenate(keys))
                found[copy] = (relation - kept.relation(copy)).settled() if copy in homes else relation
        return FactSet(found)

    def listed(self) -> Written:
        """Write all facts of the slice with their ids."""
        ids = shared_facts(self.shared)[1]
        kept = SliceFacts(self.held, self.spread.layouts(len(ids)))
        homes = {predicate: self.plan.home(predicate) for predicate in self.derived}
        facts = FactSet({predicate: _listed_from(kept.relation(home.name), home) for predicate, home in homes.items()})
        return self.terms.write(facts, SharedNumbering(ids, NO_IDS))


def _listed_from(relation: Relation, home: Partitioning) -> Relation:
    """The facts in a predicate's home, as a relation in its own order."""
    own = relation.layout.primary
    if home.order == own:
        return relation
    return Relation.from_keys(relation.layout, _turned(relation, home.order, own))


def _homeward(facts: FactSet, plan: PartitionedRules) -> dict[Predicate, Keys]:
    """The keys by which facts are sent to their home slices."""
    return {
        plan.home(predicate).name: _turned(relation, relation.layout.primary, plan.home(predicate).order)
        for predicate, relation in facts.items()
    }


def _onward(new: FactSet, plan: PartitionedRules) -> dict[Predicate, Keys]:
    """The keys by which new facts are sent to the other partitionings."""
    return {
        copy.name: _turned(new[home.name], home.order, copy.order)
        for home, *others in plan.partitionings.values()
        if home.name in new
        for copy in others
    }


def _turned(relation: Relation, source: Order, target: Order) -> Keys:
    """The keys of facts with their arguments in another order, not sorted."""
    return reorder(relation.layout, relation.keys(), source, target)
