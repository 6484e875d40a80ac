"""Helpers for the tests of readers: they read whole files in one process, at any size of split."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from everlog.ingest import splits as splitting
from everlog.ingest.read import read
from everlog.ingest.sources import FactSource, ReadOptions, resolve
from everlog.ingest.split import BadRow, Split
from everlog.ingest.splits import TARGET, splits

PLAIN = ReadOptions()
Facts = list[tuple[str, ...]]


def rows_of(batch: Any) -> Facts:
    """The facts of a batch as tuples of predicate and terms, checked for shape."""
    assert batch.schema.field("predicate").type == pa.string()
    batch.validate(full=True)
    facts = []
    for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        arity = int(row[0].rpartition("/")[2])
        assert all(value is None for value in row[1 + arity :])
        facts.append(tuple(row[: 1 + arity]))
    return facts


def split_at(target_bytes: int, sources: Sequence[FactSource], options: ReadOptions) -> list[Split]:
    """The splits of sources, cut after ``target_bytes`` bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "TARGET", target_bytes)
        return splits(sources, options)


def read_all(
    *arguments: str | Path, options: ReadOptions = PLAIN, target_bytes: int = TARGET
) -> tuple[Facts, list[BadRow]]:
    """All facts of the arguments, and the bad rows, in the order of the files."""
    bad: list[BadRow] = []
    facts: Facts = []
    for split in split_at(target_bytes, resolve([str(argument) for argument in arguments], options), options):
        for batch in read(split, options, bad):
            facts += rows_of(batch)
    return facts, bad


def shown(bad: list[BadRow]) -> list[str]:
    """Bad rows in one line each, without the directory."""
    return [f"{Path(row.place.file).name}:{row.place.line}: {row.reason}" for row in bad]
