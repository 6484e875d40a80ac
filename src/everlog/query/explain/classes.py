"""Classes of equal terms: their members, and the given facts that are one fact over representatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.keys import Column, layout_for, pack
from everlog.lang.syntax import Atom, Constant, Predicate, Term
from everlog.query.explain.table import Flat, flat
from everlog.reasoning.equality.partition import Partition
from everlog.reasoning.merging import SAME


class TermCache:
    """Constants by id and ids by constant, each looked up once."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._ids: dict[str, int] = {}
        self.by_id: dict[int, Constant] = {}

    def id(self, constant: Constant) -> int:
        found = self._ids.get(constant.text)
        if found is None:
            found = self._ids[constant.text] = self._dictionary.find(constant.text)
        return found

    def ids(self, atom: Atom) -> list[int]:
        return [self.id(term) for term in atom.terms if isinstance(term, Constant)]

    def constants(self, ids: Sequence[int]) -> list[Constant]:
        new = [each for each in dict.fromkeys(ids) if each not in self.by_id]
        if new:
            texts = self._dictionary.decode(np.array(new, np.int64)).to_pylist()
            self.by_id.update(zip(new, map(Constant, texts), strict=True))
            self._ids.update(zip(texts, new, strict=True))
        return [self.by_id[each] for each in ids]


@dataclass(frozen=True)
class Classes:
    """A partition of terms, and the facts that were given, with their own terms."""

    terms: TermCache
    partition: Partition
    usual: Column
    """For each term, the term that is shown for its class."""
    hashes: Column
    """The hashes by which terms are sorted."""
    explicit: FactSet
    same: Predicate = SAME
    """The predicate of equal terms."""

    def is_shared(self, term: Term) -> bool:
        """Whether a constant is equal to another one."""
        return isinstance(term, Constant) and self.usual_of(term) is not None

    def usual_of(self, constant: Constant) -> Constant | None:
        """The constant that is shown for a constant and those equal to it; None if there are no others."""
        try:
            return self._usual[constant.text]
        except KeyError:
            number = self.terms.id(constant)
            shared = 0 <= number < len(self.partition.of) and self.partition.shared[number]
            found = self.terms.constants([int(self.usual[number])])[0] if shared else None
            self._usual[constant.text] = found
            return found

    @cached_property
    def _usual(self) -> dict[str, Constant | None]:
        return {}

    def are_equal(self, one: Term, other: Term) -> bool:
        """Whether two terms are identical, or constants of one class."""
        if one == other:
            return True
        of = self.partition.of
        return self.is_shared(one) and self.is_shared(other) and of[self._id(one)] == of[self._id(other)]

    def members(self, constant: Constant, most: int) -> list[Constant]:
        """At most ``most`` of the other constants that are equal to a constant, in order."""
        number = self.terms.id(constant)
        found, _ = self.partition.members(self.partition.of[[number]])
        found = found[found != number]
        return self.terms.constants(found[np.argsort(self.hashes[found])][:most].tolist())

    def is_equality(self, fact: Atom) -> bool:
        """Whether a fact over representatives states that the terms of a class are equal."""
        return fact.predicate == self.same and fact.terms[0] == fact.terms[1] and self.is_shared(fact.terms[0])

    def given(self, fact: Atom, wanted: Sequence[Term | None]) -> Atom:
        """A given fact whose form over representatives is this fact, with as many of the wanted terms as possible."""
        if not any(map(self.is_shared, fact.terms)):
            return fact
        index = self._index(fact.predicate)
        key = tuple(int(self.partition.of[each]) for each in self.terms.ids(fact))
        if key not in index.single:
            rows = index.rows(key, len(self.partition.of))
            columns = [column[rows] for column in index.columns]
            single = len(columns[0]) == 1
            best = 0 if single else self._best(columns, wanted)
            found = Atom(fact.predicate, tuple(self.terms.constants([int(column[best]) for column in columns])))
            if not single:
                return found
            index.single[key] = found
        return index.single[key]

    def _best(self, columns: Sequence[Column], wanted: Sequence[Term | None]) -> int:
        fitting = sum(column == self._id(term) for column, term in zip(columns, wanted, strict=True))
        return int(np.lexsort((*(self.hashes[column] for column in columns[::-1]), -np.asarray(fitting)))[0])

    def _id(self, term: Term | None) -> int:
        return self.terms.id(term) if isinstance(term, Constant) else -1

    def _index(self, predicate: Predicate) -> _Given:
        if predicate not in self._indexes:
            columns = self.explicit.relation(predicate).columns()
            some = np.zeros(len(columns[0]), np.bool_)
            for column in columns:
                some |= self.partition.shared[column]
            self._indexes[predicate] = _Given.of([column[some] for column in columns], self.partition)
        return self._indexes[predicate]

    @cached_property
    def _indexes(self) -> dict[Predicate, _Given]:
        return {}


@dataclass(frozen=True)
class _Given:
    """Facts of one predicate, sorted by their facts over representatives."""

    columns: Sequence[Column]
    keys: Flat
    single: dict[tuple[int, ...], Atom] = field(default_factory=dict)
    """Given facts found before, by their fact over representatives, where it has one given fact only."""

    @classmethod
    def of(cls, columns: Sequence[Column], partition: Partition) -> _Given:
        keys = _keys([partition.of[column] for column in columns], len(partition.of))
        order = np.argsort(keys, kind="stable")
        return cls([column[order] for column in columns], keys[order])

    def rows(self, representatives: Sequence[int], universe: int) -> slice:
        """The range of the facts with given representatives."""
        key = _keys([np.array([each]) for each in representatives], universe)
        return slice(int(self.keys.searchsorted(key)[0]), int(self.keys.searchsorted(key, side="right")[0]))


def _keys(columns: Sequence[Column], universe: int) -> Flat:
    return flat(pack(layout_for(len(columns), universe), columns, len(columns[0])))
