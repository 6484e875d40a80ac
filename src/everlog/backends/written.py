"""A change that a back end has written: its files, the numbers of changed facts, and figures for the store."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from everlog.kb.saving import NewVersion
from everlog.lang.syntax import Predicate
from everlog.reasoning.statistics import UpdateStatistics
from everlog.store import schema
from everlog.store.parquet import write_facts

Sizes = Mapping[Predicate, int]


@dataclass(frozen=True)
class WrittenChange:
    """The data files of a change, the number of facts of each predicate that it changed, and figures for the store."""

    files: list[Path]
    inserted: Sizes
    deleted: Sizes
    explicit_inserted: Sizes
    explicit_deleted: Sizes
    not_explicit: int
    stats: UpdateStatistics
    figures: dict[str, Any]
    counted: bool
    generated: frozenset[Predicate] = frozenset()
    """The predicates of modules whose facts the store does not list."""
    version: NewVersion | None = None
    """The version with the change, if the back end had all facts at hand; None if the driver describes it."""

    def __bool__(self) -> bool:
        """Whether any facts changed."""
        return bool(self.inserted or self.deleted or self.explicit_inserted or self.explicit_deleted)


def write_change(batches: Iterable[pa.RecordBatch], work: Path) -> list[Path]:
    """Write a few rows, which need not be sorted, into a file in ``work``, if there are any."""
    held = list(batches)
    if not held:
        return []
    width = max(schema.width_of(batch.schema.names) for batch in held)
    rows = pa.concat_tables([schema.conform(batch, width) for batch in held])
    path = work / f"facts-{uuid.uuid4().hex}.parquet"
    write_facts(rows, path)
    return [path]
