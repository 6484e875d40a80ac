"""Proofs of equalities: paths of ``owl:sameAs`` facts, each of which was given or follows by a rule.

Equal terms follow from facts, and facts from equal terms, in levels (:mod:`everlog.reasoning.merging`): the
``owl:sameAs`` facts of level j are proved with equalities of earlier levels only. The facts of all levels before k,
read either way, are the edges of a graph whose components are the classes of partition k. So a pair that is equal from
partition k on is proved by a shortest path in that graph, and the edges of level j on it by proofs at that level, which
need pairs that are equal from partition j on at the latest. It ends at level 0, where only terms themselves are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from everlog.engine.factset import FactSet
from everlog.engine.keys import ID_BITS, Column
from everlog.engine.reach import Reach
from everlog.lang.syntax import Atom, Constant, Predicate
from everlog.query.explain.build import ProofBuilder
from everlog.query.explain.classes import Classes, TermCache
from everlog.query.explain.forms import in_terms
from everlog.query.explain.paths import PathFinder
from everlog.query.explain.proof import Proof
from everlog.query.explain.requested import Goals
from everlog.query.explain.search import Search
from everlog.query.explain.subject import ReasonedProgram, Subject
from everlog.reasoning.change import ExplicitChange
from everlog.reasoning.merging import Level

Pair = tuple[int, int]
"""Two terms, by their ids."""


@dataclass(frozen=True)
class Edges:
    """The ``owl:sameAs`` facts of all levels that join classes, and all those of level 0."""

    level: Column
    representatives: tuple[Column, Column]
    terms: tuple[Column, Column]
    """The terms that are shown for the representatives."""

    @classmethod
    def of(cls, subjects: Sequence[Subject], same: Predicate) -> Edges:
        found = [_edges(number, subject, same) for number, subject in enumerate(subjects)]
        empty = np.empty(0, np.int64)
        level, left, right, first, second = (np.concatenate([empty, *parts]) for parts in zip(*found, strict=True))
        return cls(level, (left, right), (first, second))

    def numbers(self, sources: Column, targets: Column) -> Column:
        """The edges between terms, in either direction, the one that is a fact if both are."""
        keys, order = self._sorted
        found = np.full(len(sources), -1, np.int64)
        for one, other in ((targets, sources), (sources, targets)):
            wanted = one << ID_BITS | other
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found = np.where(keys[at] == wanted, order[at], found)
        return found

    @cached_property
    def _sorted(self) -> tuple[Column, Column]:
        keys = self.terms[0] << ID_BITS | self.terms[1]
        order = np.argsort(keys)
        return keys[order], order

    def graph(self, level: int) -> Reach:
        """The edges of all levels before one, both ways."""
        before = self.level < level
        first, second = (side[before] for side in self.terms)
        return Reach.of(np.concatenate([first, second]), np.concatenate([second, first]))


class Equalities:
    """The equal terms of a knowledge base, with the proofs found so far of their equality."""

    def __init__(self, reasoner: ReasonedProgram, subject: Subject) -> None:
        merging, merged = reasoner.merging, reasoner.merged
        assert merging is not None
        unchanged = ExplicitChange.of(merged.explicit)
        levels = merging.levels(reasoner.engine, unchanged, reasoner.constant_ids, merged, "auto")
        explicit = merged.explicit.fitted(len(reasoner.dictionary))
        self.subjects = [*(_at_level(reasoner, subject, level) for level in levels[:-1]), subject]
        self.terms = TermCache(subject.dictionary)
        self.same = merging.same
        self.classes = [_classes(self.terms, each, explicit, self.same) for each in self.subjects]
        self.top = self.classes[-1]
        self._paths: dict[Pair, list[int]] = {}
        self._proofs: dict[int, Proof] = {}
        self._graphs: dict[int, PathFinder] = {}

    @cached_property
    def edges(self) -> Edges:
        return Edges.of(self.subjects[:-1], self.same)

    def drafts(self, subject: Subject, goals: Goals, found: Sequence[Proof]) -> list[Proof]:
        """Proofs of requested facts, made of proofs over representatives, which use equalities without proving them."""
        columns = [self.terms.constants(column.tolist()) for column in goals.columns]
        rows: Iterable[tuple[Constant, ...]] = zip(*columns, strict=True) if columns else [()] * len(goals)
        drafts = [
            in_terms(self.top, subject.written, proof, Atom(goals.predicate, row))
            for proof, row in zip(found, rows, strict=True)
        ]
        self._prove(drafts)
        return drafts

    def needed(self, draft: Proof) -> Iterator[Pair]:
        for step in draft.steps:
            yield from (self.in_order(*pair) for pair in step.equal)
            if step.kind == "same":
                one, other = self.terms.ids(step.fact)
                yield one, other

    def in_order(self, one: Constant, other: Constant) -> Pair:
        """A pair of two terms in the order in which their equality is proved, independent of the order given."""
        pair = self.terms.id(one), self.terms.id(other)
        hashes = self.top.hashes
        return pair if hashes[pair[0]] <= hashes[pair[1]] else pair[::-1]

    def path(self, pair: Pair) -> list[int]:
        """The edges from a term to an equal one."""
        return self._paths[pair]

    def fact(self, pair: Pair) -> Atom:
        return Atom(self.same, tuple(self.terms.constants(pair)))

    def edge(self, number: int) -> Atom:
        first, second = self.edges.terms
        return self.fact((int(first[number]), int(second[number])))

    def level(self, edge: int) -> int:
        return int(self.edges.level[edge])

    def draft(self, edge: int) -> Proof:
        """The proof of an edge, which uses equalities without proving them."""
        return self._proofs[edge]

    # finding ----------------------------------------------------------------------------------------

    def _prove(self, drafts: Sequence[Proof]) -> None:
        """Find paths for all equalities that proofs use, and proofs of the edges on them, from the last level down."""
        pairs = self._new_pairs(drafts)
        edges: set[int] = set()
        for level in range(len(self.subjects) - 1, -1, -1):
            mine = sorted(edge for edge in edges if self.level(edge) == level)
            pairs |= self._new_pairs(self._prove_edges(level, mine))
            since = self._since(sorted(pairs))
            found = [pair for pair, first in since.items() if first == level]
            pairs.difference_update(found)
            self._find(level, found)
            edges.update(edge for pair in found for edge in self._paths[pair] if edge not in self._proofs)

    def _new_pairs(self, drafts: Iterable[Proof]) -> set[Pair]:
        return {pair for draft in drafts for pair in self.needed(draft) if pair not in self._paths}

    def _since(self, pairs: Sequence[Pair]) -> dict[Pair, int]:
        """For each pair, the first partition in which its terms are equal. A pair of one term stands for its equality
        to any other term.
        """
        first, second = np.array(pairs, np.int64).reshape(-1, 2).T
        found = np.full(len(pairs), -1, np.int64)
        for level, classes in enumerate(self.classes):
            of, shared = classes.partition.of, classes.partition.shared
            equal = (of[first] == of[second]) & shared[first]
            found[(found < 0) & equal] = level
        return dict(zip(pairs, found.tolist(), strict=True))

    def _find(self, level: int, pairs: Sequence[Pair]) -> None:
        """Find shortest paths between the terms of pairs, along edges of the levels before."""
        if not pairs:
            return
        if level not in self._graphs:
            self._graphs[level] = PathFinder(self.edges.graph(level), self.top.hashes, both_ways=True)
        first, second = np.array(pairs, np.int64).T
        bounds, terms = self._graphs[level].shortest(first, second)
        for pair, begin, end in zip(pairs, bounds, bounds[1:], strict=False):
            self._paths[pair] = self.edges.numbers(terms[begin : end - 1], terms[begin + 1 : end]).tolist()

    def _prove_edges(self, level: int, edges: Sequence[int]) -> list[Proof]:
        """Proofs of edges of a level, all at once."""
        if not edges:
            return []
        subject, search = self.subjects[level], Search(self.subjects[level])
        columns = [side[list(edges)] for side in self.edges.representatives]
        goals = search.facts.numbers(self.same, columns, len(edges))
        search.run(np.unique(goals))
        proofs = ProofBuilder(search, len(subject.rules)).proofs(goals.tolist())
        drafts = [
            in_terms(self.classes[level], subject.written, proof, self.edge(edge))
            for edge, proof in zip(edges, proofs, strict=True)
        ]
        self._proofs.update(zip(edges, drafts, strict=True))
        return drafts


def _at_level(reasoner: ReasonedProgram, subject: Subject, level: Level) -> Subject:
    """The subject of explanations at a level."""
    universe, partition = len(reasoner.dictionary), level.partition
    facts = level.materialisation.facts.fitted(universe)
    explicit = level.materialisation.explicit.fitted(universe)
    return replace(
        subject,
        facts=facts,
        explicit=explicit,
        with_hidden=facts,
        partition=partition,
        engine=reasoner.engine(partition),
    )


def _classes(terms: TermCache, subject: Subject, explicit: FactSet, same: Predicate) -> Classes:
    assert subject.partition is not None
    return Classes(terms, subject.partition, subject.usual, subject.own_hashes, explicit, same)


def _edges(number: int, subject: Subject, same: Predicate) -> tuple[Column, ...]:
    left, right = subject.facts.relation(same).columns()
    if number:
        new = left != right
        left, right = left[new], right[new]
    return np.full(len(left), number), left, right, subject.usual[left], subject.usual[right]
