"""Conversions between facts as given and facts over representatives."""

from __future__ import annotations

import numpy as np

from everlog.engine.factset import NONE, FactSet
from everlog.engine.keys import Column, Mask
from everlog.engine.relation import Relation
from everlog.reasoning.equality.partition import Partition


def normalised(facts: FactSet, partition: Partition) -> FactSet:
    """The facts with representatives in place of terms."""
    if partition.is_trivial:
        return facts
    return FactSet({predicate: _normalised(relation, partition) for predicate, relation in facts.items()})


def expanded(facts: FactSet, partition: Partition) -> FactSet:
    """All facts that normalised ones stand for: each representative replaced by every term of its class."""
    if partition.is_trivial:
        return facts
    return FactSet({predicate: _expanded(relation, partition) for predicate, relation in facts.items()})


def expanded_count(facts: FactSet, partition: Partition) -> int:
    """The number of facts that normalised ones stand for."""
    if partition.is_trivial:
        return facts.count
    return sum(_expanded_count(relation, partition) for relation in facts.values())


def mentioning(facts: FactSet, terms: Mask) -> FactSet:
    """The facts that have at least one of some terms."""
    if not terms.any():
        return NONE
    return FactSet({predicate: _with_terms(relation, terms) for predicate, relation in facts.items()})


def _with_terms(relation: Relation, terms: Mask) -> Relation:
    keys, columns = relation.keys(), relation.columns()
    mask = np.zeros(len(keys), np.bool_)
    for column in columns:
        mask |= terms[column]
    return Relation.from_keys(relation.layout, keys[mask])


def _expanded_count(relation: Relation, partition: Partition) -> int:
    numbers = np.ones(len(relation), np.float64)
    for column in relation.columns():
        numbers *= partition.sizes[column]
    return int(numbers.sum())


def _normalised(relation: Relation, partition: Partition) -> Relation:
    touched = _with_terms(relation, partition.shared)
    if not touched:
        return relation
    return (relation - touched) | touched.renumbered(partition.of, len(partition.of))


def _expanded(relation: Relation, partition: Partition) -> Relation:
    touched = _with_terms(relation, partition.shared)
    if not touched:
        return relation
    columns: list[Column] = touched.columns()
    for place in range(len(columns)):
        members, positions = partition.members(columns[place])
        columns = [members if i == place else column[positions] for i, column in enumerate(columns)]
    return relation | Relation.from_columns(columns, len(partition.of), len(columns[0]))
