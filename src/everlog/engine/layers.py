"""States as layers of arrays that are mapped into memory and used as they are.

The lowest layer has a whole state. A layer above it has what was added since: terms, the runs of relations and the
pieces of counters that no layer below has, and for each predicate that differs from the layer below the places of all
its runs and pieces, whatever layers they are in. So nothing has to be read or computed to get the state: every run is a
slice of an array.

The graphs of closures are in the lowest layer only. The present ones are computed from them and from the changes in the
layers above, at the cost of these changes.

Everything that is read is checked to be within bounds: places in their arrays, offsets of texts in the texts, ids below
the number of terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from everlog.engine.dictionary import Dictionary, Texts
from everlog.engine.factset import FactSet
from everlog.engine.kernels import bounds
from everlog.engine.keys import Keys, Layout, layout_for
from everlog.engine.multiset import Counts, Multiset, Piece
from everlog.engine.reach import Reach
from everlog.engine.relation import Relation
from everlog.engine.runs import Run
from everlog.engine.state import State
from everlog.lang.syntax import Predicate

FACTS, GONE, EXPLICIT, EXPLICIT_GONE, EXTERNAL, EXTERNAL_GONE, NR, REC = range(8)
"""The part of a state that a run or piece belongs to."""

NO_WEIGHTS = np.empty(0, np.int32)

Held = Run | Piece
KeyRange = tuple[int, int, int, int]
"""The layer of a run or piece, the start and end of its keys there, and the start of its weights."""


class OutOfBoundsError(ValueError):
    """A place, an offset or an id in a layer is out of bounds."""


class Layer(Protocol):
    """The arrays of a layer and their description."""

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]: ...

    @property
    def manifest(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class LayeredState:
    """A state with the places of its runs and pieces, by identity. A run without a place is in no layer."""

    state: State
    places: Mapping[int, tuple[Held, KeyRange]]

    def size(self, predicates: Iterable[Predicate], depth: int) -> int:
        """Number of integers that a layer with these predicates would have on top of ``depth`` others, apart from
        terms.
        """
        held = {id(part): part for predicate in predicates for _, part in _parts(self.state, predicate)}
        return sum(_size(part) for name, part in held.items() if not self._is_below(name, depth))

    def _is_below(self, name: int, depth: int) -> bool:
        return name in self.places and self.places[name][1][0] < depth

    def followed_by(self, new: State, changed: Iterable[Predicate]) -> LayeredState:
        """A later state with the places that it shares with this one."""
        places = dict(self.places)
        for predicate in changed:
            for _, part in _parts(self.state, predicate):
                places.pop(id(part), None)
            for _, part in _parts(new, predicate):
                if id(part) in self.places:
                    places[id(part)] = self.places[id(part)]
        return LayeredState(new, places)


def changed(old: State, new: State) -> set[Predicate]:
    """The predicates whose relations or counters are other objects in the new state. Costs one comparison per
    predicate.
    """
    found: set[Predicate] = set()
    parts = ("facts", "explicit", "external", "nr", "rec")
    for before, after in ((dict(getattr(old, part) or {}), dict(getattr(new, part) or {})) for part in parts):
        found.update(predicate for predicate in after if before.get(predicate) is not after[predicate])
        found.update(predicate for predicate in before if predicate not in after)
    return found


def _parts(state: State, predicate: Predicate) -> Iterator[tuple[int, Held]]:
    for part, facts in ((FACTS, state.facts), (EXPLICIT, state.explicit), (EXTERNAL, state.external)):
        if (relation := facts.get(predicate)) is not None:
            assert relation.base is None, "layers have listed facts"
            for run in relation.runs:
                yield part, run
            for run in relation.tombstones:
                yield part + 1, run
    for part, counts in ((NR, state.nr), (REC, state.rec)):
        if counts is not None and (multiset := counts.get(predicate)) is not None:
            for piece in multiset.pieces:
                yield part, piece


def _size(part: Held) -> int:
    return len(part) if isinstance(part, Run) else len(part[0])


# Writing ----------------------------------------------------------------------------------------


def layer(
    placed: LayeredState, predicates: Sequence[Predicate], depth: int = 0, terms: int = 0
) -> tuple[dict[str, NDArray[Any]], dict[str, Any], LayeredState]:
    """The arrays and the description of a layer with some predicates of a state and the terms from an id on, to be put
    on top of ``depth`` others; and the state with the places that its runs have then.

    The lowest layer must have all predicates and terms, the latter in the order of their hashes.
    """
    state = placed.state
    universe = len(state.dictionary)
    texts = _texts_from(state.dictionary, terms) if depth else state.dictionary.base
    writer = _Writer(depth, placed.places)
    for number, predicate in enumerate(predicates):
        layout = layout_for(predicate.arity, universe)
        for part, held in _parts(state, predicate):
            assert not isinstance(held, Run) or held.layout == layout, "what is written is read with this layout"
            writer.add(number, part, held)
    arrays = {**writer.arrays(), "data": texts.data, "offsets": texts.offsets, "hashes": texts.hashes}
    graphs = () if depth else state.graphs
    for number, name in enumerate(graphs):
        arrays |= {f"graph {number} {part}": array for part, array in state.graphs[name].parts().items()}
    manifest = {
        "predicates": [str(predicate) for predicate in predicates],
        "universe": universe,
        "salt": state.dictionary.salt,
        "size": writer.size + len(texts),
        "counted": state.nr is not None,
        "fed": state.fed,
        "generated": [str(predicate) for predicate in sorted(state.generated)],
        "graphs": list(graphs),
    }
    return arrays, manifest, LayeredState(state, {**placed.places, **writer.written})


class _Writer:
    """Gathers the runs and pieces that no layer below has."""

    def __init__(self, depth: int, places: Mapping[int, tuple[Held, KeyRange]]) -> None:
        self.written: dict[int, tuple[Held, KeyRange]] = {}
        self.size = 0
        self._places = places
        self._depth = depth
        self._keys: list[Keys] = []
        self._weights: list[NDArray[np.int32]] = []
        self._rows: list[tuple[int, ...]] = []
        self._ends = (0, 0)

    def add(self, predicate: int, part: int, held: Held) -> None:
        name = id(held)
        known = self._places.get(name)
        if known is None or known[1][0] >= self._depth:
            if name not in self.written:
                self.written[name] = (held, self._write(held))
            known = self.written[name]
        self._rows.append((predicate, part, *known[1]))

    def _write(self, held: Held) -> KeyRange:
        keys, weights = (held.keys(), None) if isinstance(held, Run) else held
        start, weights_start = self._ends
        self._keys.append(keys.reshape(-1))
        if weights is not None:
            self._weights.append(weights)
        self._ends = (start + keys.size, weights_start + (0 if weights is None else len(weights)))
        self.size += len(keys)
        return self._depth, start, self._ends[0], weights_start

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "keys": np.concatenate([np.empty(0, np.int64), *self._keys]),
            "weights": np.concatenate([np.empty(0, np.int32), *self._weights]),
            "places": np.array(self._rows, np.int64).reshape(-1, 6),
        }


def _texts_from(dictionary: Dictionary, start: int) -> Texts:
    """The added texts of a dictionary from an id on."""
    added, first = dictionary.added, start - len(dictionary.base)
    at = int(added.offsets[first])
    return Texts(added.data[at:], added.offsets[first:] - at, added.hashes[first:])


# Reading ----------------------------------------------------------------------------------------


def read(layers: Sequence[Layer]) -> LayeredState:
    """The state in some layers, given from the lowest up."""
    reader = _Reader(layers, {})
    return LayeredState(
        reader.state(dictionary(layers)), {id(held): (held, place) for place, held in reader.held.items()}
    )


def read_lowest(layers: Sequence[Layer], placed: LayeredState) -> State:
    """The state in the lowest layer, with its graphs. It shares runs and pieces with ``placed``, the state of all
    layers.
    """
    reader = _Reader(layers[:1], {place: held for held, place in placed.places.values()})
    graphs = {name: _graph(layers[0].arrays, number) for number, name in enumerate(layers[0].manifest["graphs"])}
    return replace(reader.state(placed.state.dictionary), graphs=graphs)


def _graph(arrays: Mapping[str, NDArray[Any]], number: int) -> Reach:
    start = f"graph {number} "
    return Reach.of_parts({name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)})


def dictionary(layers: Sequence[Layer]) -> Dictionary:
    """The dictionary of the terms in the layers."""
    base, *others = map(_texts_of, layers)
    found = Dictionary(base, int(layers[0].manifest["salt"]))
    for texts in others:
        found.extend(texts)
    return found


def _texts_of(layer: Layer) -> Texts:
    texts = Texts(*(layer.arrays[name] for name in ("data", "offsets", "hashes")))
    if len(texts.offsets) != len(texts.hashes) + 1 or not bounds.is_ascending(texts.offsets, len(texts.data)):
        raise OutOfBoundsError("offsets of texts are out of bounds")
    return texts


def _rows(layers: Sequence[Layer]) -> dict[str, list[list[int]]]:
    """For each predicate, the places given by the highest layer that has it."""
    found: dict[str, list[list[int]]] = {}
    for layer in layers:
        mine: list[list[list[int]]] = [[] for _ in layer.manifest["predicates"]]
        for row in layer.arrays["places"].tolist():
            if not (0 <= row[0] < len(mine) and FACTS <= row[1] <= REC):
                raise OutOfBoundsError(f"a place belongs to part {row[1]} of predicate {row[0]}")
            mine[row[0]].append(row)
        found.update(zip(layer.manifest["predicates"], mine, strict=True))
    return found


class _Reader:
    """Makes the relations and counters of predicates. One object is made for each place, unless ``held`` has it."""

    def __init__(self, layers: Sequence[Layer], held: Mapping[KeyRange, Held]) -> None:
        self.held = dict(held)
        self._layers = layers
        self._keys = [layer.arrays["keys"] for layer in layers]
        self._weights = [layer.arrays["weights"] for layer in layers]
        self._relations: tuple[dict[Predicate, Relation], ...] = ({}, {}, {})
        self._counts: tuple[dict[Predicate, Multiset], ...] = ({}, {})

    def state(self, dictionary: Dictionary) -> State:
        top = self._layers[-1].manifest
        for name, rows in _rows(self._layers).items():
            self._add(Predicate.parse(name), rows, top["universe"])
        facts, explicit, external = map(FactSet, self._relations)
        nr, rec = (Counts(found) if top["counted"] else None for found in self._counts)
        generated = frozenset(map(Predicate.parse, top["generated"]))
        return State(dictionary, explicit, facts, nr, rec, external, top["fed"], generated)

    def _add(self, predicate: Predicate, rows: list[list[int]], universe: int) -> None:
        layout = layout_for(predicate.arity, universe)
        parts: list[list[Any]] = [[] for _ in range(REC + 1)]
        for _, part, layer, start, end, weights in rows:
            parts[part].append(self._at(layout, universe, (layer, start, end, weights), part < NR))
        made: list[Relation] = []
        for number, found in enumerate(self._relations):
            runs, gone = tuple(parts[2 * number]), tuple(parts[2 * number + 1])
            if runs:
                same = (relation for relation in made if (relation.runs, relation.tombstones) == (runs, gone))
                found[predicate] = next(same, None) or Relation(layout, runs, gone)
                made.append(found[predicate])
        for number, counts in enumerate(self._counts):
            if parts[NR + number]:
                counts[predicate] = Multiset(layout, tuple(parts[NR + number]))

    def _at(self, layout: Layout, universe: int, place: KeyRange, is_run: bool) -> Held:
        if place not in self.held:
            layer, start, end, weights = place
            if not (0 <= layer < len(self._layers) and 0 <= start <= end <= len(self._keys[layer])):
                raise OutOfBoundsError(f"there are no keys {start} to {end} in layer {layer}")
            if (end - start) % layout.words:
                raise OutOfBoundsError(f"{end - start} words are no keys of {layout.words} words")
            keys = self._keys[layer][start:end]
            if not _are_of_terms(layout, keys, universe):
                raise OutOfBoundsError(f"keys {start} to {end} in layer {layer} have ids that are no terms")
            keys = keys if layout.is_packed else keys.reshape(-1, layout.words)
            self.held[place] = Run.of(layout, keys) if is_run else (keys, self._weights_at(layer, weights, len(keys)))
        return self.held[place]

    def _weights_at(self, layer: int, start: int, count: int) -> NDArray[np.int32]:
        found: NDArray[np.int32] = self._weights[layer][start : start + count] if start >= 0 else NO_WEIGHTS
        if len(found) != count:
            raise OutOfBoundsError(f"there are no weights {start} to {start + count} in layer {layer}")
        return found


def _are_of_terms(layout: Layout, words: Keys, universe: int) -> bool:
    """Whether all ids in the keys are below ``universe``. The words of a key follow each other."""
    for word in range(layout.words):
        columns = min(layout.per_word, layout.arity - word * layout.per_word)
        if columns and not bounds.are_ids_below(words[word :: layout.words], columns, layout.width, universe):
            return False
    return True
