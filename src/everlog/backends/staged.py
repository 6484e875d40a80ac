"""Names of the predicates in staged facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow.parquet as pq

from everlog.lang.syntax import Predicate
from everlog.store.names import HashedNames


def learn_names(names: HashedNames, numbers: Iterable[int], terms: Sequence[str]) -> None:
    """Add the predicates with the given ids to the names; the texts of unknown ones are read from files of terms."""
    unknown = sorted(number for number in numbers if not names.knows(number))
    for file in terms if unknown else ():
        texts = pq.read_table(file, columns=["id", "text"], filters=[("id", "in", unknown)], memory_map=True)
        names.add(map(Predicate.parse, texts.column("text").to_pylist()))
