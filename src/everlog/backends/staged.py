"""Names of the predicates in staged facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow.compute as pc

from everlog.ingest.spill import Rows, rows_in
from everlog.lang.syntax import Predicate
from everlog.store.names import HashedNames


def learn_names(names: HashedNames, numbers: Iterable[int], terms: Sequence[Rows]) -> None:
    """Add the predicates with the given ids to the names; the texts of unknown ones are found in terms."""
    unknown = sorted(number for number in numbers if not names.knows(number))
    for file in terms if unknown else ():
        texts = rows_in(file, ["id", "text"], pc.field("id").isin(unknown))
        names.add(map(Predicate.parse, texts.column("text").to_pylist()))
