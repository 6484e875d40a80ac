"""The state of a knowledge base: a dictionary, the explicit facts, and everything that holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary, Texts
from everlog.engine.factset import FactSet
from everlog.engine.keys import Keys, layout_for
from everlog.engine.multiset import Counts, Multiset
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate


@dataclass(frozen=True)
class State:
    """Facts over one dictionary; ``explicit`` is a subset of ``facts``.

    ``nr`` and ``rec`` are the numbers of nonrecursive and recursive derivations, if they are kept.
    """

    dictionary: Dictionary
    explicit: FactSet
    facts: FactSet
    nr: Counts | None = None
    rec: Counts | None = None

    def ranked(self) -> State:
        """The same state with ids in the order of the terms' hashes, as stores have them."""
        dictionary, ids = self.dictionary.ranked()
        if dictionary is self.dictionary:
            return self
        facts = FactSet({p: r.renumbered(ids, len(ids)) for p, r in self.facts.items()})
        explicit = {
            p: facts[p] if self.facts.get(p) is r or len(r) == len(self.facts[p]) else r.renumbered(ids, len(ids))
            for p, r in self.explicit.items()
        }
        nr, rec = (None if c is None else c.renumbered(ids, len(ids)) for c in (self.nr, self.rec))
        return State(dictionary, FactSet(explicit), facts, nr, rec)


def to_arrays(state: State) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """A ranked state as named arrays and a description, to be kept and mapped into memory later."""
    texts = state.dictionary.base
    predicates = sorted(state.facts)
    same = [len(state.explicit.relation(p)) == len(state.facts[p]) for p in predicates]
    facts = [state.facts[p].keys().reshape(-1) for p in predicates]
    explicit = [
        np.empty(0, np.int64) if all_explicit else state.explicit.relation(p).keys().reshape(-1)
        for p, all_explicit in zip(predicates, same, strict=True)
    ]
    arrays: dict[str, NDArray[Any]] = {
        "data": texts.data,
        "offsets": texts.offsets,
        "hashes": texts.hashes,
        "facts": _joined(facts),
        "fact_starts": _starts(facts),
        "explicit": _joined(explicit),
        "explicit_starts": _starts(explicit),
        "same": np.array(same, np.bool_),
    }
    for name, counts in (("nr", state.nr), ("rec", state.rec)):
        if counts is not None:
            arrays.update(counts_arrays(name, counts, predicates))
    return arrays, {"predicates": [str(p) for p in predicates], "salt": state.dictionary.salt}


def from_arrays(arrays: Mapping[str, NDArray[Any]], manifest: Mapping[str, Any]) -> State:
    """The inverse of :func:`to_arrays`; the arrays are used as they are, nothing is read yet."""
    texts = Texts(arrays["data"], arrays["offsets"], arrays["hashes"])
    predicates = [Predicate.parse(text) for text in manifest["predicates"]]
    facts = dict(_relations(predicates, arrays["facts"], arrays["fact_starts"], len(texts)))
    explicit = dict(_relations(predicates, arrays["explicit"], arrays["explicit_starts"], len(texts)))
    same = arrays["same"].tolist()
    explicit.update({p: facts[p] for p, all_explicit in zip(predicates, same, strict=True) if all_explicit})
    nr, rec = (counts_from(name, arrays, predicates, len(texts)) for name in ("nr", "rec"))
    return State(Dictionary(texts, int(manifest["salt"])), FactSet(explicit), FactSet(facts), nr, rec)


def counts_arrays(name: str, counts: Counts, predicates: list[Predicate]) -> dict[str, NDArray[Any]]:
    pieces = [counts[p].whole() if p in counts else (np.empty(0, np.int64), np.empty(0, np.int32)) for p in predicates]
    keys = [keys.reshape(-1) for keys, _ in pieces]
    weights = np.concatenate([weights for _, weights in pieces]) if pieces else np.empty(0, np.int32)
    return {f"{name}_keys": _joined(keys), f"{name}_starts": _starts(keys), f"{name}_weights": weights}


def counts_from(
    name: str, arrays: Mapping[str, NDArray[Any]], predicates: list[Predicate], universe: int
) -> Counts | None:
    if f"{name}_keys" not in arrays:
        return None
    keys, weights = arrays[f"{name}_keys"], arrays[f"{name}_weights"]
    found, at = {}, 0
    for predicate, mine in _slices(predicates, keys, arrays[f"{name}_starts"], universe):
        layout = layout_for(predicate.arity, universe)
        found[predicate] = Multiset(layout, ((mine, weights[at : at + len(mine)]),))
        at += len(mine)
    return Counts(found)


def _joined(parts: list[Keys]) -> Keys:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _starts(parts: list[Keys]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _relations(
    predicates: list[Predicate], keys: Keys, starts: NDArray[np.int64], universe: int
) -> Iterator[tuple[Predicate, Relation]]:
    for predicate, mine in _slices(predicates, keys, starts, universe):
        yield predicate, Relation.from_run(Run.of(layout_for(predicate.arity, universe), mine))


def _slices(
    predicates: list[Predicate], keys: Keys, starts: NDArray[np.int64], universe: int
) -> Iterator[tuple[Predicate, Keys]]:
    """The keys of each predicate."""
    bounds = starts.tolist()
    for number, predicate in enumerate(predicates):
        layout = layout_for(predicate.arity, universe)
        mine = keys[bounds[number] : bounds[number + 1]]
        yield predicate, mine if layout.is_packed else mine.reshape(-1, layout.words)
