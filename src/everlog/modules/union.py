"""Virtual unions: a relation that is looked up in its parts and keeps nothing itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from everlog.analysis.modules import VirtualUnion
from everlog.engine.closed import Closed
from everlog.engine.factset import FactSet
from everlog.engine.keys import Column, Keys, Mask
from everlog.engine.relation import Relation
from everlog.engine.runs import prefix_range
from everlog.lang.syntax import Predicate
from everlog.modules.changed import Changed

WIDTH = 32
LOW = (1 << WIDTH) - 1
BLOCK = 1 << 20


@dataclass(frozen=True)
class Part:
    """The pairs of a relation, or their inverses."""

    relation: Relation
    inverted: bool

    def contains(self, keys: Keys) -> Mask:
        return self.relation.contains(_turned(keys) if self.inverted else keys)

    def overlap(self, other: Part) -> int | None:
        """How many pairs both have, if one is a closure and the other its inverse, so that this is known."""
        base = self.relation.base
        if base is None or base is not other.relation.base or self.inverted == other.inverted:
            return None
        altered = self.relation.runs or self.relation.gone or other.relation.runs or other.relation.gone
        return base.mutual if isinstance(base, Closed) and not altered else None


@dataclass(frozen=True)
class United:
    """Pairs that are in at least one of the parts, each once: in a part, those of earlier parts are left out."""

    parts: tuple[Part, ...]

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        """The pairs of each part that no larger one has; the largest is not listed, nor is its inverse."""
        parts = sorted(self.parts, key=lambda part: len(part.relation), reverse=True)
        count, counted = 0, 0
        if parts:
            count, counted = len(parts[0].relation), 1
        if len(parts) > 1 and (both := parts[0].overlap(parts[1])) is not None:
            count, counted = count + len(parts[1].relation) - both, 2
        for number in range(counted, len(parts)):
            larger = United(tuple(parts[:number]))
            for keys in _blocks(parts[number].relation, 0, BLOCK):
                primary = _turned(keys) if parts[number].inverted else keys
                count += int(np.count_nonzero(~larger.contains(primary)))
        return count

    @property
    def nbytes(self) -> int:
        return 0

    def contains(self, keys: Keys) -> Mask:
        found = np.zeros(len(keys), np.bool_)
        for part in self.parts:
            found |= part.contains(keys)
        return found

    def matches(self, column: int, terms: Column, block: int = BLOCK) -> Iterator[tuple[Column, Column]]:
        for number, part in enumerate(self.parts):
            mine = 1 - column if part.inverted else column
            for rows, others in _matches(part.relation, mine, terms, block):
                lead = terms[rows]
                keys = lead << WIDTH | others if column == 0 else others << WIDTH | lead
                kept = self._not_before(number, keys)
                yield rows[kept], others[kept]

    def match_counts(self, column: int, terms: Column) -> Column:
        counts = np.zeros(len(terms), np.int64)
        for rows, _ in self.matches(column, terms):
            counts += np.bincount(rows, minlength=len(terms))
        return counts

    def blocks(self, column: int = 0, block: int = BLOCK) -> Iterator[Keys]:
        for number, part in enumerate(self.parts):
            mine = 1 - column if part.inverted else column
            for keys in _blocks(part.relation, mine, block):
                primary = keys if column == 0 else _turned(keys)
                yield keys[self._not_before(number, primary)]

    def sorted_keys(self) -> Keys:
        return np.sort(np.concatenate([*self.blocks()] or [np.empty(0, np.int64)]))

    def _not_before(self, number: int, keys: Keys) -> Mask:
        """Which pairs none of the parts before has."""
        return ~United(self.parts[:number]).contains(keys)


def derive(module: VirtualUnion, facts: FactSet) -> dict[Predicate, Relation]:
    """The relation of a union, from all facts below it."""
    return {module.predicate: Relation.from_base(_united(module, facts))}


def rederive(
    module: VirtualUnion, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet
) -> Mapping[Predicate, Changed]:
    """The same after an update: what a part lost is lost unless another part has it, and likewise what it won."""
    before, base = Relation.from_base(_united(module, old)), _united(module, new)
    after = Relation.from_base(base)
    lost, won = (Relation.from_base(_united(module, facts)).plain() for facts in (gone, fresh))
    lost, won = _outside(lost, after), _outside(won, before)
    base.__dict__["_count"] = len(old.relation(module.predicate)) - len(lost) + len(won)
    return {module.predicate: Changed(after, lost, won)}


def _outside(small: Relation, large: Relation) -> Relation:
    keys = small.keys()
    return Relation.from_keys(small.layout, keys[~large.contains(keys)])


def _united(module: VirtualUnion, facts: FactSet) -> United:
    parts = [Part(facts.relation(edge.predicate), edge.inverted) for edge in module.parts]
    return United(tuple(part for part in parts if part.relation))


def _turned(keys: Keys) -> Keys:
    return (keys & LOW) << WIDTH | keys >> WIDTH


def _matches(relation: Relation, column: int, terms: Column, block: int) -> Iterator[tuple[Column, Column]]:
    """The facts of a relation with given terms in a column."""
    if relation.base is not None:
        for rows, others in relation.base.matches(column, terms, block):
            yield _living(relation, column, terms, rows, others)
    order = (0, 1) if column == 0 else (1, 0)
    for run in relation.runs:
        keys = run.keys(order)
        low, high = prefix_range(relation.layout, keys, terms << WIDTH, 1)
        counts = high - low
        rows = np.repeat(np.arange(len(terms)), counts)
        places = np.repeat(low - (np.cumsum(counts) - counts), counts) + np.arange(len(rows))
        yield _living(relation, column, terms, rows, keys[places] & LOW)


def _living(relation: Relation, column: int, terms: Column, rows: Column, others: Column) -> tuple[Column, Column]:
    if not relation.gone:
        return rows, others
    lead = terms[rows]
    alive = relation.contains(lead << WIDTH | others if column == 0 else others << WIDTH | lead)
    return rows[alive], others[alive]


def _blocks(relation: Relation, column: int, block: int) -> Iterator[Keys]:
    """All facts of a relation, a column leading."""
    order = (0, 1) if column == 0 else (1, 0)
    sources = [run.keys(order) for run in relation.runs]
    cut = (keys[i : i + block] for keys in sources for i in range(0, len(keys), block))
    based = relation.base.blocks(column, block) if relation.base is not None else iter(())
    for keys in chain(cut, based):
        primary = keys if column == 0 else _turned(keys)
        yield keys[relation.contains(primary)] if relation.gone else keys
