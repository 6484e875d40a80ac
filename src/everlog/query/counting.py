"""Counting the answers to a conjunctive query without listing all of them.

A variable that occurs once is *free*: no other atom depends on its values. An atom with a free column is therefore left
out of the join. It counts, for each value of its other term, the facts that have it, or only whether there is one if
the free variable is not part of the answer. The number of answers is the sum over the instances of the remaining atoms,
each weighted by the counts of its terms: Yannakakis's idea (VLDB 1981), one level deep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from everlog.analysis.check import CheckedQuery
from everlog.engine.factset import FactSet
from everlog.engine.keys import Column, columns_of
from everlog.engine.match import Engine
from everlog.engine.relation import Relation
from everlog.engine.rules import RuleSet
from everlog.lang.syntax import Atom, Constant, Predicate, Rule, Term, Variable

HEAD = ".counted"
PHASE = "query"
MOST = 1 << 62
"""Products of weights below this bound are computed in 64 bits."""


@dataclass(frozen=True)
class CountedAtom:
    """An atom that counts its facts by one of its columns, or their existence if the other is not part of the
    answer."""

    atom: Atom
    relation: Relation
    column: int
    in_answer: bool

    @property
    def term(self) -> Term:
        return self.atom.terms[self.column]

    def weights(self, ids: Column) -> Column:
        """For each value of the term, the number of values of the free column."""
        counts = self.relation.match_counts(self.column, np.maximum(ids, 0))
        return np.where(ids < 0, 0, counts if self.in_answer else np.minimum(counts, 1))


@dataclass
class SplitQuery:
    """A query split into atoms to join, atoms that count by the value of a variable, and a factor for the others."""

    joined: list[Atom] = field(default_factory=list)
    counted: dict[Variable, list[CountedAtom]] = field(default_factory=dict)
    factor: int = 1


def count(query: CheckedQuery, facts: FactSet, engine: Engine) -> int | None:
    """The number of answers, or None if they have to be listed to be counted."""
    split = _split(query, facts, engine)
    if split is None:
        return None
    joined_variables = {variable for atom in split.joined for variable in atom.variables()}
    for variable in split.counted.keys() - joined_variables:
        if any(variable in atom.variables() for atom in query.negative):
            return None
        split.factor *= _shared_count(split.counted.pop(variable), engine)
    if not split.factor or not (split.joined or query.negative):
        return split.factor
    found = _joined(split, query.negative, facts, engine)
    return None if found is None else split.factor * found


def _split(query: CheckedQuery, facts: FactSet, engine: Engine) -> SplitQuery | None:
    uses = Counter(variable for atom in query.body for variable in atom.variables())
    answer_variables = set(query.variables)
    split = SplitQuery()
    for atom in query.positive:
        relation = facts.relation(atom.predicate)
        free = [c for c, term in enumerate(atom.terms) if not isinstance(term, Constant) and uses[term] < 2]  # type: ignore[index]
        hidden = [c for c in free if atom.terms[c] not in answer_variables]
        if len(free) == len(atom.terms) and len(hidden) in (0, len(free)):
            split.factor *= len(relation) if not hidden else bool(relation)
        elif len(atom.terms) == 2 and free:
            column = 1 - (hidden or free)[0]
            _count_by(CountedAtom(atom, relation, column, not hidden), split, engine)
        elif hidden:
            return None
        else:
            split.joined.append(atom)
    return split


def _count_by(counted: CountedAtom, split: SplitQuery, engine: Engine) -> None:
    if isinstance(counted.term, Variable):
        split.counted.setdefault(counted.term, []).append(counted)
    else:
        assert isinstance(counted.term, Constant)
        ids = np.array([engine.constant(counted.term)], np.int64)
        split.factor *= int(counted.weights(ids)[0]) if counted.relation else 0


def _shared_count(group: Sequence[CountedAtom], engine: Engine) -> int:
    """The number of answers to atoms that share a variable which no other atom has."""
    if not all(each.relation for each in group):
        return 0
    plain = [each for each in group if each.relation.base is None]
    if plain:
        smallest = min(plain, key=lambda each: len(each.relation))
        ids = smallest.relation.terms(smallest.column)
    else:
        ids = np.arange(engine.universe)
    return _total(each.weights(ids) for each in group)


def _joined(split: SplitQuery, negative: Sequence[Atom], facts: FactSet, engine: Engine) -> int | None:
    """The number of instances of the joined atoms, each weighted by the counted atoms."""
    variables = tuple(split.counted)
    head = Predicate(HEAD, len(variables))
    rules = RuleSet([Rule(Atom(head, variables), tuple(split.joined), tuple(negative))])
    matches = engine.match(rules, facts, facts, phase=PHASE)
    before = engine.work.instances[PHASE]
    if not variables:
        matches.facts()
        return engine.work.instances[PHASE] - before
    found = matches.counts().get(head)
    if found is None:
        return 0
    keys, repeats = found.whole()
    if int(repeats.sum(dtype=np.int64)) != engine.work.instances[PHASE] - before:
        return None  # more instances of one head than the engine can count
    ids = dict(zip(variables, columns_of(found.layout, keys), strict=True))
    weights = [each.weights(ids[variable]) for variable, group in split.counted.items() for each in group]
    return _total([repeats.astype(np.int64), *weights])


def _total(weights: Iterable[Column]) -> int:
    """The sum of the products of weights, as integers of any size."""
    columns = list(weights)
    largest = prod(int(column.max(initial=0)) for column in columns)
    if largest * len(columns[0]) < MOST:
        return int(np.prod(columns, axis=0).sum())
    return int(sum(np.prod([column.astype(object) for column in columns], axis=0)))
