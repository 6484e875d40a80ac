"""How one state differs from an earlier one over the same dictionary.

A difference is four signed multisets: what holds, what is explicit, and the two counters. States are
values that share their large parts, so a difference costs what was rewritten since the earlier one,
not what there is. Differences are added, and applied to the earlier state give the later one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary
from everlog.engine.factset import FactSet
from everlog.engine.keys import Keys, layout_for, pack, sort_unique
from everlog.engine.multiset import NO_COUNTS, Counts, Multiset, Piece, difference_of
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.engine.state import State, counts_arrays, counts_from
from everlog.lang.syntax import Predicate

PARTS = ("holds", "explicit", "nr", "rec")


@dataclass(frozen=True)
class Difference:
    """Signed changes of facts; see the module."""

    holds: Counts = field(default_factory=Counts)
    explicit: Counts = field(default_factory=Counts)
    nr: Counts = field(default_factory=Counts)
    rec: Counts = field(default_factory=Counts)

    @property
    def parts(self) -> tuple[Counts, ...]:
        return self.holds, self.explicit, self.nr, self.rec

    @property
    def predicates(self) -> list[Predicate]:
        """The predicates of which any fact changes."""
        return sorted({predicate for part in self.parts for predicate in part})

    @property
    def size(self) -> int:
        """How many numbers change."""
        return sum(len(multiset) for part in self.parts for multiset in part.values())

    def __bool__(self) -> bool:
        return any(self.parts)

    def __add__(self, later: Difference) -> Difference:
        """This difference and then a later one, in the layouts of the later."""
        return Difference(*(_added(mine, its) for mine, its in zip(self.parts, later.parts, strict=True)))

    def fitted(self, universe: int) -> Difference:
        return Difference(*(part.fitted(universe) for part in self.parts))

    def rows(self, predicate: Predicate) -> tuple[Keys, list[NDArray[np.int64]]]:
        """The facts of a predicate that change, ascending, and by how much each of the four numbers does."""
        found = [part[predicate] for part in self.parts if predicate in part]
        keys = sort_unique(np.concatenate([multiset.whole()[0] for multiset in found]))
        nothing = np.zeros(len(keys), np.int64)
        return keys, [part[predicate].weights(keys) if predicate in part else nothing for part in self.parts]


def _added(first: Counts, second: Counts) -> Counts:
    """The sum without what cancels."""
    both = first + second
    return Counts({p: Multiset(multiset.layout, (multiset.whole(),)) for p, multiset in both.items()})


def difference(old: State, new: State) -> Difference:
    """What changed from one state to a later one over the same dictionary, grown or not.

    Counters that only one of them has count as zero in the other.
    """
    return Difference(
        _facts_changed(old.facts, new.facts),
        _facts_changed(old.explicit, new.explicit),
        counts_changed(old.nr, new.nr),
        counts_changed(old.rec, new.rec),
    )


def counts_changed(old: Counts | None, new: Counts | None) -> Counts:
    """What added to the old counts gives the new ones."""
    old, new = old or NO_COUNTS, new or NO_COUNTS
    return Counts({p: _changed(old.get(p), new.get(p)) for p in {*old, *new}})


def _changed(old: Multiset | None, new: Multiset | None) -> Multiset:
    if new is None:
        assert old is not None
        new = Multiset(old.layout)
    return new.changed_since(old if old is not None else Multiset(new.layout))


def _facts_changed(old: FactSet, new: FactSet) -> Counts:
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
    for run in relation.gone:
        yield run, -1


def _piece(run: Run, sign: int) -> Piece:
    keys = run.keys()
    return keys, np.full(len(keys), sign, np.int32)


def applied(state: State, change: Difference, *, dictionary: Dictionary | None = None) -> State:
    """The state after a change; counters only if the state has them."""
    dictionary = dictionary or state.dictionary
    universe = len(dictionary)
    change = change.fitted(universe)
    nr, rec = (
        None if counts is None else counts.fitted(universe) + changed
        for counts, changed in ((state.nr, change.nr), (state.rec, change.rec))
    )
    facts = _facts_applied(state.facts.fitted(universe), change.holds)
    explicit = _facts_applied(state.explicit.fitted(universe), change.explicit)
    return State(dictionary, explicit, facts, nr, rec)


def _facts_applied(facts: FactSet, change: Counts) -> FactSet:
    found = dict(facts)
    for predicate, multiset in change.items():
        relation = found.get(predicate, Relation(multiset.layout))
        plus, minus = signed_keys(multiset)
        more = relation.extended(Run.of(multiset.layout, plus))
        found[predicate] = more.shrunk(Run.of(multiset.layout, minus))
    return FactSet(found)


def signed_keys(multiset: Multiset) -> tuple[Keys, Keys]:
    """The keys with positive and with negative weight; at once if there is a piece for each of the two."""
    if len(multiset.pieces) == 2:
        (plus, positive), (minus, negative) = multiset.pieces
        if positive.min() > 0 and negative.max() < 0:
            return plus, minus
    keys, weights = multiset.whole()
    return keys[weights > 0], keys[weights < 0]


def to_arrays(change: Difference, universe: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """A difference over ids below ``universe`` as named arrays and a description.

    What comes and what goes are apart, so that the arrays can be runs as they are.
    """
    predicates, fitted = change.predicates, change.fitted(universe)
    arrays: dict[str, NDArray[Any]] = {}
    for name, part in zip(PARTS, fitted.parts, strict=True):
        for sign, signed in (("plus", 1), ("minus", -1)):
            arrays.update(counts_arrays(f"{name}_{sign}", _of_sign(part, signed), predicates))
    return arrays, {"predicates": [str(p) for p in predicates], "universe": universe}


def _of_sign(counts: Counts, sign: int) -> Counts:
    found = {}
    for predicate, multiset in counts.items():
        keys, weights = multiset.whole()
        there = np.sign(weights) == sign
        found[predicate] = Multiset(multiset.layout, ((keys[there], weights[there]),))
    return Counts(found)


def from_arrays(arrays: Mapping[str, NDArray[Any]], manifest: Mapping[str, Any]) -> Difference:
    """The inverse of :func:`to_arrays`."""
    predicates, universe = [Predicate.parse(text) for text in manifest["predicates"]], manifest["universe"]
    return Difference(*(_both_signs(name, arrays, predicates, universe) for name in PARTS))


def _both_signs(name: str, arrays: Mapping[str, NDArray[Any]], predicates: list[Predicate], universe: int) -> Counts:
    plus, minus = (counts_from(f"{name}_{sign}", arrays, predicates, universe) for sign in ("plus", "minus"))
    assert plus is not None
    assert minus is not None
    pieces = {p: (*(plus[p].pieces if p in plus else ()), *(minus[p].pieces if p in minus else ())) for p in predicates}
    return Counts({p: Multiset(layout_for(p.arity, universe), found) for p, found in pieces.items()})
