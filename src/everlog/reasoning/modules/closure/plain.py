"""Closures as plain pairs, where these take less memory than the graph.

An update changes only pairs of vertices that reach the start of a changed edge. The old pairs show which vertices these
are and what they may reach, so the graph of that part gives their new pairs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from everlog.engine.closed import Closed, Pairs
from everlog.engine.keys import BLOCK_ROWS, ID_BITS, Column, sort_unique
from everlog.engine.reach import Check, Reach, unlimited
from everlog.engine.relation import Relation
from everlog.reasoning.modules.changed import RelationChange

PAIR = 32
"""Maximum bytes of a pair, in two sort orders with an index each."""

PAIRS_BY_EDGE = 2
"""Maximum pairs per edge of a closure kept as plain pairs; with more pairs, its graph takes less memory."""


def most_pairs(edges: int) -> int:
    """The maximum number of pairs to keep plain for a number of edges, as far as that is known without the graph."""
    return PAIRS_BY_EDGE * edges


def are_smaller(graph: Reach) -> bool:
    """Whether the pairs of a graph take less memory than it, in every order in which they may be read."""
    return graph.pairs <= most_pairs(len(graph.edges)) and PAIR * graph.pairs < graph.nbytes


def updated(
    pairs: Relation,
    mirrored: bool,
    lost: Pairs,
    new: Pairs,
    edges_of: Callable[[Column], Pairs],
    most: int,
    check: Check = unlimited,
) -> RelationChange | None:
    """The pairs after an update of the edges; None, without listing them, if they are more than ``most``.

    ``edges_of`` returns the edges from terms after the update.

    >>> edges = np.array([1, 3]), np.array([2, 4])
    >>> pairs, none = Relation.from_columns(edges), (np.empty(0, np.int64),) * 2
    >>> more = np.array([1, 2, 3]), np.array([2, 3, 4])
    >>> changed = updated(pairs, False, none, (more[0][1:2], more[1][1:2]), lambda terms: more, 10)
    >>> len(changed.relation), len(changed.lost), len(changed.won)
    (6, 0, 4)
    """
    first = 1 if mirrored else 0
    above = _with_others(pairs, 1 - first, np.concatenate([lost[0], new[0]]))
    below = _with_others(pairs, first, np.concatenate([above, new[1]]))
    after = Closed(Reach.of(*edges_of(below), check=check), mirrored=mirrored)
    before = _of_terms(pairs, first, above)
    if len(pairs) - len(before) + int(after.match_counts(first, above).sum()) > most:
        return None
    now = _of_terms(Relation.from_base(after), first, above)
    gone, fresh = before - now, now - before
    return RelationChange(pairs.shrunk(gone.run()).extended(fresh.run()), gone, fresh)


def _with_others(pairs: Relation, column: int, terms: Column) -> Column:
    """The terms, and those in the other column of their pairs."""
    terms = sort_unique(terms)
    return sort_unique(np.concatenate([terms, *(others for _, others in pairs.matches(column, terms, BLOCK_ROWS))]))


def _of_terms(pairs: Relation, column: int, terms: Column) -> Relation:
    """The pairs with some of the terms in a column."""
    found = [pairs.layout.empty()]
    for numbers, others in pairs.matches(column, terms, BLOCK_ROWS):
        first, second = (others, terms[numbers]) if column else (terms[numbers], others)
        found.append(first << ID_BITS | second)
    return Relation.from_keys(pairs.layout, np.concatenate(found))
