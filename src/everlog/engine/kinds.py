"""Which kinds of terms columns of texts hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.hashing import text_buffers
from everlog.engine.kernels import kinds as kernels
from everlog.engine.tables import argument_names
from everlog.lang.kinds import Kinds, joined
from everlog.lang.syntax import Predicate

ByPredicate = dict[Predicate, Kinds]


def kinds_of(columns: Sequence[pa.Array]) -> Kinds:
    """The kinds in each of some columns of canonical texts.

    >>> kinds_of([pa.array(["1", "2"]), pa.array(['"a"', "1.5"])])
    (8, 18)
    """
    return tuple(int(kernels.column_kinds(*_buffers(column))) for column in columns)


def add_kinds(known: ByPredicate, facts: pa.RecordBatch, predicates: NDArray[np.int64]) -> None:
    """Add the kinds in a batch of facts as readers make it; ``predicates`` are the ids of its predicate column.

    >>> known: ByPredicate = {}
    >>> texts = pa.record_batch({"predicate": ["p/1", "q/2", "p/1"], "c0": ["1", "2", '"a"'], "c1": [None, "2", None]})
    >>> add_kinds(known, texts, np.array([7, 9, 7]))
    >>> known[Predicate("p", 1)], known[Predicate("q", 2)]
    ((10,), (8, 8))
    """
    groups, firsts = kernels.group(predicates)
    names = facts.column("predicate").take(pa.array(firsts)).to_pylist()
    columns = [_column(facts.column(name), groups, len(firsts)) for name in argument_names(facts.num_columns - 1)]
    for at, name in enumerate(names):
        predicate = Predicate.parse(name)
        own = tuple(int(column[at]) for column in columns[: predicate.arity])
        known[predicate] = joined(known.get(predicate), own)


def merged_kinds(parts: Iterable[ByPredicate]) -> ByPredicate:
    """The union of the kinds that were found in several parts.

    >>> merged_kinds([{Predicate("p", 1): (8,)}, {Predicate("p", 1): (2,)}])
    {Predicate(name='p', arity=1): (10,)}
    """
    found: ByPredicate = {}
    for part in parts:
        for predicate, kinds in part.items():
            found[predicate] = joined(found.get(predicate), kinds)
    return found


def _column(texts: pa.Array, groups: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    masks = np.zeros(count, np.int64)
    if texts.null_count == len(texts):
        return masks
    if count == 1:
        masks[0] = kernels.column_kinds(*_buffers(texts))
    else:
        kernels.grouped_kinds(*_buffers(texts), groups, masks)
    return masks


def _buffers(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int32] | NDArray[np.int64]]:
    """The buffers as read-only arrays, so that kernels are compiled for one type whatever the buffers come from."""
    data, offsets = text_buffers(texts)
    data, offsets = data.view(), offsets.view()
    data.flags.writeable = offsets.flags.writeable = False
    return data, offsets
