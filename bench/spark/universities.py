"""Universities in the spirit of LUBM as Parquet files of IRIs, and jobs that materialise and update them on Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.maintenance import lubm

Rows = npt.NDArray[np.int64]
GROUP_ROWS = 1 << 18
SEED = 1


@dataclass(frozen=True)
class Given:
    """What a job reads."""

    rules: str
    facts: tuple[str, ...]
    count: int


def written(universities: int, directory: Path) -> Given:
    """The facts about so many universities, about 80,000 for each, one file a predicate, and the rules."""
    directory.mkdir(parents=True)
    rules = directory / "rules.rls"
    rules.write_text(lubm.rules())
    found = lubm.universities(universities, SEED)
    return Given(str(rules), files_of(found, directory), sum(map(len, found.values())))


def files_of(facts: Mapping[str, Rows], directory: Path) -> tuple[str, ...]:
    """Facts as files, by the names that a job takes."""
    directory.mkdir(parents=True, exist_ok=True)
    names = []
    for predicate, rows in facts.items():
        path = directory / f"{predicate}.parquet"
        columns = {f"c{i}": _iris(rows[:, i]) for i in range(rows.shape[1])}
        pq.write_table(pa.table(columns), path, row_group_size=GROUP_ROWS)
        names.append(f"{predicate}={path}")
    return tuple(names)


def _iris(numbers: Rows) -> pa.Array:
    digits = pc.cast(pa.array(np.ascontiguousarray(numbers)), pa.string())
    return pc.binary_join_element_wise("<http://www.university.edu/", digits, ">", "")


def store_of(universities: int, directory: Path) -> Path:
    """Where the store about so many universities is."""
    return directory / f"store-{universities}"


def kept(universities: int, directory: Path) -> dict[str, Any]:
    """Materialise so many universities on Spark, if that has not been done in this directory; how it went then."""
    record = directory / f"made-{universities}.json"
    if not record.exists():
        given = written(universities, directory / f"facts-{universities}")
        record.write_text(json.dumps(materialised(given, store_of(universities, directory))))
    found: dict[str, Any] = json.loads(record.read_text())
    return found


def on_this_machine(universities: int, directory: Path, store: Path) -> dict[str, Any]:
    """The same facts materialised by the local engine; only reading is done by Spark."""
    return materialised(written(universities, directory / f"again-{universities}"), store, engine="local")


def materialised(given: Given, store: Path, engine: str = "spark", **more: Any) -> dict[str, Any]:
    """Materialise, in the session that is there: seconds in all and by phase, and numbers of facts."""
    from everlog.jobs.materialise import MaterialiseJob, materialise

    began = perf_counter()
    result = materialise(MaterialiseJob(given.rules, given.facts, str(store), engine=engine, **more))
    return {
        "seconds": perf_counter() - began,
        "phases": result.seconds,
        "explicit": given.count,
        "facts": result.statistics.facts,
    }


def sizes_of(store: Path, since: int | None = None) -> dict[str, int]:
    """The data files of a store, with their row groups, rows and bytes; or of those since a version."""
    from everlog.store import Store

    found = Store.open(str(store))
    before = set() if since is None else {file.name for file in found.files(since)}
    paths = [found.layout.facts / file.name for file in found.files() if file.name not in before]
    footers = [pq.read_metadata(path) for path in paths]
    return {
        "files": len(paths),
        "groups": sum(footer.num_row_groups for footer in footers),
        "rows": sum(footer.num_rows for footer in footers),
        "bytes": sum(path.stat().st_size for path in paths),
    }


def updated(store: Path, changes: tuple[tuple[str, ...], tuple[str, ...]], **more: Any) -> dict[str, Any]:
    """Update a store by facts to delete and facts to insert: seconds, what was done, and the files that are new."""
    from everlog.jobs.update import UpdateJob, update
    from everlog.store import Store

    before = Store.open(str(store)).info().version
    began = perf_counter()
    result = update(UpdateJob(str(store), delete=changes[0], insert=changes[1], compact=False, **more))
    seconds = perf_counter() - began
    changed = [sum(map(len, facts.values())) for facts in (result.change.inserted, result.change.deleted)]
    return {
        "seconds": seconds,
        "phases": result.seconds,
        "algorithm": result.change.stats.algorithm,
        "overdeleted": result.change.stats.overdeleted,
        "inserted": changed[0],
        "deleted": changed[1],
        "added": sizes_of(store, since=before),
    }


def changes_of(universities: int, directory: Path, size: int, seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files of so many facts each that leave, or come new: students change what they study."""
    rows = lubm.universities(universities, SEED)["takesCourse"]
    random = np.random.default_rng(seed)
    leaving = rows[random.choice(len(rows), size, replace=False)]
    coming = np.stack([leaving[:, 0], random.permutation(leaving[:, 1])], axis=1)
    names = (directory / f"delete-{seed}", directory / f"insert-{seed}")
    return files_of({"takesCourse": leaving}, names[0]), files_of({"takesCourse": coming}, names[1])
