"""Checks of everything that a store promises about a version.

Files: present, of the size, rows and statistics that the log names, with the table's columns, sorted. Terms: each id
the hash of its text, none twice. Facts: each sums to 0 or 1, explicit ones hold, counters are not negative, every id
is a term. Every finding names what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.hashing import hash_texts
from everlog.engine.tables import fact_columns
from everlog.lang.errors import EverlogError
from everlog.store import schema, snapshot
from everlog.store.commit import file_stats
from everlog.store.files import open_file
from everlog.store.log import ActiveFile
from everlog.store.parquet import check_file_order
from everlog.store.rows import key_of, plain, row_key
from everlog.store.store import Store

PARTS = ("rows", "smallest values", "largest values", "nulls")
"""What the statistics of a file say, in the order of :func:`_parts`."""

SHOWN = 5
"""Maximum number of facts or terms that a finding names."""


def damaged_snapshots(store: Store) -> list[str]:
    """The findings about damaged snapshots, which readers skip."""
    return [f"{path}: the snapshot is damaged: {found}" for path, found in snapshot.damage(store.layout.snapshots)]


def verify_tables(store: Store) -> list[str]:
    """The findings about the tables of the store's version; every file is read once or twice."""
    width = store.width()
    findings = [
        *_check_files(store.layout.facts, store.files(), schema.facts(width), fact_columns(width)),
        *_check_files(store.layout.terms, store.term_files(), schema.TERMS, ["id"]),
    ]
    if findings:
        return findings  # sums over missing or wrong files would repeat these findings
    terms = store.terms()
    return [*_check_terms(terms, store.info().salt), *_check_facts(store, plain(terms.column("id")), width)]


def _check_files(table: Path, files: list[ActiveFile], wanted: pa.Schema, key: list[str]) -> Iterator[str]:
    for file in files:
        path = table / file.name
        try:
            yield from _check_file(path, file, wanted, key)
        except EverlogError as error:
            yield from (f"{path}: {found.message}" for found in error.diagnostics)
        except (OSError, pa.ArrowException) as error:
            yield f"{path}: cannot be read: {error}"


def _check_file(path: Path, file: ActiveFile, wanted: pa.Schema, key: list[str]) -> Iterator[str]:
    names = open_file(path, filters=True).schema_arrow.names
    own = schema.facts(schema.width_of(names)) if "predicate" in key else wanted
    footer = file_stats(path, own)
    size = path.stat().st_size
    if size != file.size:
        yield f"{path}: has {size} bytes, the log says {file.size}"
    recorded = (file.rows, file.low, file.high, file.nulls)
    for what, log, found in zip(PARTS, recorded, _parts(footer), strict=True):
        if _known(log, own) != _promised(found, log):
            yield f"{path}: {what} are {found}, the log says {log}"
    for what, log, found in zip(PARTS[1:3], _parts(footer)[1:3], _extremes(path), strict=True):
        if _promised(log, found) != found:
            yield f"{path}: {what} are {found}, its footer says {log}"
    check_file_order(path, [name for name in key if name in names])


def _parts(stats: dict[str, Any]) -> tuple[Any, ...]:
    return stats["numRecords"], stats["minValues"], stats["maxValues"], stats["nullCount"]


def _known(recorded: Any, own: pa.Schema) -> Any:
    """The statistics of the columns that the file has."""
    if not isinstance(recorded, dict):
        return recorded
    return {name: value for name, value in recorded.items() if name in own.names}


def _promised(found: Any, recorded: Any) -> Any:
    """The statistics without bounds of texts that the log does not have; earlier logs have none."""
    if not isinstance(found, dict):
        return found
    return {name: value for name, value in found.items() if name in recorded or not isinstance(value, str)}


def _extremes(path: Path) -> tuple[dict[str, int], dict[str, int]]:
    """The smallest and largest value of each integer column, from the data itself."""
    low: dict[str, int] = {}
    high: dict[str, int] = {}
    file = open_file(path)
    names = [field.name for field in file.schema_arrow if pa.types.is_integer(field.type)]
    for group in range(file.num_row_groups):
        rows = file.read_row_group(group, columns=names)
        for name in names:
            values = rows.column(name).drop_null().to_numpy()
            if len(values):
                low[name] = min(low.get(name, int(values.min())), int(values.min()))
                high[name] = max(high.get(name, int(values.max())), int(values.max()))
    return low, high


def _check_terms(terms: pa.Table, salt: int) -> Iterator[str]:
    ids = plain(terms.column("id"))
    twice = np.flatnonzero(ids[1:] == ids[:-1]) + 1
    if len(twice):
        yield f"terms: {len(twice)} ids come more than once: {_texts(terms, twice)}"
    texts: Any = terms.column("text")
    done = 0
    wrong = []
    for chunk in texts.chunks:
        found = hash_texts(chunk, salt=salt)
        wrong.append(done + np.flatnonzero(found != ids[done : done + len(found)]))
        done += len(found)
    rows = np.concatenate(wrong) if wrong else np.empty(0, np.int64)
    if len(rows):
        yield f"terms: the ids of {len(rows)} terms are not the hashes of their texts: {_texts(terms, rows)}"


def _texts(terms: pa.Table, rows: NDArray[np.int64]) -> str:
    texts: Any = terms.column("text")
    shown = texts.take(rows[:SHOWN]).to_pylist()
    return ", ".join(shown) + (", ..." if len(rows) > SHOWN else "")


def _check_facts(store: Store, ids: NDArray[np.int64], width: int) -> Iterator[str]:
    names = fact_columns(width)
    wrong: dict[str, list[tuple[int, ...]]] = {}
    unknown: list[NDArray[np.int64]] = []
    for rows in store.sums():
        weights = {name: plain(rows.column(name)) for name in schema.WEIGHTS}
        for what, found in _wrong_sums(weights):
            key = key_of(rows, names)
            wrong.setdefault(what, []).extend(row_key(key, int(row)) for row in np.flatnonzero(found))
        for name in names:
            unknown.append(_missing(rows.column(name), ids))
    for what, facts in wrong.items():
        shown = ", ".join(map(str, facts[:SHOWN])) + (", ..." if len(facts) > SHOWN else "")
        yield f"facts: {len(facts)} facts {what}: {shown}"
    strangers = np.unique(np.concatenate(unknown)) if unknown else np.empty(0, np.int64)
    if len(strangers):
        yield f"facts: {len(strangers)} ids are not in the terms: {strangers[:SHOWN].tolist()}"


def _wrong_sums(weights: dict[str, NDArray[Any]]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    holds, explicit = weights["holds"], weights["explicit"]
    checks = {
        "have holds that do not sum to 0 or 1": (holds < 0) | (holds > 1),
        "have explicit that do not sum to 0 or 1": (explicit < 0) | (explicit > 1),
        "are explicit and do not hold": (explicit > 0) & (holds <= 0),
        "have a negative nr": weights["nr"] < 0,
        "have a negative rec": weights["rec"] < 0,
    }
    return ((what, found) for what, found in checks.items() if found.any())


def _missing(column: Any, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct values of a column that are not among sorted ids."""
    values = np.unique(column.drop_null().to_numpy())
    at = np.searchsorted(ids, values)
    known = at < len(ids)
    known[known] = ids[at[known]] == values[known]
    return values[~known]
