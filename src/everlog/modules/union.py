"""Virtual unions: a relation that is looked up in its parts and keeps nothing itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from everlog.analysis.modules import Edge, VirtualUnion
from everlog.engine.closed import Closed, Listed
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

    def match_counts(self, column: int, terms: Column) -> Column:
        return self.relation.match_counts(1 - column if self.inverted else column, terms)

    def flattened(self) -> Iterator[Part]:
        """The parts of a part that is a union itself."""
        base = self.relation.base
        if isinstance(base, United) and not self.relation.runs and not self.relation.gone:
            for part in base.parts:
                yield Part(part.relation, part.inverted != self.inverted)
        else:
            yield self

    def inverse_of(self, other: Part) -> Closed | None:
        """The closure that one of the two is, and the other its inverse, if that is so."""
        mine, theirs = self.relation, other.relation
        altered = mine.runs or mine.gone or theirs.runs or theirs.gone
        if altered or self.inverted == other.inverted or mine.base is not theirs.base:
            return None
        return mine.base if isinstance(mine.base, Closed) and mine.base.is_whole else None


@dataclass(frozen=True)
class United:
    """Pairs that are in at least one of the parts, each once: in a part, those of earlier parts are left out.

    The largest part comes first. It is counted without listing its pairs, and so is its inverse if that comes next.
    """

    parts: tuple[Part, ...]

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        count = sum(len(part.relation) for part in self._counted)
        if self._twofold is not None:
            count -= self._twofold.mutual
        return count + sum(len(keys) for keys in self._blocks(len(self._counted), 0, BLOCK))

    @cached_property
    def _twofold(self) -> Closed | None:
        """The closure that the first part is, if the second is its inverse."""
        return self.parts[0].inverse_of(self.parts[1]) if len(self.parts) > 1 else None

    @property
    def _counted(self) -> tuple[Part, ...]:
        """The parts whose pairs need not be listed to be counted."""
        return self.parts[: 1 if self._twofold is None else 2]

    @property
    def nbytes(self) -> int:
        return 0

    def contains(self, keys: Keys) -> Mask:
        found = np.zeros(len(keys), np.bool_)
        for part in self.parts:
            found |= part.contains(keys)
        return found

    def matches(self, column: int, terms: Column, block: int = BLOCK) -> Iterator[tuple[Column, Column]]:
        yield from _gathered(self._matches(0, column, terms, block), block)

    def _matches(self, first: int, column: int, terms: Column, block: int) -> Iterator[tuple[Column, Column]]:
        """The same of the parts from the first on."""
        for number in range(first, len(self.parts)):
            part, doubtful = self.parts[number], self._doubtful(number, terms)
            mine = 1 - column if part.inverted else column
            for rows, others in _matches(part.relation, mine, terms, block):
                at = np.flatnonzero(doubtful[rows])
                if not len(at):
                    yield rows, others
                    continue
                lead, other = terms[rows[at]], others[at]
                kept = np.ones(len(rows), np.bool_)
                kept[at] = self._not_before(number, lead << WIDTH | other if column == 0 else other << WIDTH | lead)
                yield rows[kept], others[kept]

    def _doubtful(self, number: int, terms: Column) -> Mask:
        """For which terms the part may have pairs that an earlier one has: for its own inverse, those in cycles."""
        if number == 1 and self._twofold is not None:
            return self._twofold.mutual_counts(terms) > 0
        return np.full(len(terms), number > 0)

    def match_counts(self, column: int, terms: Column) -> Column:
        counts = np.zeros(len(terms), np.int64)
        for part in self._counted:
            counts += part.match_counts(column, terms)
        if self._twofold is not None:
            counts -= self._twofold.mutual_counts(terms)
        for rows, _ in self._matches(len(self._counted), column, terms, BLOCK):
            counts += np.bincount(rows, minlength=len(terms))
        return counts

    def blocks(self, column: int = 0, block: int = BLOCK) -> Iterator[Keys]:
        yield from self._blocks(0, column, block)

    def _blocks(self, first: int, column: int, block: int) -> Iterator[Keys]:
        """The same of the parts from the first on."""
        for number in range(first, len(self.parts)):
            part = self.parts[number]
            mine = 1 - column if part.inverted else column
            for keys in _blocks(part.relation, mine, block):
                primary = keys if column == 0 else _turned(keys)
                yield keys[self._not_before(number, primary)]

    def sorted_keys(self) -> Keys:
        return np.sort(np.concatenate([*self.blocks()] or [np.empty(0, np.int64)]))

    def _not_before(self, number: int, keys: Keys) -> Mask:
        """Which pairs none of the parts before has."""
        disjoint = number == 1 and self._twofold is not None and not self._twofold.mutual
        if not number or not len(keys) or disjoint:
            return np.ones(len(keys), np.bool_)
        found = self.parts[0].contains(keys)
        for part in self.parts[1:number]:
            found |= part.contains(keys)
        return ~found


def _gathered(pieces: Iterator[tuple[Column, Column]], block: int) -> Iterator[tuple[Column, Column]]:
    """The same pieces, small ones put together: whoever takes them pays for each."""
    held: list[tuple[Column, Column]] = []
    size = 0
    for piece in pieces:
        if len(piece[0]):
            held.append(piece)
            size += len(piece[0])
        if size >= block:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)


def _joined(pieces: list[tuple[Column, Column]]) -> tuple[Column, Column]:
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate([rows for rows, _ in pieces]), np.concatenate([others for _, others in pieces])


def derive(module: VirtualUnion, facts: FactSet) -> dict[Predicate, Relation]:
    """The relation of a union, from all facts below it."""
    return {module.predicate: Relation.from_base(_united(module, facts))}


def rederive(
    module: VirtualUnion, old: FactSet, new: FactSet, gone: FactSet, fresh: FactSet
) -> Mapping[Predicate, Changed]:
    """The same after an update: what a part lost is lost unless another part has it, and likewise what it won."""
    before, base = Relation.from_base(_united(module, old)), _united(module, new)
    after = Relation.from_base(base)
    if len(module.parts) == 1:
        lost, won = (_turned_as(module.parts[0], facts) for facts in (gone, fresh))
    else:
        lost, won = (Relation.from_base(_united(module, facts)).plain() for facts in (gone, fresh))
        lost, won = _outside(lost, after), _outside(won, before)
    base.__dict__["_count"] = len(old.relation(module.predicate)) - len(lost) + len(won)
    return {module.predicate: Changed(after, lost, won)}


def _turned_as(part: Edge, facts: FactSet) -> Relation:
    """The facts of a single part; those of a closure are not listed for it."""
    relation = facts.relation(part.predicate)
    if isinstance(relation, Listed):
        return relation.turned() if part.inverted else relation
    return Relation.from_base(United((Part(relation, part.inverted),))).plain()


def _outside(small: Relation, large: Relation) -> Relation:
    keys = small.keys()
    return Relation.from_keys(small.layout, keys[~large.contains(keys)])


def _united(module: VirtualUnion, facts: FactSet) -> United:
    parts = [Part(facts.relation(edge.predicate), edge.inverted) for edge in module.parts]
    parts = [inner for part in parts if part.relation for inner in part.flattened()]
    return United(tuple(sorted(parts, key=lambda part: len(part.relation), reverse=True)))


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
