"""Changes of the explicit facts that wait to be applied, and their effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from everlog.analysis.check import CheckedProgram
from everlog.analysis.predicates import Key, Names
from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import NONE, FactSet
from everlog.engine.kinds import kinds_of
from everlog.engine.relation import Relation
from everlog.engine.tables import argument_names
from everlog.ingest.columns import Headers
from everlog.ingest.programs import program_columns
from everlog.ingest.values import argument_columns
from everlog.lang.kinds import Kinds
from everlog.lang.syntax import Predicate
from everlog.reasoning.change import ExplicitChange

Rows = Any
"""Rows in any form that ``everlog.ingest.values.argument_columns`` takes."""

ByPredicate = Iterable[tuple[Key, Rows]]


@dataclass(frozen=True)
class Queued:
    """A change of the explicit facts that waits to be applied.

    ``unknown`` counts facts to be deleted that have a term which is not in the dictionary. ``kinds`` are those of the
    columns of facts to be inserted.
    """

    insert: bool
    predicate: Predicate
    relation: Relation
    unknown: int = 0
    kinds: Kinds = ()


def insertion(predicate: Predicate, columns: list[pa.LargeStringArray], size: int, dictionary: Dictionary) -> Queued:
    """Rows of texts to be added; new terms get an id at once."""
    ids = [dictionary.encode(column) for column in columns]
    return Queued(True, predicate, Relation.from_columns(ids, len(dictionary), size), kinds=kinds_of(columns))


def deletion(predicate: Predicate, columns: list[pa.LargeStringArray], size: int, dictionary: Dictionary) -> Queued:
    """Rows of texts to be removed; different rows that have an unknown term are only counted."""
    ids = [dictionary.lookup(column) for column in columns]
    if all((column >= 0).all() for column in ids):
        return Queued(False, predicate, Relation.from_columns(ids, len(dictionary), size))
    known = np.logical_and.reduce([column >= 0 for column in ids])
    texts = pa.table(columns, names=argument_names(len(columns))).filter(pa.array(~known))
    unknown = texts.group_by(texts.column_names).aggregate([]).num_rows
    return Queued(False, predicate, Relation.from_columns([column[known] for column in ids], len(dictionary)), unknown)


def asked(
    insert: ByPredicate,
    delete: ByPredicate,
    names: Names,
    dictionary: Dictionary,
    headers: Headers,
    picked: Sequence[str] | None = None,
) -> list[Queued]:
    """Rows to be removed and then rows to be added, as users give them.

    New predicates are added to ``names``, names of columns to ``headers``. ``picked`` are the columns that become
    arguments.

    >>> edges = [("edge", [("a", "b"), ("b", "c")])]
    >>> [(change.insert, len(change.relation)) for change in asked(edges, (), Names((), {}), Dictionary(), {})]
    [(True, 2)]
    """
    queue = []
    for key, data in delete:
        queue += [deletion(*rows, dictionary) for rows in _rows(key, data, names, headers, picked)]
    for key, data in insert:
        for predicate, columns, size in _rows(key, data, names, headers, picked):
            queue.append(insertion(predicate, columns, size, dictionary))
            names.add(predicate)
    return queue


def _rows(
    key: Key, data: Rows, names: Names, headers: Headers, picked: Sequence[str] | None
) -> list[tuple[Predicate, list[pa.LargeStringArray], int]]:
    """The predicate, columns and number of rows; no entry if there are no rows and the arity is not known otherwise."""
    arity, name = names.arity_for(key), names.name_of(key)
    columns, size, header = argument_columns(data, arity, name, picked, headers)
    if arity is None and not columns and not size:
        return []
    predicate = names.for_data(key, len(columns))
    if header is not None:
        headers.setdefault((name, len(columns)), header)
    return [(predicate, columns, size)]


def program_facts(program: CheckedProgram, dictionary: Dictionary, *, insert: bool = True) -> Iterator[Queued]:
    """The facts of a program, to be added or to be removed."""
    change = insertion if insert else deletion
    return (change(*rows, dictionary) for rows in program_columns(program))


def applied(queue: Iterable[Queued], change: ExplicitChange, universe: int) -> ExplicitChange:
    """A change of the explicit facts that changes of a queue continue, one after the other. Costs the changes."""
    change = change.fitted(universe)
    for changes in _independent_groups(queue):
        facts = FactSet({each.predicate: each.relation.fitted(universe) for each in changes})
        delete, insert = (NONE, facts) if changes[0].insert else (facts, NONE)
        change = change.then(delete, insert, unknown=sum(each.unknown for each in changes))
    return change


def _independent_groups(queue: Iterable[Queued]) -> Iterator[list[Queued]]:
    """Groups of consecutive changes of one kind and of different predicates, so that their order has no effect."""
    held: dict[Predicate, Queued] = {}
    insert = True
    for change in queue:
        if held and (change.insert != insert or change.predicate in held):
            yield list(held.values())
            held = {}
        insert = change.insert
        held[change.predicate] = change
    if held:
        yield list(held.values())
