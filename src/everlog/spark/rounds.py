"""Linear recursion that does not decompose, in rounds of one stage each, over facts that stay where they are.

The facts of the recursion are spread over *slices* by a hash of the whole fact, and each slice keeps the ones that it
has, sorted, in files. In a round a task takes the facts that others sent to its slice, drops those that the slice
has, keeps the new ones, applies the rules to them by the local engine, and sends what follows to the slices where it
belongs. What the rules read beside the one recursive atom is in memory that all workers of a host share. So a fact
moves once each time that it is derived in a round, and facts that are known do not move at all; the rounds end when
nothing new was sent.

One task numbers all terms beforehand, so that a fact is a key of the local engine from then on. Tasks write into
directories of their own and return where, so a second attempt does no harm, and nothing is lost with an executor.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from everlog.analysis.linear import read_beside
from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Keys, layout_for
from everlog.engine.limits import Limits
from everlog.engine.match import RuleSet
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate, Rule
from everlog.pipeline.tasks import run_tasks
from everlog.spark.decomposed import orders_of
from everlog.spark.factset import FrameSet
from everlog.spark.rows import Terms, Written
from everlog.spark.sharing import (
    NO_IDS,
    Array,
    Numbering,
    Orders,
    in_one_task,
    map_array,
    new_directory,
    shared_facts,
    write_arrays,
    write_facts,
)
from everlog.spark.workspace import Stored, Workspace

FACTOR = 2
"""What a slice has is merged with what is new as long as it has at most so many times as many facts, so that it is in
few files however many rounds there are."""


@dataclass(frozen=True)
class InRounds:
    """All facts of the recursion, and how many instances and rounds they took."""

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
    check: Callable[[int], None] = lambda facts: None,
) -> InRounds:
    """All facts of the derived predicates of linear rules; ``check`` hears how many there are after each round."""
    beside = read_beside(rules, derived)
    terms = Terms.of(space, (*derived, *beside), rules)
    orders = orders_of(rules, beside, derived, facts.sizes)
    given = facts.restricted((*derived, *beside))
    space.jobs += 1
    prepare = _Prepare(terms, tuple(derived), orders, slices)
    shared, first = in_one_task(given.frame() if isinstance(given, FrameSet) else space.read(()), prepare)
    slice_of = _Slice(tuple(rules), tuple(derived), terms, shared, slices)
    slots = [replace(slice_of, number=number) for number in range(slices)]
    waiting: list[Sent] = [first] if first else []
    instances = rounds = 0
    while waiting:
        chosen = [slot.receiving(waiting) for slot in slots]
        space.jobs += 1
        done = run_tasks(space.spark, _Slice.round, [slot for slot in chosen if slot.sent])
        for found in done:
            slots[found.number] = replace(slots[found.number], held=found.held)
        for sent in waiting:
            shutil.rmtree(sent.directory, ignore_errors=True)
        instances, rounds = instances + sum(found.instances for found in done), rounds + 1
        waiting = [found.sent for found in done if found.sent]
        check(sum(held.count for slot in slots for held in slot.held))
    space.jobs += 1
    return InRounds(_listed(space, slots), instances, rounds)


def _listed(space: Workspace, slots: Sequence[_Slice]) -> Stored:
    """What the slices have, as facts with ids."""
    written = run_tasks(space.spark, _Slice.listed, [slot for slot in slots if slot.held])
    sizes: Counter[int] = Counter()
    for _, counted in written:
        sizes.update(counted)
    files = tuple(file for some, _ in written for file in some)
    return Stored(files, {space.names.predicate(number): size for number, size in sizes.items()})


# facts in files ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """Facts on their way, in the files of a directory, those of a slice together; so many for each slice."""

    directory: Path
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Held:
    """Facts of a slice, sorted, in the files of a directory."""

    directory: Path
    count: int


def send(facts: FactSet, derived: Sequence[Predicate], work: Path, slices: int) -> Sent | None:
    """Write facts by slice; None if there are none."""
    arrays: dict[str, Array] = {}
    counts = np.zeros(slices, np.int64)
    for tag, predicate in enumerate(derived):
        keys = facts.relation(predicate).keys()
        if len(keys):
            slots = slots_of(keys, slices)
            mine = np.bincount(slots, minlength=slices)
            arrays[f"keys-{tag}"] = keys[np.argsort(slots, kind="stable")]
            arrays[f"ends-{tag}"] = np.cumsum(mine)
            counts += mine
    if not arrays:
        return None
    directory = new_directory(work, "sent")
    write_arrays(directory, arrays)
    return Sent(directory, tuple(counts.tolist()))


def slots_of(keys: Keys, slices: int) -> npt.NDArray[np.uint16]:
    """The slice of each fact: a hash of its key.

    >>> slots_of(np.array([5, 6, 7, 5]), 3).tolist()
    [2, 2, 0, 2]
    """
    words = keys.view(np.uint64).reshape(len(keys), -1)
    mixed = np.zeros(len(keys), np.uint64)
    for word in words.T:
        mixed = (mixed ^ word) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return (mixed % np.uint64(slices)).astype(np.uint16)


def received(sent: Iterable[Sent], number: int, tag: int) -> list[Keys]:
    """The keys of one predicate that were sent to a slice."""
    found = []
    for each in sent:
        path = each.directory / f"keys-{tag}.arrow"
        if each.counts[number] and path.exists():
            ends = map_array(each.directory / f"ends-{tag}.arrow")
            found.append(map_array(path)[ends[number - 1] if number else 0 : ends[number]])
    return found


# tasks ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Prepare:
    """Numbers all terms, shares what rules read, and sends the facts that are given to their slices."""

    terms: Terms
    derived: tuple[Predicate, ...]
    orders: Orders
    slices: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> tuple[Path, Sent | None]:
        (facts,), numbering = self.terms.read(batches)
        work = Path(self.terms.directory)
        beside = facts.restricted(p for p in facts if p not in self.derived)
        shared = write_facts(work, beside, numbering.own, self.orders)
        return shared, send(facts, self.derived, work, self.slices)


@dataclass(frozen=True)
class _Done:
    number: int
    held: tuple[Held, ...]
    sent: Sent | None
    instances: int


@dataclass(frozen=True)
class _Slice:
    """One slice: what it has, and what was sent to it."""

    rules: tuple[Rule, ...]
    derived: tuple[Predicate, ...]
    terms: Terms
    shared: Path
    slices: int
    number: int = 0
    held: tuple[Held, ...] = ()
    sent: tuple[Sent, ...] = ()

    def receiving(self, waiting: Iterable[Sent]) -> _Slice:
        return replace(self, sent=tuple(sent for sent in waiting if sent.counts[self.number]))

    def round(self) -> _Done:
        """Keep what is new of what was sent, and send what follows from it."""
        below, ids = shared_facts(self.shared)
        relations, known = self._known(len(ids))
        new = {}
        for tag, predicate in enumerate(self.derived):
            keys = received(self.sent, self.number, tag)
            if keys:
                layout = layout_for(predicate.arity, len(ids))
                new[predicate] = (Relation.from_keys(layout, np.concatenate(keys)) - known[predicate]).settled()
        delta = FactSet({predicate: relation for predicate, relation in new.items() if relation})
        if not delta:
            return _Done(self.number, self.held, None, 0)
        engine = self.terms.engine(Numbering(ids, NO_IDS), Limits())
        facts = below.replaced(delta)
        found = engine.match(RuleSet(self.rules), facts, facts, changed=[(delta, NONE)]).facts()
        sent = send(found, self.derived, Path(self.terms.directory), self.slices)
        return _Done(self.number, self._kept(relations, delta), sent, engine.work.instances["forward"])

    def listed(self) -> Written:
        """Write all facts of the slice with their ids."""
        ids = shared_facts(self.shared)[1]
        return self.terms.write(FactSet(self._known(len(ids))[1]), Numbering(ids, NO_IDS))

    def _known(self, universe: int) -> tuple[list[dict[Predicate, Run]], dict[Predicate, Relation]]:
        """What the slice has, by the parts that it is in, and as relations."""
        parts: list[dict[Predicate, Run]] = []
        for held in self.held:
            runs = {}
            for tag, predicate in enumerate(self.derived):
                path = held.directory / f"{tag}.arrow"
                if path.exists():
                    runs[predicate] = Run.of(layout_for(predicate.arity, universe), map_array(path))
            parts.append(runs)
        known = {
            p: Relation(layout_for(p.arity, universe), tuple(part[p] for part in parts if p in part))
            for p in self.derived
        }
        return parts, known

    def _kept(self, parts: Sequence[dict[Predicate, Run]], delta: FactSet) -> tuple[Held, ...]:
        """What the slice has from now on, new facts merged with such parts as are not much larger."""
        count, merged = delta.count, len(parts)
        while merged and self.held[merged - 1].count <= FACTOR * count:
            merged -= 1
            count += self.held[merged].count
        arrays: dict[str, Array] = {}
        for tag, predicate in enumerate(self.derived):
            runs = [part[predicate] for part in parts[merged:] if predicate in part]
            runs += delta[predicate].runs if predicate in delta else ()
            if runs:
                arrays[f"{tag}"] = Relation(runs[0].layout, tuple(runs)).keys()
        directory = new_directory(Path(self.terms.directory), "held")
        write_arrays(directory, arrays)
        return (*self.held[:merged], Held(directory, count))
