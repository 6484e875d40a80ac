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
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.lang.syntax import Predicate


@dataclass(frozen=True)
class State:
    """Facts over one dictionary; ``explicit`` is a subset of ``facts``."""

    dictionary: Dictionary
    explicit: FactSet
    facts: FactSet

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
        return State(dictionary, FactSet(explicit), facts)


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
    return arrays, {"predicates": [str(p) for p in predicates], "salt": state.dictionary.salt}


def from_arrays(arrays: Mapping[str, NDArray[Any]], manifest: Mapping[str, Any]) -> State:
    """The inverse of :func:`to_arrays`; the arrays are used as they are, nothing is read yet."""
    texts = Texts(arrays["data"], arrays["offsets"], arrays["hashes"])
    predicates = [Predicate.parse(text) for text in manifest["predicates"]]
    facts = dict(_relations(predicates, arrays["facts"], arrays["fact_starts"], len(texts)))
    explicit = dict(_relations(predicates, arrays["explicit"], arrays["explicit_starts"], len(texts)))
    same = arrays["same"].tolist()
    explicit.update({p: facts[p] for p, all_explicit in zip(predicates, same, strict=True) if all_explicit})
    return State(Dictionary(texts, int(manifest["salt"])), FactSet(explicit), FactSet(facts))


def _joined(parts: list[Keys]) -> Keys:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _starts(parts: list[Keys]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _relations(
    predicates: list[Predicate], keys: Keys, starts: NDArray[np.int64], universe: int
) -> Iterator[tuple[Predicate, Relation]]:
    bounds = starts.tolist()
    for number, predicate in enumerate(predicates):
        layout = layout_for(predicate.arity, universe)
        mine = keys[bounds[number] : bounds[number + 1]]
        shaped = mine if layout.is_packed else mine.reshape(-1, layout.words)
        yield predicate, Relation.from_run(Run.of(layout, shaped))
