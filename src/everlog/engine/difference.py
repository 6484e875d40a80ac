"""The difference of a state and an earlier one over the same dictionary.

A difference is four signed multisets: the facts listed as holding, the explicit facts, and the two counters. States
are values that share their large parts, so a difference costs what was rewritten since the earlier state. Applied to
the earlier state it gives the later one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.keys import Keys, pack, sort_unique
from everlog.engine.multiset import NO_COUNTS, Counts, Multiset, Piece, difference_of
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.engine.state import State
from everlog.lang.syntax import Predicate


@dataclass(frozen=True)
class Difference:
    """Signed changes of facts, as four multisets."""

    holds: Counts = field(default_factory=Counts)
    explicit: Counts = field(default_factory=Counts)
    nr: Counts = field(default_factory=Counts)
    rec: Counts = field(default_factory=Counts)

    @property
    def parts(self) -> tuple[Counts, ...]:
        return self.holds, self.explicit, self.nr, self.rec

    @property
    def predicates(self) -> list[Predicate]:
        """The predicates that have a fact whose numbers change."""
        return sorted({predicate for part in self.parts for predicate in part})

    def __bool__(self) -> bool:
        return any(self.parts)

    def fitted(self, universe: int) -> Difference:
        return Difference(*(part.fitted(universe) for part in self.parts))

    def plus(self, later: Difference) -> Difference:
        """This change and one of its result as one; what cancels out is not in it."""
        return Difference(*(_added(one, other) for one, other in zip(self.parts, later.parts, strict=True)))

    def rows(self, predicate: Predicate) -> tuple[Keys, list[NDArray[np.int64]]]:
        """The changed facts of a predicate, ascending, and by how much each of the four numbers changes."""
        found = [part[predicate] for part in self.parts if predicate in part]
        keys = sort_unique(np.concatenate([multiset.whole()[0] for multiset in found]))
        nothing = np.zeros(len(keys), np.int64)
        return keys, [part[predicate].weights(keys) if predicate in part else nothing for part in self.parts]


def _added(one: Counts, other: Counts) -> Counts:
    if not one or not other:
        return one or other
    both = one + other
    return both.restricted([predicate for predicate, multiset in both.items() if len(multiset.whole()[0])])


def difference(old: State, new: State) -> Difference:
    """The difference of a state and a later one over the same dictionary, which may have grown. A counter that only one
    of them has counts as zero in the other.
    """
    return Difference(
        facts_changed(old.rows, new.rows),
        facts_changed(old.explicit, new.explicit),
        counts_changed(old.nr, new.nr),
        counts_changed(old.rec, new.rec),
    )


def counts_changed(old: Counts | None, new: Counts | None) -> Counts:
    """The counts that, added to the old ones, give the new ones."""
    old, new = old or NO_COUNTS, new or NO_COUNTS
    return Counts({p: _changed(old.get(p), new.get(p)) for p in {*old, *new} if old.get(p) is not new.get(p)})


def _changed(old: Multiset | None, new: Multiset | None) -> Multiset:
    if new is None:
        assert old is not None
        new = Multiset(old.layout)
    return new.changed_since(old if old is not None else Multiset(new.layout))


def facts_changed(old: FactSet, new: FactSet) -> Counts:
    """The signed counts that, added to the old facts, give the new ones."""
    return Counts({p: _relation_changed(old.get(p), new.get(p)) for p in {*old, *new} if old.get(p) is not new.get(p)})


def _relation_changed(old: Relation | None, new: Relation | None) -> Multiset:
    """The signed difference of two relations: each is the sum of its runs minus that of its tombstones."""
    if new is None:
        assert old is not None
        new = Relation(old.layout)
    old = old if old is not None else Relation(new.layout)
    if old.layout != new.layout:
        old = Relation.from_run(Run.of(new.layout, pack(new.layout, old.columns(), len(old))))
    mine = {(id(run), sign): (run, sign) for run, sign in _signed(new)}
    its = {(id(run), sign): (run, sign) for run, sign in _signed(old)}
    return Multiset(
        new.layout,
        (
            difference_of(
                [_piece(*mine[name]) for name in mine if name not in its],
                [_piece(*its[name]) for name in its if name not in mine],
            ),
        ),
    )


def _signed(relation: Relation) -> Iterator[tuple[Run, int]]:
    for run in relation.runs:
        yield run, 1
    for run in relation.tombstones:
        yield run, -1


def _piece(run: Run, sign: int) -> Piece:
    keys = run.keys()
    return keys, np.full(len(keys), sign, np.int32)


def applied(
    state: State,
    change: Difference,
    *,
    dictionary: Dictionary | None = None,
    generated: frozenset[Predicate] | None = None,
) -> State:
    """The state after a change; it has counters if the given state has. ``generated`` are the generated predicates of
    the new state, if they are others.
    """
    dictionary = dictionary or state.dictionary
    universe = len(dictionary)
    change = change.fitted(universe)
    nr, rec = (
        None if counts is None else counts.fitted(universe) + changed
        for counts, changed in ((state.nr, change.nr), (state.rec, change.rec))
    )
    rows = _facts_applied(state.rows.fitted(universe), change.holds)
    explicit = _facts_applied(state.explicit.fitted(universe), change.explicit)
    return state_of_rows(dictionary, explicit, rows, (nr, rec), state.generated if generated is None else generated)


def state_of_rows(
    dictionary: Dictionary,
    explicit: FactSet,
    rows: FactSet,
    counts: tuple[Counts | None, Counts | None],
    generated: frozenset[Predicate],
) -> State:
    """The state with the facts that a store lists."""
    facts = rows.restricted(predicate for predicate in rows if predicate not in generated)
    return State(dictionary, explicit, facts, *counts, rows.restricted(generated), generated=generated)


def _facts_applied(facts: FactSet, change: Counts) -> FactSet:
    found = dict(facts)
    for predicate, multiset in change.items():
        relation = found.get(predicate, Relation(multiset.layout))
        plus, minus = signed_keys(multiset)
        more = relation.extended(Run.of(multiset.layout, plus))
        found[predicate] = more.shrunk(Run.of(multiset.layout, minus))
    return FactSet(found)


def by_sign(counts: Counts) -> tuple[FactSet, FactSet]:
    """The facts with positive and those with negative weight."""
    signed = {predicate: (multiset.layout, signed_keys(multiset)) for predicate, multiset in counts.items()}
    plus, minus = (
        FactSet(
            {predicate: Relation.from_run(Run.of(layout, keys[side])) for predicate, (layout, keys) in signed.items()}
        )
        for side in (0, 1)
    )
    return plus, minus


def signed_keys(multiset: Multiset) -> tuple[Keys, Keys]:
    """The keys with positive and with negative weight."""
    keys, weights = multiset.whole()
    return keys[weights > 0], keys[weights < 0]
